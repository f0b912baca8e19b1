"""Latency A/B: is the speculating endpoint faster, by how much, how sure is that, and for whom is it not."""

import streamlit as st

from specdash.report import latency_tables
from specdash.schema import Granularity
from specdash.speed.latency import MEASURES
from specdash.ui import kept, latency, text
from specdash.ui.dial import Quantity, dial
from specdash.ui.page import begin, end, file_name

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
arms = latency.choose(selected)
if arms is None:
    end()
with st.container(horizontal=True, vertical_alignment="bottom"):
    measure = BY_LABEL[kept.choice("Measure", list(BY_LABEL), "measure", horizontal=True)]
    paired = TESTS[kept.choice("Test", list(TESTS), "test", horizontal=True)]
    with st.container(width=300):
        margin = dial(MARGIN, 5) / 100
text.paragraph(MEASURES[measure].definition, faint=True)
options = {"paired": paired, "margin": margin}
found, judged = latency.compared(arms, selected.datasets, measure, **options)
latency.verdict(judged)

file = file_name(selected, "latency")
every = [latency.compared(arms, selected.datasets, key, **options) for key in MEASURES]
if found.paired is not None:
    latency.sheet(latency_tables.paired(every), file=file)
latency.sheet(latency_tables.percentiles([(found, judged)]), file=file)
latency.show_figures(found, file=f"{file}_{measure}")
datasets = [name for name in latency.shared_datasets(found) if selected.datasets is None or name in selected.datasets]
if found.paired is not None and datasets:
    by_dataset = [latency.compared(arms, (name,), measure, **options) for name in datasets]
    latency.sheet(latency_tables.paired(by_dataset, datasets), file=file)
latency.sheet(latency_tables.welch(every), file=file)
