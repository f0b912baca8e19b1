"""The figures of an HTML report: for both themes, with their data.

A figure is the same in both themes but for its colours, so the dark one is kept as what differs from the light one,
and the look that all figures of a theme share is kept once.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from markupsafe import Markup

from specdash.charts import Chart, Theme
from specdash.report.exports import csv_text
from specdash.report.sections import FigurePart

_THEMES: tuple[Theme, Theme] = ("light", "dark")
_ROWS_SHOWN = 150
"""Rows of a figure's data up to which they are listed under it; more are for its CSV."""


class Figures:
    """Figures by their anchor, as plotly.js draws them.

    Attributes:
        specs: By anchor ``{"light": figure, "dark": changes}`` without template, the changes as ``differences`` has
            them.
        templates: The template of all figures, by theme.
    """

    def __init__(self) -> None:
        self.specs: dict[str, dict[str, Any]] = {}
        self.templates: dict[Theme, Any] = {}

    def add(self, anchor: str, part: FigurePart) -> dict[str, Any]:
        """Draw a figure and return what the page says beside it."""
        charts: dict[Theme, Chart] = {theme: part.draw(theme) for theme in _THEMES}
        light, dark = (self._spec(theme, charts[theme]) for theme in _THEMES)
        self.specs[anchor] = {"light": light, "dark": differences(light, dark)}
        chart = charts["light"]
        return {
            "anchor": anchor,
            "caption": chart.caption,
            "height": chart.figure.layout.height,
            "rows": chart.data.height,
            "csv": _data_url(csv_text(chart.data)) if chart.data.width else None,
            "head": chart.data.columns,
            "body": chart.data.rows() if chart.data.height <= _ROWS_SHOWN else None,
        }

    def _spec(self, theme: Theme, chart: Chart) -> dict[str, Any]:
        spec: dict[str, Any] = json.loads(chart.figure.to_json())
        template = spec["layout"].pop("template")
        if self.templates.setdefault(theme, template) != template:
            raise ValueError("a figure with a template of its own")
        return spec


Path = list[str | int]


def differences(one: Any, other: Any, at: tuple[str | int, ...] = ()) -> list[tuple[Path, Any]]:
    """Return what has to be set in a JSON value to make another one of it: paths and values, null for what goes."""
    if isinstance(one, dict) and isinstance(other, dict):
        found = [differences(one.get(key), other.get(key), (*at, key)) for key in one | other]
        return [change for changes in found for change in changes]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        found = [differences(*pair, (*at, place)) for place, pair in enumerate(zip(one, other, strict=True))]
        return [change for changes in found for change in changes]
    return [] if one == other else [(list(at), other)]


def _data_url(csv: str) -> Markup:
    return Markup("data:text/csv;charset=utf-8;base64," + base64.b64encode(csv.encode("utf-8", "replace")).decode())
