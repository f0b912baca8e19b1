"""Clusters: a run as the sample it is. Prompts are drawn, their copies and steps come along.

Copies share a prompt and steps are nested in copies, so neither is an independent observation. Everything said about
the error of an estimate starts from the tallies of whole prompts; the millions of steps are touched once.
source: Miller 2024 (arXiv 2411.00640) on clustered errors of evaluations.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from specdash.metrics.tally import Tally, tally_by
from specdash.schema import Run


@dataclass(frozen=True)
class Clusters:
    """The units of a sample, within the strata that they were drawn from.

    Attributes:
        units: A row a unit, sorted; its last column names the unit within the stratum that the others name.
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
        ids = self.units.select(pl.struct(self.units.columns[:-1]).rle_id()).to_series()
        return ids.cast(pl.Int64).to_numpy()

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


class Sampling:
    """The clusters of a run, made when first asked for.

    Args:
        run: The run.
        seed: Names the random stream of its resamples.
    """

    def __init__(self, run: Run, seed: str = "") -> None:
        self._run = run
        self.seed = seed

    @cached_property
    def prompts(self) -> Clusters | None:
        """Prompts within datasets: what another sample of prompts would change. None without responses."""
        return self._clusters("dataset", "prompt")

    @cached_property
    def copies(self) -> Clusters | None:
        """Responses within prompts: what other copies of the same prompts would change. None without responses."""
        return self._clusters("dataset", "prompt", "response")

    def _clusters(self, *columns: str) -> Clusters | None:
        run = self._run
        if run.responses is None or run.counts is None or run.k is None:
            return None
        responses = run.responses.filter(pl.col("prompt").is_not_null()).select("response", "dataset", "prompt")
        units = responses.select(columns).unique().sort(columns).with_row_index("set")
        sets = responses.join(units, on=columns).select("response", "set")
        tally = tally_by(run.counts, sets, units.height, run.k)
        return Clusters(units.drop("set"), tally).where(tally.steps > 0)
