"""Clusters: a run as the sample it is. Prompts are drawn, their copies and steps come along.

Copies share a prompt and steps are nested in copies, so neither is an independent observation. Everything said about
the error of an estimate starts from the tallies of whole prompts; the millions of steps are touched once.
source: Miller 2024 (arXiv 2411.00640) on clustered errors of evaluations.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import polars as pl

from specdash.metrics.tally import Tally, joined, tally_by
from specdash.schema import Run


@dataclass(frozen=True)
class Clusters:
    """Prompts as the units of a sample. Datasets are its strata: they were chosen, not drawn.

    Attributes:
        units: ``dataset, prompt``, a row a cluster, sorted.
        tally: Counts with a leading axis over ``units``; each has at least one drafted step.
    """

    units: pl.DataFrame
    tally: Tally

    def only(self, datasets: Collection[str]) -> Clusters:
        """Return the clusters of some datasets."""
        return self.where(self.units["dataset"].is_in(list(datasets)).to_numpy())

    def where(self, chosen: np.ndarray) -> Clusters:
        """Return some of the clusters; ``chosen`` has shape (n,) and is boolean."""
        return Clusters(self.units.filter(pl.Series(chosen)), self.tally.mapped(lambda x: x[chosen]))

    @cached_property
    def stratum(self) -> np.ndarray:
        """Shape (n,), number of a cluster's stratum, 0..D - 1, never decreasing."""
        return self.units["dataset"].rle_id().cast(pl.Int64).to_numpy()

    @cached_property
    def starts(self) -> np.ndarray:
        """Shape (D,), index of the first cluster of each stratum."""
        return np.flatnonzero(np.diff(self.stratum, prepend=-1))

    @cached_property
    def sizes(self) -> np.ndarray:
        """Shape (D,), clusters in each stratum, Q_d."""
        return np.bincount(self.stratum)

    @cached_property
    def total(self) -> Tally:
        """Counts over all clusters."""
        return self.tally.mapped(lambda x: x.sum(axis=0))

    @cached_property
    def without_each(self) -> Tally:
        """Totals without each cluster in turn, its stratum scaled up to its whole; leading axis n.

        In a single stratum the scaling changes no ratio; among several it keeps their weights. The only cluster of a
        stratum leaves nothing to scale up.
        """
        n = self.sizes[self.stratum]

        def left(x: np.ndarray) -> np.ndarray:
            stratum = self.by_stratum(x)[self.stratum]
            size = n.reshape((-1,) + (1,) * (x.ndim - 1))
            return x.sum(axis=0) + np.where(size > 1, (stratum - size * x) / np.maximum(size - 1, 1), -x)

        return self.tally.mapped(left)

    def by_stratum(self, values: np.ndarray) -> np.ndarray:
        """Sum over the clusters of each stratum: shape (n, ...) to (D, ...)."""
        return np.add.reduceat(values, self.starts, axis=0)


DRAWS = 2000
"""Bootstrap samples: a standard error of theirs is off by 1.6 % from one seed to another."""

_AT_ONCE = 1 << 20  # prompts drawn at once: 8 MB


def resampled(clusters: Clusters, seed: str) -> Tally:
    """Return the totals of each stratum over bootstrap samples of its clusters; leading axes (D, DRAWS).

    Every stratum has a random stream of its own that follows from the seed and its name, so that a dataset gives the
    same draws alone, in its family and in the pooled row, on any machine and in any order of its log.

    Args:
        clusters: The sample.
        seed: Names the random stream.
    """
    drawn = []
    for start, size in zip(clusters.starts.tolist(), clusters.sizes.tolist(), strict=True):
        part = clusters.tally.mapped(lambda x, of=slice(start, start + size): x[of])
        name = f"{seed}/{clusters.units['dataset'][start]}"
        rng = np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode("utf-8", "replace")).digest()))
        drawn.append(joined([part.mapped(partial(np.matmul, times)) for times in _times_drawn(size, rng)]))
    return joined(drawn, np.stack)


def _times_drawn(size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Give how often each of some clusters is in each bootstrap sample, shape (some, size), DRAWS samples in all."""
    some = max(1, _AT_ONCE // size)
    for first in range(0, DRAWS, some):
        rows = min(some, DRAWS - first)
        drawn = rng.integers(size, size=(rows, size)) + size * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size).astype(float)


class Sampling:
    """The prompts of a run as a sample, made when first asked for.

    Args:
        run: The run.
        seed: Names the random stream of its resamples.
    """

    def __init__(self, run: Run, seed: str = "") -> None:
        self._run = run
        self._seed = seed

    @cached_property
    def prompts(self) -> Clusters | None:
        """Every prompt that a response is known to answer, None for a run without responses."""
        run = self._run
        if run.responses is None or run.k is None:
            return None
        names = ["dataset", "prompt"]
        responses = run.responses.filter(pl.col("prompt").is_not_null()).select("response", *names)
        units = responses.select(names).unique().sort(names).with_row_index("set")
        sets = responses.join(units, on=names).select("response", "set")
        tally = tally_by(run, sets, units.height)
        return None if tally.steps is None else Clusters(units.select(names), tally).where(tally.steps > 0)

    def bootstrap(self, datasets: Collection[str]) -> Tally:
        """Return the totals of some datasets over bootstrap samples of their prompts; leading axis DRAWS.

        Raises:
            ValueError: The run has no responses.
        """
        if self.prompts is None:
            raise ValueError("a run without responses has no prompts to draw")
        chosen = self.prompts.units[self.prompts.starts]["dataset"].is_in(list(datasets)).to_numpy()
        return self._resampled.mapped(lambda x: x[chosen].sum(axis=0))

    @cached_property
    def _resampled(self) -> Tally:
        return resampled(self.prompts, self._seed)
