"""Acceptance lengths that were measured at other block lengths, beside what this run implies for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from specdash.metrics import Row
from specdash.report.tables import Column, Table
from specdash.schema import POOLED, Granularity, Run
from specdash.verdict import Outcome

WORKLOAD_DIFFERS = "another workload"
"""Said of a measurement that is of none of this run's datasets."""


@dataclass(frozen=True)
class Other:
    """A run that was measured at one block length.

    Attributes:
        label: What it is called, e.g. evaluation and run.
        curve: What runs that differ in their block length only have in common.
        run: The run.
        rows: Its rows by dataset.
        block: Its block length K.
    """

    label: str
    curve: str
    run: Run
    rows: Sequence[Row]
    block: int


def beside(rows: Sequence[Row], run: Run, others: Iterable[Other]) -> list[Row]:
    """Return a row for every dataset of the other runs.

    The pooled row of another run stands beside this one's only where both pool the same datasets, more than one.

    Args:
        rows: This run's rows by dataset, the pooled one among them; "tau_at_k" over K′ = 1..K.
        run: This run, over the datasets of ``rows``.
        others: Runs at other block lengths.

    Returns:
        Rows with "dataset", "family", "run", "curve", "block" (K), "tau" (measured), "implied" (τ(K) of this run), both
        in tokens a step, "off" (implied over measured, less 1) and "prompts" (which they have in common, in words).
        "implied" and "off" are None where this run has no such dataset, or none of its steps was that long.
    """
    ours = {_key(row): row for row in rows}
    found = []
    for other in others:
        theirs = {_key(row) for row in other.rows}
        alike = theirs == set(ours) and len(theirs) > 2
        for row in other.rows:
            if row.get("tau") is None or (_is_pooled(row) and not alike):
                continue
            own = ours.get(_key(row))
            implied = _at(own, other.block)
            found.append(
                {
                    "dataset": row["dataset"],
                    "family": row["family"],
                    "run": other.label,
                    "curve": other.curve,
                    "block": other.block,
                    "tau": row["tau"],
                    "implied": implied,
                    "off": None if implied is None else implied / row["tau"] - 1,
                    "prompts": WORKLOAD_DIFFERS if own is None else _in_common(run, other.run, row),
                }
            )
    return found


def _is_pooled(row: Row) -> bool:
    return row["dataset"] == POOLED and row["family"] is None


def _key(row: Row) -> tuple[str, bool]:
    return row["dataset"], _is_pooled(row)


def _at(row: Row | None, block: int) -> float | None:
    taus = (row or {}).get("tau_at_k")
    return taus[block - 1] if taus and block <= len(taus) else None


def _in_common(one: Run, other: Run, row: Row) -> str:
    """Say which prompts two runs have in common, by their ids."""
    mine, theirs = (_prompts(run, None if _is_pooled(row) else row["dataset"]) for run in (one, other))
    if not mine or not theirs:
        return "not known"
    shared = len(mine & theirs)
    if mine == theirs:
        return f"the same {shared:,}"
    return f"{shared:,} of {len(mine):,} and {len(theirs):,}" if shared else "none in common"


def _prompts(run: Run, dataset: str | None) -> set[tuple[str, str]]:
    if run.responses is None:
        return set()
    known = run.responses.filter(pl.col("prompt").is_not_null())
    if dataset is not None:
        known = known.filter(pl.col("dataset") == dataset)
    return set(known.select("dataset", "prompt").unique().iter_rows())


def beyond_training(run: Run) -> list[str]:
    """Return a sentence where the run drafts more than its drafter's configuration says it was trained for."""
    found = [f for f in run.checks or () if f.check == "trained_block" and f.outcome is Outcome.WARN]
    return [f"{finding.figure}. Acceptance beyond the trained block is extrapolation." for finding in found]


def table(k: int) -> Table:
    """The table of measured acceptance lengths beside the implied ones.

    Args:
        k: Block length of this run.
    """

    def column(key: str, label: str, help: str, **how: object) -> Column:
        return Column(key, label, derive=lambda row: row.get(key), help=help, **how)

    columns = (
        column("run", "measured run", "The run that was measured.", text=True),
        column("block", "K", "Its block length.", decimals=0),
        column("tau", "τ measured", "Acceptance length of that run, every step weighing the same."),
        column("implied", "τ implied here", f"τ(K′ = K) of this run, its steps of {k} cut short."),
        column("off", "implied is off by", "Implied over measured, less 1.", decimals=1, percent=True, signed=True),
        column("prompts", "prompts", "Which prompts both runs answered, by their ids.", text=True),
    )
    note = "Measured and implied are comparable for the same prompts, drafter, target and sampling settings only."
    return Table("measured_blocks", "Measured at other block lengths", Granularity.AGGREGATE, columns, note)
