"""Figure 7: tokens per second against the round-trip time of a hop.

The formula comes from the caller, so that a bound and a fuller model are drawn alike.
source: acceptance report, figure 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import plotly.graph_objects as go
import polars as pl

from specdash.charts import rowwise, text
from specdash.charts.base import HEIGHT, Chart, empty, figure, log_axis, upright
from specdash.charts.palette import Theme, colours
from specdash.charts.series import Line, Series, bar_marker, intervals_drawn, key_entry, lines, named, series
from specdash.charts.text import Row
from specdash.schema import LEVEL

Speed = Callable[[float, float, int], float]
"""Tokens per second of (τ in tokens/step, RTT of a hop in ms, stages)."""

NO_SPECULATION = "no speculation"

_POINTS = 40
_HOVER = text.hover("%{y:,.2f} tok/s at RTT %{x:,.3g} ms%{customdata[0]}", "%{meta[1]}", name="meta")


def rtt_lines(
    rows: Iterable[Row],
    theme: Theme,
    rate: Speed,
    *,
    stages: int,
    rtts_ms: tuple[float, float] = (5.0, 300.0),
    chosen_ms: float | None = None,
    families: Iterable[Row] = (),
) -> Chart:
    """Tokens per second over RTT, both logarithmic, a line a dataset; dashed: one token a step.

    Args:
        rows: Datasets, the pooled row among them; "tau" in tokens/step.
        theme: Page it is for.
        rate: Tokens per second of (τ, RTT in ms, stages).
        stages: Stages of the pipeline.
        rtts_ms: Smallest and largest RTT in ms, both above 0.
        chosen_ms: RTT in ms that is marked and that the caption speaks of.
        families: Rows by family to draw too.

    Returns:
        Its data are ``dataset, family, tau, rtt_ms, tokens_per_second, low, high``, "no speculation" among the
        datasets; the last two are the interval of the speed.
    """
    drawn = [s for s in series(rows, theme, families) if s.row.get("tau") is not None]
    if not drawn:
        return empty("No acceptance length, so no speed.", theme)
    grid = np.geomspace(*rtts_ms, _POINTS).tolist()
    curves = [
        Line(s, grid, [rate(s.row["tau"], rtt, stages) for rtt in grid], [_ends(s, rate, rtt, stages) for rtt in grid])
        for s in drawn
    ]
    traces, entries = lines(curves, _HOVER, markers=False)
    plain = [rate(1.0, rtt, stages) for rtt in grid]
    values = [v for curve in [*(c.y for c in curves), plain] for v in curve if v]
    marked = [] if chosen_ms is None or chosen_ms <= 0 else [upright(chosen_ms, theme)]
    return Chart(
        figure(
            [*traces, _unspeculated(grid, plain, theme)],
            theme,
            height=HEIGHT,
            legend=entries + 1,
            shapes=marked,
            xaxis=log_axis("RTT of a hop (ms, log scale)", *rtts_ms),
            yaxis=log_axis("tok/s of one stream (log scale)", min(values), max(values)),
        ),
        text.sentences(
            [
                _lines_caption(drawn, rate, stages, chosen_ms if marked else float(np.sqrt(rtts_ms[0] * rtts_ms[1]))),
                intervals_drawn(curves),
            ]
        ),
        _lines_data(curves, grid, plain),
    )


def _ends(s: Series, rate: Speed, rtt_ms: float, stages: int) -> text.Ends:
    """Return the interval of a speed: it rises with τ, so it has the ends of τ's."""
    found = s.row.get("tau_ci")
    return found and [rate(end, rtt_ms, stages) for end in found]


def _unspeculated(grid: Sequence[float], plain: Sequence[float], theme: Theme) -> go.Scatter:
    return go.Scatter(
        x=list(grid),
        y=list(plain),
        mode="lines",
        name=NO_SPECULATION,
        line={"color": colours(theme).ink, "dash": "dash", "width": 2},
        hovertemplate="<b>no speculation</b><br>%{y:,.2f} tok/s at RTT %{x:,.3g} ms<extra></extra>",
    )


def _lines_caption(drawn: Sequence[Series], rate: Speed, stages: int, rtt_ms: float) -> str:
    speeds = [(name, rate(tau, rtt_ms, stages)) for name, tau in named(drawn, "tau") if tau is not None]
    return (
        f"At RTT {rtt_ms:,.3g} ms over {text.plural(stages, 'stage')}, one stream makes at most "
        f"{text.spread(speeds, 1, 'tok/s')}, against {text.number(rate(1.0, rtt_ms, stages), 1)} without speculation."
    )


def _table(records: Iterable[tuple]) -> pl.DataFrame:
    numbers = dict.fromkeys(("tau", "rtt_ms", "tokens_per_second", "low", "high"), pl.Float64)
    return pl.DataFrame(list(records), schema={"dataset": pl.String, "family": pl.String} | numbers, orient="row")


def _lines_data(curves: Sequence[Line], grid: Sequence[float], plain: Sequence[float]) -> pl.DataFrame:
    drawn = [
        (c.series.name, c.series.family, c.series.row["tau"], x, y, *(ends or (None, None)))
        for c in curves
        for x, y, ends in zip(c.x, c.y, c.ends or [None] * len(c.x), strict=True)
    ]
    return _table(drawn + [(NO_SPECULATION, None, 1.0, x, y, None, None) for x, y in zip(grid, plain, strict=True)])


def rtt_bars(
    rows: Iterable[Row],
    theme: Theme,
    rate: Speed,
    *,
    stages: int,
    rtts_ms: Sequence[float],
    families: Iterable[Row] = (),
) -> Chart:
    """Tokens per second at some RTTs, bars a dataset; the mark on a bar is the speed without speculation.

    Args:
        rows: Datasets, the pooled row among them; "tau" in tokens/step.
        theme: Page it is for.
        rate: Tokens per second of (τ, RTT in ms, stages).
        stages: Stages of the pipeline.
        rtts_ms: RTTs in ms, above 0.
        families: Rows by family to show too.

    Returns:
        Its data are ``dataset, family, tau, rtt_ms, tokens_per_second, low, high``, "no speculation" among the
        datasets; the last two are the interval of the speed.
    """
    drawn = [s for s in series(rows, theme, families) if s.row.get("tau") is not None]
    if not drawn or not rtts_ms:
        return empty("No acceptance length, so no speed." if rtts_ms else "No RTT is chosen.", theme)
    bars = [_speed_bars(drawn, rate, stages, rtts_ms, j, theme) for j in range(len(rtts_ms))]
    keys = [key_entry(f"{rtt:g} ms", theme, opacity=_opacity(j, len(rtts_ms))) for j, rtt in enumerate(rtts_ms)]
    fastest = max(value for bar in bars for value in bar.x)
    return Chart(
        figure(
            [*bars, *_plain_marks(len(drawn), rate, stages, rtts_ms, theme), *keys],
            theme,
            height=rowwise.height(len(drawn), _thickness(len(drawn)) * len(rtts_ms) + 12),
            legend=len(keys) + 1,
            barmode="overlay",
            xaxis={"title": {"text": "tok/s of one stream<br>(bars: RTT of a hop)"}, "range": [0, 1.3 * fastest]},
            yaxis=rowwise.names_axis(drawn),
        ),
        _bars_caption(drawn, rate, stages, rtts_ms),
        _bars_data(drawn, rate, stages, rtts_ms),
    )


def _thickness(rows: int) -> int:
    """Return the height of a bar in px: thinner where there are many."""
    return 14 if rows <= 15 else 11


def _place(row: int, nth: int, of: int) -> float:
    """Return where the nth of some bars of a row stands."""
    return row - 0.42 + 0.84 * (nth + 0.5) / of


def _opacity(nth: int, of: int) -> float:
    return 0.9 if of == 1 else 0.9 - 0.75 * nth / (of - 1)


def _speed_bars(
    drawn: Sequence[Series], rate: Speed, stages: int, rtts_ms: Sequence[float], nth: int, theme: Theme
) -> go.Bar:
    of = len(rtts_ms)
    speeds = [rate(s.row["tau"], rtts_ms[nth], stages) for s in drawn]
    ends = [_ends(s, rate, rtts_ms[nth], stages) for s in drawn]
    return go.Bar(
        x=speeds,
        y=[_place(i, nth, of) for i in range(len(drawn))],
        orientation="h",
        width=0.76 / of,
        showlegend=False,
        marker=bar_marker([s.colour for s in drawn], theme, opacity=_opacity(nth, of)),
        text=[_labelled(v, end) for v, end in zip(speeds, ends, strict=True)],
        textposition="outside",
        textfont={"size": _thickness(len(drawn)) - 3},
        cliponaxis=False,
        customdata=[[*s.about, text.within(end, 2)] for s, end in zip(drawn, ends, strict=True)],
        hovertemplate=text.hover(f"%{{x:,.2f}} tok/s at RTT {rtts_ms[nth]:g} ms%{{customdata[2]}}", "%{customdata[1]}"),
    )


def _labelled(speed: float, ends: text.Ends) -> str:
    """Return the text at the end of a bar: the speed, and half of its interval's width."""
    return f"{speed:,.1f}" + (f" ± {(ends[1] - ends[0]) / 2:,.1f}" if ends else "")


def _plain_marks(rows: int, rate: Speed, stages: int, rtts_ms: Sequence[float], theme: Theme) -> list[go.Scatter]:
    """Return the marks of the speed without speculation, with a halo that sets them off from dark bars."""
    of = len(rtts_ms)
    places = [(rate(1.0, rtt, stages), _place(i, j, of)) for i in range(rows) for j, rtt in enumerate(rtts_ms)]
    at = {"x": [x for x, _ in places], "y": [y for _, y in places], "mode": "markers"}
    look = colours(theme)
    halo, mark = (
        {"symbol": "line-ns", "size": size, "line": {"width": width, "color": colour}}
        for size, width, colour in ((10, 5, look.page), (8, 2, look.ink))
    )
    return [
        go.Scatter(at, marker=halo, showlegend=False, hoverinfo="skip"),
        go.Scatter(
            at,
            marker=mark,
            name="no spec.",
            hovertemplate="<b>no speculation</b><br>%{x:,.2f} tok/s<extra></extra>",
        ),
    ]


def _bars_caption(drawn: Sequence[Series], rate: Speed, stages: int, rtts_ms: Sequence[float]) -> str:
    def at(rtt: float) -> str:
        speeds = [(name, rate(tau, rtt, stages)) for name, tau in named(drawn, "tau") if tau is not None]
        return f"{text.spread(speeds, 1, 'tok/s')} at RTT {rtt:g} ms"

    ends = list(dict.fromkeys((min(rtts_ms), max(rtts_ms))))
    return (
        f"At most, over {text.plural(stages, 'stage')}: {'; '.join(map(at, ends))}. "
        "The mark on each bar is the speed without speculation."
        + (f" ± is half the width of the {LEVEL:.0%} interval." if any(s.row.get("tau_ci") for s in drawn) else "")
    )


def _bars_data(drawn: Sequence[Series], rate: Speed, stages: int, rtts_ms: Sequence[float]) -> pl.DataFrame:
    speeds = [
        (
            s.name,
            s.family,
            s.row["tau"],
            rtt,
            rate(s.row["tau"], rtt, stages),
            *(_ends(s, rate, rtt, stages) or [None] * 2),
        )
        for s in drawn
        for rtt in rtts_ms
    ]
    return _table(speeds + [(NO_SPECULATION, None, 1.0, rtt, rate(1.0, rtt, stages), None, None) for rtt in rtts_ms])
