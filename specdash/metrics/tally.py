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

from specdash.schema import Run, Undrafted

Count = int | np.ndarray
"""A whole number, or an array of shape (...) when the tally is of many sets."""

Counts = np.ndarray
"""Array of shape (..., k) or (..., k + 1), int64; float64 for resamples."""


@dataclass(frozen=True)
class Tally:
    """Counts over a set of steps. A drafted step is one with K_s >= 1; all but ``undrafted`` are over those.

    Attributes:
        k: Number of draft positions that the arrays have, None when not known.
        steps: Drafted steps; None when the source counts tokens only.
        undrafted: Steps with K_s = 0; None when the source does not count them.
        drafted: Sum of K_s; None when not known.
        accepted: Sum of a_s.
        hits: Shape (..., k), steps with a_s >= i + 1; None without per-position counts.
        exposed: Shape (..., k), steps with K_s > i; None when the mix of K_s is not known.
        risk: Shape (..., k), steps with K_s > i and a_s >= i; None when the mix of K_s is not known.
        full: Steps with a_s = K_s; None when the mix of K_s is not known.
    """

    k: int | None
    steps: Count | None
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
        steps: int | None,
        drafted: int | None,
        accepted: int,
        hits: list[int] | None,
        block: int | None,
        exposed: list[int] | None = None,
    ) -> Tally:
        """Tally counters: with a constant block K they say as much as a log, without one less.

        Args:
            k: Number of draft positions of the run, None when not known.
            steps: Drafted steps, or None.
            drafted: Sum of K_s, or None.
            accepted: Sum of a_s.
            hits: Steps that accepted position i, for i < len(hits) <= k, or None.
            block: K when every step drafted the same number, or None.
            exposed: Steps that drafted position i, where they are counted although no K is the same for all.
        """
        if hits is None or k is None or steps is None:
            return cls(k, steps, None, drafted, accepted, None, None, None, None)
        padded = np.array(hits + [0] * (k - len(hits)), dtype=np.int64)
        if block is None:
            counted = None if exposed is None else np.array(exposed + [0] * (k - len(exposed)), dtype=np.int64)
            return cls(k, steps, None, drafted, accepted, padded, counted, None, None)
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
            steps=_sum(self.steps, other.steps),
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
        if self.hits is None or self.steps is None:
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


def lifted(count: Count | None) -> np.ndarray | None:
    """Return a count with a last axis of length 1, to stand beside counts by position; None stays None."""
    return None if count is None else np.asarray(count)[..., None]


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
                run.k, *(row[name] for name in ("steps", "drafted", "accepted", "per_position", "block", "exposed"))
            )
            for row in run.counters.iter_rows(named=True)
        }
    if run.responses is None:
        raise ValueError("a run of printed ratios or latencies has no counts to tally")
    names = run.responses["dataset"].unique(maintain_order=True).to_list()
    if run.sums is not None:  # what is known of one dataset need not be of another
        return {name: _of_dataset(run, name) for name in names}
    index = pl.DataFrame({"dataset": names, "set": range(len(names))}, schema={"dataset": pl.String, "set": pl.Int64})
    tally = tally_by(run, run.responses.join(index, on="dataset").select("response", "set"), len(names))
    return {name: tally.one(i) for i, name in enumerate(names)}


def _of_dataset(run: Run, name: str) -> Tally:
    chosen = run.responses.filter(pl.col("dataset") == name)
    return tally_by(run, chosen.select("response", pl.lit(0, pl.Int64).alias("set")), 1).one(0)


def tally_by(run: Run, sets: pl.DataFrame, count: int) -> Tally:
    """Tally the responses of a run by sets of them.

    Args:
        run: A run with responses.
        sets: ``response``, and ``set`` it belongs to, 0..count - 1; responses that are not there are left out.
        count: Number of sets, the leading axis of the result. What is not known of one of them is known of none.
    """
    parts = []
    summed = run.sums.join(sets, on="response") if run.sums is not None else None
    if run.counts is not None:
        known = run.counts.filter(pl.col("drafted").is_not_null()).join(sets, on="response")
        columns = (known[name].cast(pl.Int64).to_numpy() for name in ("set", "drafted", "accepted", "steps"))
        parts.append(Tally.of_outcomes(*columns, count=count, k=run.k or 0))
    if summed is not None and (summed.height or not parts):
        parts.append(_summed(run, summed, count))
    tally = total(parts)
    omitted = run.semantics is not None and run.semantics.undrafted is not Undrafted.COUNTED
    return replace(tally, undrafted=None) if omitted else tally


def _summed(run: Run, summed: pl.DataFrame, count: int) -> Tally:
    """Tally responses of which the source gives sums, by set: with the histograms of accepted tokens it may have."""
    sums = {name: _by_set(summed, name, count) for name in ("steps", "drafted", "accepted")}
    hits = None if run.counts is None or run.k is None or sums["steps"] is None else _hits(run, summed, count)
    return Tally(run.k, sums["steps"], None, sums["drafted"], sums["accepted"], hits, None, None, None)


def _by_set(frame: pl.DataFrame, column: str, count: int) -> np.ndarray | None:
    """Sum a column by set, shape (count,); None where a value is not known."""
    if frame[column].null_count():
        return None
    sums = np.zeros(count, dtype=np.int64)
    np.add.at(sums, frame["set"].to_numpy(), frame[column].cast(pl.Int64).to_numpy())
    return sums


def _hits(run: Run, summed: pl.DataFrame, count: int) -> np.ndarray | None:
    """Return the steps that accepted position i, shape (count, k); None unless each response has a histogram."""
    outcomes = run.counts.filter(pl.col("drafted").is_null()).join(summed.select("response", "set"), on="response")
    if outcomes["steps"].sum() != summed["steps"].sum():
        return None
    hits = np.zeros((count, run.k + 1), dtype=np.int64)
    np.add.at(hits, (outcomes["set"].to_numpy(), outcomes["accepted"].to_numpy()), outcomes["steps"].to_numpy())
    return np.cumsum(hits[:, ::-1], axis=1)[:, ::-1][:, 1:]
