"""How sure τ is: its interval over prompts beside the one that takes steps for independent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import plotly.graph_objects as go
import polars as pl

from specdash.charts import rowwise, text
from specdash.charts.base import Chart, empty, figure
from specdash.charts.palette import Theme, colours, translucent
from specdash.charts.series import Series, family_keys, frame, series
from specdash.charts.text import Row
from specdash.schema import LEVEL

_NORMAL = 1.959964  # standard errors to both sides of a normal 95 % interval


def tau_intervals(rows: Iterable[Row], theme: Theme, *, families: Iterable[Row] = ()) -> Chart:
    """τ with its interval, a row a dataset; inside it the naive interval of independent steps.

    Args:
        rows: Datasets, the pooled row among them; "tau", "tau_ci" and "tau_se_naive" in tokens/step.
        theme: Page it is for.
        families: Rows by family to show too.

    Returns:
        Its data are ``dataset, family, steps, tau, low, high, naive_low, naive_high``.
    """
    drawn = [s for s in series(rows, theme, families) if s.row.get("tau_ci")]
    if not drawn:
        return empty("No interval of τ to show.", theme)
    keys = family_keys(drawn)
    naive = _naive_bars(drawn, theme)
    return Chart(
        figure(
            [*(_interval(i, s) for i, s in enumerate(drawn)), naive, *keys],
            theme,
            height=rowwise.height(len(drawn)),
            legend=len(keys) + 1,
            xaxis={
                "title": {"text": f"Acceptance length τ and its {LEVEL:.0%} interval over prompts<br>(tokens/step)"}
            },
            yaxis=rowwise.names_axis(drawn),
        ),
        _caption(drawn),
        _data(drawn),
    )


def _interval(index: int, s: Series) -> go.Scatter:
    tau, (low, high) = s.row["tau"], s.row["tau_ci"]
    error = {"array": [high - tau], "arrayminus": [tau - low], "color": s.colour, "thickness": 2.5, "width": 6}
    return go.Scatter(
        x=[tau],
        y=[index],
        mode="markers",
        showlegend=False,
        marker={"color": s.colour, "size": 6, "symbol": "circle" if s.kind == "dataset" else "diamond"},
        error_x=error,
        customdata=[[*s.about, text.within(s.row["tau_ci"])]],
        hovertemplate=text.hover("τ = %{x:.3f} tokens/step%{customdata[2]}", "%{customdata[1]}"),
    )


def _naive(s: Series) -> tuple[float, float] | None:
    error = s.row.get("tau_se_naive")
    return error and (s.row["tau"] - _NORMAL * error, s.row["tau"] + _NORMAL * error)


def _naive_bars(drawn: Sequence[Series], theme: Theme) -> go.Scatter:
    """Return the naive intervals as one trace of bars that lie over the others."""
    pairs = [(i, ends) for i, s in enumerate(drawn) if (ends := _naive(s))]
    return go.Scatter(
        x=[x for _, (low, high) in pairs for x in (low, high, None)],
        y=[y for i, _ in pairs for y in (i, i, None)],
        mode="lines",
        name="naive: steps independent",
        line={"color": translucent(colours(theme).ink, 0.55), "width": 14},
        hoverinfo="skip",
        zorder=-1,
    )


def _data(drawn: Sequence[Series]) -> pl.DataFrame:
    ends = [(*s.row["tau_ci"], *(_naive(s) or (None, None))) for s in drawn]
    names = ("low", "high", "naive_low", "naive_high")
    columns = [pl.Series(name, [e[i] for e in ends], dtype=pl.Float64) for i, name in enumerate(names)]
    return frame(drawn, "steps", "tau").with_columns(columns)


def _caption(drawn: Sequence[Series]) -> str:
    datasets = [s for s in drawn if s.kind == "dataset"] or list(drawn)
    halves = [(s.name, (s.row["tau_ci"][1] - s.row["tau_ci"][0]) / 2) for s in datasets]
    parts = [f"τ is known to ± {text.spread(halves, unit='tokens per step')}."]
    times = [(s.name, half / (_NORMAL * s.row["tau_se_naive"])) for s, (_, half) in zip(datasets, halves, strict=True)
             if s.row.get("tau_se_naive")]  # fmt: skip
    if times:
        parts.append(
            f"That is {text.spread(times, 1, 'times')} as wide as if steps were independent: "
            "steps of one prompt resemble each other."
        )
    return text.sentences(parts)
