"""Upload of evaluations and the jobs that read them."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

import streamlit as st

from specdash.ingest.bundle import bundle
from specdash.ingest.jobs import Job, State
from specdash.ui import asking, library, selection, text

_ROUND = "_upload_round"
_CHUNK = 1 << 20
_PASTED = "pasted.txt"
_STAGES = {"hash": "Checking", "extract": "Unpacking"}
_SEEN = "_seen_jobs"
_OPENED = "_opened_job"


def uploader() -> None:
    """Show where files are dropped and text is pasted, which become jobs at once; a read-only library has neither."""
    if library.store().read_only:
        return
    round_ = st.session_state.setdefault(_ROUND, 0)
    # Any name will do: what a file is, its content decides.
    uploaded = st.file_uploader(
        "Add an evaluation: a zip of logs, a log, or several files that belong together",
        key=f"upload{round_}",
        accept_multiple_files=True,
    )
    given = [*_evaluations(uploaded), *_pasted(round_)]
    for name, chunks in given:
        library.jobs().submit(name, chunks)
    if given:
        # A new key empties the drop zone, closes the form and lets the server drop the bytes.
        st.session_state[_ROUND] = round_ + 1
        st.rerun()


def _pasted(round_: int) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Show a form for text; yield name and bytes of what is added with it."""
    place = st.popover("Paste text", icon=":material/content_paste:", key=f"paste-text{round_}")
    with place, st.form(f"paste{round_}", border=False):
        written = st.text_area(
            "Text of a file",
            height=160,
            placeholder="Lines of a server's log, a scrape of /metrics, an answer as JSON, a CSV …",
        )
        if st.form_submit_button("Add the text") and written.strip():
            yield _PASTED, [written.encode("utf-8", "replace")]


def _evaluations(uploaded: list[Any]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield name and bytes of each evaluation: every zip is one, all other files together are one."""
    files = []
    for file in uploaded:
        is_zip = zipfile.is_zipfile(file)
        file.seek(0)
        if is_zip:
            yield file.name, _chunks(file)
        else:
            files.append(file)
    if len(files) == 1:
        yield files[0].name, _chunks(files[0])
    elif files:
        first, *others = sorted(file.name for file in files)
        yield f"{first} and {len(others)} more.zip", bundle((file.name, _chunks(file)) for file in files)


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
