"""Throughput: the latency-only bound of section 7 of the acceptance report."""

import streamlit as st

from specdash.report import tables
from specdash.speed import bound
from specdash.ui.page import begin, file_name
from specdash.ui.tables import show

selected = begin("Throughput")
stages = st.slider(
    "Stages N", 1, 64, bound.REPORT_STAGES, key="stages", bind="query-params", help="One-way hops a lap makes."
)
table = tables.throughput_bound(stages)
st.subheader(table.title)
show(table, selected.rows, table.key, file=file_name(selected, table.key), extra=(tables.NO_SPECULATION,))
