"""Speed-up curves: what several forms make of α, of the block length and of the draft cost, and where they break even.

The curves come from the caller, who knows the forms. What is only documented as a speed-up is drawn grey and dashed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import polars as pl

from specdash.charts import text
from specdash.charts.base import HEIGHT, Chart, empty, figure, upright
from specdash.charts.palette import Theme, colours, run_colours

_TITLE = "Speed-up (1 = plain decoding)"


@dataclass(frozen=True)
class Curve:
    """One form.

    Attributes:
        name: In the legend.
        x: Ascending.
        y: Speed-up at each x, None for a gap.
        documented: Whether it is only documented as a speed-up.
        break_even: x from which on it is above 1 (for a cost: below which), None where there is none.
        markers: Whether its points are marked: it is known at these alone.
        colour_as: Curves of the same word have the same colour; the name when empty.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    documented: bool = False
    break_even: float | None = None
    markers: bool = False
    colour_as: str = ""


@dataclass(frozen=True)
class Mark:
    """One point: a run's own, or an observed speed-up.

    Attributes:
        name: Whose it is, for hover labels and the legend.
        x: Where.
        y: Speed-up.
        colour: ``#RRGGBB``; ink when None.
        low: Lower end of the interval of y, None without one.
        high: Upper end.
        observed: Whether it was measured as a speed-up instead of following from τ.
        small: Whether it is one of many, without an entry in the legend.
    """

    name: str
    x: float
    y: float
    colour: str | None = None
    low: float | None = None
    high: float | None = None
    observed: bool = False
    small: bool = False


@dataclass(frozen=True)
class Axis:
    """The horizontal axis.

    Attributes:
        title: With its unit.
        name: Of the quantity, in hover labels and as a column.
        decimals: Shown of it.
        whole: Whether it is a count.
        chosen: Value that is marked.
    """

    title: str
    name: str
    decimals: int = 3
    whole: bool = False
    chosen: float | None = None


def speedup_curves(
    curves: Sequence[Curve], axis: Axis, theme: Theme, *, marks: Sequence[Mark] = (), caption: str
) -> Chart:
    """Speed-ups over one quantity, with the line of plain decoding and break-even points on it.

    Args:
        curves: The forms, the documented one among them or not.
        axis: What they run over.
        theme: Page it is for.
        marks: Points.
        caption: What to see, one or two sentences.

    Returns:
        Its data are ``kind, name, <axis>, speedup, low, high``; kind is "curve", "documented", "break-even", "run" or
        "observed".
    """
    if not any(y is not None for curve in curves for y in curve.y):
        return empty("No speed-up to draw.", theme)
    hues = run_colours((curve.colour_as or curve.name for curve in curves if not curve.documented), theme)
    looks = [colours(theme).muted if c.documented else hues[c.colour_as or c.name] for c in curves]
    coloured = list(zip(curves, looks, strict=True))
    lines = [_line(curve, colour, axis) for curve, colour in coloured]
    points = [_break_even(curve, colour, axis, theme) for curve, colour in coloured if _breaks(curve)]
    dots = [_dot(mark, axis, theme) for mark in marks]
    chosen = [] if axis.chosen is None else [upright(axis.chosen, theme)]
    return Chart(
        figure(
            [*lines, *points, *dots],
            theme,
            height=HEIGHT,
            legend=len(curves) + sum(not mark.small for mark in marks),
            shapes=[_plain(theme), *chosen],
            xaxis=_x_axis(axis, curves),
            yaxis={"title": {"text": _TITLE}, "range": _range(curves, marks)},
        ),
        caption,
        _data(curves, marks, axis),
    )


def _breaks(curve: Curve) -> bool:
    return curve.break_even is not None and curve.x[0] <= curve.break_even <= curve.x[-1]


def _x_axis(axis: Axis, curves: Sequence[Curve]) -> dict[str, Any]:
    low, high = min(curve.x[0] for curve in curves), max(curve.x[-1] for curve in curves)
    room = 0.02 * (high - low) or 0.5
    steps = {"tick0": 1, "dtick": -(-int(high) // 16)} if axis.whole else {}
    return {"title": {"text": axis.title}, "range": [low - room, high + room]} | steps


def _range(curves: Sequence[Curve], marks: Sequence[Mark]) -> list[float]:
    """From a little below the lowest value, or 0, to above the highest."""
    values = [y for curve in curves for y in curve.y if y is not None]
    values += [v for mark in marks for v in (mark.y, mark.low, mark.high) if v is not None]
    low, high = min(0.0, *values), max(1.0, *values)
    return [low - 0.03 * (high - low), high + 0.06 * (high - low)]


def _plain(theme: Theme) -> dict[str, Any]:
    """The line of plain decoding."""
    line = {"color": colours(theme).ink, "width": 1.2}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "line": line, "layer": "below"}


def _line(curve: Curve, colour: str, axis: Axis) -> go.Scatter:
    dash = "dash" if curve.documented else "dot" if curve.markers else "solid"
    return go.Scatter(
        x=list(curve.x),
        y=list(curve.y),
        mode="lines+markers" if curve.markers else "lines",
        name=text.legend(curve.name, 60),
        line={"color": colour, "width": 2, "dash": dash},
        marker={"color": colour, "size": 8, "symbol": "diamond"},
        connectgaps=False,
        meta=[text.whole(curve.name)],
        hovertemplate=text.hover(f"%{{y:.3f}} at {axis.name} %{{x:{_number(axis)}}}", name="meta"),
    )


def _number(axis: Axis) -> str:
    return "d" if axis.whole else f".{axis.decimals}f"


def _break_even(curve: Curve, colour: str, axis: Axis, theme: Theme) -> go.Scatter:
    return go.Scatter(
        x=[curve.break_even],
        y=[1],
        mode="markers",
        showlegend=False,
        marker={"symbol": "x", "size": 11, "color": colour, "line": {"width": 1, "color": colours(theme).page}},
        meta=[text.whole(curve.name)],
        hovertemplate=text.hover(f"breaks even at {axis.name} %{{x:.{axis.decimals}f}}", name="meta"),
    )


def _dot(mark: Mark, axis: Axis, theme: Theme) -> go.Scatter:
    look = colours(theme)
    colour = mark.colour or look.ink
    interval = None
    if mark.low is not None and mark.high is not None:
        above, below = [mark.high - mark.y], [mark.y - mark.low]
        interval = {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "thickness": 1.6}
    what = "observed %{y:.3f}" if mark.observed else "%{y:.3f}"
    said = "" if interval is None else f" (95 % interval {text.number(mark.low, 3)} to {text.number(mark.high, 3)})"
    return go.Scatter(
        x=[mark.x],
        y=[mark.y],
        mode="markers",
        name=text.legend(mark.name, 40),
        showlegend=not mark.small,
        error_y=interval,
        marker={
            "symbol": "star" if mark.observed else "circle",
            "size": 8 if mark.small else 15 if mark.observed else 12,
            "color": colour,
            "line": {"color": look.page, "width": 1.2},
        },
        zorder=2,
        meta=[text.whole(mark.name)],
        hovertemplate=text.hover(f"{what} at {axis.name} %{{x:.{axis.decimals}f}}{said}", name="meta"),
    )


def _data(curves: Sequence[Curve], marks: Sequence[Mark], axis: Axis) -> pl.DataFrame:
    rows: list[tuple] = [
        ("documented" if curve.documented else "curve", curve.name, float(x), y, None, None)
        for curve in curves
        for x, y in zip(curve.x, curve.y, strict=True)
    ]
    rows += [("break-even", curve.name, curve.break_even, 1.0, None, None) for curve in curves if _breaks(curve)]
    rows += [("observed" if m.observed else "run", m.name, m.x, m.y, m.low, m.high) for m in marks]
    numbers = dict.fromkeys((axis.name, "speedup", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema={"kind": pl.String, "name": pl.String} | numbers, orient="row")
