"""Figures on a page: the chart, what it says in words, and its data."""

from __future__ import annotations

from functools import partial
from typing import Literal

import streamlit as st

from specdash.charts import Chart
from specdash.report.exports import FRAME_FORMATS, Origin, Sheet
from specdash.ui import downloads, text


def theme() -> Literal["light", "dark"]:
    """Return the theme of the browser's page."""
    return "dark" if st.context.theme.type == "dark" else "light"


def show(chart: Chart, key: str, *, name: str, origin: Origin) -> None:
    """Show a chart with its caption and, folded away, its data.

    Args:
        chart: What to show.
        key: Key of the widgets, unique on the page.
        name: Name in file names.
        origin: Where its numbers come from.
    """
    config = {"displaylogo": False, "toImageButtonOptions": downloads.image_options(origin.file(name))}
    st.plotly_chart(chart.figure, theme=None, key=key, alt=chart.caption, config=config)
    text.paragraph(chart.caption, faint=True)
    if not chart.data.width:
        return
    with st.expander("The data of this figure", icon=":material/table:"):
        st.dataframe(chart.data, key=f"{key}_data", hide_index=True, placeholder="–")
    sheet = partial(Sheet, name, chart.caption, origin, chart.data)
    downloads.menu(sheet, origin.file(name), FRAME_FORMATS, key, plot=key)
