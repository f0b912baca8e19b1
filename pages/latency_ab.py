"""Latency A/B: is the speculating endpoint faster, by how much, how sure is that, and for whom is it not."""

import streamlit as st

from specdash.report.sections import latency as section
from specdash.schema import Granularity
from specdash.speed.latency import MEASURES, telling
from specdash.ui import benches, kept, latency, parts, text
from specdash.ui.dial import Quantity, dial
from specdash.ui.page import begin, end

BY_LABEL = {measure.label: key for key, measure in MEASURES.items()}
TESTS = {"paired by prompt": True, "Welch": False}
MARGIN = Quantity(
    "margin",
    "As good as none (± %)",
    tuple(range(1, 21)),
    "Speed-ups within this margin count as equivalence.",
    whole=True,
)

selected = begin("Latency A/B", Granularity.LATENCIES)
kept.restore()
benches.measuring()
arms = latency.choose(selected)
origin = arms.origin(selected)
if (missing := latency.missing(arms)) is not None:
    text.notice(missing, "info")
    if arms.one is not None:
        parts.show(selected, [section.of_run(latency.subject(arms.one, selected.datasets))], origin=origin)
    end()
with st.container(horizontal=True, vertical_alignment="bottom"):
    measure = BY_LABEL[kept.choice("Measure", list(BY_LABEL), "measure", horizontal=True)]
    paired = TESTS[kept.choice("Test", list(TESTS), "test", horizontal=True)]
    with st.container(width=300):
        margin = dial(MARGIN, 5) / 100
text.paragraph(MEASURES[measure].definition, faint=True)


def compared(datasets, key):
    return latency.compared(arms, datasets, key, paired=paired, margin=margin)


chosen = compared(selected.datasets, measure)
every = [compared(selected.datasets, key) for key in MEASURES]
latency.verdict(*telling([chosen, *every]))
names = [name for name in latency.shared_datasets(chosen[0]) if selected.datasets is None or name in selected.datasets]
by_dataset = {name: compared((name,), measure) for name in names}
parts.show(selected, section.comparison(every, chosen, by_dataset), origin=origin)
parts.show(selected, [section.of_run(latency.subject(arms.spec, selected.datasets))], origin=origin)
