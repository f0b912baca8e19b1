"""Draft positions: tables 2 and 3 and figure 3 of the acceptance report."""

import streamlit as st

from specdash.report import sections
from specdash.ui import kept, link, page, parts

LABEL, LINES = "Lines beside the datasets", ["families", "pooled"]

selected = page.begin_section(sections.DRAFT_POSITIONS)
link.default("lines", "pooled")
kept.told(LABEL, LINES, "lines", "pooled")
lines = st.pills(LABEL, LINES, selection_mode="multi", default=["pooled"], key="lines", bind="query-params")
shown = sections.draft_positions(selected.subject, by_family="families" in lines, pooled="pooled" in lines)
parts.show(selected, shown)
