"""Acceptance length: table 1 and figures 1 and 2 of the acceptance report."""

import streamlit as st

from specdash import charts
from specdash.report import tables
from specdash.schema import Granularity
from specdash.ui import figures
from specdash.ui.page import begin, file_name
from specdash.ui.tables import show

selected = begin("Acceptance length")
rows, theme = selected.rows, figures.theme()
table = tables.acceptance_length() if selected.run.rates is None else tables.printed_rates(selected.run.k)
show(table, rows, table.key, file=file_name(selected, table.key))
if selected.run.granularity.allows(Granularity.AGGREGATE):
    st.subheader("Acceptance length with the spread over steps")
    chart = charts.tau_by_dataset(rows.datasets, theme, families=rows.families)
    figures.show(chart, "figure_tau", file=file_name(selected, "figure1_tau"))
    st.subheader("Spread against the geometric model")
    chart = charts.sigma_against_geometric(rows.datasets, theme, families=rows.families)
    figures.show(chart, "figure_sigma", file=file_name(selected, "figure1_sigma"))
if selected.run.granularity.allows(Granularity.RESPONSE):
    st.subheader("Response length against acceptance length")
    chart = charts.length_against_tau(selected.responses, theme)
    figures.show(chart, "figure_length", file=file_name(selected, "figure2_length"))
    st.subheader("Why the mean over responses differs from τ")
    chart = charts.gap_split(selected.responses, theme)
    figures.show(chart, "figure_gap", file=file_name(selected, "figure2_gap"))
