"""On the Methods page: speed-up forms, latency measures, and what a benchmarking page documents that does not hold."""

from __future__ import annotations

import html

import streamlit as st

from specdash.speed.corrections import CORRECTIONS, PAGE, Correction
from specdash.speed.latency import MEASURES, Measure
from specdash.speed.speedup import FORMS, Form

_FAINT = "opacity:.65"
_ROWS = "align-items:baseline;gap:.15rem .5rem;margin:.35rem 0"


def mentioned(search: str) -> bool:
    """Tell whether anything here mentions the search."""
    return any((_forms(search), _measures(search), _corrections(search)))


def show(search: str) -> None:
    """Show what mentions the search; everything where it is empty.

    Args:
        search: Part of a name, definition or reason.
    """
    if forms := _forms(search):
        st.subheader("Speed-up")
    for form in forms:
        with st.container(border=True, key=f"method-speedup-{form.key}"):
            st.markdown(f"**{form.label}** &nbsp; `{form.key}`")
            st.markdown(f"$$ {form.formula} $$")
            st.caption(f"α is the {form.takes} · c: one drafter pass over one target pass · Source: {form.source}")
    if measures := _measures(search):
        st.subheader("Latency")
    for measure in measures:
        with st.container(border=True, key=f"method-latency-{measure.key}"):
            st.markdown(f"**{measure.label}** &nbsp; `{measure.key}`")
            st.markdown(measure.definition)
            st.caption(
                "Unit: seconds · Speed-up: baseline over speculation, geometric mean over prompts, paired t-test on "
                "log ratios · Percentiles of type 7, intervals by bootstrap over prompts"
            )
    if corrections := _corrections(search):
        st.subheader("As documented, and what holds")
        st.caption(f"What {PAGE}, S2 in labels, documents, beside the value or rule that is used here.")
        cards = "".join(map(_card, corrections))
        columns = "repeat(auto-fill,minmax(min(100%,22rem),1fr))"
        st.html(f'<div style="display:grid;gap:.75rem;grid-template-columns:{columns}">{cards}</div>')


def _card(correction: Correction) -> str:
    rows = (("as documented", correction.documented, _FAINT), ("correct", correction.correct, "font-weight:600"))
    pairs = "".join(
        f'<span style="font-size:.8rem;{_FAINT}">{label}</span>'
        f'<span style="{style};overflow-wrap:anywhere">{html.escape(value)}</span>'
        for label, value, style in rows
    )
    return (
        '<div class="sd-correction" style="border:1px solid #8884;border-radius:.4rem;padding:.7rem">'
        f"<strong>{html.escape(correction.what)}</strong>"
        f'<div style="display:grid;grid-template-columns:6.5rem 1fr;{_ROWS}">{pairs}</div>'
        f'<div style="font-size:.86rem;opacity:.8">{html.escape(correction.reason)}</div></div>'
    )


def _forms(search: str) -> list[Form]:
    return [form for form in FORMS if _mentions(search, form.key, form.label, form.takes, form.source)]


def _measures(search: str) -> list[Measure]:
    return [m for m in MEASURES.values() if _mentions(search, m.key, m.label, m.definition)]


def _corrections(search: str) -> list[Correction]:
    return [c for c in CORRECTIONS if _mentions(search, c.what, c.documented, c.correct, c.reason)]


def _mentions(search: str, *texts: str) -> bool:
    return search.casefold() in " ".join(texts).casefold()
