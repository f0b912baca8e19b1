"""Figure 6: how τ_r is spread over responses, and how much of that is noise between copies of one prompt.

source: acceptance report, figure 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import plotly.graph_objects as go
import polars as pl

from specdash.charts import rowwise, text
from specdash.charts.base import Chart, empty, figure
from specdash.charts.palette import Theme, colours, faded
from specdash.charts.series import Series, bar_marker, family_keys, frame, key_entry, measured, named, series
from specdash.charts.text import Row

FEWEST_FOR_VIOLIN = 20
"""Responses of a dataset from which on a violin is drawn; fewer are drawn one by one."""

Shape = tuple[np.ndarray, np.ndarray]
"""A grid of values and the density there."""

_GRID = 97  # points of a violin
_BINS_PER_POINT = 4
_HALF = 0.42  # rows
_PERCENTILES = (10, 25, 50, 75, 90)


def density(values: np.ndarray, points: int = _GRID) -> Shape | None:
    """Estimate a density by a Gaussian kernel (Silverman's bandwidth), reflected at the extremes of the data.

    Args:
        values: Shape (n,), finite.
        points: Points of the grid.

    Returns:
        The grid from the smallest to the largest value and the density there (1/unit of the values), each of shape
        (points,); None when the values do not vary.

    source: Silverman 1986, eq. 3.31.
    """
    low, high = float(values.min()), float(values.max())
    spread = float(values.std(ddof=1)) if values.size > 1 else 0.0
    quartiles = float(np.subtract(*np.percentile(values, [75, 25]))) / 1.34
    spread = min(spread, quartiles) if quartiles > 0 else spread
    if high - low < 1e-9 or spread <= 0:
        return None
    # A kernel narrower than the grid would be missed by it.
    bandwidth = max(0.9 * spread * values.size**-0.2, (high - low) / (points - 1))
    counts, edges = np.histogram(values, bins=_BINS_PER_POINT * points, range=(low, high))
    centres = (edges[1:] + edges[:-1]) / 2
    grid = np.linspace(low, high, points)
    mirrored = (centres, 2 * low - centres, 2 * high - centres)
    kernel = sum(np.exp(-0.5 * ((grid[:, None] - source) / bandwidth) ** 2) for source in mirrored)
    return grid, kernel @ counts / (values.size * bandwidth * np.sqrt(2 * np.pi))


def tau_violins(responses: pl.DataFrame, theme: Theme) -> Chart:
    """Distribution of τ_r over responses, a violin a dataset, with the step-weighted τ marked.

    Args:
        responses: A row a response: ``dataset, family, steps, accepted, tau``.
        theme: Page it is for.

    Returns:
        Its data are ``layer, dataset, family, tau, density, responses, steps``: layer "density" is a violin,
        "response" a response of a dataset too small for one, "p10" to "p90" percentiles (type 7), "step-weighted"
        the mark.
    """
    usable = measured(responses)
    if usable.is_empty():
        return empty("No response with a drafted step.", theme)
    drawn = series(_summaries(usable), theme)
    values = [_values(usable, s) for s in drawn]
    shapes = [density(v) if v.size >= FEWEST_FOR_VIOLIN else None for v in values]
    bodies = [_body(i, s, v, shapes[i], theme) for i, (s, v) in enumerate(zip(drawn, values, strict=True))]
    keys = family_keys(drawn)
    return Chart(
        figure(
            [*bodies, *_ranges(drawn, theme), _marks(drawn, theme), *keys],
            theme,
            height=rowwise.height(len(drawn), 40 if len(drawn) <= 15 else 32),
            legend=len(keys) + 3,
            xaxis={"title": {"text": "Acceptance length τ<sub>r</sub><br>of a response (tokens/step)"}},
            yaxis=rowwise.names_axis(drawn),
        ),
        _violin_caption(drawn),
        _violin_data(drawn, values, shapes),
    )


def _summaries(usable: pl.DataFrame) -> list[Row]:
    tau = pl.col("tau")
    found = usable.group_by("dataset", "family", maintain_order=True).agg(
        steps=pl.col("steps").sum(),
        responses=pl.len(),
        tau=1 + pl.col("accepted").sum() / pl.col("steps").sum(),
        **{f"p{n}": tau.quantile(n / 100, interpolation="linear") for n in _PERCENTILES},
    )
    return found.to_dicts()


def _values(usable: pl.DataFrame, s: Series) -> np.ndarray:
    return usable.filter((pl.col("dataset") == s.name) & (pl.col("family") == s.family))["tau"].to_numpy()


def _body(index: int, s: Series, values: np.ndarray, shape: Shape | None, theme: Theme) -> go.Scatter:
    """Return the violin of a dataset as a closed outline, or its responses as points."""
    look = {"showlegend": False, "hoverinfo": "skip", "marker": {"color": s.colour}}
    if shape is None:
        distinct = np.unique(values)
        marker = {"color": s.colour, "size": 8, "opacity": 0.6}
        return go.Scatter(look, x=distinct, y=np.full(distinct.size, index), mode="markers", marker=marker, name=s.tick)
    grid, height = shape
    half = _HALF * height / height.max()
    return go.Scatter(
        look,
        x=np.concatenate([grid, grid[::-1]]),
        y=np.concatenate([index - half, index + half[::-1]]),
        mode="lines",
        fill="toself",
        fillcolor=faded(s.colour, 0.45, theme),
        line={"color": s.colour, "width": 1},
        name=s.tick,
    )


def _ranges(drawn: Sequence[Series], theme: Theme) -> list[go.Scatter]:
    """Return the lines from p10 to p90 and the medians."""
    ink = colours(theme).ink
    x = [value for s in drawn for value in (s.row["p10"], s.row["p90"], None)]
    y = [value for i in range(len(drawn)) for value in (i, i, None)]
    line = go.Scatter(x=x, y=y, mode="lines", name="p10–p90", line={"color": ink, "width": 1.5}, hoverinfo="skip")
    median = go.Scatter(
        x=[s.row["p50"] for s in drawn],
        y=list(range(len(drawn))),
        mode="markers",
        name="median",
        marker={"symbol": "line-ns-open", "size": 12, "color": ink, "line": {"width": 2}},
        customdata=[[*s.about, s.row["p10"], s.row["p90"]] for s in drawn],
        hovertemplate=text.hover(
            "median τ<sub>r</sub> = %{x:.3f} tokens/step",
            "p10 %{customdata[2]:.3f}, p90 %{customdata[3]:.3f}",
            "%{customdata[1]}",
        ),
    )
    return [line, median]


def _marks(drawn: Sequence[Series], theme: Theme) -> go.Scatter:
    look = colours(theme)
    return go.Scatter(
        x=[s.row["tau"] for s in drawn],
        y=list(range(len(drawn))),
        mode="markers",
        name="τ",
        marker={"symbol": "diamond", "size": 11, "color": look.ink, "line": {"color": look.page, "width": 1.5}},
        customdata=[s.about for s in drawn],
        hovertemplate=text.hover("step-weighted τ = %{x:.3f} tokens/step", "%{customdata[1]}"),
    )


def _violin_data(drawn: Sequence[Series], values: Sequence[np.ndarray], shapes: Sequence[Shape | None]) -> pl.DataFrame:
    layers = []
    for s, own, shape in zip(drawn, values, shapes, strict=True):
        grid, height = shape or (own, np.full(own.size, np.nan))
        body = pl.DataFrame({"tau": grid, "density": height}, schema={"tau": pl.Float64, "density": pl.Float64})
        marks = [(f"p{n}", s.row[f"p{n}"]) for n in _PERCENTILES] + [("step-weighted", s.row["tau"])]
        summary = pl.DataFrame(marks, schema={"layer": pl.String, "tau": pl.Float64}, orient="row")
        body = body.with_columns(pl.col("density").fill_nan(None), layer=pl.lit("density" if shape else "response"))
        layers.append(
            pl.concat([body, summary], how="diagonal").with_columns(
                dataset=pl.lit(s.name),
                family=pl.lit(s.family),
                responses=pl.lit(s.row["responses"], pl.Int64),
                steps=pl.lit(s.row["steps"], pl.Int64),
            )
        )
    return pl.concat(layers).select("layer", "dataset", "family", "tau", "density", "responses", "steps")


def _violin_caption(drawn: Sequence[Series]) -> str:
    widths = [(s.name, s.row["p90"] - s.row["p10"]) for s in drawn]
    shifts = [(s.name, s.row["tau"] - s.row["p50"]) for s in drawn]
    few = sum(s.row["responses"] < FEWEST_FOR_VIOLIN for s in drawn)
    points = f" {text.plural(few, 'dataset')} with few responses: drawn one by one." if few else ""
    return (
        f"From p10 to p90, τ_r spans {text.spread(widths, unit='tokens per step')}. The step-weighted τ (diamond) "
        f"lies {text.spread(shifts, unit='tokens per step', signed=True)} from the median response.{points}"
    )


def within_share(rows: Iterable[Row], theme: Theme, *, families: Iterable[Row] = ()) -> Chart:
    """Share of the variance of τ_r between copies of one prompt: as the report has it, and corrected.

    Args:
        rows: Datasets, the pooled row among them; "within_share" (population form) and "within_share_corrected"
            (variance components) are shares of 1.
        theme: Page it is for.
        families: Rows by family to show too.

    Returns:
        Its data are ``dataset, family, responses, within_share, within_share_corrected``.
    """
    shown = ("within_share", "within_share_corrected")
    drawn = [s for s in series(rows, theme, families) if any(s.row.get(key) is not None for key in shown)]
    if not drawn:
        return empty("No share to tell: it needs prompts that were answered at least twice.", theme)
    looks = [("population form", ""), ("corrected", "/")]
    bars = [_share_bars(drawn, key, j, theme, *look) for j, (key, look) in enumerate(zip(shown, looks, strict=True))]
    return Chart(
        figure(
            [*bars, *(key_entry(name, theme, pattern=pattern) for name, pattern in looks)],
            theme,
            height=rowwise.height(len(drawn), 36),
            legend=2,
            barmode="overlay",
            xaxis={
                "title": {"text": "Variance of τ<sub>r</sub><br>within a prompt (%)"},
                "range": [0, 125],
                "tickvals": [0, 25, 50, 75, 100],
            },
            yaxis=rowwise.names_axis(drawn),
        ),
        _share_caption(drawn),
        frame(drawn, "responses", *shown),
    )


def _share_bars(drawn: Sequence[Series], key: str, nth: int, theme: Theme, name: str, pattern: str) -> go.Bar:
    values = [s.row.get(key) for s in drawn]
    return go.Bar(
        x=[None if v is None else 100 * v for v in values],
        y=[i - 0.2 + 0.4 * nth for i in range(len(drawn))],
        orientation="h",
        width=0.36,
        showlegend=False,
        marker=bar_marker([s.colour for s in drawn], theme, opacity=0.75, pattern=pattern),
        text=["" if v is None else f"{100 * v:.0f} %" for v in values],
        textposition="outside",
        cliponaxis=False,
        textfont={"size": 11},
        customdata=[s.about for s in drawn],
        hovertemplate=text.hover(f"%{{x:.2f}} % within a prompt, {name}", "%{customdata[1]}"),
    )


def _share_caption(drawn: Sequence[Series]) -> str:
    shares, corrected = named(drawn, "within_share"), named(drawn, "within_share_corrected")
    parts = []
    if any(value is not None for _, value in shares):
        parts.append(
            f"Copies of one prompt make up {text.spread(shares, 0, percent=True)} of the variance of τ_r; "
            "the rest lies between prompts."
        )
    if any(value is not None for _, value in corrected):
        parts.append(f"Corrected for the number of copies it is {text.spread(corrected, 0, percent=True)}.")
    return text.sentences(parts)
