"""Shorter blocks: the table of section 5 of the acceptance report, and a slider of K′."""

import streamlit as st

from specdash import charts
from specdash.report import tables
from specdash.schema import Granularity
from specdash.ui import figures, text
from specdash.ui.controls import slider
from specdash.ui.page import begin, file_name, require_positions
from specdash.ui.tables import show

selected = begin("Shorter blocks", Granularity.AGGREGATE)
k = require_positions(selected)
rows, theme = selected.rows, figures.theme()
chosen = k if k == 1 else slider("Block length K′", 1, k, k, "block")
text.notice(
    f"Implied from the K = {k} log by truncation. It is a lower bound when difficulty comes in stretches (in one "
    "measured case 17% too low), and it says nothing about a drafter outside the block it was trained for.",
    "info",
)
table = tables.at_block(k, chosen)
st.subheader(table.title)
show(table, rows, table.key, file=file_name(selected, f"{table.key}_{chosen}"))
chart = charts.tau_by_block(rows.datasets, theme, chosen=chosen, families=rows.families)
figures.show(chart, "figure_blocks", file=file_name(selected, "tau_by_block"))
chart = charts.position_gains(rows.datasets, theme, chosen=chosen, families=rows.families)
figures.show(chart, "figure_gains", file=file_name(selected, "position_gains"))
table = tables.shorter_blocks(k)
st.subheader(table.title)
show(table, rows, table.key, file=file_name(selected, table.key))
