"""The parts of a section on its page."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from specdash.report import intervals
from specdash.report.exports import Origin
from specdash.report.sections import Note, Part, TablePart
from specdash.ui import figures, tables, text
from specdash.ui.selection import Selection


def show(selected: Selection, parts: Iterable[Part], *, origin: Origin | None = None) -> None:
    """Show some parts of a section, one below the other; below the first table, why some rows have no interval.

    Args:
        selected: What is looked at.
        parts: What to show.
        origin: Where the numbers come from; None where they are those of the run that is looked at.
    """
    own = origin is None and selected.intervals
    unsaid = intervals.notes([*selected.rows.datasets, *selected.rows.families]) if own else []
    origin = origin or selected.origin
    for part in parts:
        if part.heading:
            st.subheader(part.heading)
        if isinstance(part, Note):
            text.notice(part.text, "info")
            continue
        if isinstance(part, TablePart):
            rows = part.rows or selected.rows
            tables.show(part.table, rows, part.table.key, origin=origin, name=part.name, extra=part.extra)
            for sentence in unsaid:
                text.paragraph(sentence, faint=True)
            unsaid = []
        else:
            figures.show(part.draw(figures.theme()), part.name, name=part.name, origin=origin)
