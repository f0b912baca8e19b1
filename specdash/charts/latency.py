"""Latencies of two arms: how they are distributed, and prompt against prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import polars as pl

from specdash.charts import text
from specdash.charts.base import HEIGHT, Chart, empty, figure, log_axis
from specdash.charts.palette import Theme, colours, run_colours

_LEVELS = (0.5, 0.95, 0.99)
_MOST = 1500  # steps of a curve, or points, that a page bears


@dataclass(frozen=True)
class Side:
    """One arm.

    Attributes:
        name: Of it.
        seconds: Latencies, any order, all above 0.
    """

    name: str
    seconds: Sequence[float]


def latency_ecdf(base: Side, spec: Side, theme: Theme, *, measure: str) -> Chart:
    """Share of requests that took at most so long, a curve an arm.

    Args:
        base: Without speculation.
        spec: With it.
        theme: Page it is for.
        measure: What was measured, as a noun.

    Returns:
        Its data are ``arm, seconds, share``, a row a request.
    """
    if not len(base.seconds) or not len(spec.seconds):
        return empty(f"No {measure} in both arms.", theme)
    sides, hues = (base, spec), list(run_colours(("base", "spec"), theme).values())
    curves = [_curve(side, hue) for side, hue in zip(sides, hues, strict=True)]
    values = [1000 * s for side in sides for s in side.seconds]
    muted = colours(theme).muted
    levels = [
        {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": p, "y1": p, "line": {"color": muted, "width": 0.8}}
        for p in _LEVELS
    ]
    return Chart(
        figure(
            curves,
            theme,
            height=HEIGHT,
            legend=2,
            shapes=levels,
            xaxis=log_axis(f"{measure[0].upper()}{measure[1:]} (ms, log scale)", min(values), max(values)),
            yaxis={"title": {"text": "Share of requests"}, "range": [0, 1.02], "tickformat": ".0%"},
        ),
        _ecdf_caption(base, spec, measure),
        pl.concat(_sorted(side) for side in sides),
    )


def _curve(side: Side, colour: str) -> go.Scatter:
    ordered = np.sort(np.asarray(side.seconds, dtype=np.float64)) * 1000
    shares = np.arange(1, ordered.size + 1) / ordered.size
    kept = np.unique(np.linspace(0, ordered.size - 1, min(ordered.size, _MOST)).astype(int))
    return go.Scatter(
        x=ordered[kept].tolist(),
        y=shares[kept].tolist(),
        mode="lines",
        line={"color": colour, "width": 2.2, "shape": "hv"},
        name=text.legend(side.name, 30),
        meta=[text.whole(side.name)],
        hovertemplate=text.hover("%{y:.1%} took at most %{x:,.2f} ms", f"n = {ordered.size:,}", name="meta"),
    )


def _sorted(side: Side) -> pl.DataFrame:
    ordered = sorted(side.seconds)
    shares = [(i + 1) / len(ordered) for i in range(len(ordered))]
    kinds = {"arm": pl.String, "seconds": pl.Float64, "share": pl.Float64}
    return pl.DataFrame({"arm": [side.name] * len(ordered), "seconds": ordered, "share": shares}, schema=kinds)


def _ecdf_caption(base: Side, spec: Side, measure: str) -> str:
    def at(level: float) -> str:
        a, b = (1000 * float(np.quantile(side.seconds, level)) for side in (base, spec))
        return f"p{level * 100:g} {text.number(a)} → {text.number(b)} ms"

    return (
        f"{measure[0].upper()}{measure[1:]}, {text.plain(base.name)} → {text.plain(spec.name)}: "
        f"{', '.join(map(at, _LEVELS))}."
    )


@dataclass(frozen=True)
class Prompts:
    """The prompts that both arms answered.

    Attributes:
        names: Of the prompts.
        base: Geometric mean over the copies of each, in s.
        spec: The same with speculation.
    """

    names: Sequence[str]
    base: Sequence[float]
    spec: Sequence[float]


def latency_by_prompt(prompts: Prompts | None, theme: Theme, *, measure: str, names: tuple[str, str]) -> Chart:
    """Prompt against prompt: below the diagonal speculation is faster; dashed: the mean speed-up.

    Args:
        prompts: The prompts; None where the arms are not paired.
        theme: Page it is for.
        measure: What was measured, as a noun.
        names: Of the arms.

    Returns:
        Its data are ``prompt, base_seconds, spec_seconds, speedup``.
    """
    if prompts is None or not len(prompts.names):
        return empty("No prompt that both arms answered: nothing to pair.", theme)
    base, spec = (np.asarray(values, dtype=np.float64) for values in (prompts.base, prompts.spec))
    ratio = base / spec
    mean = float(np.exp(np.log(ratio).mean()))
    low, high = float(min(base.min(), spec.min())) * 1000 / 1.15, float(max(base.max(), spec.max())) * 1000 * 1.15
    ends = [float(np.log10(low)), float(np.log10(high))]
    title = f"{measure[0].upper()}{measure[1:]}"
    return Chart(
        figure(
            [
                _guide("equal", low, high, 1.0, theme, "solid"),
                _guide(f"speed-up {text.sized(mean)}", low, high, mean, theme, "dash"),
                _dots(prompts, ratio, theme),
            ],
            theme,
            height=HEIGHT + 40,
            legend=3,
            xaxis=log_axis(f"{title},<br>{text.tick(names[0])} (ms)", low, high) | {"range": ends},
            yaxis=log_axis(f"{title},<br>{text.tick(names[1])} (ms)", low, high) | {"range": ends},
        ),
        _prompts_caption(ratio, mean),
        pl.DataFrame(
            {"prompt": list(prompts.names), "base_seconds": base, "spec_seconds": spec, "speedup": ratio},
            schema_overrides={"prompt": pl.String},
        ),
    )


def _guide(name: str, low: float, high: float, ratio: float, theme: Theme, dash: str) -> go.Scatter:
    return go.Scatter(
        x=[low, high],
        y=[low / ratio, high / ratio],
        mode="lines",
        name=name,
        line={"color": colours(theme).muted, "width": 1.4, "dash": dash},
        hoverinfo="skip",
    )


def _dots(prompts: Prompts, ratio: np.ndarray, theme: Theme) -> go.Scatter:
    colour = list(run_colours(("base", "spec"), theme).values())[1]
    drawn = np.unique(np.linspace(0, ratio.size - 1, min(ratio.size, _MOST)).astype(int)).tolist()
    return go.Scatter(
        x=[1000 * prompts.base[i] for i in drawn],
        y=[1000 * prompts.spec[i] for i in drawn],
        mode="markers",
        name="a prompt",
        marker={"color": colour, "size": 8, "opacity": 0.75, "line": {"color": colours(theme).page, "width": 0.8}},
        customdata=[[text.whole(prompts.names[i]), float(ratio[i])] for i in drawn],
        hovertemplate=text.hover("%{x:,.2f} ms → %{y:,.2f} ms", "speed-up %{customdata[1]:.3f}"),
    )


def _prompts_caption(ratio: np.ndarray, mean: float) -> str:
    faster = int((ratio > 1).sum())
    drawn = "" if ratio.size <= _MOST else f" {_MOST:,} of them are drawn."
    ends = f"{text.sized(float(ratio.min()))} to {text.sized(float(ratio.max()))}"
    return (
        f"{faster:,} of {text.plural(ratio.size, 'prompt')} are faster with speculation (below the diagonal). "
        f"Speed-ups run from {ends}, {text.sized(mean)} in the geometric mean.{drawn}"
    )
