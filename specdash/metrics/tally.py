"""Tallies: the few counts of a set of verify steps from which every step-level metric follows.

They add up, so a family or the pooled row is the sum of its datasets' tallies, never an average of ratios. A tally may
be of many sets at once, one a prompt or one a resample: then every count has the same leading axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import polars as pl

from specdash.schema import Run

Count = int | np.ndarray
"""A whole number, or an array of shape (...) when the tally is of many sets."""

Counts = np.ndarray
"""Array of shape (..., k) or (..., k + 1), int64; float64 for resamples."""


@dataclass(frozen=True)
class Tally:
    """Counts over a set of steps. A drafted step is one with K_s >= 1; all but ``undrafted`` are over those.

    Attributes:
        k: Number of draft positions that the arrays have, None when not known.
        steps: Drafted steps.
        undrafted: Steps with K_s = 0; None when the source does not count them.
        drafted: Sum of K_s; None when not known.
        accepted: Sum of a_s.
        hits: Shape (..., k), steps with a_s >= i + 1; None without per-position counts.
        exposed: Shape (..., k), steps with K_s > i; None when the mix of K_s is not known.
        risk: Shape (..., k), steps with K_s > i and a_s >= i; None when the mix of K_s is not known.
        full: Steps with a_s = K_s; None when the mix of K_s is not known.
    """

    k: int | None
    steps: Count
    undrafted: Count | None
    drafted: Count | None
    accepted: Count
    hits: Counts | None
    exposed: Counts | None
    risk: Counts | None
    full: Count | None

    @classmethod
    def of_outcomes(
        cls, sets: np.ndarray, drafted: np.ndarray, accepted: np.ndarray, steps: np.ndarray, *, count: int, k: int
    ) -> Tally:
        """Tally outcome counts of many sets of steps.

        Args:
            sets: Shape (n,), set that a row belongs to, 0..count - 1.
            drafted: Shape (n,), K_s, 0..k.
            accepted: Shape (n,), a_s, 0..K_s.
            steps: Shape (n,), steps with that outcome.
            count: Number of sets, the leading axis of the result.
            k: Number of draft positions.
        """

        def histogram(chosen: np.ndarray, values: np.ndarray) -> np.ndarray:
            cells = np.bincount((sets * (k + 1) + values)[chosen], steps[chosen], count * (k + 1))
            return cells.astype(np.int64).reshape(count, k + 1)

        def at_least(counts: np.ndarray) -> np.ndarray:
            return np.cumsum(counts[:, ::-1], axis=1)[:, ::-1]

        drafting = drafted > 0
        outcomes, full = histogram(drafting, accepted), histogram(drafting & (accepted == drafted), accepted)
        blocks = histogram(np.ones_like(drafting), drafted)
        return cls(
            k=k,
            steps=outcomes.sum(axis=1),
            undrafted=blocks[:, 0],
            drafted=blocks @ np.arange(k + 1),
            accepted=outcomes @ np.arange(k + 1),
            hits=at_least(outcomes)[:, 1:],
            exposed=at_least(blocks)[:, 1:],
            risk=(at_least(outcomes) - full)[:, :-1],  # a_s >= i and K_s <= i leaves a_s = K_s = i alone
            full=full.sum(axis=1),
        )

    @classmethod
    def of_counters(
        cls,
        k: int | None,
        steps: int,
        drafted: int | None,
        accepted: int,
        hits: list[int] | None,
        block: int | None,
    ) -> Tally:
        """Tally counters: with a constant block K they say as much as a log, without one less.

        Args:
            k: Number of draft positions of the run, None when not known.
            steps: Drafted steps.
            drafted: Sum of K_s, or None.
            accepted: Sum of a_s.
            hits: Steps that accepted position i, for i < len(hits) <= k, or None.
            block: K when every step drafted the same number, or None.
        """
        padded = None if hits is None or k is None else np.array(hits + [0] * (k - len(hits)), dtype=np.int64)
        if padded is None or block is None or k is None:
            return cls(k, steps, None, drafted, accepted, padded, None, None, None)
        within = np.arange(k) < block
        survivors = np.concatenate([[steps], padded[:-1]])
        return cls(
            k=k,
            steps=steps,
            undrafted=None,
            drafted=drafted,
            accepted=accepted,
            hits=padded,
            exposed=np.where(within, steps, 0),
            risk=np.where(within, survivors, 0),
            full=int(padded[block - 1]) if block else 0,
        )

    def __add__(self, other: Tally) -> Tally:
        """Add two tallies; what one of them does not know, the sum does not know either."""
        return Tally(
            k=self.k,
            steps=self.steps + other.steps,
            undrafted=_sum(self.undrafted, other.undrafted),
            drafted=_sum(self.drafted, other.drafted),
            accepted=self.accepted + other.accepted,
            hits=_sum(self.hits, other.hits),
            exposed=_sum(self.exposed, other.exposed),
            risk=_sum(self.risk, other.risk),
            full=_sum(self.full, other.full),
        )

    def mapped(self, linear: Callable[[np.ndarray], np.ndarray]) -> Tally:
        """Return the tally with a linear map over the leading axes applied to every count that is known."""
        known = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "k"}
        return replace(self, **{name: linear(np.asarray(x)) for name, x in known.items() if x is not None})

    def one(self, index: int) -> Tally:
        """Return the tally of one of many sets."""
        return self.mapped(lambda x: x[index] if x.ndim > 1 else x[index].item())

    @property
    def outcomes(self) -> Counts | None:
        """Shape (..., k + 1), drafted steps that accepted exactly j tokens."""
        if self.hits is None:
            return None
        ends = np.zeros_like(lifted(self.steps))
        return -np.diff(np.concatenate([lifted(self.steps), self.hits, ends], axis=-1), axis=-1)

    @property
    def blocks(self) -> Counts | None:
        """Shape (..., k + 1), drafted steps by K_s; index 0 is always 0."""
        if self.exposed is None:
            return None
        ends = np.zeros_like(lifted(self.steps))
        return np.concatenate([ends, -np.diff(np.concatenate([self.exposed, ends], axis=-1), axis=-1)], axis=-1)


Estimate = Callable[[Tally], np.ndarray | None]
"""Tally to values of shape (...) or (..., n): NaN where undefined, None where the counts are not known."""


def lifted(count: Count) -> np.ndarray:
    """Return a count with a last axis of length 1, to stand beside counts by position."""
    return np.asarray(count)[..., None]


def plain(values: np.ndarray | None) -> float | list[float | None] | None:
    """Return an estimate of one set as a row has it: a number or a list, None where undefined."""
    if values is None:
        return None
    if values.ndim:
        return [None if np.isnan(v) else v for v in values.tolist()]
    return None if np.isnan(values) else float(values)


def _sum(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a + b


def total(tallies: Iterable[Tally]) -> Tally:
    """Return the sum of at least one tally."""
    first, *rest = tallies
    for tally in rest:
        first = first + tally
    return first


def joined(tallies: Sequence[Tally], join: Callable[[list[np.ndarray]], np.ndarray] = np.concatenate) -> Tally:
    """Join tallies of many sets each along their leading axis, or by another way to join arrays."""
    first, *_ = tallies
    names = [field.name for field in fields(first) if field.name != "k" and getattr(first, field.name) is not None]
    return replace(first, **{name: join([getattr(tally, name) for tally in tallies]) for name in names})


def tallies_by_dataset(run: Run) -> dict[str, Tally]:
    """Tally a run by dataset, in the run's order of datasets.

    Args:
        run: A run of any granularity but ``rates``.
    """
    if run.counters is not None:
        return {
            row["dataset"]: Tally.of_counters(
                run.k, row["steps"], row["drafted"], row["accepted"], row["per_position"], row["block"]
            )
            for row in run.counters.iter_rows(named=True)
        }
    if run.responses is None or run.counts is None or run.k is None:
        raise ValueError("a run of printed ratios has no counts to tally")
    names = run.responses["dataset"].unique(maintain_order=True).to_list()
    index = pl.DataFrame({"dataset": names, "set": range(len(names))}, schema={"dataset": pl.String, "set": pl.Int64})
    tally = tally_by(run.counts, run.responses.join(index, on="dataset").select("response", "set"), len(names), run.k)
    return {name: tally.one(i) for i, name in enumerate(names)}


def tally_by(counts: pl.DataFrame, sets: pl.DataFrame, count: int, k: int) -> Tally:
    """Tally outcome counts by sets of responses.

    Args:
        counts: COUNTS.
        sets: ``response``, and ``set`` it belongs to, 0..count - 1; responses that are not there are left out.
        count: Number of sets, the leading axis of the result.
        k: Number of draft positions.
    """
    rows = counts.join(sets, on="response")
    columns = (rows[name].cast(pl.Int64).to_numpy() for name in ("set", "drafted", "accepted", "steps"))
    return Tally.of_outcomes(*columns, count=count, k=k)
