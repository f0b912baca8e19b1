"""Figure 2: response length against acceptance length, and what that does to the mean over responses.

source: acceptance report, figure 2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import polars as pl

from specdash.charts import rowwise, text
from specdash.charts.base import HEIGHT, Chart, empty, figure
from specdash.charts.palette import Theme, colours, family_colour, scale
from specdash.charts.series import Series, bar_marker, key_entry, series
from specdash.schema import OTHER_FAMILY, POOLED

MOST_POINTS = 3000
"""Responses drawn one by one; more of them are drawn as a density."""

_CELLS = (60, 40)  # of the density, along length and τ_r
_TREND_BINS = 12
_TREND_LEAST = 5  # responses a bin


def _usable(responses: pl.DataFrame) -> pl.DataFrame:
    """Return the responses that have an acceptance length, those without a family as "other"."""
    return responses.filter(pl.col("tau").is_not_null() & pl.col("tau").is_finite()).with_columns(
        pl.col("family").fill_null(OTHER_FAMILY)
    )


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
    usable = _usable(responses).filter(pl.col("length").is_not_null())
    if usable.is_empty():
        return empty("No response with a known length and a drafted step.", theme)
    dense = usable.height > MOST_POINTS
    traces, points = _density(usable, theme) if dense else _markers(usable, theme)
    trend, means = _trend(usable, theme)
    entries = len(trend) if dense else len(traces) + len(trend)
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
    traces = []
    for s in _looks(usable, theme):
        own = usable.filter((pl.col("dataset") == s.name) & (pl.col("family") == s.family))
        traces.append(
            go.Scattergl(
                x=own["length"].to_numpy(),
                y=own["tau"].to_numpy(),
                mode="markers",
                name=s.tick,
                marker={"color": s.colour, "symbol": s.symbol, "size": 6, "opacity": 0.65},
                meta=s.about,
                customdata=[
                    [text.escaped(text.plain(prompt)), "–" if copy is None else copy, steps]
                    for prompt, copy, steps in own.select("prompt", "copy", "steps").iter_rows()
                ],
                hovertemplate="<b>%{meta[0]}</b><br>prompt %{customdata[0]}, copy %{customdata[1]}<br>"
                "τ<sub>r</sub> = %{y:.3f} tokens/step over %{customdata[2]} steps<br>%{x:,} tokens<extra></extra>",
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


def _trend(usable: pl.DataFrame, theme: Theme) -> tuple[list[go.Scatter], pl.DataFrame]:
    """Return a line a family: mean τ_r against mean length of responses of similar length."""
    traces, parts = [], []
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
        traces.append(_trend_line(family, local, theme))
    return traces, pl.concat(parts) if parts else pl.DataFrame()


def _trend_line(family: str, local: pl.DataFrame, theme: Theme) -> go.Scatter:
    return go.Scatter(
        x=local["length"].to_numpy(),
        y=local["tau"].to_numpy(),
        mode="lines+markers",
        name=f"mean, {text.tick(family)}",
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


def gap_split(responses: pl.DataFrame, theme: Theme) -> Chart:
    """What makes the mean over responses differ from τ: mean − harmonic mean, and harmonic mean − τ.

    The first part (Jensen) comes from the spread of τ_r alone and is never negative. τ is the harmonic mean of τ_r
    weighted by emitted tokens, so the second part is what weighting by length does: positive where responses with
    more tokens have the lower τ_r.

    Args:
        responses: A row a response: ``dataset, family, steps, accepted, tau``.
        theme: Page it is for.

    Returns:
        Its data are ``dataset, family, steps, responses, tau, response_mean, harmonic_mean, jensen,
        length_effect``, all of them tokens/step after the counts.
    """
    usable = _usable(responses)
    if usable.is_empty():
        return empty("No response with a drafted step.", theme)
    data = _split(usable)
    drawn = series(data.to_dicts(), theme)
    keys = [("spread of τ<sub>r</sub> (Jensen)", ""), ("response length", "/")]
    parts = [_gap_bars(drawn, key, pattern) for key, pattern in (("jensen", ""), ("length_effect", "/"))]
    ink = colours(theme).ink
    return Chart(
        figure(
            [*parts, _gap_marks(drawn, ink), *(key_entry(name, ink, pattern=pattern) for name, pattern in keys)],
            theme,
            height=rowwise.height(len(drawn)),
            legend=3,
            barmode="relative",
            xaxis={
                "title": {"text": "Part of the gap (tokens/step)"},
                "zeroline": True,
                "zerolinecolor": colours(theme).muted,
            },
            yaxis=rowwise.names_axis(drawn),
        ),
        _gap_caption(data),
        data,
    )


def _split(usable: pl.DataFrame) -> pl.DataFrame:
    tau = pl.col("tau")
    sums = {
        "steps": pl.col("steps").sum(),
        "responses": pl.len().cast(pl.Int64),
        "tau": 1 + pl.col("accepted").sum() / pl.col("steps").sum(),
        "response_mean": tau.mean(),
        "harmonic_mean": pl.len() / (1 / tau).sum(),
    }
    found = usable.group_by("dataset", "family", maintain_order=True).agg(**sums)
    if found.height > 1:
        pooled = usable.select(**sums).with_columns(dataset=pl.lit(POOLED), family=pl.lit(None, pl.String))
        found = pl.concat([found, pooled.select(found.columns)])
    return found.with_columns(
        jensen=pl.col("response_mean") - pl.col("harmonic_mean"), length_effect=pl.col("harmonic_mean") - pl.col("tau")
    )


_PARTS = {"jensen": "from the spread of τ<sub>r</sub>", "length_effect": "from response length"}


def _gap_bars(drawn: Sequence[Series], key: str, pattern: str) -> go.Bar:
    return go.Bar(
        x=[s.row[key] for s in drawn],
        y=list(range(len(drawn))),
        orientation="h",
        width=0.62,
        showlegend=False,
        marker=bar_marker([s.colour for s in drawn], pattern=pattern),
        customdata=[s.about for s in drawn],
        hovertemplate=text.hover(f"%{{x:+.3f}} tokens/step {_PARTS[key]}", "%{customdata[1]}"),
    )


def _gap_marks(drawn: Sequence[Series], ink: str) -> go.Scatter:
    return go.Scatter(
        x=[s.row["response_mean"] - s.row["tau"] for s in drawn],
        y=list(range(len(drawn))),
        mode="markers",
        name="whole gap: mean τ<sub>r</sub> − τ",
        marker={"symbol": "diamond-open", "size": 10, "color": ink, "line": {"width": 2}},
        customdata=[[*s.about, s.row["response_mean"], s.row["tau"]] for s in drawn],
        hovertemplate=text.hover(
            "mean τ<sub>r</sub> − τ = %{customdata[2]:.3f} − %{customdata[3]:.3f} = %{x:+.3f} tokens/step",
            "%{customdata[1]}",
        ),
    )


def _gap_caption(data: pl.DataFrame) -> str:
    datasets = data.filter(pl.col("family").is_not_null())
    gap = (pl.col("response_mean") - pl.col("tau")).abs()
    row = datasets.sort(gap, descending=True, maintain_order=True).row(0, named=True)
    whole = row["response_mean"] - row["tau"]
    where = f"{text.plain(row['dataset'])} has the largest gap" if datasets.height > 1 else text.plain(row["dataset"])
    effect = row["length_effect"]
    why = "longer responses have a lower τ_r" if effect > 0 else "longer responses have a higher τ_r"
    cause = f" ({why})" if abs(effect) >= 0.0005 else ""
    return (
        f"{where}: the mean over responses minus τ is {text.number(whole, 3, signed=True)}, of which "
        f"{text.number(row['jensen'], 3, signed=True)} is the spread of τ_r alone and "
        f"{text.number(effect, 3, signed=True)} response length{cause}."
    )
