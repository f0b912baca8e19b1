"""Speed-up: break-even curves, the documented formula beside the right ones, a run's own point."""

import streamlit as st

from specdash.report.sections import cards, speedup
from specdash.report.sections.drafting import DEFAULT_ALPHA, DEFAULT_C, DEFAULT_K, Drafting, own
from specdash.schema import Granularity
from specdash.ui import cards as card_row
from specdash.ui import link, parts, text
from specdash.ui.controls import choice, decimal, number, slider
from specdash.ui.page import begin

DRAFTERS = {"one pass a block": True, "one pass a token": False}

selected = begin("Speed-up", Granularity.LATENCIES)
subject = selected.subject
rows = {row["dataset"]: row for row in reversed(subject.rows.datasets)}


def controls():
    with st.container(horizontal=True, vertical_alignment="bottom"):
        drafter = choice("The drafter makes", list(DRAFTERS), "drafter")
        name = choice_of_row()
        observed = number("Observed speed-up", 0.01, 100.0, "observed", "Time without speculation over time with it.")
    left, middle, right = st.columns(3)
    with left:
        k = slider("Draft tokens a step, k", 1, 64, subject.k or DEFAULT_K, "draft_k")
    with middle:
        c = decimal("Draft cost c", 0.0, 1.0, DEFAULT_C, "draft_c", "One pass of the drafter over one of the target.")
    with right:
        alpha = decimal("α of the i.i.d. model", 0.0, 1.0, DEFAULT_ALPHA, "iid", "For curves that no run is behind.")
    return Drafting(k, c, DRAFTERS[drafter], alpha, observed), name


def choice_of_row():
    if not rows:
        return None
    link.default("of", next(iter(rows)))
    return st.selectbox("Cards and curves of", list(rows), key="of", bind="query-params")


drafting, name = controls()
row = rows.get(name)
found = own(row, drafting.k, subject.run.k) if row else None
if found is not None and found.drafted:
    card_row.show(cards.cards(row, found, drafting))
    text.paragraph(
        "S2 is the benchmarking page these formulas come from; Methods lists what else of it does not hold.", faint=True
    )
elif row is None:
    text.notice("This run holds no acceptance data, so no point of its own is drawn.", "info")
else:
    text.notice(
        f"This run drafts up to {subject.k or 'an unknown number of'} tokens: nothing is known at k = {drafting.k}.",
        "info",
    )
parts.show(selected, speedup.parts(subject, drafting, row))
