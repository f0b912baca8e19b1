"""Draft positions: tables 2 and 3 of the acceptance report."""

import streamlit as st

from specdash.report import tables
from specdash.schema import Granularity
from specdash.ui.page import begin, file_name, require_positions
from specdash.ui.tables import show

selected = begin("Draft positions", Granularity.AGGREGATE)
k = require_positions(selected)
for table in tables.draft_positions(k):
    st.subheader(table.title)
    show(table, selected.rows, table.key, file=file_name(selected, table.key))
if selected.varies:
    for table in tables.varying_positions(k):
        st.subheader(table.title)
        show(table, selected.rows, table.key, file=file_name(selected, table.key))
