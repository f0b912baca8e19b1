"""Shorter blocks: acceptance length if every block had been cut at K′, and what each position adds.

source: acceptance report, section 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import plotly.graph_objects as go
import polars as pl

from specdash.charts import rowwise, text
from specdash.charts.base import HEIGHT, Chart, empty, figure, upright
from specdash.charts.palette import SYMBOLS, Theme, colours, faded, run_colours, text_on
from specdash.charts.series import Line, Series, family_keys, intervals_drawn, lines, series
from specdash.charts.text import Row

Reading = Literal["tau_at_k", "tau_at_k_km"]
"""Truncation of what was observed, or Kaplan–Meier."""

_GAIN = "Gain p<sub>i</sub> of draft position i<br>(0 = first drafted token)<br>(tokens/step)"

_NAMED = 3  # measured curves that a caption names
_MEASURED_NAME = 34  # characters of a name in the legend: what tells curves apart is at the end, as a rule

_HOVER = text.hover("τ(K′ = %{x}) = %{y:.3f} tokens/step%{customdata[0]}", "%{meta[1]}", name="meta")


@dataclass(frozen=True)
class Measured:
    """Acceptance lengths of real runs at several block lengths, to stand beside the implied ones.

    Attributes:
        name: Whose they are.
        blocks: Block lengths, draft tokens per step.
        tau: Acceptance length at each, tokens/step; None for a gap.
        family: Their family, None where they have none.
        dataset: Dataset, family or "pooled" whose implied line they stand beside, and whose colour and symbol they get;
            None where they are of another workload.
    """

    name: str
    blocks: Sequence[int]
    tau: Sequence[float | None]
    family: str | None = None
    dataset: str | None = None


def tau_by_block(
    rows: Iterable[Row],
    theme: Theme,
    reading: Reading = "tau_at_k",
    *,
    chosen: int | None = None,
    measured: Sequence[Measured] = (),
    families: Iterable[Row] = (),
    pooled: bool = True,
) -> Chart:
    """Implied τ over block length K′, a line a dataset.

    Args:
        rows: Datasets, the pooled row among them; the reading is a list over K′ = 1..K, tokens/step.
        theme: Page it is for.
        reading: How the log is cut.
        chosen: K′ that is marked and that the caption speaks of.
        measured: Curves of real runs, drawn as open markers.
        families: Rows by family to draw too.
        pooled: Whether the pooled row is drawn.

    Returns:
        Its data are ``source, dataset, family, steps, block, tau, low, high``; source is "implied" or "measured", the
        last two are the interval of an implied τ.
    """
    drawn = _known(series(rows, theme, families, pooled=pooled), reading)
    if not drawn:
        return empty("No shorter blocks to imply: they need counts by draft position.", theme)
    k = max(len(s.row[reading]) for s in drawn)
    real, keys = _measured_traces(measured, drawn, theme)
    curves = [Line(s, range(1, len(s.row[reading]) + 1), s.row[reading], s.row.get(f"{reading}_ci")) for s in drawn]
    traces, entries = lines(curves, _HOVER)
    shown = None if chosen is None or not 1 <= chosen <= k else chosen
    return Chart(
        figure(
            [*traces, *real],
            theme,
            height=HEIGHT,
            legend=entries + keys,
            shapes=[] if shown is None else [upright(shown, theme)],
            xaxis=_block_axis(max([k, *(block for m in measured for block in m.blocks)])),
            yaxis={"title": {"text": f"{'' if measured else 'Implied '}τ(K′) (tokens/step)"}},
        ),
        text.sentences(
            [_caption(drawn, reading, k, shown), intervals_drawn(curves), _measured_caption(measured, drawn, reading)]
        ),
        _data(curves, measured),
    )


def _block_axis(last: int) -> dict[str, Any]:
    title = {"text": "Block length K′ (draft tokens per step)"}
    return {"title": title, "range": [0.6, last + 0.4], "tick0": 1, "dtick": -(-last // 16)}


def _known(drawn: Iterable[Series], key: str) -> list[Series]:
    return [s for s in drawn if any(value is not None for value in s.row.get(key) or ())]


def _measured_traces(
    measured: Sequence[Measured], drawn: Sequence[Series], theme: Theme
) -> tuple[list[go.Scatter], int]:
    """Return the traces of measured curves, and how many entries their legend has.

    Those that stand beside an implied line look like it, with open marks, and share one entry.
    """
    beside = {s.name: s for s in drawn}
    alone = list(dict.fromkeys(m.name for m in measured if m.dataset not in beside))
    hues = run_colours(alone, theme)
    traces = []
    for m in measured:
        own = beside.get(m.dataset)
        symbol = own.symbol if own else SYMBOLS[alone.index(m.name) % len(SYMBOLS)]
        colour = own.colour if own else hues[m.name]
        traces.append(
            go.Scatter(
                x=list(m.blocks),
                y=list(m.tau),
                mode="lines+markers",
                name=text.legend(m.name, _MEASURED_NAME),
                showlegend=own is None,
                line={"color": colour, "width": 1, "dash": "dot"},
                marker=_open_mark(symbol, colour),
                connectgaps=False,
                meta=[text.whole(m.name)],
                hovertemplate=text.hover("measured τ = %{y:.3f} tokens/step at K = %{x}", name="meta"),
            )
        )
    if any(not trace.showlegend for trace in traces):
        mark = _open_mark("circle", colours(theme).muted)
        traces.append(go.Scatter(x=[None], y=[None], mode="markers", name="measured: open", marker=mark))
    return traces, sum(trace.showlegend is not False for trace in traces)


def _open_mark(symbol: str, colour: str) -> dict[str, Any]:
    return {"symbol": f"{symbol}-open", "size": 11, "color": colour, "line": {"width": 2}}


def _measured_caption(measured: Sequence[Measured], drawn: Sequence[Series], reading: Reading) -> str:
    """Say how far implied and measured lie apart where both are known."""
    rows = {s.name: s for s in drawn}
    apart = [
        (f"{s.name} at K = {block}", implied / tau - 1)
        for m in measured
        if (s := rows.get(m.dataset))
        for block, tau in zip(m.blocks, m.tau, strict=True)
        if tau is not None and (implied := _at(s, reading, block)) is not None
    ]
    if not apart:
        return "Open marks are measured, of another workload." if measured else ""
    alone = list(dict.fromkeys(text.plain(m.name) for m in measured if m.dataset not in rows))
    named = f"{', '.join(alone[:_NAMED])}{' and more' if alone[_NAMED:] else ''}"
    elsewhere = f" {named}: another workload." if alone else ""
    return f"Open marks are measured; implied is off by {text.spread(apart, 1, signed=True, percent=True)}.{elsewhere}"


def _data(curves: Sequence[Line], measured: Sequence[Measured]) -> pl.DataFrame:
    implied = [
        ("implied", c.series.name, c.series.family, c.series.row.get("steps"), block, tau, *(ends or (None, None)))
        for c in curves
        for block, tau, ends in zip(c.x, c.y, c.ends or [None] * len(c.x), strict=True)
    ]
    real = [
        ("measured", m.name, m.family, None, b, tau, None, None)
        for m in measured
        for b, tau in zip(m.blocks, m.tau, strict=True)
    ]
    texts = {"source": pl.String, "dataset": pl.String, "family": pl.String}
    numbers = dict.fromkeys(("tau", "low", "high"), pl.Float64)
    schema = texts | {"steps": pl.Int64, "block": pl.Int64} | numbers
    return pl.DataFrame(implied + real, schema=schema, orient="row")


def _at(s: Series, reading: Reading, block: int) -> float | None:
    values = s.row[reading]
    return values[block - 1] if 1 <= block <= len(values) else None


def _caption(drawn: Sequence[Series], reading: Reading, k: int, chosen: int | None) -> str:
    datasets = [s for s in drawn if s.kind == "dataset"] or list(drawn)
    whole = [(s, _at(s, reading, k)) for s in datasets]
    if chosen is None or chosen == k:
        known = [(s.name, tau) for s, tau in whole if tau is not None]
        at_k = f" At K′ = {k} τ is {text.spread(known)}." if known else ""
        return f"Implied from drafts of up to {text.plural(k, 'token')} by leaving out the later ones.{at_k}"
    cut = [(s.name, _at(s, reading, chosen)) for s in datasets]
    parts = []
    if any(tau is not None for _, tau in cut):
        parts.append(f"Cut at K′ = {chosen}, τ would be {text.spread(cut, unit='tokens per step')}.")
    losses = [(s.name, tau - at) for s, tau in whole if tau is not None and (at := _at(s, reading, chosen)) is not None]
    if losses:
        parts.append(f"Against K′ = {k} that gives up {text.spread(losses, unit='tokens per step')}.")
    return text.sentences(parts) or f"Nothing is implied at K′ = {chosen}."


def position_gains(
    rows: Iterable[Row], theme: Theme, *, chosen: int | None = None, families: Iterable[Row] = (), pooled: bool = True
) -> Chart:
    """What each draft position adds to τ: bars that stack p_0, p_1, … to τ − 1; what K′ leaves out is faint.

    Args:
        rows: Datasets, the pooled row among them; "p" is a list over positions, its sum τ − 1 tokens/step.
        theme: Page it is for.
        chosen: K′ that is kept; all positions when None.
        families: Rows by family to show too.
        pooled: Whether the pooled row is shown.

    Returns:
        Its data are ``dataset, family, steps, position, gain``, gain in tokens/step.
    """
    drawn = _known(series(rows, theme, families, pooled=pooled), "p")
    if not drawn:
        return empty("No gains by draft position: they need counts by position.", theme)
    k = max(len(s.row["p"]) for s in drawn)
    kept = k if chosen is None else chosen
    keys = family_keys(drawn)
    return Chart(
        figure(
            [*(_gain_bars(drawn, i, kept, theme) for i in range(k)), *keys],
            theme,
            height=rowwise.height(len(drawn)) + 16,
            legend=len(keys),
            barmode="stack",
            uniformtext={"minsize": 9, "mode": "hide"},
            xaxis={"title": {"text": _GAIN}, "rangemode": "tozero"},
            yaxis=rowwise.names_axis(drawn),
        ),
        _gain_caption(drawn, k),
        _gain_data(drawn),
    )


def _gain_bars(drawn: Sequence[Series], position: int, kept: int, theme: Theme) -> go.Bar:
    strength = 0.15 if position >= kept else 0.85 if position % 2 == 0 else 0.55
    fills = [faded(s.colour, strength, theme) for s in drawn]
    return go.Bar(
        x=[s.row["p"][position] if position < len(s.row["p"]) else None for s in drawn],
        y=list(range(len(drawn))),
        orientation="h",
        width=0.7,
        showlegend=False,
        marker={"color": fills, "line": {"color": [s.colour for s in drawn], "width": 1}},
        text=[str(position)] * len(drawn),
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        insidetextfont={"color": [text_on(fill) for fill in fills], "size": 11},
        customdata=[[*s.about, position, position + 1] for s in drawn],
        hovertemplate=text.hover(
            "position %{customdata[2]} adds p<sub>%{customdata[2]}</sub> = %{x:.3f} tokens/step",
            "the gain of K′ = %{customdata[3]} over K′ = %{customdata[2]}",
            "%{customdata[1]}",
        ),
    )


def _gain_data(drawn: Iterable[Series]) -> pl.DataFrame:
    cells = [(s.name, s.family, s.row.get("steps"), i, v) for s in drawn for i, v in enumerate(s.row["p"])]
    schema = {"dataset": pl.String, "family": pl.String, "steps": pl.Int64, "position": pl.Int64, "gain": pl.Float64}
    return pl.DataFrame(cells, schema=schema, orient="row")


def _gain_caption(drawn: Sequence[Series], k: int) -> str:
    chosen = [s for s in drawn if s.kind == "dataset"] or list(drawn)
    ends = []
    for position, which in ((0, "first"), (k - 1, f"last (position {k - 1})"))[: 1 if k == 1 else 2]:
        found = [(s.name, s.row["p"][position]) for s in chosen if position < len(s.row["p"])]
        if any(value is not None for _, value in found):
            ends.append(f"the {which} adds {text.spread(found, unit='tokens per step')}")
    return f"Of the draft positions, {' and '.join(ends)}." if ends else "No position is known."
