"""Rows of numbers as frames at full precision, with the ends of their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from specdash.report.tables import Row, Table


def table_frame(rows: Sequence[Row], table: Table) -> pl.DataFrame:
    """Return a table at full precision: its numbers, and the ends of the interval of each that has one."""
    found = names(rows, table.names)
    for column in table.columns:
        found |= with_ends(column.key, [column.value(row) for row in rows], [column.ends(row) for row in rows])
    return pl.DataFrame(found, strict=False, infer_schema_length=None)


def names(rows: Sequence[Row], heads: Sequence[str] = ("dataset", "family")) -> dict[str, list[Any]]:
    """Return the columns that name the rows, by their heads."""
    return {head: [row[key] for row in rows] for head, key in zip(heads, ("dataset", "family"), strict=False)}


def with_ends(key: str, values: list[Any], ends: list[list[float] | None]) -> dict[str, list[Any]]:
    """Return the columns of a number: itself, and where some rows have an interval its ends."""
    if not any(ends):
        return {key: values}
    low, high = ([found and found[side] for found in ends] for side in (0, 1))
    return {key: values, f"{key}_low": low, f"{key}_high": high}
