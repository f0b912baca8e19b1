"""Series: the datasets, families and the pooled row of a figure, with the look each has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import plotly.graph_objects as go
import polars as pl

from specdash.charts import text
from specdash.charts.palette import DASHES, SYMBOLS, Theme, colours, faded, family_colour, translucent
from specdash.charts.text import Row
from specdash.schema import OTHER_FAMILY, POOLED

MOST_IN_LEGEND = 12
"""Datasets that a legend lists; with more of them it lists their families."""

_BAND = 0.16  # opacity of a band

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
        """Name for ticks."""
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

    The pooled row over a single dataset is left out: it says the same once more.
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
    one = sum(seen.values()) == 1
    whole_run = [row for row in rows if is_pooled(row)] if pooled and not one else []
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


def measured(responses: pl.DataFrame) -> pl.DataFrame:
    """Return the responses that have an acceptance length; those without a family are "other"."""
    if responses.is_empty():
        return responses
    known = pl.col("tau").is_not_null() & pl.col("tau").is_finite()
    return responses.filter(known).with_columns(
        pl.col("dataset").fill_null(text.printable(None)), pl.col("family").fill_null(OTHER_FAMILY)
    )


@dataclass(frozen=True)
class Line:
    """Points of a series: x and y of the same length, None for a gap.

    Attributes:
        series: Whose they are.
        x: Where.
        y: Values.
        ends: Intervals of the values, drawn as a band.
    """

    series: Series
    x: Sequence[float]
    y: Sequence[float | None]
    ends: Sequence[text.Ends] | None = None


def lines(drawn: Sequence[Line], template: str, *, markers: bool = True) -> tuple[list[go.Scatter], int]:
    """Return the traces of some lines, and how many entries their legend has.

    Args:
        drawn: Lines.
        template: Hover template; meta is whole name, counts; customdata[0] the interval of a point in words.
        markers: Whether the points of datasets are marked.
    """
    listing = Listing.of(line.series for line in drawn)
    bands = [_band(line, _place(line, nth, listing)) for nth, line in enumerate(drawn) if banded(line)]
    traces = [_line(line, template, markers, _place(line, nth, listing)) for nth, line in enumerate(drawn)]
    return [*listing.entries, *bands, *traces], listing.length


def banded(line: Line) -> bool:
    """Tell whether a line has intervals."""
    return any(end is not None for end in line.ends or ())


def intervals_drawn(drawn: Iterable[Line]) -> str:
    """Return the sentence of a caption that says what the bands are, "" without any."""
    sure = [line.series.row for line in drawn if banded(line)]
    return f"The bands are {text.intervals(sure)}." if sure else ""


def _place(line: Line, nth: int, listing: Listing) -> dict[str, Any]:
    """Return the legend attributes of a line; one that is listed by itself is a group with its band."""
    place = listing.place(line.series)
    return place if place["legendgroup"] else place | {"legendgroup": f"line {nth}"}


def _band(line: Line, place: dict[str, Any]) -> go.Scatter:
    """Return the area between the ends of a line's intervals, in pieces where there are gaps."""
    pieces: list[list[tuple[float, float, float]]] = [[]]
    for x, ends in zip(line.x, line.ends or (), strict=True):
        if ends is None:
            pieces.append([])
        else:
            pieces[-1].append((x, *ends))
    xs: list[float | None] = []
    ys: list[float | None] = []
    for piece in filter(None, pieces):
        there, low, high = zip(*piece, strict=True)
        xs += [*there, *there[::-1], None]
        ys += [*low, *high[::-1], None]
    return go.Scatter(
        x=xs[:-1],
        y=ys[:-1],
        mode="lines",
        fill="toself",
        fillcolor=translucent(line.series.colour, _BAND),
        line={"color": translucent(line.series.colour, 2 * _BAND), "width": 1},
        hoverinfo="skip",
        zorder=-1,
        **place | {"showlegend": False},
    )


def _line(line: Line, template: str, markers: bool, place: dict[str, Any]) -> go.Scatter:
    s = line.series
    of_dataset = s.kind == "dataset"
    marked = (of_dataset and markers) or _has_lone_point(line.y)
    return go.Scatter(
        x=list(line.x),
        y=list(line.y),
        mode="lines+markers" if marked else "lines",
        name=text.legend(s.name),
        line={"color": s.colour, "dash": s.dash, "width": 1.6 if of_dataset else 3.5},
        marker={"color": s.colour, "symbol": s.symbol, "size": 7 if of_dataset else 9},
        opacity=1.0 if of_dataset else 0.85,
        connectgaps=False,
        zorder=1 if of_dataset else 0,
        meta=s.about,
        customdata=[[text.within(ends)] for ends in line.ends or [None] * len(line.x)],
        hovertemplate=template,
        **place,
    )


def _has_lone_point(values: Sequence[float | None]) -> bool:
    """Tell whether a line without markers would not show one of its values: none beside it is defined."""
    known = [False, *(value is not None for value in values), False]
    return any(known[i] and not known[i - 1] and not known[i + 1] for i in range(1, len(known) - 1))


@dataclass(frozen=True)
class Listing:
    """How a legend lists series: one by one, or many datasets by their families.

    Attributes:
        grouped: Whether datasets are listed by family.
        entries: Traces that stand for the families, each switching all of its datasets; none when not grouped.
        length: Entries of the legend.
    """

    grouped: bool
    entries: list[go.Scatter]
    length: int

    @classmethod
    def of(cls, drawn: Iterable[Series]) -> Listing:
        """Return the listing of some series."""
        drawn = list(drawn)
        datasets = [s for s in drawn if s.kind == "dataset"]
        if len(datasets) <= MOST_IN_LEGEND:
            return cls(False, [], len(drawn))
        members = Counter((s.colour, s.family or OTHER_FAMILY) for s in datasets)
        entries = [_family_entry(colour, family, count) for (colour, family), count in members.items()]
        return cls(True, entries, len(entries) + len(drawn) - len(datasets))

    def place(self, s: Series) -> dict[str, Any]:
        """Return the trace attributes that put a series in the legend or in its family's group."""
        listed = not (self.grouped and s.kind == "dataset")
        return {"showlegend": listed, "legendgroup": None if listed else s.family}


def _family_entry(colour: str, family: str, count: int) -> go.Scatter:
    return go.Scatter(
        x=[None],
        y=[None],
        mode="lines",
        name=f"{text.legend(family, 12)} ({count})",
        legendgroup=family,
        line={"color": colour, "width": 3},
    )


def key_entry(name: str, theme: Theme, *, opacity: float = 1.0, pattern: str = "") -> go.Bar:
    """Return a legend entry for a kind of bar, drawn with no bar of its own.

    Args:
        name: What the kind is.
        theme: Page it is for; the entry has the colour of ink.
        opacity: Of the filling.
        pattern: Hatching.
    """
    marker = bar_marker([colours(theme).ink], theme, opacity=opacity, pattern=pattern)
    return go.Bar(x=[None], y=[None], name=name, marker=marker)


def bar_marker(fills: Sequence[str], theme: Theme, *, opacity: float = 1.0, pattern: str = "") -> dict[str, Any]:
    """Return the marker of bars: filled at some opacity, outlined at full strength so that faint ones stay visible.

    Args:
        fills: A ``#RRGGBB`` a bar.
        theme: Page they are for.
        opacity: Of the filling.
        pattern: Hatching in the bar's own colour over a faint filling.
    """
    marker: dict[str, Any] = {
        "color": [faded(colour, 0.15 if pattern else opacity, theme) for colour in fills],
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
            name=text.legend(family),
            marker={"color": colour, "symbol": "square", "size": 10},
            hoverinfo="skip",
        )
        for colour, family in found
    ]
