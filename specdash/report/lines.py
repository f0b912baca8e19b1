"""The lines of a table: datasets, then families, then the pooled run, then what stands beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from specdash.metrics import Row
from specdash.schema import POOLED


class Kind(StrEnum):
    """What a line of a table is about."""

    DATASET = "dataset"
    FAMILY = "family"
    POOLED = "pooled"
    EXTRA = "extra"


@dataclass(frozen=True)
class Line:
    """A line of a table.

    Attributes:
        name: As shown: a family is "all math".
        family: Family of a dataset, the family itself, or None.
        kind: What it is about.
        row: Its numbers.
    """

    name: str
    family: str | None
    kind: Kind
    row: Row

    def named(self, heads: Sequence[str]) -> list[str]:
        """Return the cells that name the line, under the heads of its table."""
        return [self.name, self.family or ""][: len(heads)]


def lines(datasets: Sequence[Row], families: Iterable[Row], extra: Iterable[Row] = ()) -> list[Line]:
    """Return the lines of a table.

    Args:
        datasets: Rows by dataset, the pooled one last where there is one (metrics.run_rows).
        families: Rows by family.
        extra: Rows below the others.
    """
    by_dataset = [Line(row["dataset"], row["family"], Kind.DATASET, row) for row in datasets if not _is_pooled(row)]
    by_family = [Line(f"all {row['dataset']}", row["family"], Kind.FAMILY, row) for row in families]
    pooled = [Line(row["dataset"], None, Kind.POOLED, row) for row in datasets if _is_pooled(row)]
    return [*by_dataset, *by_family, *pooled, *(Line(r["dataset"], r["family"], Kind.EXTRA, r) for r in extra)]


def _is_pooled(row: Row) -> bool:
    return row["dataset"] == POOLED and row["family"] is None
