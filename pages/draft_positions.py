"""Draft positions: tables 2 and 3 and figure 3 of the acceptance report."""

import streamlit as st

from specdash import charts
from specdash.report import tables
from specdash.schema import Granularity
from specdash.ui import figures, link
from specdash.ui.page import begin, file_name, require_positions
from specdash.ui.tables import show

selected = begin("Draft positions", Granularity.AGGREGATE)
k = require_positions(selected)
rows, theme = selected.rows, figures.theme()
link.default("lines", "pooled")
lines = st.pills(
    "Lines beside the datasets", ["families", "pooled"], selection_mode="multi", default=["pooled"], key="lines",
    bind="query-params",
)  # fmt: skip
families = rows.families if "families" in lines else ()
readings = {"p": tables.draft_positions(k)[0], "c": tables.draft_positions(k)[1]}
if selected.varies:
    readings |= dict(zip(("p_exposed", "p_km"), tables.varying_positions(k), strict=True))
for rate, table in readings.items():
    st.subheader(table.title)
    show(table, rows, table.key, file=file_name(selected, table.key))
    chart = charts.acceptance_by_position(rows.datasets, theme, rate, families=families, pooled="pooled" in lines)
    figures.show(chart, f"figure_{rate}", file=file_name(selected, f"figure3_{rate}"))
    chart = charts.position_heatmap(rows.datasets, theme, rate, families=families, pooled="pooled" in lines)
    figures.show(chart, f"heatmap_{rate}", file=file_name(selected, f"figure3_heatmap_{rate}"))
