"""Acceptance length while a server is watched."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import plotly.graph_objects as go
import polars as pl

from specdash.charts import text
from specdash.charts.base import Chart, empty, figure
from specdash.charts.palette import Theme, colours

_SCHEMA = {"seconds": pl.Float64, "steps": pl.Int64, "accepted": pl.Int64, "tau": pl.Float64, "tau_so_far": pl.Float64}


def tau_over_time(points: Sequence[tuple[float, int, int]], theme: Theme) -> Chart:
    """τ between one reading and the next, and over the window so far.

    Args:
        points: Readings in order: seconds since the start, steps and accepted tokens counted since then.
        theme: Page it is for.

    Returns:
        Its data are ``seconds, steps, accepted, tau, tau_so_far``, a row a reading that saw a step: steps and tokens
        since the reading before, τ of these and of all so far in tokens/step.
    """
    data = _between(points)
    if data.is_empty():
        return empty("No step was counted yet.", theme)
    ink, line = colours(theme).muted, colours(theme).ink
    hover = "τ %{y:.2f} tokens/step<br>%{customdata:,} steps<br>%{x:,.0f} s<extra></extra>"
    at = {"x": data["seconds"].to_list(), "customdata": data["steps"].to_list(), "hovertemplate": hover}
    single = go.Scatter(
        at, y=data["tau"].to_list(), mode="lines+markers", name="since the reading before",
        line={"color": ink, "width": 1}, marker={"size": 5},
    )  # fmt: skip
    so_far = go.Scatter(
        at, y=data["tau_so_far"].to_list(), mode="lines", name="window so far", line={"color": line, "width": 2.5}
    )
    return Chart(
        figure(
            [single, so_far],
            theme,
            height=260,
            legend=2,
            xaxis={"title": {"text": "Seconds since the start mark"}, "rangemode": "tozero"},
            yaxis={"title": {"text": "Acceptance length τ (tokens/step)"}},
        ),
        _caption(data),
        data,
    )


def _between(points: Sequence[tuple[float, int, int]]) -> pl.DataFrame:
    rows = [
        (at, steps - before[1], accepted - before[2], 1 + (accepted - before[2]) / (steps - before[1]),
         1 + accepted / steps)
        for before, (at, steps, accepted) in pairwise([(0.0, 0, 0), *points])
        if steps > before[1]
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _caption(data: pl.DataFrame) -> str:
    last = data.row(-1, named=True)
    low, high = data["tau"].min(), data["tau"].max()
    spread = f"; between readings {low:.2f} to {high:.2f}" if data.height > 1 else ""
    steps = text.plural(data["steps"].sum(), "step")
    return f"τ is {last['tau_so_far']:.2f} tokens per step over {last['seconds']:,.0f} s and {steps}{spread}."
