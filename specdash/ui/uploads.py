"""Upload of evaluations and the jobs that read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import streamlit as st

from specdash.ingest.jobs import Job, State
from specdash.ui import asking, library, selection, text

_TYPES = ["zip", "csv", "tsv", "gz", "parquet", "json", "jsonl", "ndjson", "txt", "log", "prom", "sse", "yaml", "yml"]
_ROUND = "_upload_round"
_CHUNK = 1 << 20
_STAGES = {"hash": "Checking", "extract": "Unpacking"}
_SEEN = "_seen_jobs"
_OPENED = "_opened_job"


def uploader() -> None:
    """Show the drop zone; a dropped file becomes a job at once. A library that is read-only has none."""
    if library.store().read_only:
        return
    round_ = st.session_state.setdefault(_ROUND, 0)
    uploaded = st.file_uploader(
        "Add an evaluation: a zip of logs, or a single log",
        type=_TYPES,
        key=f"upload{round_}",
        accept_multiple_files=False,
    )
    if uploaded is None:
        return
    library.jobs().submit(uploaded.name, _chunks(uploaded))
    # A new key empties the drop zone and lets the server drop the bytes.
    st.session_state[_ROUND] = round_ + 1
    st.rerun()


def _chunks(uploaded: Any) -> Iterator[bytes]:
    while chunk := uploaded.read(_CHUNK):
        yield chunk


def jobs() -> None:
    """Show the jobs of this server; while one is active, look again twice a second."""
    active = any(job.state.active for job in library.jobs().all())
    st.fragment(_jobs, run_every=0.5 if active else None)(active)


def _jobs(looking: bool) -> None:
    if st.session_state.pop(_OPENED, False):
        st.rerun()  # A button of a fragment reruns the fragment alone; what was opened concerns the whole page.
    seen = st.session_state.setdefault(_SEEN, set())
    found = library.jobs().all()
    if not looking and any(job.state.active for job in found):
        st.rerun()  # One that asked goes on: look again until it has ended.
    for job in found:
        _job(job)
    ended = {job.key for job in found if not job.state.active} - seen
    if ended:
        seen |= ended
        st.rerun()


def _job(job: Job) -> None:
    with st.container(border=True, key=f"job-{job.key[:12]}"):
        text.paragraph(job.name)
        if job.state.active:
            text.paragraph(_doing(job), faint=True)
            st.progress(_share(job))
            if job.state is not State.CANCELLING:
                st.button("Cancel", key=f"cancel-{job.key}", on_click=library.jobs().cancel, args=(job.key,))
            return
        if job.state is State.ASKING:
            asking.ask(job)
            return
        if job.state is State.DONE:
            st.success("In the library already." if job.present else "Read and stored.", icon=":material/check:")
            st.button("Open", key=f"open-{job.key}", on_click=_open, args=(job,), type="primary")
        elif job.state is State.FAILED:
            text.notice(job.error or "It failed.", "error", "Not added.")
            text.paragraph("Nothing of it was kept. Correct the file and drop it again.", faint=True)
        else:
            text.notice("Cancelled; nothing was stored.", "info")
        st.button("Dismiss", key=f"dismiss-{job.key}", on_click=library.jobs().dismiss, args=(job.key,))


def _open(job: Job) -> None:
    selection.choose(job.evaluation)
    library.jobs().dismiss(job.key)
    st.session_state[_OPENED] = True


def _share(job: Job) -> float:
    return min(1.0, job.done / job.total) if job.total else 0.0


def _doing(job: Job) -> str:
    if job.state is State.QUEUED:
        return "Waiting for the upload before it"
    if job.state is State.CANCELLING:
        return "Cancelling"
    if not job.stage:
        return "Starting"
    if job.total and job.stage in _STAGES:
        return f"{_STAGES[job.stage]}: {job.done / 1e6:,.1f} of {job.total / 1e6:,.1f} MB"
    return text.short(job.stage, 80)
