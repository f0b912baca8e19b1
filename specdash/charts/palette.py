"""Colours: one a family across the whole app, one a run, for light and dark pages.

Every colour has a contrast of at least 3 against the page it is made for. Datasets of one family share its colour
and are told apart by dash and marker symbol.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Theme = Literal["light", "dark"]


@dataclass(frozen=True)
class Colours:
    """Colours of one theme, each ``#RRGGBB``.

    Attributes:
        page: Background that a figure stands on.
        surface: Background of hover labels.
        ink: Text, and whatever belongs to no family.
        muted: Second to ink: tick labels, reference lines.
        grid: Grid lines.
        families: Colour of a family.
        further: Colours of families that ``families`` does not list.
        runs: Colours of runs in order. Any two stay apart for people with a colour vision deficiency.
        scale: Sequential scale of shares, low to high.
        density: Sequential scale of counts that coloured lines are drawn over, low to high.
    """

    page: str
    surface: str
    ink: str
    muted: str
    grid: str
    families: dict[str, str]
    further: tuple[str, ...]
    runs: tuple[str, ...]
    scale: tuple[str, ...]
    density: tuple[str, ...]


_COLOURS: dict[Theme, Colours] = {
    "light": Colours(
        page="#FFFFFF",
        surface="#FFFFFF",
        ink="#16232E",
        muted="#5B6B77",
        grid="#DDE4E8",
        families={"math": "#2A66C8", "code": "#BF5B04", "chat": "#2E7D4F", "other": "#5B6B77"},
        further=("#7A4FB5", "#B3306E", "#0B6B7A", "#8A6D00"),
        runs=("#6A3FB5", "#A67C00", "#ED5A6D", "#5A87AF", "#810E0E", "#5C1F50"),
        scale=("#F1F6F8", "#CBE3E8", "#8DC3CD", "#469CAA", "#0B6B7A", "#07424C"),
        density=("#E6ECEF", "#C3CED5", "#9DACB6", "#77878F", "#55646D"),
    ),
    "dark": Colours(
        page="#0F171E",
        surface="#1B2731",
        ink="#E4EBF0",
        muted="#9AABB7",
        grid="#283641",
        families={"math": "#79A9F5", "code": "#F0A35E", "chat": "#74C296", "other": "#9AABB7"},
        further=("#B99AE6", "#F08AB8", "#3FB6C6", "#D0BC5A"),
        runs=("#B79CF2", "#D9B23A", "#C24789", "#4C8A42", "#91F3EC", "#AD35E9"),
        scale=("#16232C", "#173F49", "#1C6470", "#2B8F9D", "#57C3D1", "#C2EEF4"),
        density=("#22303A", "#33444F", "#4A5C69", "#667A88", "#8799A6"),
    ),
}

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star")
"""Seven symbols against six dashes: 42 datasets of one colour have different pairs."""


def colours(theme: Theme) -> Colours:
    """Return the colours of a theme."""
    return _COLOURS[theme]


def family_colour(family: str | None, theme: Theme) -> str:
    """Return a family's colour; ink for what has no family, such as the pooled row.

    A family of the user's own gets one of a few further colours, the same each time: it follows from the name.
    """
    known = _COLOURS[theme]
    if family is None:
        return known.ink
    if family in known.families:
        return known.families[family]
    return known.further[zlib.crc32(family.encode("utf-8", "replace")) % len(known.further)]


def run_colours(runs: Iterable[str], theme: Theme) -> dict[str, str]:
    """Return a colour for each run, in the order given; they repeat after six."""
    available = _COLOURS[theme].runs
    return {run: available[i % len(available)] for i, run in enumerate(dict.fromkeys(runs))}


def faded(colour: str, opacity: float, theme: Theme) -> str:
    """Return a colour as it looks at some opacity, 0..1, on the theme's page."""
    return on_scale((_COLOURS[theme].page, colour), opacity)


def translucent(colour: str, opacity: float) -> str:
    """Return ``#RRGGBB`` as a colour that shows what is below it, for areas that overlap."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def luminance(colour: str) -> float:
    """Return the relative luminance of ``#RRGGBB``, 0..1.

    source: WCAG 2.2.
    """
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours ``#RRGGBB``, 1..21.

    source: WCAG 2.2.
    """
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def on_scale(steps: tuple[str, ...], share: float) -> str:
    """Return the colour at 0..1 of evenly spaced steps, as plotly interpolates it."""
    at = min(max(share, 0.0), 1.0) * (len(steps) - 1)
    below = min(int(at), len(steps) - 2)
    pairs = [(int(steps[below][i : i + 2], 16), int(steps[below + 1][i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(low + (at - below) * (high - low)):02X}" for low, high in pairs)


def text_on(background: str) -> str:
    """Return black or white, whichever reads better on a background: the contrast is at least 4.5 on any."""
    return max(("#000000", "#FFFFFF"), key=lambda colour: contrast(colour, background))


def scale(steps: tuple[str, ...]) -> list[tuple[float, str]]:
    """Return evenly spaced steps as a plotly colour scale."""
    return [(i / (len(steps) - 1), colour) for i, colour in enumerate(steps)]
