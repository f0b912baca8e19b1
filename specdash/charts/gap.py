"""Why the mean of τ_r over responses differs from τ: the gap, split in two.

source: acceptance report, figure 2.
"""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import polars as pl

from specdash.charts import rowwise, text
from specdash.charts.base import Chart, empty, figure
from specdash.charts.palette import Theme, colours
from specdash.charts.series import Series, bar_marker, key_entry, measured, series
from specdash.schema import POOLED


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
    usable = measured(responses)
    if usable.is_empty():
        return empty("No response with a drafted step.", theme)
    data = _split(usable)
    drawn = series(data.to_dicts(), theme)
    keys = [("spread", ""), ("length", "/")]
    parts = [_gap_bars(drawn, key, pattern, theme) for key, pattern in (("jensen", ""), ("length_effect", "/"))]
    return Chart(
        figure(
            [*parts, _gap_marks(drawn, theme), *(key_entry(name, theme, pattern=pattern) for name, pattern in keys)],
            theme,
            height=rowwise.height(len(drawn)),
            legend=3,
            barmode="relative",
            xaxis={
                "title": {"text": "Mean over responses − τ<br>(tokens/step)"},
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


def _gap_bars(drawn: Sequence[Series], key: str, pattern: str, theme: Theme) -> go.Bar:
    return go.Bar(
        x=[s.row[key] for s in drawn],
        y=list(range(len(drawn))),
        orientation="h",
        width=0.62,
        showlegend=False,
        marker=bar_marker([s.colour for s in drawn], theme, pattern=pattern),
        customdata=[s.about for s in drawn],
        hovertemplate=text.hover(f"%{{x:+.3f}} tokens/step {_PARTS[key]}", "%{customdata[1]}"),
    )


def _gap_marks(drawn: Sequence[Series], theme: Theme) -> go.Scatter:
    ink = colours(theme).ink
    return go.Scatter(
        x=[s.row["response_mean"] - s.row["tau"] for s in drawn],
        y=list(range(len(drawn))),
        mode="markers",
        name="whole gap",
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
