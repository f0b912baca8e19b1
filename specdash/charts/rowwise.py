"""Figures with a row a dataset: names on the vertical axis, as many pixels as there are rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from specdash.charts.base import figure
from specdash.charts.palette import Theme, colours, on_scale, scale, text_on
from specdash.charts.series import Series

_AXES = 88  # px for the horizontal axis and its title
_MOST_NUMBERED = 16  # columns of a heatmap that have room for numbers on a phone


def names_axis(drawn: Sequence[Series]) -> dict[str, Any]:
    """Return the vertical axis of some rows, the first on top.

    Rows stand at 0, 1, 2, … and not at their names: two long names may be cut to the same text.
    """
    return {
        "tickmode": "array",
        "tickvals": list(range(len(drawn))),
        "ticktext": [s.tick for s in drawn],
        "range": [len(drawn) - 0.5, -0.5],
        "fixedrange": True,
        "showgrid": False,
    }


def height(rows: int, each: int = 28) -> int:
    """Height in px of a figure of some rows, ``each`` px a row."""
    return _AXES + max(rows, 2) * each


def heatmap(
    drawn: Sequence[Series],
    cells: Sequence[Sequence[float | None]],
    theme: Theme,
    *,
    columns: Sequence[str],
    title: str,
    template: str,
    highest: float,
    outlined: int | None = None,
) -> go.Figure:
    """Return a heatmap with a row a series.

    Args:
        drawn: Rows.
        cells: A list a row, each with a value in percent a column; None stays blank.
        theme: Page it is for.
        columns: Label of each column.
        title: Title of the horizontal axis.
        template: Hover template; x is the column from 0, z the value.
        highest: Value of the strongest colour, in percent.
        outlined: Column that is marked.
    """
    numbered = len(columns) <= _MOST_NUMBERED + 1
    grid = _grid(drawn, cells, theme, len(columns), template, highest)
    grid.showscale = not numbered
    return figure(
        [grid, _numbers(cells, theme, highest)] if numbered else [grid],
        theme,
        height=height(len(drawn), 26) + (0 if numbered else 40),
        shapes=[] if outlined is None else [_outline(outlined, len(drawn), colours(theme).ink)],
        xaxis=_columns_axis(columns, title, outlined),
        yaxis=names_axis(drawn),
    )


def _grid(
    drawn: Sequence[Series],
    cells: Sequence[Sequence[float | None]],
    theme: Theme,
    wide: int,
    template: str,
    highest: float,
) -> go.Heatmap:
    return go.Heatmap(
        x=list(range(wide)),
        y=list(range(len(drawn))),
        z=[list(row) for row in cells],
        zmin=0,
        zmax=highest or 1,
        colorscale=scale(colours(theme).scale),
        colorbar={"orientation": "h", "thickness": 10, "y": 1, "yanchor": "bottom", "ticksuffix": " %", "len": 0.9},
        xgap=1,
        ygap=1,
        customdata=[[s.about] * wide for s in drawn],
        hovertemplate=template,
        hoverongaps=False,
    )


def _columns_axis(columns: Sequence[str], title: str, outlined: int | None) -> dict[str, Any]:
    every = 1 if len(columns) <= _MOST_NUMBERED + 1 else -(-len(columns) // _MOST_NUMBERED)
    marked = [i for i in range(len(columns)) if i % every == 0 or i == outlined]
    if outlined is not None:
        marked = [i for i in marked if i == outlined or outlined - i >= every]
    return {
        "title": {"text": title},
        "tickmode": "array",
        "tickvals": marked,
        "ticktext": [columns[i] for i in marked],
        "range": [-0.5, len(columns) - 0.5],
        "fixedrange": True,
        "showgrid": False,
        "tickangle": 0,
    }


def _numbers(cells: Sequence[Sequence[float | None]], theme: Theme, highest: float) -> go.Scatter:
    """Return the values of a heatmap's cells as text that reads on each of them.

    Plotly's own text knows a grey and white only, of which neither reads on the middle of a scale.
    """
    wide = max(map(len, cells))
    filled = [(x, y, v) for y, row in enumerate(cells) for x, v in enumerate(row) if v is not None]
    steps = colours(theme).scale
    return go.Scatter(
        x=[x for x, _, _ in filled],
        y=[y for _, y, _ in filled],
        mode="text",
        text=[f"{v:.{1 if wide <= 9 else 0}f}" for _, _, v in filled],
        textfont={
            "size": 11 if wide <= 9 else 9,
            "color": [text_on(on_scale(steps, v / (highest or 1))) for _, _, v in filled],
        },
        hoverinfo="skip",
        showlegend=False,
    )


def _outline(column: int, rows: int, colour: str) -> dict[str, Any]:
    return {
        "type": "rect",
        "x0": column - 0.5,
        "x1": column + 0.5,
        "y0": -0.5,
        "y1": rows - 0.5,
        "line": {"color": colour, "width": 2},
        "layer": "above",
    }
