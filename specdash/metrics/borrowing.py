"""Borrowed intervals: what another run of the same datasets tells about the error of counters.

Counters do not tell prompts apart, so they have no interval of their own. Where another run of the evaluation has
drafted as many tokens on the same datasets, it shows how much τ varies over prompts, and how much over copies of one.
The first is taken over as a relative error, the second grows as the number of answers shrinks, which the steps measure:
Var(ln τ) = between + within · S_lender/S. Without copies what is within a prompt is not known, and all of it is scaled.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from specdash.metrics.group import restricted
from specdash.schema import Evaluation, Granularity, Run

Row = dict[str, Any]

BORROWED = ("tau_ci", "tau_se", "interval_note", "interval_from")
"""Keys of a row that change when it borrows."""

NEEDED = ("steps", "tau", "tau_ci", "tau_se", "tau_se_copies")
"""Keys of the lender's rows."""


@dataclass(frozen=True)
class Background:
    """What the intervals of a run need to know of its evaluation.

    Attributes:
        seed: Names the random stream of resamples.
        lender: The run that lends its error to counters, None for a run that has its own or finds none.
    """

    seed: str = ""
    lender: Run | None = None

    @classmethod
    def of(cls, evaluation: Evaluation, run: Run) -> Background:
        """Return the background of a run. A figure is the same wherever the evaluation is looked at."""
        return cls(f"{evaluation.id}/{run.name}", _lender(evaluation, run))

    def restricted(self, datasets: Collection[str]) -> Background:
        """Return the background of some of the run's datasets."""
        return self if self.lender is None else replace(self, lender=restricted(self.lender, datasets))


ALONE = Background()
"""Of a run that no evaluation is known of."""


def _lender(evaluation: Evaluation, run: Run) -> Run | None:
    """Return the run of the same block length with prompts that shares most datasets with counters."""
    if run.granularity is not Granularity.AGGREGATE or run.counters is None:
        return None
    datasets = set(run.counters["dataset"])

    def shared(other: Run) -> int:
        known = other.responses.filter(pl.col("prompt").is_not_null())["dataset"] if other.responses is not None else ()
        return len(datasets & set(known))

    found = [other for other in evaluation.runs if other.k == run.k and shared(other)]
    return max(found, key=shared, default=None)


def borrow(rows: Sequence[Row], lent: Sequence[Row], *, lender: str, k: int | None, whole: bool) -> list[Row]:
    """Return rows with the interval of τ that they can borrow, and a sentence that says so.

    Args:
        rows: Rows of counters: "steps", "tau", and any of ``BORROWED``.
        lent: Rows of the lender with ``NEEDED``.
        lender: Name of the lender.
        k: Block length of the run.
        whole: Whether both runs hold the same datasets; if not, only datasets borrow, not families or the pooled row.
    """
    by_name = {(row["dataset"], row["family"]): row for row in lent}
    return [_borrowed(row, by_name.get((row["dataset"], row["family"])), lender, k, whole) for row in rows]


def _borrowed(row: Row, lent: Row | None, lender: str, k: int | None, whole: bool) -> Row:
    of_dataset = row["family"] is not None and row["dataset"] != row["family"]
    if lent is None or not (whole or of_dataset) or not row["steps"] or row["tau"] is None or not lent["tau_ci"]:
        return row
    wider = math.sqrt(_factor(lent, row["steps"]))
    half = wider * math.log(lent["tau_ci"][1] / lent["tau_ci"][0]) / 2
    low, high = (row["tau"] * math.exp(side * half) for side in (-1, 1))
    said = {
        "tau_ci": [max(1.0, low), high if k is None else min(1.0 + k, high)],
        "tau_se": row["tau"] * wider * lent["tau_se"] / lent["tau"],
        "interval_from": lender,
        "interval_note": f"the interval of τ is borrowed from the run {lender}, whose prompts are taken to be alike; "
        "other numbers have none",
    }
    return row | {key: value for key, value in said.items() if key in row}


def _factor(lent: Row, steps: int) -> float:
    """Return how many times the lender's variance of ln τ that of so many steps is."""
    fewer = lent["steps"] / steps
    if lent["tau_se_copies"] is None:
        return max(1.0, fewer)
    within = min(1.0, (lent["tau_se_copies"] / lent["tau_se"]) ** 2)
    return 1 - within + within * fewer
