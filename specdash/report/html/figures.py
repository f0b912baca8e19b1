"""The figures of an HTML report: for both themes, with their data."""

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
        specs: ``{"light": figure, "dark": figure}`` by anchor.
    """

    def __init__(self) -> None:
        self.specs: dict[str, dict[str, Any]] = {}

    def add(self, anchor: str, part: FigurePart) -> dict[str, Any]:
        """Draw a figure and return what the page says beside it."""
        charts: dict[Theme, Chart] = {theme: part.draw(theme) for theme in _THEMES}
        self.specs[anchor] = {theme: json.loads(chart.figure.to_json()) for theme, chart in charts.items()}
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


def _data_url(csv: str) -> Markup:
    return Markup("data:text/csv;charset=utf-8;base64," + base64.b64encode(csv.encode("utf-8", "replace")).decode())
