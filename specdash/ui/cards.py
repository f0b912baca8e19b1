"""Cards that set a documented number beside what holds."""

from __future__ import annotations

import html

import streamlit as st

from specdash.report.sections.cards import Card, Reading
from specdash.schema import LEVEL

_NARROWEST = 300  # px
_FAINT = "opacity:.62"


def show(cards: list[Card]) -> None:
    """Show some cards side by side, below each other where there is no room."""
    with st.grid(min_column_width=_NARROWEST, key="cards"):
        for card in cards:
            with st.container(border=True, gap=None, key=f"card-{card.title.lower().replace(' ', '-')}"):
                st.markdown(f"**{card.title}**")
                _head("As documented")
                _reading(card.documented, _FAINT)
                _head("Corrected")
                for reading in card.corrected:
                    _reading(reading, "font-weight:650")
                st.html(f'<div style="font-size:.875rem;margin-top:.6rem">{html.escape(card.reason)}</div>')


def _head(head: str) -> None:
    st.html(
        '<div style="font-size:.75rem;font-weight:600;letter-spacing:.04em;text-transform:uppercase;'
        f'margin:.5rem 0 .1rem;{_FAINT}">{head}</div>'
    )


def _reading(reading: Reading, style: str) -> None:
    label, value = html.escape(reading.label), html.escape(reading.value)
    faint = _FAINT if style == _FAINT else ""
    interval = (
        f'<div style="font-size:.8rem;text-align:right;{_FAINT}">{LEVEL:.0%}: {html.escape(reading.interval)}</div>'
    )
    st.html(
        '<div style="display:flex;justify-content:space-between;gap:.75rem;align-items:baseline">'
        f'<span style="font-size:.9rem;{faint}">{label}</span>'
        f'<span style="font-size:1.3rem;{style}">{value}</span></div>{interval if reading.interval else ""}',
    )
    st.caption(f"${reading.formula}$ — {reading.source}")
