"""The parts of a section on its page."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from specdash.report import intervals
from specdash.report.sections import Note, Part, TablePart
from specdash.ui import figures, tables, text
from specdash.ui.selection import Selection


def show(selected: Selection, parts: Iterable[Part]) -> None:
    """Show some parts of a section, one below the other; below the first table, why some rows have no interval."""
    unsaid = intervals.notes([*selected.rows.datasets, *selected.rows.families]) if selected.intervals else []
    for part in parts:
        if isinstance(part, Note):
            text.notice(part.text, "info")
            continue
        if part.heading:
            st.subheader(part.heading)
        if isinstance(part, TablePart):
            rows = part.rows or selected.rows
            tables.show(part.table, rows, part.table.key, origin=selected.origin, name=part.name, extra=part.extra)
            for sentence in unsaid:
                text.paragraph(sentence, faint=True)
            unsaid = []
        else:
            figures.show(part.draw(figures.theme()), part.name, name=part.name, origin=selected.origin)
