"""One response as a strip of its verify steps: what each drafted, and how much of it was accepted."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import polars as pl

from specdash.charts import text
from specdash.charts.base import Chart, empty, figure
from specdash.charts.palette import Theme, colours, family_colour, translucent

_HEIGHT = 260  # px


def step_strip(steps: pl.DataFrame, theme: Theme, *, family: str | None = None) -> Chart:
    """Accepted of drafted tokens, a column a step, in the order of the log.

    Args:
        steps: ``drafted, accepted``, one row a step in order.
        theme: Page it is for.
        family: Family of the dataset, for the colour.

    Returns:
        Its data are ``step`` (from 0), ``drafted, accepted, tokens``: those emitted up to and with the step, prefill's
        included.
    """
    if steps.is_empty():
        return empty("The log holds no step of this response.", theme)
    data = steps.select(
        step=pl.int_range(pl.len(), dtype=pl.Int64),
        drafted=pl.col("drafted").cast(pl.Int64),
        accepted=pl.col("accepted").cast(pl.Int64),
        tokens=1 + (1 + pl.col("accepted").cast(pl.Int64)).cum_sum(),
    )
    most = int(data["drafted"].max())
    return Chart(
        figure(
            _columns(data, theme, family),
            theme,
            height=_HEIGHT,
            legend=2,
            hovermode="x",
            xaxis={"title": {"text": "Verify step (0 = first)"}, "range": [-0.5, data.height - 0.5], "showgrid": False},
            yaxis={"title": {"text": "Draft tokens"}, "range": [0, max(most, 1) + 0.3], "fixedrange": True},
        ),
        _caption(data),
        data,
    )


def _columns(data: pl.DataFrame, theme: Theme, family: str | None) -> list[go.Scatter]:
    """Return two areas of columns that touch: thousands of bars would be slow."""
    x = np.repeat(np.arange(data.height + 1) - 0.5, 2)[1:-1]
    about = np.repeat(data.select("step", "accepted", "drafted", "tokens").to_numpy(), 2, axis=0)
    look = {"mode": "lines", "fill": "tozeroy", "line": {"width": 0.5}, "x": x}
    drafted = go.Scatter(
        look,
        y=np.repeat(data["drafted"].to_numpy(), 2),
        name="drafted",
        line_color=colours(theme).muted,
        fillcolor=translucent(colours(theme).muted, 0.25),
        hoverinfo="skip",
    )
    colour = family_colour(family, theme)
    accepted = go.Scatter(
        look,
        y=np.repeat(data["accepted"].to_numpy(), 2),
        name="accepted",
        line_color=colour,
        fillcolor=translucent(colour, 0.75),
        customdata=about,
        hovertemplate="step %{customdata[0]}: %{customdata[1]} of %{customdata[2]} accepted<br>"
        "%{customdata[3]} tokens so far<extra></extra>",
    )
    return [drafted, accepted]


def _caption(data: pl.DataFrame) -> str:
    drafting = data.filter(pl.col("drafted") > 0)
    none, whole = (drafting["accepted"] == 0).sum(), (drafting["accepted"] == drafting["drafted"]).sum()
    parts = [f"{text.plural(data.height, 'step')} emitted {data['tokens'][-1]:,} tokens, the one of prefill included."]
    if drafting.height:
        tau = 1 + drafting["accepted"].sum() / drafting.height
        parts.append(
            f"τ of the response is {text.number(tau)}: {text.number(none / drafting.height, 0, percent=True)} of its "
            f"steps accepted nothing, {text.number(whole / drafting.height, 0, percent=True)} all that they drafted."
        )
    if drafting.height < data.height:
        parts.append(f"{text.plural(data.height - drafting.height, 'step')} drafted nothing.")
    return text.sentences(parts)
