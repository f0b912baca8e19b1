"""The hardest and the easiest prompts: each drawn to its dataset's mean as far as it is noise, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
import polars as pl

from specdash.charts import rowwise, text
from specdash.charts.base import Chart, empty, figure
from specdash.charts.palette import Theme, colours, family_colour

_ROW = 19  # px

_COLUMNS = "dataset family prompt copies steps mean centre weight shrunken low high".split()


def prompt_caterpillar(prompts: pl.DataFrame, theme: Theme, *, ends: int = 15) -> Chart:
    """The hardest prompts on top, the easiest below: shrunken τ with its interval, the raw mean beside it.

    Args:
        prompts: metrics.difficulty with the family of each dataset, hardest first.
        theme: Page it is for.
        ends: Prompts at either end; all of them when there are no more.

    Returns:
        Its data are ``dataset, family, prompt, copies, steps, mean, centre, weight, shrunken, low, high``, τ in
        tokens/step; of the prompts drawn.
    """
    if prompts.is_empty():
        return empty("No prompt with a drafted step.", theme)
    every = prompts.height <= 2 * ends
    drawn = prompts if every else pl.concat([prompts.head(ends), prompts.tail(ends)])
    rows = drawn.select(_COLUMNS).to_dicts()
    places = _places(len(rows), 0 if every else ends)
    known = [(y, row) for y, row in zip(places, rows, strict=True) if row["shrunken"] is not None]
    traces = [_means(places, rows, theme), *_guesses(known, theme)]
    return Chart(
        figure(
            traces,
            theme,
            height=rowwise.height(int(max(places)) + 1, _ROW),
            legend=len(traces),
            xaxis={"title": {"text": "Acceptance length τ of a prompt<br>(tokens/step)"}},
            yaxis=_names_axis(places, rows),
        ),
        _caption(prompts, len(known), every, ends),
        drawn.select(_COLUMNS),
    )


def _places(count: int, ends: int) -> list[int]:
    """Return the place of each row; a blank one parts the hardest from the easiest."""
    return [i + (1 if ends and i >= ends else 0) for i in range(count)]


def _names_axis(places: Sequence[int], rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    several = len({row["dataset"] for row in rows}) > 1
    names = [text.tick(f"{row['prompt']} · {row['dataset']}" if several else row["prompt"]) for row in rows]
    return {
        "tickmode": "array",
        "tickvals": list(places),
        "ticktext": names,
        "tickfont": {"size": 11},
        "range": [max(places) + 0.7, -0.7],
        "fixedrange": True,
        "showgrid": False,
    }


def _about(row: dict[str, Any]) -> list[str]:
    name = text.whole(f"{row['dataset']} · {row['prompt']}")
    copies = "1 copy" if row["copies"] == 1 else f"{row['copies']:,} copies"
    counted = f"{copies}, {row['steps']:,} steps"
    ends = None if row["low"] is None else (row["low"], row["high"])
    return [name, counted, text.within(ends), f"{row['mean']:.3f}", f"{row['centre']:.3f}"]


def _means(places: Sequence[int], rows: Sequence[dict[str, Any]], theme: Theme) -> go.Scatter:
    return go.Scatter(
        x=[row["mean"] for row in rows],
        y=list(places),
        mode="markers",
        name="mean of its copies",
        marker={"symbol": "circle-open", "size": 6, "color": colours(theme).muted},
        customdata=[_about(row) for row in rows],
        hovertemplate=text.hover("mean of its copies = %{x:.3f} tokens/step", "%{customdata[1]}"),
    )


def _guesses(known: Sequence[tuple[int, dict[str, Any]]], theme: Theme) -> list[go.Scatter]:
    """Return a trace a family: shrunken τ with its interval."""
    families = dict.fromkeys(row["family"] for _, row in known)
    return [_guess([(y, row) for y, row in known if row["family"] == family], family, theme) for family in families]


def _guess(members: Sequence[tuple[int, dict[str, Any]]], family: str, theme: Theme) -> go.Scatter:
    colour = family_colour(family, theme)
    x = [row["shrunken"] for _, row in members]
    return go.Scatter(
        x=x,
        y=[y for y, _ in members],
        mode="markers",
        name=f"τ, shrunken: {text.legend(family)}",
        marker={"color": colour, "size": 7},
        error_x={
            "array": [row["high"] - row["shrunken"] for _, row in members],
            "arrayminus": [row["shrunken"] - row["low"] for _, row in members],
            "color": colour,
            "thickness": 1.6,
            "width": 3,
        },
        customdata=[_about(row) for _, row in members],
        hovertemplate=text.hover(
            "τ, shrunken = %{x:.3f} tokens/step%{customdata[2]}",
            "mean of its copies %{customdata[3]}, of the dataset %{customdata[4]}",
            "%{customdata[1]}",
        ),
    )


def _caption(prompts: pl.DataFrame, known: int, every: bool, ends: int) -> str:
    hardest, easiest = prompts.row(0, named=True), prompts.row(-1, named=True)
    of_many = f"The {ends} hardest and {ends} easiest of {prompts.height:,} prompts"
    which = f"All {prompts.height:,} prompts" if every else of_many
    named = [(f"{row['prompt']} of {row['dataset']}", _best(row)) for row in (hardest, easiest)]
    parts = [f"{which}: τ from {text.spread(named, unit='tokens per step')}."]
    if known:
        parts.append(
            "Each is drawn from the mean of its copies (open circle) to its dataset's mean by the share of it that is "
            f"noise; bars are its {text.LEVEL:.0%} interval."
        )
    if known < (prompts.height if every else 2 * ends):
        parts.append("Where noise cannot be told from difficulty the mean stands alone, without an interval.")
    return text.sentences(parts)


def _best(row: dict[str, Any]) -> float:
    return row["mean"] if row["shrunken"] is None else row["shrunken"]
