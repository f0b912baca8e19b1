"""What is exported: rows and columns with a name, whether they stand in a table of the report or behind a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from specdash import metrics
from specdash.report.exports.origin import Origin
from specdash.report.frames import table_frame
from specdash.report.intervals import with_margins
from specdash.report.lines import Line
from specdash.report.tables import Column, Table


@dataclass(frozen=True)
class Sheet:
    """Rows and columns at full precision, of a table (``of_table``) or behind a figure.

    Attributes:
        name: Short name.
        title: What they are, in a sentence at most.
        origin: Where they come from.
        frame: The numbers.
        about: What a reader of one column needs, by its name; for columns that are declared.
        table: The table it is of, ± beside numbers that have intervals; None behind a figure.
        lines: The table's lines.
    """

    name: str
    title: str
    origin: Origin
    frame: pl.DataFrame
    about: dict[str, dict[str, Any]] = field(default_factory=dict)
    table: Table | None = None
    lines: Sequence[Line] = ()

    @classmethod
    def of_table(cls, table: Table, lines: Sequence[Line], origin: Origin, name: str | None = None) -> Sheet:
        """Return a table of the report."""
        rows = [line.row | {"dataset": line.name, "family": line.family} for line in lines]
        frame = table_frame(rows, table)
        frame = frame.with_columns(pl.selectors.by_dtype(pl.Null).cast(pl.Float64))  # Nothing is defined there.
        about = {column.key: _about(column) for column in table.columns}
        return cls(name or table.key, table.title, origin, frame, about, with_margins(table, rows), lines)


def _about(column: Column) -> dict[str, Any]:
    if column.metric is None:
        return {"label": column.label, "definition": column.help}
    metric = metrics.get(column.metric)
    return {
        "label": column.label,
        "metric": metric.key,
        "unit": metric.unit,
        "definition": metric.definition,
        "estimator": metric.estimator,
        "source": metric.source,
    }
