"""Figure 3: acceptance by draft position, as lines and as a heatmap.

source: acceptance report, figure 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Literal

import polars as pl

from specdash.charts import rowwise, text
from specdash.charts.base import HEIGHT, Chart, empty, figure
from specdash.charts.palette import Theme
from specdash.charts.series import Line, Series, intervals_drawn, lines, series
from specdash.charts.text import Row

Rate = Literal["p", "c", "p_exposed", "p_km"]
"""Unconditional, conditional, over the steps that drafted the position, Kaplan–Meier."""

POSITION = "Draft position (0 = first drafted token)"

_NAMES: dict[Rate, str] = {
    "p": "Unconditional acceptance",
    "c": "Conditional acceptance",
    "p_exposed": "Acceptance where drafted",
    "p_km": "Acceptance, Kaplan–Meier",
}


def acceptance_by_position(
    rows: Iterable[Row], theme: Theme, rate: Rate = "p", *, families: Iterable[Row] = (), pooled: bool = True
) -> Chart:
    """Acceptance by draft position, a line a dataset. A line has a gap where the rate is undefined.

    Args:
        rows: Datasets, the pooled row among them; the rate is a list over positions.
        theme: Page it is for.
        rate: Which reading of acceptance.
        families: Rows by family to draw too.
        pooled: Whether the pooled row is drawn.

    Returns:
        Its data are ``dataset, family, steps, position, value, low, high``, the last two the interval of the value;
        undefined values are null.
    """
    drawn = _known(series(rows, theme, families, pooled=pooled), rate)
    if not drawn:
        return _nothing(theme)
    k = max(len(s.row[rate]) for s in drawn)
    template = text.hover(f"{rate[0]}<sub>%{{x}}</sub> = %{{y:.3f}}%{{customdata[0]}}", "%{meta[1]}", name="meta")
    curves = [Line(s, range(len(s.row[rate])), s.row[rate], s.row.get(f"{rate}_ci")) for s in drawn]
    traces, entries = lines(curves, template)
    return Chart(
        figure(
            traces,
            theme,
            height=HEIGHT,
            legend=entries,
            xaxis={"title": {"text": POSITION}, "range": [-0.4, k - 0.6], "dtick": -(-k // 16), "tick0": 0},
            yaxis={
                "title": {"text": f"{_NAMES[rate]} (share)"},
                "range": [_floor(drawn, rate), 1.02],
                "tickformat": ".1f",
            },
        ),
        text.sentences([_caption(drawn, rate), intervals_drawn(curves)]),
        _long(drawn, rate),
    )


def position_heatmap(
    rows: Iterable[Row], theme: Theme, rate: Rate = "p", *, families: Iterable[Row] = (), pooled: bool = True
) -> Chart:
    """Acceptance by dataset and draft position, in percent. Undefined cells stay blank.

    Args:
        rows: Datasets, the pooled row among them; the rate is a list over positions.
        theme: Page it is for.
        rate: Which reading of acceptance.
        families: Rows by family to show too.
        pooled: Whether the pooled row is shown.

    Returns:
        Its data are those of ``acceptance_by_position``.
    """
    drawn = _known(series(rows, theme, families, pooled=pooled), rate)
    if not drawn:
        return _nothing(theme)
    k = max(len(s.row[rate]) for s in drawn)
    cells = [[None if v is None else 100 * v for v in s.row[rate]] + [None] * (k - len(s.row[rate])) for s in drawn]
    return Chart(
        rowwise.heatmap(
            drawn,
            cells,
            theme,
            columns=[str(i) for i in range(k)],
            title="Draft position<br>(0 = first drafted token)",
            template=text.hover(f"{rate[0]}<sub>%{{x}}</sub> = %{{z:.2f}} %", "%{customdata[1]}"),
            highest=100,
        ),
        f"{_NAMES[rate]} in percent. {_caption(drawn, rate)}",
        _long(drawn, rate),
    )


def _known(drawn: Iterable[Series], rate: Rate) -> list[Series]:
    return [s for s in drawn if any(value is not None for value in s.row.get(rate) or ())]


def _floor(drawn: Iterable[Series], rate: Rate) -> float:
    """Return where the axis starts: 0 unless every rate is far above it."""
    ends = (end for s in drawn for end in s.row.get(f"{rate}_ci") or () if end is not None)
    lowest = min([*(v for s in drawn for v in s.row[rate] if v is not None), *(low for low, _ in ends)])
    return math.floor(10 * lowest - 0.5) / 10 if lowest > 0.4 else -0.02


def _nothing(theme: Theme) -> Chart:
    return empty("No acceptance by draft position: it needs counts by position.", theme)


def _long(drawn: Iterable[Series], rate: Rate) -> pl.DataFrame:
    cells = [
        (s.name, s.family, s.row.get("steps"), i, value, *(ends or (None, None)))
        for s in drawn
        for i, (value, ends) in enumerate(zip_longest(s.row[rate] or (), s.row.get(f"{rate}_ci") or ()))
    ]
    schema = {"dataset": pl.String, "family": pl.String, "steps": pl.Int64, "position": pl.Int64}
    numbers = dict.fromkeys(("value", "low", "high"), pl.Float64)
    return pl.DataFrame(cells, schema=schema | numbers, orient="row")


def _caption(drawn: Sequence[Series], rate: Rate) -> str:
    """Say where acceptance starts and where it ends."""
    chosen = [s for s in drawn if s.kind == "dataset"] or list(drawn)
    k = max(len(s.row[rate]) for s in chosen)

    def at(position: int) -> list[tuple[str, float]]:
        found = [(s.name, s.row[rate][position]) for s in chosen if position < len(s.row[rate])]
        return [(name, value) for name, value in found if value is not None]

    of = "of the steps that reached it" if rate == "c" else "of steps"
    of = "of the steps that drafted it" if rate == "p_exposed" else of
    first, last = at(0), at(k - 1)
    parts = [f"The first drafted token is accepted in {text.spread(first, 1, percent=True)} {of}."] if first else []
    if k > 1:
        last_rates = f"accepted in {text.spread(last, 1, percent=True)}" if last else "reached by no step"
        parts.append(f"The last one, position {k - 1}, is {last_rates}.")
    return text.sentences(parts)
