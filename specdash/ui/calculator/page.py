"""The calculator's page: the answer first, then the controls, then a tab a question."""

from __future__ import annotations

import streamlit as st

from specdash.metrics import Row
from specdash.report.sections import Settings, throughput
from specdash.report.sections.calculator import QUESTIONS, Asked
from specdash.schema import LEVEL
from specdash.speed import bound
from specdash.speed.presets import DEFAULT
from specdash.ui import downloads, kept, parts, text
from specdash.ui.calculator import quantities
from specdash.ui.calculator.panel import panel
from specdash.ui.dial import dial
from specdash.ui.selection import Selection

_UNDEFINED = "–"


def calculator(selected: Selection) -> None:
    """Show the calculator for a run whose block length and acceptance length are known."""
    kept.restore()
    told, answer = st.container(), st.container()
    asked = panel(selected.subject, told)
    at_first = Settings.of_preset(DEFAULT).ask(selected.subject)
    downloads.calculated(None if asked == at_first else Settings.as_asked(asked, "As set on the page Throughput."))
    with answer:
        _answer(asked)
    for tab, question in zip(kept.tabs(list(QUESTIONS), "question", told), QUESTIONS.values(), strict=True):
        if tab.open:
            with tab:
                parts.show(selected, question(asked))


def _answer(asked: Asked) -> None:
    """Show the speed of the chosen row, before anything else."""
    row = asked.one
    facts = [
        ("tok/s", row["tok_s"], "{:,.2f}"),
        ("speed-up", row["speedup"], "{:,.2f}×"),
        ("bound, tok/s", row["bound_tok_s"], "{:,.2f}"),
        ("fastest K′", row["best_block"], "{}"),
        ("one lap, ms", 1000 * asked.lap_s, "{:,.1f}"),
    ]
    tau = row["tau_block"]
    made = "τ is not known at this block length" if tau is None else f"τ(K′) = {tau:.2f} tokens a lap"
    text.paragraph(f"{asked.of}, one stream at K′ = {asked.block}: {made}{_interval(row)}", faint=True)
    with st.container(horizontal=True, gap="xsmall"):
        for label, value, form in facts:
            st.metric(label, _UNDEFINED if value is None else form.format(value), border=True, width=112)


def _interval(row: Row) -> str:
    """Return what the interval of τ leaves open of the answer; nothing where there is none."""
    speed, gain = row["tok_s_ci"], row["speedup_ci"]
    if not speed or not gain:
        return ""
    whose = f", borrowed from the run {row['interval_from']}" if row.get("interval_from") else ""
    ends = f"{speed[0]:,.2f} to {speed[1]:,.2f} tok/s, {gain[0]:,.2f} to {gain[1]:,.2f}×"
    return f"; {LEVEL:.0%} over prompts{whose}: {ends}"


def bound_alone(selected: Selection) -> None:
    """Show the report's bound for a run whose block length is not known."""
    text.notice(
        "The block length K of this run is not known, so only the latency-only bound is shown.",
        "info",
    )
    stages = int(dial(quantities.STAGES, bound.REPORT_STAGES))
    rtt = dial(quantities.RTT, 25)
    parts.show(selected, throughput(selected.subject, stages=stages, rtt_ms=rtt))
