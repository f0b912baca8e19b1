"""Throughput: the latency-only bound of section 7 of the acceptance report, its table and figure 7."""

import streamlit as st

from specdash import charts
from specdash.report import tables
from specdash.speed import bound
from specdash.ui import figures
from specdash.ui.controls import slider
from specdash.ui.page import begin, file_name
from specdash.ui.tables import show

selected = begin("Throughput")
rows, theme = selected.rows, figures.theme()
stages = slider("Stages N", 1, 64, bound.REPORT_STAGES, "stages", "One-way hops a lap makes.")
rtt = slider("RTT of a hop (ms)", 1, 500, 25, "rtt", "A hop costs half of it.")
table = tables.throughput_bound(stages, tuple(sorted({*bound.REPORT_RTTS_MS, rtt})))
st.subheader(table.title)
show(table, rows, table.key, file=file_name(selected, table.key), extra=(tables.NO_SPECULATION,))
rate = bound.tokens_per_second
chart = charts.rtt_lines(rows.datasets, theme, rate, stages=stages, chosen_ms=rtt, families=rows.families)
figures.show(chart, "figure_rtt", file=file_name(selected, "figure7_rtt"))
chart = charts.rtt_bars(rows.datasets, theme, rate, stages=stages, rtts_ms=(rtt,), families=rows.families)
figures.show(chart, "figure_bars", file=file_name(selected, "figure7_bars"))
