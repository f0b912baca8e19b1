"""The dashboard without a browser: pages, what they say, and their tables as rows of numbers."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "overview",
    "prompts",
    "acceptance_length",
    "draft_positions",
    "step_outcomes",
    "shorter_blocks",
    "prompt_difficulty",
    "throughput",
    "speed_up",
    "latency_ab",
    "methods",
)

Row = dict[str, Any]


class Dashboard:
    """A session of the dashboard.

    Attributes:
        app: Streamlit's own view of it.
    """

    def __init__(self, query: Mapping[str, str | list[str]]) -> None:
        self.app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
        for name, value in query.items():
            self.app.query_params[name] = value

    def page(self, name: str) -> Dashboard:
        """Go to a page."""
        self.app.switch_page(f"pages/{name}.py").run()
        assert not self.app.exception, [error.message for error in self.app.exception]
        return self

    def tables(self) -> list[list[Row]]:
        """The report's tables on the page: cells by the head of their column, None where a cell is empty."""
        return [_rows(element.value) for element in self._tables()]

    def _tables(self) -> list[Any]:
        # The data of a figure are shown as they are; a table of the report says how its columns look.
        return [element for element in self.app.dataframe if "dataset" in json.loads(element.proto.columns or "{}")]

    def formats(self) -> list[dict[str, str]]:
        """How the numbers of each table are written, by the head of their column."""
        configs = [json.loads(element.proto.columns) for element in self._tables()]
        kinds = [{name: column.get("type_config", {}) for name, column in config.items()} for config in configs]
        return [{name: kind["format"] for name, kind in table.items() if "format" in kind} for table in kinds]

    def said(self) -> list[str]:
        """The texts that the page shows as texts, in their order."""
        return [html.unescape(re.sub(r"<[^>]*>", "", element.proto.body)) for element in self.app.get("html")]

    def figures(self) -> dict[str, str]:
        """The large figures by their label."""
        return {metric.label: metric.value for metric in self.app.metric}

    def looked_at(self) -> tuple[str, str, list[str]]:
        """Evaluation, run and datasets as the sidebar has them."""
        evaluation, run = (box.value for box in self.app.sidebar.selectbox)
        return evaluation, run, self.app.sidebar.multiselect[0].value


def _rows(frame: Any) -> list[Row]:
    return [{name: _cell(value) for name, value in row.items()} for row in frame.to_dict("records")]


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    return None if value is None or value != value else value
