"""Figure 2: response length against acceptance length, one by one or as a density.

source: acceptance report, figure 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
import polars as pl

from specdash.charts import text
from specdash.charts.base import HEIGHT, Chart, empty, figure
from specdash.charts.palette import Theme, colours, family_colour, scale
from specdash.charts.series import Listing, Series, measured, series

MOST_POINTS = 3000
"""Responses drawn one by one; more of them are drawn as a density."""

_CELLS = (60, 40)  # of the density, along length and τ_r
Kind = type[go.Scatter] | type[go.Scattergl]

_TREND_BINS = 12
_TREND_LEAST = 5  # responses a bin


def _looks(responses: pl.DataFrame, theme: Theme) -> list[Series]:
    """Return a series a dataset, in order of appearance; its row holds the counts shown on hovering."""
    found = responses.group_by("dataset", "family", maintain_order=True).agg(
        steps=pl.col("steps").sum(), responses=pl.len()
    )
    return series(found.to_dicts(), theme, pooled=False)


def length_against_tau(responses: pl.DataFrame, theme: Theme) -> Chart:
    """Length of each response against its τ_r: markers, or a density above MOST_POINTS; lines of local means.

    Args:
        responses: A row a response: ``dataset, family, prompt, copy, steps, tau`` (tokens/step), ``length``
            (tokens).
        theme: Page it is for.

    Returns:
        Its data are ``layer, dataset, family, prompt, copy, length, tau, responses``. Layer "response" is a
        response, "cell" a cell of the density by its centre, "mean" a point of a family's line.
    """
    usable = measured(responses)
    usable = usable if usable.is_empty() else usable.filter(pl.col("length").is_not_null())
    if usable.is_empty():
        return empty("No response with a known length and a drafted step.", theme)
    dense = usable.height > MOST_POINTS
    traces, points = _density(usable, theme) if dense else _markers(usable, theme)
    trend, means = _trend(usable, theme, go.Scatter if dense else go.Scattergl)
    entries = sum(trace.showlegend is not False for trace in [*traces, *trend]) - dense
    columns = ["layer", "dataset", "family", "prompt", "copy", "length", "tau", "responses"]
    data = pl.concat([points, means], how="diagonal_relaxed")
    absent = [pl.lit(None, pl.String).alias(name) for name in columns if name not in data.columns]
    return Chart(
        figure(
            [*traces, *trend],
            theme,
            height=HEIGHT,
            legend=entries if entries > 1 or trend else 0,
            xaxis={"title": {"text": "Response length (tokens)"}},
            yaxis={"title": {"text": "Acceptance length τ<sub>r</sub> (tokens/step)"}},
        ),
        _length_caption(usable, bool(trend)),
        data.with_columns(absent).select(columns),
    )


def _markers(usable: pl.DataFrame, theme: Theme) -> tuple[list[go.Scattergl], pl.DataFrame]:
    looks = _looks(usable, theme)
    listing = Listing.of(looks)
    traces: list[Any] = [*listing.entries]
    opacity = 0.8 if usable.height < 300 else 0.5
    for s in looks:
        own = usable.filter((pl.col("dataset") == s.name) & (pl.col("family") == s.family))
        traces.append(
            go.Scattergl(
                x=own["length"].to_numpy(),
                y=own["tau"].to_numpy(),
                mode="markers",
                name=text.legend(s.name),
                marker={"color": s.colour, "symbol": s.symbol, "size": 7, "opacity": opacity},
                meta=s.about,
                customdata=[
                    [text.escaped(text.plain(prompt)), "–" if copy is None else copy, steps]
                    for prompt, copy, steps in own.select("prompt", "copy", "steps").iter_rows()
                ],
                hovertemplate="<b>%{meta[0]}</b><br>prompt %{customdata[0]}, copy %{customdata[1]}<br>"
                "τ<sub>r</sub> = %{y:.3f} tokens/step over %{customdata[2]} steps<br>%{x:,} tokens<extra></extra>",
                **listing.place(s),
            )
        )
    shown = usable.select("dataset", "family", "prompt", "copy", "length", "tau")
    return traces, shown.with_columns(layer=pl.lit("response"), responses=pl.lit(1))


def _density(usable: pl.DataFrame, theme: Theme) -> tuple[list[go.Heatmap], pl.DataFrame]:
    counts, lengths, taus = np.histogram2d(usable["length"].to_numpy(), usable["tau"].to_numpy(), bins=_CELLS)
    x, y = (lengths[1:] + lengths[:-1]) / 2, (taus[1:] + taus[:-1]) / 2
    filled = counts > 0
    most = int(counts.max())
    marks = [n for n in (1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 100_000, 1_000_000) if n <= most]
    cells = go.Heatmap(
        x=x,
        y=y,
        z=np.log10(np.where(filled, counts, np.nan)).T,
        zmin=0,
        zmax=max(np.log10(most), 1.0),
        colorscale=scale(colours(theme).density),
        colorbar={
            "title": {"text": "responses", "side": "right", "font": {"size": 12}},
            "thickness": 8,
            "len": 0.7,
            "tickvals": np.log10(marks).tolist(),
            "ticktext": [f"{n:,}" for n in marks],
            "tickfont": {"size": 11},
            "outlinewidth": 0,
            "xpad": 4,
        },
        customdata=counts.T.astype(int),
        hovertemplate="about %{x:,.0f} tokens, τ<sub>r</sub> about %{y:.2f} tokens/step<br>"
        "n = %{customdata:,} responses<extra></extra>",
        hoverongaps=False,
    )
    i, j = np.nonzero(filled)
    shown = {"length": x[i], "tau": y[j], "responses": counts[i, j].astype(np.int64)}
    return [cells], pl.DataFrame(shown).with_columns(layer=pl.lit("cell"))


def _trend(usable: pl.DataFrame, theme: Theme, kind: Kind) -> tuple[list[Any], pl.DataFrame]:
    """Return a line a family: mean τ_r against mean length of responses of similar length.

    The lines are of the same kind as the points below them: what WebGL draws covers all that SVG does.
    """
    traces: list[Any] = []
    parts = []
    for family in usable["family"].unique(maintain_order=True):
        own = usable.filter(pl.col("family") == family).sort("length")
        bins = min(_TREND_BINS, own.height // _TREND_LEAST)
        if bins < 3 or own["length"].n_unique() < bins:
            continue
        # Equal lengths stay together: a rank that ties share decides the bin.
        rank = (pl.col("length").rank("min") - 1) * bins // own.height
        local = (
            own.group_by(rank.alias("bin"))
            .agg(length=pl.col("length").mean(), tau=pl.col("tau").mean(), responses=pl.len())
            .sort("length")
            .select(pl.lit("mean").alias("layer"), pl.lit(family).alias("family"), "length", "tau", "responses")
        )
        parts.append(local)
        traces += [_halo(local, theme, kind), _trend_line(family, local, theme, kind)]
    return traces, pl.concat(parts) if parts else pl.DataFrame()


def _halo(local: pl.DataFrame, theme: Theme, kind: Kind) -> go.Scatter | go.Scattergl:
    """Return what sets a line off from points of its own colour."""
    line = {"color": colours(theme).page, "width": 7}
    x, y = local["length"].to_numpy(), local["tau"].to_numpy()
    return kind(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False)


def _trend_line(family: str, local: pl.DataFrame, theme: Theme, kind: Kind) -> go.Scatter | go.Scattergl:
    return kind(
        x=local["length"].to_numpy(),
        y=local["tau"].to_numpy(),
        mode="lines+markers",
        name=f"mean, {text.legend(family, 14)}",
        line={"color": family_colour(family, theme), "width": 3},
        marker={"size": 8, "line": {"color": colours(theme).page, "width": 1.5}},
        customdata=[[text.whole(family), n] for n in local["responses"]],
        hovertemplate=text.hover(
            "mean τ<sub>r</sub> = %{y:.3f} tokens/step", "at %{x:,.0f} tokens", "n = %{customdata[1]:,} responses"
        ),
    )


def _correlations(usable: pl.DataFrame) -> list[tuple[str, float]]:
    """Pearson correlation of τ_r with length by dataset, where neither is constant."""
    found = usable.group_by("dataset", maintain_order=True).agg(
        r=pl.corr("tau", "length"), taus=pl.col("tau").n_unique(), lengths=pl.col("length").n_unique()
    )
    defined = found.filter((pl.col("taus") > 1) & (pl.col("lengths") > 1) & pl.col("r").is_finite())
    return list(defined.select("dataset", "r").iter_rows())


def _length_caption(usable: pl.DataFrame, lines: bool) -> str:
    parts = [f"{text.plural(usable.height, 'response')}."]
    found = _correlations(usable)
    if found:
        parts.append(f"Within a dataset, length and τ_r correlate at r = {text.spread(found, signed=True)}.")
    else:
        parts.append("Neither length nor τ_r varies enough to correlate them.")
    if lines:
        parts.append("Lines: mean τ_r of a family's responses of similar length.")
    return text.sentences(parts)
