"""Tokens per second of single streams: bars at one block length, lines against one property of the pipeline.

Rows are those of ``specdash.speed.outlook``. The ceiling of every figure is the latency-only bound, drawn dashed.
source: acceptance report, section 7, for the bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import polars as pl

from specdash.charts import rowwise, text
from specdash.charts.base import HEIGHT, Chart, empty, figure, log_axis, upright
from specdash.charts.palette import Theme, colours, text_on
from specdash.charts.series import Line, Series, bar_marker, family_keys, lines, named, series
from specdash.charts.text import Row

BOUND = "latency-only bound"
PLAIN = "no speculation"

_NO_SPEED = "No acceptance length at this block length, so no speed."


def speed_bars(rows: Iterable[Row], theme: Theme, *, block: int, families: Iterable[Row] = ()) -> Chart:
    """Tokens per second at K′, a bar a dataset; dashed: the latency-only bound; the mark: no speculation.

    Args:
        rows: Datasets, the pooled row among them; "tok_s", "speedup", "plain_tok_s", "bound_tok_s".
        theme: Page it is for.
        block: K′, for words.
        families: Rows by family to show too.

    Returns:
        Its data are ``dataset, family, tau_block, tok_s, speedup, plain_tok_s, bound_tok_s``.
    """
    drawn = [s for s in series(rows, theme, families) if s.row.get("tok_s") is not None]
    if not drawn:
        return empty(_NO_SPEED, theme)
    keys = family_keys(drawn)
    ceilings = [s.row["bound_tok_s"] for s in drawn]
    tips = [s.row["tok_s"] for s in drawn] + [s.row["tok_s_ci"][1] for s in drawn if s.row.get("tok_s_ci")]
    longest = max(v for v in [*ceilings, *tips] if v is not None)
    return Chart(
        figure(
            [_bars(drawn, theme), _ceilings(ceilings, theme), _plain_marks(drawn, theme), *keys],
            theme,
            height=rowwise.height(len(drawn)),
            legend=len(keys) + 2,
            xaxis={"title": {"text": f"tok/s of one stream at K′ = {block}"}, "range": [0, 1.12 * longest]},
            yaxis=rowwise.names_axis(drawn),
        ),
        text.sentences([_bars_caption(drawn, block), _intervals_caption(drawn)]),
        _bars_data(drawn),
    )


def _intervals_caption(drawn: Sequence[Series]) -> str:
    sure = [s.row for s in drawn if s.row.get("tok_s_ci")]
    return f"The whiskers are {text.intervals(sure)}." if sure else ""


def _bars(drawn: Sequence[Series], theme: Theme) -> go.Bar:
    marker = bar_marker([s.colour for s in drawn], theme, opacity=0.8)
    return go.Bar(
        x=[s.row["tok_s"] for s in drawn],
        y=list(range(len(drawn))),
        orientation="h",
        width=0.66,
        showlegend=False,
        marker=marker,
        text=[f"{s.row['tok_s']:,.1f}" for s in drawn],
        textposition="inside",
        insidetextanchor="start",
        insidetextfont={"size": 11, "color": [text_on(fill) for fill in marker["color"]]},
        textangle=0,
        error_x=_errors(drawn, theme),
        customdata=[
            [*s.about, s.row["speedup"], s.row["plain_tok_s"], text.within(s.row.get("tok_s_ci"), 2)] for s in drawn
        ],
        hovertemplate=text.hover(
            "%{x:,.2f} tok/s%{customdata[4]}",
            "%{customdata[2]:.2f} times no speculation (%{customdata[3]:,.2f} tok/s)",
            "%{customdata[1]}",
        ),
    )


def _errors(drawn: Sequence[Series], theme: Theme) -> dict[str, Any] | None:
    """Return the intervals of the speeds as bars over the ends of theirs, None without any."""
    ends = [s.row.get("tok_s_ci") for s in drawn]
    if not any(ends):
        return None
    sides = [
        [abs(end[side] - s.row["tok_s"]) if end else 0.0 for s, end in zip(drawn, ends, strict=True)] for side in (0, 1)
    ]
    return {"arrayminus": sides[0], "array": sides[1], "color": colours(theme).ink, "thickness": 1.5, "width": 5}


def _ceilings(values: Sequence[float | None], theme: Theme) -> go.Scatter:
    """Return a dashed upright at each row's bound."""
    known = [(x, i) for i, x in enumerate(values) if x is not None]
    return go.Scatter(
        x=[v for x, _ in known for v in (x, x, None)],
        y=[v for _, i in known for v in (i - 0.44, i + 0.44, None)],
        mode="lines",
        name=BOUND,
        line={"color": colours(theme).ink, "dash": "4px,3px", "width": 2.5},
        hovertemplate=f"<b>{BOUND}</b><br>%{{x:,.2f}} tok/s<extra></extra>",
    )


def _plain_marks(drawn: Sequence[Series], theme: Theme) -> go.Scatter:
    look = colours(theme)
    return go.Scatter(
        x=[s.row["plain_tok_s"] for s in drawn],
        y=list(range(len(drawn))),
        mode="markers",
        name=PLAIN,
        marker={"symbol": "diamond", "size": 9, "color": look.page, "line": {"width": 1.5, "color": look.ink}},
        hovertemplate=f"<b>{PLAIN}</b><br>%{{x:,.2f}} tok/s<extra></extra>",
    )


def _bars_caption(drawn: Sequence[Series], block: int) -> str:
    speeds = text.spread(named(drawn, "tok_s"), 1, "tok/s")
    gains = named(drawn, "speedup")
    slower = sum(gain is not None and gain < 1 for _, gain in gains)
    shares = [(name, share) for name, share in named(drawn, "bound_share") if share is not None]
    return text.sentences(
        [
            f"At K′ = {block} one stream makes {speeds}.",
            f"Over no speculation that is a speed-up of {text.spread(gains)}."
            if any(gain is not None for _, gain in gains)
            else "",
            f"{slower} of {len(gains)} are slower than no speculation." if slower else "",
            f"It is {text.spread(shares, 0, 'of the latency-only bound', percent=True)}." if shares else "",
        ]
    )


def _bars_data(drawn: Sequence[Series]) -> pl.DataFrame:
    keys = ("tau_block", "tok_s", "speedup", "plain_tok_s", "bound_tok_s")
    rows = [(s.name, s.family, *(s.row.get(key) for key in keys)) for s in drawn]
    schema = {"dataset": pl.String, "family": pl.String} | dict.fromkeys(keys, pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row")


@dataclass(frozen=True)
class Along:
    """What speeds are drawn against.

    Attributes:
        key: Column in the data.
        title: Title of the axis, with its unit.
        at: How a value of it reads, e.g. "RTT {} ms".
        values: Shape (n,), ascending, above 0.
        chosen: The value that is marked and spoken of; None when it lies nowhere on the axis.
        about: A sentence that the caption ends with.
    """

    key: str
    title: str
    at: str
    values: Sequence[float]
    chosen: float | None = None
    about: str = ""


def speed_lines(
    rows: Iterable[Row],
    theme: Theme,
    *,
    along: Along,
    ceiling: tuple[str, Sequence[float | None]] | None = None,
    families: Iterable[Row] = (),
) -> Chart:
    """Tokens per second against one property of the pipeline, a line a dataset.

    Args:
        rows: Datasets, the pooled row among them; "tok_s_over" in tok/s along it.
        theme: Page it is for.
        along: What the speeds are drawn against.
        ceiling: Whose latency-only bound is drawn dashed, and the bound along it.
        families: Rows by family to draw too.

    Returns:
        Its data are ``dataset, family, <along.key>, tokens_per_second``, the bound among the datasets.
    """
    drawn = [s for s in series(rows, theme, families) if any(v is not None for v in s.row.get("tok_s_over") or ())]
    if not drawn:
        return empty(_NO_SPEED, theme)
    curves = [Line(s, along.values, s.row["tok_s_over"]) for s in drawn]
    where = along.at.format("%{x:,.4g}")
    traces, entries = lines(
        curves, text.hover(f"%{{y:,.2f}} tok/s at {where}", "%{meta[1]}", name="meta"), markers=False
    )
    bound = [] if ceiling is None else [_bound_line(along.values, *ceiling, theme)]
    shown = [v for ys in [*(c.y for c in curves), ceiling[1] if ceiling else ()] for v in ys if v]
    return Chart(
        figure(
            [*traces, *bound],
            theme,
            height=HEIGHT,
            legend=entries + len(bound),
            shapes=[] if along.chosen is None else [upright(along.chosen, theme)],
            xaxis=log_axis(f"{along.title}, log scale", min(along.values), max(along.values)),
            yaxis=log_axis("tok/s of one stream, log scale", min(shown, default=1), max(shown, default=1)),
        ),
        _lines_caption(drawn, along, ceiling),
        _lines_data(curves, along, ceiling),
    )


def _bound_line(x: Sequence[float], name: str, y: Sequence[float | None], theme: Theme) -> go.Scatter:
    return go.Scatter(
        x=list(x),
        y=list(y),
        mode="lines",
        name=f"bound, {text.legend(name)}",
        line={"color": colours(theme).ink, "dash": "dash", "width": 2},
        hovertemplate=f"<b>{BOUND} of {text.whole(name)}</b><br>%{{y:,.2f}} tok/s<extra></extra>",
    )


def _lines_caption(drawn: Sequence[Series], along: Along, ceiling: tuple[str, Sequence[float | None]] | None) -> str:
    datasets = [s for s in drawn if s.kind == "dataset"] or list(drawn)

    def at(index: int) -> str:
        speeds = [(s.name, s.row["tok_s_over"][index]) for s in datasets]
        if all(value is None for _, value in speeds):
            return ""
        return (
            f"At {along.at.format(text.sized(along.values[index]))} one stream makes {text.spread(speeds, 1, 'tok/s')}."
        )

    values = list(along.values)
    places = [0, len(values) - 1]
    if along.chosen is not None:
        places.insert(1, min(range(len(values)), key=lambda i: abs(values[i] - along.chosen)))
    said = [at(i) for i in dict.fromkeys(places)]
    dashed = f"Dashed: the latency-only bound of {text.plain(ceiling[0])}." if ceiling else ""
    return text.sentences([*said, dashed, along.about])


def _lines_data(
    curves: Sequence[Line], along: Along, ceiling: tuple[str, Sequence[float | None]] | None
) -> pl.DataFrame:
    drawn = [(c.series.name, c.series.family, x, y) for c in curves for x, y in zip(c.x, c.y, strict=True)]
    if ceiling is not None:
        drawn += [(f"{BOUND}, {ceiling[0]}", None, x, y) for x, y in zip(along.values, ceiling[1], strict=True)]
    schema = {"dataset": pl.String, "family": pl.String, along.key: pl.Float64, "tokens_per_second": pl.Float64}
    return pl.DataFrame(drawn, schema=schema, orient="row")
