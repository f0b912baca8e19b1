"""How many tokens to draft: speed against K′, and the best K′ against the round-trip time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import plotly.graph_objects as go
import polars as pl

from specdash.charts import text
from specdash.charts.base import HEIGHT, Chart, empty, figure, upright
from specdash.charts.palette import Theme, colours, scale
from specdash.charts.series import Line, Series, intervals_drawn, lines, series
from specdash.charts.text import Row

_HOVER = text.hover("%{y:,.2f} tok/s at K′ = %{x}%{customdata[0]}", "%{meta[1]}", name="meta")
_TICKS_MS = (1, 2, 5, 10, 20, 50, 100, 200, 500)


def speed_by_block(
    rows: Iterable[Row],
    theme: Theme,
    *,
    chosen: int,
    ceiling: tuple[str, Sequence[float | None]] | None = None,
    families: Iterable[Row] = (),
) -> Chart:
    """Tokens per second over K′, a line a dataset, its fastest K′ marked.

    Args:
        rows: Datasets, the pooled row among them; "tok_s_at_k" in tok/s over K′ = 0..K, "best_block".
        theme: Page it is for.
        chosen: K′ that is marked.
        ceiling: Whose latency-only bound is drawn dashed, and the bound over K′ = 0..K.
        families: Rows by family to draw too.

    Returns:
        Its data are ``dataset, family, block, tokens_per_second, fastest, low, high``, the bound among the datasets;
        the last two are the interval of the speed.
    """
    drawn = [s for s in series(rows, theme, families) if any(v is not None for v in s.row.get("tok_s_at_k") or ())]
    if not drawn:
        return empty("No acceptance length, so no speed.", theme)
    curves = [Line(s, range(len(s.row["tok_s_at_k"])), s.row["tok_s_at_k"], s.row.get("tok_s_at_k_ci")) for s in drawn]
    traces, entries = lines(curves, _HOVER, markers=False)
    bound = [] if ceiling is None else [_bound_line(*ceiling, theme)]
    k = max(len(c.y) for c in curves) - 1
    return Chart(
        figure(
            [*traces, *bound, _fastest(drawn, theme)],
            theme,
            height=HEIGHT,
            legend=entries + len(bound) + 1,
            shapes=[upright(chosen, theme)],
            xaxis={
                "title": {"text": "Block length K′ (0: no speculation)"},
                "range": [-0.3, k + 0.3],
                "dtick": _every(k),
            },
            yaxis={"title": {"text": "tok/s of one stream"}, "rangemode": "tozero"},
        ),
        text.sentences([_block_caption(drawn), intervals_drawn(curves)]),
        _block_data(curves, ceiling),
    )


def _every(k: int) -> int:
    return max(1, -(-k // 16))


def _bound_line(name: str, values: Sequence[float | None], theme: Theme) -> go.Scatter:
    return go.Scatter(
        x=list(range(len(values))),
        y=list(values),
        mode="lines",
        name=f"bound, {text.legend(name)}",
        line={"color": colours(theme).ink, "dash": "dash", "width": 2},
        meta=[f"latency-only bound of {text.whole(name)}"],
        hovertemplate=text.hover("%{y:,.2f} tok/s at K′ = %{x}", name="meta"),
    )


def _fastest(drawn: Sequence[Series], theme: Theme) -> go.Scatter:
    known = [s for s in drawn if s.row.get("best_block") is not None]
    look = colours(theme)
    return go.Scatter(
        x=[s.row["best_block"] for s in known],
        y=[s.row["best_tok_s"] for s in known],
        mode="markers",
        name="fastest K′",
        zorder=2,
        marker={
            "symbol": "star",
            "size": 12,
            "color": [s.colour for s in known],
            "line": {"width": 1, "color": look.page},
        },
        customdata=[s.about for s in known],
        hovertemplate=text.hover("fastest at K′ = %{x}: %{y:,.2f} tok/s", "%{customdata[1]}"),
    )


def _block_caption(drawn: Sequence[Series]) -> str:
    datasets = [s for s in drawn if s.kind == "dataset"] or list(drawn)
    best = [(s.name, s.row["best_block"]) for s in datasets if s.row.get("best_block") is not None]
    if not best:
        return "The fastest K′ is not known: τ is not known at every K′."
    low, high = min(best, key=lambda pair: pair[1]), max(best, key=lambda pair: pair[1])
    if low[1] == high[1]:
        where = text.plain(low[0]) if len(best) == 1 else f"each of {len(best)} datasets"
        return f"K′ = {low[1]} is fastest on {where}."
    return f"The fastest K′ is {low[1]} ({text.plain(low[0])}) to {high[1]} ({text.plain(high[0])})."


def _block_data(curves: Sequence[Line], ceiling: tuple[str, Sequence[float | None]] | None) -> pl.DataFrame:
    drawn = [
        (c.series.name, c.series.family, x, y, x == c.series.row.get("best_block"), *(ends or (None, None)))
        for c in curves
        for x, y, ends in zip(c.x, c.y, c.ends or [None] * len(c.x), strict=True)
    ]
    if ceiling is not None:
        drawn += [(f"latency-only bound, {ceiling[0]}", None, x, y, None, None, None) for x, y in enumerate(ceiling[1])]
    texts = {"dataset": pl.String, "family": pl.String}
    schema = texts | {"block": pl.Int64, "tokens_per_second": pl.Float64, "fastest": pl.Boolean}
    schema |= {"low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(drawn, schema=schema, orient="row")


def block_rtt_map(
    name: str,
    theme: Theme,
    *,
    rtts_ms: Sequence[float],
    tok_s: Sequence[Sequence[float | None]],
    best: Sequence[int],
    chosen: tuple[float, int],
) -> Chart:
    """Speed-up over no speculation against RTT and K′, with the line of the fastest K′.

    Args:
        name: Whose acceptance lengths they are.
        theme: Page it is for.
        rtts_ms: Shape (n,), ascending, evenly spaced on a logarithmic scale.
        tok_s: Shape (k + 1, n), tokens per second at K′ = 0..k; None where not known.
        best: Shape (n,), the fastest K′ at each RTT.
        chosen: RTT in ms and K′ that are marked.

    Returns:
        Its data are ``rtt_ms, block, tokens_per_second, speedup, fastest``.
    """
    gains = [[_over(v, plain) for v, plain in zip(row, tok_s[0], strict=True)] for row in tok_s]
    if len(tok_s) < 2 or not any(v is not None for row in gains[1:] for v in row):
        return empty("No acceptance length at more than one block length.", theme)
    x = [math.log10(rtt) for rtt in rtts_ms]
    shown = [tick for tick in _TICKS_MS if rtts_ms[0] <= tick * 1.001 and tick <= rtts_ms[-1] * 1.001]
    k = len(tok_s) - 1
    return Chart(
        figure(
            [_grid(x, rtts_ms, tok_s, gains, theme), *_best_line(x, rtts_ms, best, theme), _mark(chosen, theme)],
            theme,
            height=max(300, 140 + 26 * (k + 1)),
            legend=2,
            xaxis={
                "title": {"text": "RTT of a hop (ms, log scale)"},
                "tickmode": "array",
                "tickvals": [math.log10(tick) for tick in shown],
                "ticktext": [str(tick) for tick in shown],
                "showgrid": False,
            },
            yaxis={
                "title": {"text": "Block length K′"},
                "range": [-0.5, k + 0.5],
                "dtick": _every(k),
                "showgrid": False,
            },
        ),
        _map_caption(name, rtts_ms, best, gains),
        _map_data(rtts_ms, tok_s, gains, best),
    )


def _over(value: float | None, plain: float | None) -> float | None:
    return None if value is None or not plain else value / plain


def _grid(
    x: Sequence[float],
    rtts_ms: Sequence[float],
    tok_s: Sequence[Sequence[float | None]],
    gains: Sequence[Sequence[float | None]],
    theme: Theme,
) -> go.Heatmap:
    return go.Heatmap(
        x=list(x),
        y=list(range(len(gains))),
        z=[list(row) for row in gains],
        colorscale=scale(colours(theme).scale),
        colorbar={"title": {"text": "speed-up", "side": "right"}, "thickness": 10, "len": 0.95},
        customdata=[[[rtt, v] for rtt, v in zip(rtts_ms, row, strict=True)] for row in tok_s],
        hovertemplate=(
            "RTT %{customdata[0]:.4g} ms, K′ = %{y}<br>%{customdata[1]:,.2f} tok/s<br>"
            "%{z:.2f} times no speculation<extra></extra>"
        ),
        hoverongaps=False,
    )


def _best_line(x: Sequence[float], rtts_ms: Sequence[float], best: Sequence[int], theme: Theme) -> list[go.Scatter]:
    """Return the line of the fastest K′, with a halo that sets it off from the colours below."""
    look = colours(theme)
    at = {"x": list(x), "y": list(best), "mode": "lines"}
    return [
        go.Scatter(at, line={"color": look.page, "width": 6, "shape": "hvh"}, showlegend=False, hoverinfo="skip"),
        go.Scatter(
            at,
            name="fastest K′",
            line={"color": look.ink, "width": 2.5, "shape": "hvh"},
            customdata=list(rtts_ms),
            hovertemplate="fastest at RTT %{customdata:.4g} ms: K′ = %{y}<extra></extra>",
        ),
    ]


def _mark(chosen: tuple[float, int], theme: Theme) -> go.Scatter:
    look = colours(theme)
    return go.Scatter(
        x=[math.log10(chosen[0])],
        y=[chosen[1]],
        mode="markers",
        name="chosen",
        marker={"symbol": "circle", "size": 12, "color": look.page, "line": {"width": 3, "color": look.ink}},
        hovertemplate=f"chosen: RTT {chosen[0]:g} ms, K′ = {chosen[1]}<extra></extra>",
    )


def _map_caption(
    name: str, rtts_ms: Sequence[float], best: Sequence[int], gains: Sequence[Sequence[float | None]]
) -> str:
    low, high = best[0], best[-1]
    reach = [text.sized(rtts_ms[0]), text.sized(rtts_ms[-1])]
    first, last = (text.number(gains[k][i] or 0) for i, k in ((0, low), (-1, high)))
    if low == high:
        return (
            f"On {text.plain(name)} K′ = {low} is fastest at RTT {reach[0]} ms and at {reach[1]} ms, with a speed-up "
            f"of {first} and {last}."
        )
    return (
        f"On {text.plain(name)} the fastest K′ goes from {low} at RTT {reach[0]} ms (speed-up {first}) to {high} at "
        f"{reach[1]} ms ({last})."
    )


def _map_data(
    rtts_ms: Sequence[float],
    tok_s: Sequence[Sequence[float | None]],
    gains: Sequence[Sequence[float | None]],
    best: Sequence[int],
) -> pl.DataFrame:
    cells = [
        (rtt, block, tok_s[block][i], gains[block][i], block == best[i])
        for i, rtt in enumerate(rtts_ms)
        for block in range(len(tok_s))
    ]
    numbers = {"rtt_ms": pl.Float64, "block": pl.Int64, "tokens_per_second": pl.Float64, "speedup": pl.Float64}
    return pl.DataFrame(cells, schema=numbers | {"fastest": pl.Boolean}, orient="row")
