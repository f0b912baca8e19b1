"""Series: the datasets, families and the pooled row of a figure, with the look each has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import plotly.graph_objects as go
import polars as pl

from specdash.charts import text
from specdash.charts.palette import DASHES, SYMBOLS, Theme, colours, faded, family_colour
from specdash.charts.text import Row
from specdash.schema import OTHER_FAMILY, POOLED

MOST_IN_LEGEND = 12
"""Datasets that a legend lists; with more of them it lists their families."""

Kind = Literal["dataset", "family", "pooled"]


@dataclass(frozen=True)
class Series:
    """A row as a figure shows it.

    Attributes:
        row: Its numbers.
        kind: What it is a row of.
        name: As it is called, not escaped.
        family: Its family, None for the pooled row.
        colour: ``#RRGGBB``, the family's; ink for the pooled row.
        dash: Dash of its line.
        symbol: Symbol of its markers.
    """

    row: Row
    kind: Kind
    name: str
    family: str | None
    colour: str
    dash: str
    symbol: str

    @property
    def tick(self) -> str:
        """Name for ticks and legends."""
        return text.tick(self.name)

    @property
    def about(self) -> list[str]:
        """Whole name and counts, for hover labels."""
        return [text.whole(self.name), text.counted(self.row)]


def is_pooled(row: Row) -> bool:
    """Tell the pooled row from a dataset that is called so: it has no family."""
    return row.get("dataset") == POOLED and row.get("family") is None


def series(rows: Iterable[Row], theme: Theme, families: Iterable[Row] = (), *, pooled: bool = True) -> list[Series]:
    """Give rows their look: datasets first, then families, the pooled row last.

    A dataset keeps its look when others cannot be drawn, so call this before leaving any out.

    Args:
        rows: Datasets in the run's order; the pooled row may be among them.
        theme: Page they are drawn for.
        families: Rows by family.
        pooled: Whether the pooled row is shown.
    """
    rows = list(rows)
    seen: Counter[str] = Counter()
    found = []
    for row in rows:
        if is_pooled(row):
            continue
        family = row.get("family") or OTHER_FAMILY
        colour = family_colour(family, theme)
        nth = seen[colour]
        seen[colour] += 1
        look = (DASHES[nth % len(DASHES)], SYMBOLS[nth % len(SYMBOLS)])
        found.append(Series(row, "dataset", str(row.get("dataset")), family, colour, *look))
    for row in families:
        family = str(row.get("dataset"))
        found.append(Series(row, "family", f"all {family}", family, family_colour(family, theme), "solid", "diamond"))
    whole_run = [row for row in rows if is_pooled(row)] if pooled else []
    return found + [Series(row, "pooled", POOLED, None, colours(theme).ink, "solid", "circle") for row in whole_run]


def named(drawn: Iterable[Series], key: str) -> list[tuple[str, float | None]]:
    """Return (name, value) of the datasets among ``drawn``; of whatever is drawn when no dataset is."""
    drawn = list(drawn)
    chosen = [s for s in drawn if s.kind == "dataset"] or drawn
    return [(s.name, s.row.get(key)) for s in chosen]


def frame(drawn: Iterable[Series], *keys: str) -> pl.DataFrame:
    """Return ``dataset, family`` and some numbers of each series.

    Args:
        drawn: Series.
        keys: Keys of single numbers.
    """
    rows = [{"dataset": s.name, "family": s.family} | {key: s.row.get(key) for key in keys} for s in drawn]
    numbers = {key: pl.Int64 if key in ("steps", "responses") else pl.Float64 for key in keys}
    return pl.DataFrame(rows, schema={"dataset": pl.String, "family": pl.String, **numbers})


@dataclass(frozen=True)
class Line:
    """Points of a series: x and y of the same length, None for a gap."""

    series: Series
    x: Sequence[float]
    y: Sequence[float | None]


def lines(drawn: Sequence[Line], template: str, *, markers: bool = True) -> tuple[list[go.Scatter], int]:
    """Return the traces of some lines, and how many entries their legend has.

    Args:
        drawn: Lines.
        template: Hover template; customdata is whole name, counts.
        markers: Whether the points of datasets are marked.
    """
    datasets = [line.series for line in drawn if line.series.kind == "dataset"]
    grouped = len(datasets) > MOST_IN_LEGEND
    traces = [_line(line, template, markers, grouped) for line in drawn]
    if grouped:
        traces = _family_entries(datasets) + traces
    return traces, sum(trace.showlegend is not False for trace in traces)


def _line(line: Line, template: str, markers: bool, grouped: bool) -> go.Scatter:
    s = line.series
    of_dataset = s.kind == "dataset"
    marked = of_dataset and (markers or sum(value is not None for value in line.y) == 1)
    listed = not (of_dataset and grouped)
    return go.Scatter(
        x=list(line.x),
        y=list(line.y),
        mode="lines+markers" if marked else "lines",
        name=s.tick,
        legendgroup=None if listed else s.colour,
        showlegend=listed,
        line={"color": s.colour, "dash": s.dash, "width": 1.6 if of_dataset else 3.5},
        marker={"color": s.colour, "symbol": s.symbol, "size": 7},
        opacity=1.0 if of_dataset else 0.85,
        connectgaps=False,
        customdata=[s.about] * len(line.x),
        hovertemplate=template,
    )


def _family_entries(datasets: Iterable[Series]) -> list[go.Scatter]:
    """Return legend entries for families, each switching all of its datasets."""
    members: dict[tuple[str, str], int] = Counter((s.colour, s.family or OTHER_FAMILY) for s in datasets)
    return [
        go.Scatter(
            x=[None],
            y=[None],
            mode="lines",
            name=f"{text.tick(family)} ({text.plural(count, 'dataset')})",
            legendgroup=colour,
            line={"color": colour, "width": 3},
        )
        for (colour, family), count in members.items()
    ]


def key_entry(name: str, colour: str, *, opacity: float = 1.0, pattern: str = "") -> go.Bar:
    """Return a legend entry for a kind of bar, drawn with no bar of its own.

    Args:
        name: What the kind is.
        colour: ``#RRGGBB``.
        opacity: Of the filling.
        pattern: Hatching.
    """
    return go.Bar(x=[None], y=[None], name=name, marker=bar_marker([colour], opacity=opacity, pattern=pattern))


def bar_marker(fills: Sequence[str], *, opacity: float = 1.0, pattern: str = "") -> dict[str, Any]:
    """Return the marker of bars: filled at some opacity, outlined at full strength so that faint ones stay visible.

    Args:
        fills: A ``#RRGGBB`` a bar.
        opacity: Of the filling.
        pattern: Hatching in the bar's own colour over a faint filling.
    """
    marker: dict[str, Any] = {
        "color": [faded(colour, 0.15 if pattern else opacity) for colour in fills],
        "line": {"color": list(fills), "width": 1},
    }
    if pattern:
        marker["pattern"] = {
            "shape": pattern,
            "fgcolor": list(fills),
            "size": 6,
            "solidity": 0.35,
            "fillmode": "overlay",
        }
    return marker


def family_keys(drawn: Iterable[Series]) -> list[go.Scatter]:
    """Return legend entries that say which colour is which family, none when there is only one."""
    found = dict.fromkeys((s.colour, s.family) for s in drawn if s.family is not None)
    if len(found) < 2:
        return []
    return [
        go.Scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=text.tick(family),
            marker={"color": colour, "symbol": "square", "size": 10},
            hoverinfo="skip",
        )
        for colour, family in found
    ]
