"""Figures 4 and 5: what a verify step accepts, and how far that is from a constant acceptance rate.

source: acceptance report, figures 4 and 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import polars as pl

from specdash.charts import rowwise, text
from specdash.charts.base import Chart, empty, figure
from specdash.charts.palette import Theme, colours
from specdash.charts.series import Series, bar_marker, series
from specdash.charts.text import Row

ACCEPTED = "Accepted draft tokens a in a step"


def outcome_heatmap(rows: Iterable[Row], theme: Theme, *, families: Iterable[Row] = (), pooled: bool = True) -> Chart:
    """Share of steps by dataset and number of accepted tokens, in percent; the column a = K is outlined.

    Args:
        rows: Datasets, the pooled row among them; "outcome" is a list of shares over a = 0..K.
        theme: Page it is for.
        families: Rows by family to show too.
        pooled: Whether the pooled row is shown.

    Returns:
        Its data are ``dataset, family, steps, accepted, share``, shares of 1.
    """
    drawn = [s for s in series(rows, theme, families, pooled=pooled) if _whole(s.row.get("outcome"))]
    if not drawn:
        return empty("No step outcomes: they need counts by draft position.", theme)
    k = max(len(s.row["outcome"]) for s in drawn) - 1
    cells = [[100 * v for v in s.row["outcome"]] + [None] * (k + 1 - len(s.row["outcome"])) for s in drawn]
    shares = [(s.name, s.family, s.row.get("steps"), j, v) for s in drawn for j, v in enumerate(s.row["outcome"])]
    schema = {"dataset": pl.String, "family": pl.String, "steps": pl.Int64, "accepted": pl.Int64, "share": pl.Float64}
    return Chart(
        rowwise.heatmap(
            drawn,
            cells,
            theme,
            columns=[*map(str, range(k)), f"{k}=K" if k < 10 else "K"],
            title="Accepted draft tokens a<br>(cells: % of steps)",
            template=text.hover("a = %{x}: %{z:.2f} % of steps", "%{customdata[1]}"),
            highest=max(v for row in cells for v in row if v is not None),
            outlined=k,
        ),
        _outcome_caption(drawn, k),
        pl.DataFrame(shares, schema=schema, orient="row"),
    )


def _whole(shares: Sequence[float | None] | None) -> bool:
    return bool(shares) and None not in shares


def _outcome_caption(drawn: Sequence[Series], k: int) -> str:
    chosen = [s for s in drawn if s.kind == "dataset"] or list(drawn)
    none = [(s.name, s.row["outcome"][0]) for s in chosen]
    full = [(s.name, s.row["outcome"][k]) for s in chosen if len(s.row["outcome"]) > k]
    parts = [
        f"Nothing is accepted in {text.spread(none, 1, percent=True)} of steps; all K = {k} drafted tokens "
        f"(outlined) in {text.spread(full, 1, percent=True)}."
    ]
    if any(_varies(s.row, k) for s in chosen):
        parts.append(f"Not every step drafted {k}, so a step may have reached its own limit in another column.")
    return text.sentences(parts)


def _varies(row: Row, k: int) -> bool:
    drafted, steps = row.get("drafted"), row.get("steps")
    return drafted is not None and steps is not None and drafted != k * steps


def kl_divergence(observed: Sequence[float], model: Sequence[float]) -> float:
    """Return Σ O ln(O/M) in nats per step; infinite where the model excludes what was observed.

    Args:
        observed: Shares of steps by accepted tokens.
        model: Shares of the same outcomes under a model.
    """
    pairs = [(o, m) for o, m in zip(observed, model, strict=True) if o > 0]
    return math.inf if any(m <= 0 for _, m in pairs) else max(0.0, sum(o * math.log(o / m) for o, m in pairs))


def total_variation(observed: Sequence[float], model: Sequence[float]) -> float:
    """Return half the sum of absolute differences, the share of steps that would have to move: 0..1."""
    return float(np.abs(np.subtract(observed, model)).sum() / 2)


def geometric_fit(row: Row, theme: Theme, *, mle: Sequence[float] | None = None) -> Chart:
    """Observed P(a = j) of one row against the constant-α model, and the differences below.

    Args:
        row: A dataset, a family or the pooled row: "outcome" and "geometric_outcome" (the model at the α that has
            the observed τ) are lists of shares over a = 0..K.
        theme: Page it is for.
        mle: The model at the maximum-likelihood α, shares over a = 0..K.

    Returns:
        Its data are ``accepted, observed, moment, mle, observed_minus_moment, observed_minus_mle``, shares of 1;
        columns of a model that is not known are null.
    """
    drawn = series([row], theme)[0]
    observed = row.get("outcome")
    if not _whole(observed):
        return empty("No step outcomes: they need counts by draft position.", theme)
    models = {"moment": row.get("geometric_outcome"), "mle": mle}
    models = {key: list(model) for key, model in models.items() if model is not None and len(model) == len(observed)}
    j = list(range(len(observed)))
    traces = [_observed_bars(drawn, j, observed, theme)]
    for key, model in models.items():
        traces += _model_traces(key, j, observed, model, theme)
    return Chart(
        figure(
            traces,
            theme,
            height=440 if models else 320,
            legend=1 + len(models),
            barmode="group",
            bargap=0.25,
            **_fit_axes(observed, models, theme),
        ),
        _fit_caption(drawn, observed, models),
        _fit_data(j, observed, models),
    )


def _fit_axes(observed: Sequence[float], models: dict[str, list[float]], theme: Theme) -> dict[str, Any]:
    """Return the axes: shares above, differences below where there is a model to differ from."""
    x = {
        "title": {"text": ACCEPTED},
        "range": [-0.6, len(observed) - 0.4],
        "dtick": -(-len(observed) // 17),
        "tick0": 0,
        "showgrid": False,
    }
    y = {"title": {"text": "Share of steps (%)"}, "rangemode": "tozero"}
    if not models:
        return {"xaxis": x, "yaxis": y}
    difference = {
        "title": {"text": "Difference (pp)"},
        "domain": [0, 0.3],
        "range": _around_zero(observed, models.values()),
        "zeroline": True,
        "zerolinecolor": colours(theme).muted,
        "nticks": 5,
    }
    return {"xaxis": x | {"anchor": "y2"}, "yaxis": y | {"domain": [0.4, 1]}, "yaxis2": difference}


def _around_zero(observed: Sequence[float], models: Iterable[Sequence[float]]) -> list[float]:
    """Return the range of the differences in points, never so small that rounding errors look like one."""
    gaps = [100 * (o - m) for model in models for o, m in zip(observed, model, strict=True)]
    return [1.15 * min([-0.5, *gaps]), 1.15 * max([0.5, *gaps])]


def _observed_bars(s: Series, j: list[int], observed: Sequence[float], theme: Theme) -> go.Bar:
    return go.Bar(
        x=j,
        y=[100 * v for v in observed],
        name="observed",
        marker=bar_marker([s.colour] * len(j), theme, opacity=0.55),
        customdata=[s.about] * len(j),
        hovertemplate=text.hover("a = %{x}: %{y:.2f} % of steps observed", "%{customdata[1]}"),
    )


_MODELS = {"moment": ("same τ", "diamond", "solid", ""), "mle": ("max. likelihood", "circle-open", "dot", "/")}


def _model_traces(key: str, j: list[int], observed: Sequence[float], model: Sequence[float], theme: Theme) -> list:
    """Return a model's line over the observed bars and the bars of observed minus model below."""
    name, symbol, dash, pattern = _MODELS[key]
    ink = colours(theme).ink
    line = go.Scatter(
        x=j,
        y=[100 * v for v in model],
        mode="lines+markers",
        name=f"α, {name}",
        legendgroup=key,
        line={"color": ink, "width": 1.5, "dash": dash},
        marker={"symbol": symbol, "size": 8, "color": ink, "line": {"width": 1.5}},
        hovertemplate=f"constant α, {name}<br>a = %{{x}}: %{{y:.2f}} % of steps<extra></extra>",
    )
    bars = go.Bar(
        x=j,
        y=[100 * (o - m) for o, m in zip(observed, model, strict=True)],
        yaxis="y2",
        legendgroup=key,
        showlegend=False,
        marker=bar_marker([ink] * len(j), theme, opacity=0.8, pattern=pattern),
        hovertemplate=f"observed − constant α, {name}<br>a = %{{x}}: %{{y:+.2f}} points<extra></extra>",
    )
    return [line, bars]


def _fit_data(j: list[int], observed: Sequence[float], models: dict[str, list[float]]) -> pl.DataFrame:
    nothing = [None] * len(j)
    columns = {"accepted": j, "observed": list(observed)} | {key: models.get(key, nothing) for key in _MODELS}
    schema = {"accepted": pl.Int64, "observed": pl.Float64, "moment": pl.Float64, "mle": pl.Float64}
    return pl.DataFrame(columns, schema=schema).with_columns(
        observed_minus_moment=pl.col("observed") - pl.col("moment"),
        observed_minus_mle=pl.col("observed") - pl.col("mle"),
    )


def _fit_caption(s: Series, observed: Sequence[float], models: dict[str, list[float]]) -> str:
    if not models:
        return f"{text.plain(s.name)}: observed only; the model needs a known mix of block lengths."
    alphas = {"moment": s.row.get("implied_alpha"), "mle": s.row.get("alpha_mle")}
    fits = [_misfit(key, alphas[key], observed, model) for key, model in models.items()]
    model = next(iter(models.values()))
    ends = [
        f"{number(observed[end])} of steps accept {what} ({number(model[end])} under the model)"
        for end, what in ((0, "nothing"), (-1, f"the whole draft of {len(observed) - 1}"))
    ]
    return f"{text.plain(s.name)}, misfit of the constant-α model: {'; '.join(fits)}. {' and '.join(ends)}."


def number(share: float) -> str:
    """Return a share in percent with one decimal."""
    return text.number(share, 1, percent=True)


def _misfit(key: str, alpha: float | None, observed: Sequence[float], model: Sequence[float]) -> str:
    name = {"moment": "matched on τ", "mle": "by maximum likelihood"}[key]
    kl = kl_divergence(observed, model)
    shown = f"KL {text.number(kl, 4)} nats/step" if math.isfinite(kl) else "KL infinite"
    at = "" if alpha is None else f" (α = {text.number(alpha, 3)})"
    return f"{name}{at} {shown}, total variation {text.number(total_variation(observed, model), 3)}"
