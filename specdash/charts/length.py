"""Figure 1: acceptance length with the spread of single steps, and that spread against the geometric model's.

source: acceptance report, figure 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import plotly.graph_objects as go
import polars as pl

from specdash.charts import rowwise, text
from specdash.charts.base import HEIGHT, Chart, empty, figure
from specdash.charts.palette import Theme, colours, translucent
from specdash.charts.series import Line, Series, family_keys, frame, lines, named, series
from specdash.charts.text import Row
from specdash.schema import LEVEL


def tau_by_dataset(rows: Iterable[Row], theme: Theme, *, families: Iterable[Row] = ()) -> Chart:
    """Step-weighted τ with ± σ_step, a row a dataset.

    Args:
        rows: Datasets, the pooled row among them; "tau" and "step_std" in tokens/step.
        theme: Page it is for.
        families: Rows by family to show too.

    Returns:
        Its data are ``dataset, family, steps, tau, step_std, low, high``, the last two the interval of τ.
    """
    drawn = [s for s in series(rows, theme, families) if s.row.get("tau") is not None]
    if not drawn:
        return empty("No acceptance length to show: no step drafted any token.", theme)
    keys = family_keys(drawn)
    ends = [s.row["tau"] + sign * (s.row.get("step_std") or 0) for s in drawn for sign in (-1, 1)]
    low, high = min(1.0, *ends), max(ends)
    sure = [_tau_interval(i, s) for i, s in enumerate(drawn) if s.row.get("tau_ci")]
    thick = f", thick: {LEVEL:.0%} interval" if sure else ""
    title = f"Acceptance length τ (tokens/step)<br>thin: ± σ<sub>step</sub>{thick}"
    return Chart(
        figure(
            [*(_tau_mark(i, s) for i, s in enumerate(drawn)), *sure, *keys],
            theme,
            height=rowwise.height(len(drawn)),
            legend=len(keys),
            xaxis={
                "title": {"text": title},
                "range": [low - 0.05 * (high - low) - 0.05, high + 0.05 * (high - low) + 0.05],
            },
            yaxis=rowwise.names_axis(drawn),
        ),
        _tau_caption(drawn),
        frame(drawn, "steps", "tau", "step_std").with_columns(*_ends(drawn)),
    )


def _tau_mark(index: int, s: Series) -> go.Scatter:
    sigma = s.row.get("step_std")
    return go.Scatter(
        x=[s.row["tau"]],
        y=[index],
        mode="markers",
        showlegend=False,
        marker={"color": s.colour, "size": 10 if s.kind == "dataset" else 12, "symbol": _TAU_SYMBOLS[s.kind]},
        error_x=None if sigma is None else {"array": [sigma], "color": s.colour, "thickness": 2, "width": 4},
        customdata=[[*s.about, text.number(sigma) if sigma is not None else "–", text.within(s.row.get("tau_ci"))]],
        hovertemplate=text.hover(
            "τ = %{x:.3f} tokens/step%{customdata[3]}", "σ<sub>step</sub> = %{customdata[2]}", "%{customdata[1]}"
        ),
    )


def _tau_interval(index: int, s: Series) -> go.Scatter:
    """Return the thick bar of an interval."""
    low, high = s.row["tau_ci"]
    line = {"color": translucent(s.colour, 0.55), "width": 9}
    return go.Scatter(
        x=[low, high], y=[index, index], mode="lines", line=line, showlegend=False, hoverinfo="skip", zorder=-1
    )


def _ends(drawn: Sequence[Series]) -> list[pl.Series]:
    """Return the columns ``low, high`` of the intervals of τ."""
    ends = [s.row.get("tau_ci") or (None, None) for s in drawn]
    return [pl.Series(name, [end[i] for end in ends], dtype=pl.Float64) for i, name in enumerate(("low", "high"))]


_TAU_SYMBOLS = {"dataset": "circle", "family": "diamond", "pooled": "square"}


def _tau_caption(drawn: Sequence[Series]) -> str:
    sigmas = named(drawn, "step_std")
    parts = [f"τ is {text.spread(named(drawn, 'tau'), unit='tokens per step')}{_pooled(drawn)}."]
    if any(value is not None for _, value in sigmas):
        parts.append(
            f"The thin bars reach one σ of single steps to either side, {text.spread(sigmas, unit='tokens')}: "
            "the spread of steps, not an error of τ."
        )
    else:
        parts.append("The spread of single steps is not known here.")
    sure = [s.row for s in drawn if s.row.get("tau_ci")]
    if sure:
        parts.append(f"The thick bars are {text.intervals(sure)}.")
    return text.sentences(parts)


def _pooled(drawn: Sequence[Series]) -> str:
    pooled = [s.row["tau"] for s in drawn if s.kind == "pooled"]
    return f", {text.number(pooled[0])} pooled" if pooled and len(drawn) > 2 else ""


def sigma_against_geometric(rows: Iterable[Row], theme: Theme, *, families: Iterable[Row] = ()) -> Chart:
    """Observed σ_step against the σ that the geometric model has at the same τ, with the diagonal.

    Args:
        rows: Datasets, the pooled row among them; "step_std" and "geometric_std" in tokens.
        theme: Page it is for.
        families: Rows by family to show too.

    Returns:
        Its data are ``dataset, family, steps, tau, step_std, geometric_std, difference``, the last one observed
        minus geometric.
    """
    drawn = [
        s
        for s in series(rows, theme, families)
        if s.row.get("step_std") is not None and s.row.get("geometric_std") is not None
    ]
    if not drawn:
        return empty(
            "No spread of steps to compare: it needs counts by draft position and a known block length.", theme
        )
    points, entries = _sigma_points(drawn)
    values = [s.row[key] for s in drawn for key in ("step_std", "geometric_std")]
    pad = 0.08 * (max(values) - min(values)) + 0.05
    ends = [min(values) - pad, max(values) + pad]
    axes = {"range": ends, "nticks": 6}
    return Chart(
        figure(
            [*points, _diagonal(ends, theme)],
            theme,
            height=HEIGHT,
            legend=entries + 1,
            xaxis={"title": {"text": "Geometric σ at the same τ (tokens)"}} | axes,
            yaxis={"title": {"text": "Observed σ<sub>step</sub> (tokens)"}} | axes,
        ),
        _sigma_caption(drawn),
        frame(drawn, "steps", "tau", "step_std", "geometric_std").with_columns(
            difference=pl.col("step_std") - pl.col("geometric_std")
        ),
    )


def _sigma_points(drawn: Sequence[Series]) -> tuple[list[go.Scatter], int]:
    """Return the points, and how many entries their legend has."""
    template = text.hover(
        "observed σ<sub>step</sub> = %{y:.3f} tokens", "geometric σ = %{x:.3f} tokens", "%{meta[1]}", name="meta"
    )
    points, entries = lines([Line(s, [s.row["geometric_std"]], [s.row["step_std"]]) for s in drawn], template)
    for trace, s in zip(points[-len(drawn) :], drawn, strict=True):
        trace.mode = "markers"
        trace.marker.size = 10 if s.kind == "dataset" else 13
        trace.marker.symbol = s.symbol if s.kind == "dataset" else f"{_TAU_SYMBOLS[s.kind]}-open"
        trace.marker.line = {"width": 2.5} if s.kind != "dataset" else None
    return points, entries


def _diagonal(ends: Sequence[float], theme: Theme) -> go.Scatter:
    return go.Scatter(
        x=list(ends),
        y=list(ends),
        mode="lines",
        name="equal",
        line={"color": colours(theme).muted, "dash": "dash", "width": 1.5},
        hoverinfo="skip",
    )


def _sigma_caption(drawn: Sequence[Series]) -> str:
    gaps = [
        (name, observed - model)
        for (name, observed), (_, model) in zip(named(drawn, "step_std"), named(drawn, "geometric_std"), strict=True)
        if observed is not None and model is not None
    ]
    below = sum(gap < 0 and not math.isclose(gap, 0, abs_tol=1e-9) for _, gap in gaps)
    return (
        f"Points below the diagonal vary less from step to step than a constant acceptance rate would: {below} of "
        f"{len(gaps)}. "
        f"Observed minus geometric σ is {text.spread(gaps, unit='tokens', signed=True)}."
    )
