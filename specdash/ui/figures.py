"""Figures on a page: the chart, what it says in words, and its data."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from specdash.charts import Chart
from specdash.report import csv_text
from specdash.ui import text


def theme() -> Literal["light", "dark"]:
    """Return the theme of the browser's page."""
    return "dark" if st.context.theme.type == "dark" else "light"


def show(chart: Chart, key: str, *, file: str) -> None:
    """Show a chart with its caption and, folded away, its data.

    Args:
        chart: What to show.
        key: Key of the widgets, unique on the page.
        file: Name of the CSV without its suffix.
    """
    st.plotly_chart(chart.figure, theme=None, key=key, alt=chart.caption, config={"displaylogo": False})
    text.paragraph(chart.caption, faint=True)
    with st.expander("The data of this figure", icon=":material/table:"):
        st.dataframe(chart.data, key=f"{key}_data", hide_index=True, placeholder="–")
        st.download_button(
            "CSV",
            lambda: csv_text(chart.data).encode(),
            file_name=f"{file}.csv",
            mime="text/csv",
            key=f"{key}_csv",
            on_click="ignore",
            icon=":material/download:",
        )
