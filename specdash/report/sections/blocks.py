"""Shorter blocks: what a log implies for them, and what was measured at other block lengths."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from specdash import charts
from specdash.metrics import Row
from specdash.report import measured, tables
from specdash.report.measured import Other
from specdash.report.sections.base import FigurePart, Note, Part, Rows, Subject, TablePart

_IMPLIED = (
    "Implied from the K = {k} log by truncation. It is a lower bound when difficulty comes in stretches (in one "
    "measured case 17% too low), and it says nothing about a drafter outside the block it was trained for."
)


def shorter_blocks(subject: Subject, *, block: int | None = None, others: Sequence[Other] = ()) -> list[Part]:
    """The table of section 5, what a block of K′ tokens gives, and what was measured at other block lengths.

    Args:
        subject: A run with counts by draft position.
        block: K′; K when None.
        others: Runs that were measured at other block lengths.
    """
    k, rows = subject.k, subject.rows.datasets
    chosen, whole = tables.at_block(k, block or k), tables.shorter_blocks(k)
    beside = measured.beside(rows, subject.run, others)
    drawn = {"chosen": block or k, "families": subject.rows.families}
    parts: list[Part] = [
        Note(_IMPLIED.format(k=k)),
        *map(Note, measured.beyond_training(subject.run)),
        TablePart(chosen, chosen.title, name=f"{chosen.key}_{block or k}"),
        FigurePart("tau_by_block", partial(charts.tau_by_block, rows, measured=curves(beside), **drawn)),
    ]
    if beside:
        table = measured.table(k)
        parts.append(TablePart(table, table.title, rows=Rows(beside, [])))
    return [
        *parts,
        FigurePart("position_gains", partial(charts.position_gains, rows, **drawn)),
        TablePart(whole, whole.title),
    ]


def curves(beside: Sequence[Row]) -> list[charts.Measured]:
    """Return measured rows as curves: those of a dataset whose runs differ in their block length only."""
    found: list[tuple[Row, dict[int, float]]] = []
    for row in beside:
        alike = (points for first, points in found if _alike(first, row) and row["block"] not in points)
        points = next(alike, None)
        if points is None:  # Two runs of one block length are no curve: the second begins another.
            points = {}
            found.append((row, points))
        points[row["block"]] = row["tau"]
    return [
        charts.Measured(
            f"{first['curve']}, {first['dataset']}",
            sorted(points),
            [points[block] for block in sorted(points)],
            first["family"],
            None if first["prompts"] == measured.WORKLOAD_DIFFERS else first["dataset"],
        )
        for first, points in found
    ]


def _alike(one: Row, other: Row) -> bool:
    return all(one[key] == other[key] for key in ("curve", "dataset", "family"))
