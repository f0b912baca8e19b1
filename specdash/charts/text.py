"""Text of figures: names shown as they are, numbers as people read them.

Plotly takes ``<b>``, ``<a>``, ``<br>`` and the like for markup, and what stands between two dollar signs for LaTeX.
Names come from files, so both are broken before they get into a figure. Captions are plain text and keep them.
"""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from specdash.schema import LEVEL, legible

Row = Mapping[str, Any]
"""A row of numbers: "dataset", "family" and metrics, lists over positions, outcomes or blocks; None: undefined."""

TICK_LENGTH = 24
"""Characters of a name that a tick shows."""

LEGEND_LENGTH = 16
"""Characters of a name in a legend, two of which stand side by side on a phone."""

_MEMBERS = frozenset(
    """
    __proto__ constructor hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf
    __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__
    """.split()
)
"""What every JavaScript object has: Streamlit looks each text of a figure up in an object of colours."""

_HOVER_WIDTH = 40  # characters a line, about 250 px
_CAPTION_NAME = 40


def printable(name: object) -> str:
    """Return a name on one line, control and direction characters made blanks."""
    text = legible(str("" if name is None else name)).strip()
    return text or "(no name)"


def cut(text: str, longest: int) -> str:
    """Return at most ``longest`` characters of a text, an ellipsis as the last where it was longer."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def escaped(text: str) -> str:
    """Return text that plotly shows as it stands.

    Quotes stay: plotly decodes ``&lt;``, ``&gt;``, ``&amp;`` and numbers, not ``&quot;``.
    """
    if text in _MEMBERS:
        return f"&#{ord(text[0])};{text[1:]}"
    return html.escape(text, quote=False).replace("$", "&#36;")


def tick(name: object) -> str:
    """Return a name for a tick: cut, escaped."""
    return escaped(cut(printable(name), TICK_LENGTH))


def legend(name: object, longest: int = LEGEND_LENGTH) -> str:
    """Return a name for a legend: cut a little shorter, escaped."""
    return escaped(cut(printable(name), longest))


def whole(name: object) -> str:
    """Return a name for a hover label: whole, in lines that fit on a phone, escaped."""
    return "<br>".join(escaped(line) for line in textwrap.wrap(printable(name), _HOVER_WIDTH))


def plain(name: object) -> str:
    """Return a name for a caption: plain text, cut where it is very long."""
    return cut(printable(name), _CAPTION_NAME)


def hover(*lines: str, name: str = "customdata") -> str:
    """Return a hover template whose first line is the name: ``meta[0]`` of a trace or ``customdata[0]`` of a point."""
    return "<br>".join((f"<b>%{{{name}[0]}}</b>", *lines)) + "<extra></extra>"


def counted(row: Row) -> str:
    """Return what a row was computed from, such as "191,119 steps, 5,000 responses"."""
    counts = [f"{row[key]:,} {key}" for key in ("steps", "responses") if row.get(key) is not None]
    return "n = " + ", ".join(counts) if counts else "n not known"


def number(value: float, decimals: int = 2, *, signed: bool = False, percent: bool = False) -> str:
    """Return a number with a fixed number of decimals and a true minus sign."""
    scaled = round(value * 100 if percent else value, decimals) + 0.0  # + 0.0 turns −0.0 into 0.0
    text = f"{scaled:{'+' if signed else ''},.{decimals}f}".replace("-", "−")
    return f"{text} %" if percent else text


def sized(value: float) -> str:
    """Return a number at three significant digits, whole ones as they are: 0.0123, 39.8, 1,250."""
    if value == int(value) and abs(value) < 1e6:
        return number(value, 0)
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return number(value, digits)


Ends = Sequence[float] | None
"""Lower and upper end of an interval, None where there is none."""


def intervals(rows: Iterable[Row]) -> str:
    """Return what a figure calls the intervals of its rows: "95% intervals over prompts", and whose where borrowed."""
    lenders = dict.fromkeys(plain(row["interval_from"]) for row in rows if row.get("interval_from"))
    borrowed = f", borrowed from the run {' or '.join(lenders)}" if lenders else ""
    return f"{LEVEL:.0%} intervals over prompts{borrowed}"


def within(ends: Ends, decimals: int = 3, *, percent: bool = False) -> str:
    """Return the words of a hover label that follow a number, such as " (95%: 3.12 to 3.40)"; "" without interval."""
    if ends is None:
        return ""
    low, high = (number(end, decimals, percent=percent) for end in ends)
    return f" ({LEVEL:.0%}: {low} to {high})"


def spread(
    values: Iterable[tuple[object, float | None]],
    decimals: int = 2,
    unit: str = "",
    *,
    signed: bool = False,
    percent: bool = False,
) -> str:
    """Return the smallest and the largest of some named values, such as "2.84 (alpaca) to 5.29 (humaneval) tokens".

    Args:
        values: Pairs of name and value; undefined values are left out. At least one is defined.
        decimals: Decimals shown.
        unit: What follows.
        signed: Show a plus sign.
        percent: Show shares in percent.
    """
    known = [(name, value) for name, value in values if value is not None]
    low, high = min(known, key=lambda pair: pair[1]), max(known, key=lambda pair: pair[1])
    ends = [number(end[1], decimals, signed=signed, percent=percent) for end in (low, high)]
    after = f" {unit}" if unit else ""
    if len(known) == 1:
        return f"{ends[0]}{after} ({plain(low[0])})"
    if ends[0] == ends[1]:
        return f"{ends[0]}{after} on each of {len(known)}"
    return f"{ends[0]} ({plain(low[0])}) to {ends[1]} ({plain(high[0])}){after}"


def plural(count: int, noun: str) -> str:
    """Return "1 dataset", "2 datasets"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def sentences(parts: Sequence[str]) -> str:
    """Join the sentences of a caption, leaving out empty ones."""
    return " ".join(part for part in parts if part)
