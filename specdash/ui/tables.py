"""The report's tables in the browser: sortable numbers, the report's decimals, help from the registry, downloads."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import polars as pl
import streamlit as st

from specdash import metrics
from specdash.report.exports import TABLE_FORMATS, Origin, Sheet
from specdash.report.intervals import with_margins
from specdash.report.lines import Line, lines
from specdash.report.sections import Rows
from specdash.report.tables import UNDEFINED, Column, Table
from specdash.ui import downloads

_FAMILY_COLOURS = {"math": "blue", "code": "orange", "chat": "green"}
_TALLEST = 640  # px
_BIDI = re.compile(
    "[\u202a-\u202e\u2066-\u2069]"
)  # they turn what follows around, so that one name may pose as another


def show(
    table: Table,
    rows: Rows,
    key: str,
    *,
    origin: Origin,
    name: str | None = None,
    extra: tuple[metrics.Row, ...] = (),
) -> None:
    """Show a table, ± beside numbers that have intervals, with its note and its downloads.

    Args:
        table: What to show.
        rows: The numbers: datasets, then families, then the pooled row.
        key: Key of the widgets, unique on the page.
        origin: Where they come from.
        name: Name in file names; the table's key when None.
        extra: Rows below the others.
    """
    shown = lines(rows.datasets, rows.families, extra)
    wide = with_margins(table, [line.row for line in shown])
    frame = _frame(wide, shown)
    st.dataframe(
        frame,
        key=key,
        hide_index=True,
        placeholder=UNDEFINED,
        height=min(_TALLEST, 35 * (frame.height + 1) + 3),
        column_config=_config(wide),
        alt=f"{table.title}: {frame.height} rows",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if table.note:
            st.caption(table.note)
        sheet = partial(Sheet.of_table, table, shown, origin, name)
        downloads.menu(sheet, origin.file(name or table.key), TABLE_FORMATS, key)


def _frame(table: Table, shown: list[Line]) -> pl.DataFrame:
    """Return what is shown: shares as percent, the family as a list of one so that it gets its colour."""
    columns: dict[str, Any] = {table.names[0]: [_BIDI.sub("�", line.name) for line in shown]}
    if "family" in table.names:
        columns["family"] = [[line.family] if line.family else [] for line in shown]
    for column in table.shown:
        values = [column.value(line.row) for line in shown]
        if column.percent:
            values = [v if v is None else v * 100 for v in values]
        elif column.decimals == 0 and not column.text:  # No format groups thousands and leaves out decimals.
            values = [v if v is None else round(v) for v in values]
        columns[column.label] = values
    return pl.DataFrame(columns, strict=False)


def _config(table: Table) -> dict[str, Any]:
    config: dict[str, Any] = {table.names[0]: st.column_config.TextColumn(table.names[0], pinned=True)}
    if "family" in table.names:
        config["family"] = st.column_config.MultiselectColumn(
            "family", options=list(_FAMILY_COLOURS), color=list(_FAMILY_COLOURS.values())
        )
    for column in table.shown:
        kind = st.column_config.TextColumn if column.text else st.column_config.NumberColumn
        how = {} if column.text else {"format": _format(column)}
        config[column.label] = kind(column.label, help=_help(column), **how)
    return config


def _format(column: Column) -> str:
    if column.decimals == 0 and not column.percent:
        return "localized"
    if column.significant:
        return f"%.{column.decimals}g"
    sign = "+" if column.signed else ""
    return f"%{sign}.{column.decimals}f" + ("%%" if column.percent and column.index is None else "")


def _help(column: Column) -> str:
    if column.metric is None:
        return column.help
    metric = metrics.get(column.metric)
    return f"{metric.definition}\n\n$$ {metric.formula} $$\n\n{metric.estimator}. Source: {metric.source}."
