"""Prompt difficulty: the table of section 6 and figure 6 of the acceptance report."""

import streamlit as st

from specdash import charts
from specdash.report import tables
from specdash.schema import Granularity
from specdash.ui import figures, text
from specdash.ui.page import begin, file_name
from specdash.ui.tables import show

selected = begin("Prompt difficulty", Granularity.RESPONSE)
if selected.run.responses["prompt"].null_count() == selected.run.responses.height:
    text.notice("No samples say which prompt a response answers, so difficulty cannot be told from noise here.", "info")
rows, theme = selected.rows, figures.theme()
table = tables.prompt_difficulty()
show(table, rows, table.key, file=file_name(selected, table.key))
st.subheader("Acceptance length of responses")
figures.show(
    charts.tau_violins(selected.responses, theme), "figure_violins", file=file_name(selected, "figure6_violins")
)
st.subheader("Share of the spread that is sampling noise")
chart = charts.within_share(rows.datasets, theme, families=rows.families)
figures.show(chart, "figure_share", file=file_name(selected, "figure6_share"))
