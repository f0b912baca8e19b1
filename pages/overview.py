"""Overview: upload, library, what is in the run, how sound it is, table 1."""

import streamlit as st

from specdash.report import meaning, sections
from specdash.schema import Granularity
from specdash.ui import downloads, library, page, parts, router, shelf, soundness, text, uploads

router.ensure()
selected = st.session_state["selection"]


def library_section():
    title = "Library" if library.store().read_only else "Library and upload"
    with st.expander(title, icon=":material/folder_open:", expanded=selected is None):
        uploads.uploader()
        shelf.shelf()


def headline():
    run = selected.run
    with st.container(horizontal=True):
        for label, value in sections.facts(selected.subject):
            st.metric(label, value, border=True, width=150)
    if run.mapping:
        text.paragraph(f"Requests to responses: {run.mapping}.")
    if run.semantics:
        text.paragraph(meaning.paragraph(run.semantics), faint=True)
    soundness.show(selected)


if selected is None:
    text.title("specdash")
    text.paragraph(
        "Choose an evaluation in the sidebar or below."
        if library.store().list()
        else "The library is empty. Drop a zip of logs below to begin."
    )
    uploads.jobs()
    library_section()
    page.end()

text.title(selected.evaluation.title)
text.paragraph(
    f"{selected.evaluation.source} · id {selected.evaluation.id} · added {selected.evaluation.added}", faint=True
)
if selected.evaluation.note:
    text.notice(selected.evaluation.note, "info", "Reconstruction." if selected.evaluation.reconstruction else "")
downloads.reports(selected)
uploads.jobs()
library_section()
headline()
if selected.run.granularity.allows(Granularity.RATES):
    st.subheader("Acceptance length")
    parts.show(selected, [sections.headline(selected.subject)])
with st.expander("Configuration of the run", icon=":material/tune:"):
    shelf.configuration(selected)
