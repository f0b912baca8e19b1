"""What every figure shares: its frame in light and dark, its empty state, the result a chart function returns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import plotly.graph_objects as go
import polars as pl

from specdash.charts.palette import Theme, colours

HEIGHT = 400
"""Height of a figure whose size does not follow from its rows, in px, legend not included."""

CLEAR = "rgba(0,0,0,0)"

_MOST_TICKS = 10
_DECADES = tuple(m * 10.0**e for e in range(-4, 7) for m in (1, 2, 5))

_FONT = '"Source Sans", "Source Sans Pro", "Segoe UI", system-ui, sans-serif'
_LEGEND_ROW = 20  # px
_LEGEND_MOST = 150  # px; a longer legend scrolls

_LEGEND = {
    "orientation": "h",
    "xref": "container",
    "x": 0.01,
    "xanchor": "left",
    "yref": "container",
    "y": 0,
    "yanchor": "bottom",
    "maxheight": _LEGEND_MOST,
    "font": {"size": 12},
    "bgcolor": CLEAR,
    "itemsizing": "trace",
    "tracegroupgap": 0,
    "traceorder": "normal",
}


@dataclass(frozen=True)
class Chart:
    """A figure with what to see in it.

    Attributes:
        figure: For a page of the theme it was made for and on its background; of fixed height, as wide as its place.
        caption: One or two sentences of plain text, true of this data. Serves as the alternative text too.
        data: What is drawn, at full precision.
    """

    figure: go.Figure
    caption: str
    data: pl.DataFrame


@cache
def _template(theme: Theme) -> go.layout.Template:
    """Return the whole look of a theme. Nothing is left to plotly's default template, which Streamlit replaces."""
    look = colours(theme)
    axis = {
        "gridcolor": look.grid,
        "linecolor": look.muted,
        "tickcolor": look.muted,
        "tickfont": {"color": look.muted, "size": 12},
        "title": {"font": {"color": look.ink, "size": 12.5}, "standoff": 8},
        "zeroline": False,
        "automargin": True,
        "ticks": "",
    }
    label = {"bgcolor": look.surface, "bordercolor": look.muted, "align": "left", "namelength": -1}
    return go.layout.Template(
        layout={
            "font": {"family": _FONT, "size": 13, "color": look.ink},
            "paper_bgcolor": look.page,  # A picture of it has the page's background.
            "plot_bgcolor": CLEAR,
            "colorway": list(look.families.values()),
            "xaxis": axis,
            "yaxis": axis,
            "hoverlabel": label | {"font": {"color": look.ink, "family": _FONT, "size": 13}},
            "modebar": {"bgcolor": CLEAR, "color": look.muted, "activecolor": look.ink},
            "annotationdefaults": {"font": {"color": look.muted, "size": 12}, "showarrow": False},
        }
    )


def figure(
    traces: Sequence[Any], theme: Theme, *, height: int, legend: int = 0, shapes: Sequence[Any] = (), **layout: Any
) -> go.Figure:
    """Return a figure of the theme.

    Dragging does nothing until a tool of the mode bar is chosen, so that a finger can scroll past the figure.

    Args:
        traces: What is drawn.
        theme: Page it is for.
        height: Height in px without the legend.
        legend: Number of legend entries, 0 for none. The legend stands below and takes its height from below.
        shapes: Marks.
        layout: Axes and whatever else the layout needs.
    """
    return go.Figure(
        data=list(traces),
        layout={
            "template": _template(theme),
            "height": height + legend_height(legend),
            "autosize": True,
            "margin": {"l": 8, "r": 12, "t": 12, "b": 8, "pad": 2},
            "showlegend": legend > 0,
            "legend": _LEGEND,
            "hovermode": "closest",
            "dragmode": False,
            "shapes": list(shapes),
            **layout,
        },
    )


def legend_height(entries: int) -> int:
    """Height in px that a legend may need on a phone, where two entries stand side by side."""
    return min(_LEGEND_MOST, _LEGEND_ROW * ((entries + 1) // 2))


def log_axis(title: str, low: float, high: float) -> dict[str, Any]:
    """Return an axis with ticks at 1, 2, 5 of each decade: plotly's own are bare 2s and 5s between powers of ten.

    Where those are too many for a phone, at powers of ten alone.
    """
    shown = [v for v in _DECADES if low * 0.999 <= v <= high * 1.001]
    if len(shown) > _MOST_TICKS:
        shown = [v for v in shown if math.log10(v).is_integer()]
    ticks = {"tickmode": "array", "tickvals": shown, "ticktext": [f"{v:,g}" for v in shown]} if len(shown) > 1 else {}
    return {"type": "log", "title": {"text": title}} | ticks


def upright(x: float, theme: Theme) -> dict[str, Any]:
    """Return the shape that marks a chosen value of the horizontal axis."""
    line = {"color": colours(theme).muted, "width": 1.5, "dash": "dot"}
    return {"type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1, "line": line}


def empty(missing: str, theme: Theme) -> Chart:
    """Return the chart of nothing: a figure that says what is missing.

    Args:
        missing: One short sentence of plain text.
        theme: Page it is for.
    """
    hidden = {"visible": False, "range": [0, 1]}
    half = len(missing) // 2
    at = missing.find(" ", half) if len(missing) > 36 else -1
    shown = missing if at < 0 else f"{missing[:at]}<br>{missing[at + 1 :]}"
    note = {"text": shown, "xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "font": {"size": 14}}
    return Chart(figure([], theme, height=160, xaxis=hidden, yaxis=hidden, annotations=[note]), missing, pl.DataFrame())
