"""Overview: upload, library, what is in the run, how sound its mapping is, table 1."""

import streamlit as st

from specdash.report import tables
from specdash.schema import Granularity
from specdash.ui import library, router, shelf, text, uploads
from specdash.ui.tables import show

router.ensure()
selected = st.session_state["selection"]


def library_section():
    with st.expander("Library and upload", icon=":material/folder_open:", expanded=selected is None):
        uploads.uploader()
        shelf.shelf()


def headline():
    run, rows = selected.run, selected.rows
    pooled = rows.datasets[-1] if rows.datasets else {}
    counted = run.granularity.allows(Granularity.AGGREGATE)
    facts = [
        ("τ, pooled", tables.acceptance_length().columns[1].shown(pooled) if counted else tables.UNDEFINED),
        ("verify steps", f"{pooled['steps']:,}" if counted else tables.UNDEFINED),
        ("responses", f"{pooled['responses']:,}" if pooled.get("responses") else tables.UNDEFINED),
        ("block length K", str(run.k) if run.k is not None else tables.UNDEFINED),
        ("granularity", str(run.granularity)),
    ]
    if run.latencies is not None:
        facts.insert(3, ("requests timed", f"{run.latencies.height:,}"))
    with st.container(horizontal=True):
        for label, value in facts:
            st.metric(label, value, border=True, width=150)
    if run.mapping:
        text.paragraph(f"Requests to responses: {run.mapping}.")
    for warning in run.warnings:
        text.notice(warning.message)


if selected is None:
    text.title("specdash")
    text.paragraph(
        "Choose an evaluation in the sidebar or below."
        if library.store().list()
        else "The library is empty. Drop a zip of logs below to begin."
    )
    uploads.jobs()
    library_section()
    st.stop()

text.title(selected.evaluation.title)
text.paragraph(
    f"{selected.evaluation.source} · id {selected.evaluation.id} · added {selected.evaluation.added}", faint=True
)
if selected.evaluation.note:
    text.notice(selected.evaluation.note, "info", "Reconstruction." if selected.evaluation.reconstruction else "")
uploads.jobs()
library_section()
headline()
if selected.run.granularity.allows(Granularity.RATES):
    st.subheader("Acceptance length")
    table = tables.acceptance_length() if selected.run.rates is None else tables.printed_rates(selected.run.k)
    show(table, selected.rows, table.key, file=f"{selected.evaluation.id}_{table.key}")
with st.expander("Configuration of the run", icon=":material/tune:"):
    shelf.configuration(selected)
