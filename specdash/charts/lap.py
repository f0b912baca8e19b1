"""Where the time of a lap goes, by block length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import polars as pl

from specdash.charts import text
from specdash.charts.base import HEIGHT, Chart, empty, figure, upright
from specdash.charts.palette import Theme, colours, text_on

PARTS = ("latency", "transfer", "compute", "draft", "overhead")
"""The parts of a lap, in the order in which they are stacked."""


def lap_split(parts: Mapping[str, Sequence[float]], theme: Theme, *, chosen: int) -> Chart:
    """Milliseconds of a lap by cause, a stacked bar a K′.

    Args:
        parts: Seconds over K′ = 0..k of each of ``PARTS``.
        theme: Page it is for.
        chosen: K′ that is marked and that the caption speaks of.

    Returns:
        Its data are ``block, part, ms, share``.
    """
    totals = [sum(values) for values in zip(*(parts[name] for name in PARTS), strict=True)]
    if not any(totals):
        return empty("A lap takes no time here.", theme)
    drawn = [name for name in PARTS if any(parts[name])]
    look = colours(theme)
    fills = dict(zip(PARTS, look.runs, strict=False))
    bars = [
        go.Bar(
            x=list(range(len(totals))),
            y=[1000 * v for v in parts[name]],
            name=name,
            marker={"color": fills[name], "line": {"color": look.page, "width": 1}},
            text=[_inside(v, total) for v, total in zip(parts[name], totals, strict=True)],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            insidetextfont={"color": text_on(fills[name]), "size": 11},
            customdata=[100 * v / total if total else 0 for v, total in zip(parts[name], totals, strict=True)],
            meta=[name],
            hovertemplate=text.hover("%{y:,.3f} ms at K′ = %{x}", "%{customdata:.1f} % of the lap", name="meta"),
        )
        for name in drawn
    ]
    return Chart(
        figure(
            bars,
            theme,
            height=HEIGHT - 40,
            legend=len(bars),
            barmode="stack",
            bargap=0.25,
            uniformtext={"minsize": 9, "mode": "hide"},
            shapes=[upright(chosen, theme) | {"layer": "below"}],
            xaxis={
                "title": {"text": "Block length K′ (0: no speculation)"},
                "dtick": max(1, -(-(len(totals) - 1) // 16)),
            },
            yaxis={"title": {"text": "one lap (ms)"}},
        ),
        _caption(parts, totals, chosen),
        _data(parts, totals),
    )


def _inside(value: float, total: float) -> str:
    """Return the label of a part that is thick enough for one."""
    return f"{1000 * value:,.3g}" if total and value / total > 0.06 else ""


def _caption(parts: Mapping[str, Sequence[float]], totals: Sequence[float], chosen: int) -> str:
    total = totals[chosen]
    if not total:
        return f"A lap takes no time at K′ = {chosen}."
    shares = [
        f"{name} {text.number(parts[name][chosen] / total, 0, percent=True)}" for name in PARTS if parts[name][chosen]
    ]
    grown = f", {text.number(total / totals[0])} times that of a lap without speculation" if totals[0] else ""
    return f"At K′ = {chosen} a lap takes {text.sized(1000 * total)} ms{grown}: {', '.join(shares)}."


def _data(parts: Mapping[str, Sequence[float]], totals: Sequence[float]) -> pl.DataFrame:
    cells = [
        (block, name, 1000 * parts[name][block], parts[name][block] / total if total else None)
        for block, total in enumerate(totals)
        for name in PARTS
    ]
    schema = {"block": pl.Int64, "part": pl.String, "ms": pl.Float64, "share": pl.Float64}
    return pl.DataFrame(cells, schema=schema, orient="row")
