"""Speed-up: break-even curves, the documented formula beside the right ones, a run's own point."""

import streamlit as st

from specdash.report.sections import cards, speedup
from specdash.report.sections.drafting import DEFAULT_ALPHA, DEFAULT_C, DEFAULT_K, Drafting, own
from specdash.schema import MAX_DRAFTED, Granularity
from specdash.ui import cards as card_row
from specdash.ui import kept, latency, parts, text
from specdash.ui.controls import number
from specdash.ui.dial import Quantity, dial
from specdash.ui.page import begin

DRAFTERS = {"one pass a block": True, "one pass a token": False}
HUNDREDTHS = tuple(i / 100 for i in range(101))
BLOCK = Quantity("draft_k", "Draft tokens a step, k", tuple(range(1, MAX_DRAFTED + 1)), whole=True)
COST = Quantity(
    "draft_c", "Draft cost c", HUNDREDTHS, "One pass of the drafter over one of the target. Nobody measured it here: "
    "0.15 is what the benchmarking page assumes.", step=0.01,
)  # fmt: skip
ALPHA = Quantity("iid", "α of the i.i.d. model", HUNDREDTHS, "For curves that no run is behind.", step=0.01)

selected = begin("Speed-up", Granularity.LATENCIES)
kept.restore()
subject = selected.subject
rows = {row["dataset"]: row for row in reversed(subject.rows.datasets)}


def controls():
    with st.container(horizontal=True, vertical_alignment="bottom"):
        drafter = kept.choice("The drafter makes", list(DRAFTERS), "drafter", horizontal=True)
        name = kept.choice("Cards and curves of", list(rows), "of") if rows else None
        observed = number("Observed speed-up", 0.01, 100.0, "observed", "Time without speculation over time with it.")
    left, middle, right = st.columns(3)
    with left:
        k = dial(BLOCK, subject.k or DEFAULT_K)
    with middle:
        c = dial(COST, DEFAULT_C)
    with right:
        alpha = dial(ALPHA, DEFAULT_ALPHA)
    seen = (observed, None, None) if observed else measured()
    return Drafting(int(k), c, DRAFTERS[drafter], alpha, *seen), name


def measured():
    """The speed-up that an A/B measurement in this evaluation found, with its interval."""
    found = latency.observed(selected)
    if found is None:
        return None, None, None
    one = found.deciding
    text.paragraph(
        f"Observed here: a speed-up of {one.speedup:.3f} in {found.measure.noun} ({one.low:.3f} to {one.high:.3f}) "
        f"over run {found.base.name}; page Latency A/B judges it.",
        faint=True,
    )
    return one.speedup, one.low, one.high


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
