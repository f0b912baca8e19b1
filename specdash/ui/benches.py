"""On the page Latency A/B: measuring two endpoints from here, where nobody but this machine reaches the dashboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from specdash.live.started import Asked, Benches, Started
from specdash.schema import InputError
from specdash.store import home
from specdash.ui import hosting, library, selection, text

_SAID, _OPENED = "_said_bench", "_opened_bench"
_FILES = ("jsonl", "ndjson", "txt")
_IN_FLIGHT = (1, 2, 4, 8, 16, 32)


@st.cache_resource
def _benches(root: Path) -> Benches:
    return Benches(root / "benches")


def benches() -> Benches:
    """Return the benches of this server."""
    return _benches(home())


def measuring() -> None:
    """Show what measures two endpoints, and the measurements of this server; or why nothing is measured from here."""
    forbidden = _forbidden()
    found = [] if forbidden else benches().all()
    with st.expander("Measure two endpoints", icon=":material/timer:", expanded=bool(found)):
        if forbidden:
            text.paragraph(f"{forbidden}: measure with specdash bench.", faint=True)
            return
        _form()
        active = any(bench.running for bench in found)
        st.fragment(_shown, run_every=1 if active else None)(active)


def _forbidden() -> str | None:
    """Return why nobody may measure from here, None where one may."""
    if library.store().read_only:
        return "The library is read-only"
    return "Others can reach this dashboard, so it asks no endpoints" if hosting.is_shared() else None


def _form() -> None:
    with st.form("bench", border=False):
        left, right = st.columns(2)
        left.text_input("Endpoint with speculation", key="bench_spec", placeholder="http://localhost:8000/v1")
        right.text_input("Baseline endpoint", key="bench_base", placeholder="http://localhost:8001/v1")
        st.text_area("Prompts", key="bench_prompts", placeholder="A line each, or a JSON object a line.")
        st.file_uploader("or a file of prompts", type=_FILES, key="bench_file", max_upload_size=16)
        left, middle, right = st.columns(3)
        left.number_input("Prompts, the first", 1, 100_000, 32, key="bench_n")
        middle.number_input("Output tokens at most", 1, 1_000_000, 256, key="bench_tokens")
        right.multiselect("Requests in flight", _IN_FLIGHT, [1], key="bench_flight")
        st.toggle("Measure the baseline twice (A/A)", key="bench_again")
        st.form_submit_button("Measure", type="primary", icon=":material/play_arrow:", on_click=_start)
    if said := st.session_state.pop(_SAID, None):
        text.notice(said, "error", "Not measured.")


def _start() -> None:
    try:
        if forbidden := _forbidden():
            raise InputError(forbidden)
        benches().start(_asked())
    except (InputError, OSError) as error:
        st.session_state[_SAID] = str(error)


def _asked() -> Asked:
    """Return what the form says."""

    def said(name: str) -> Any:
        return st.session_state[f"bench_{name}"]

    written, file = said("prompts"), said("file")
    name = "prompts.jsonl" if written.lstrip().startswith("{") else "prompts.txt"
    return Asked(
        spec=said("spec").strip(),
        baseline=said("base").strip(),
        prompts=written.encode() if file is None else file.getvalue(),
        name=name if file is None else file.name,
        count=said("n"),
        max_tokens=said("tokens"),
        concurrency=tuple(sorted(said("flight"))) or (1,),
        again=said("again"),
    )


def _shown(looking: bool) -> None:
    if st.session_state.pop(_OPENED, False):
        st.rerun()  # A button of a fragment reruns the fragment alone; what was opened concerns the whole page.
    found = benches().all()
    for bench in found:
        with st.container(border=True, key=f"bench-{bench.key}"):
            _bench(bench)
    if looking and not any(bench.running for bench in found):
        st.rerun()  # nothing moves any more


def _bench(bench: Started) -> None:
    done = bench.done
    against = f" against {bench.asked.baseline}" if bench.asked.baseline else ", without a baseline"
    text.paragraph(f"{bench.asked.spec}{against}")
    if bench.running:
        text.paragraph(f"{done:,} of {bench.total:,} requests measured", faint=True)
        st.progress(min(1.0, done / bench.total))
        st.button("Cancel", key=f"cancel-{bench.key}", on_click=bench.cancel)
        return
    if bench.problem:
        text.notice(bench.problem, "error", "Nothing measured.")
    else:
        ended = "Cancelled" if bench.cancelled else "Ended"
        text.paragraph(f"{ended}: {done:,} of {bench.total:,} requests measured. {bench.out}", faint=True)
    with st.container(horizontal=True):
        if bench.problem is None and done:
            st.button("Keep and judge", key=f"keep-{bench.key}", type="primary", on_click=_keep, args=(bench,))
        st.button("Dismiss", key=f"dismiss-{bench.key}", on_click=benches().dismiss, args=(bench.key,))


def _keep(bench: Started) -> None:
    try:
        stored = bench.keep(library.store())
    except (InputError, OSError) as error:
        st.session_state[_SAID] = str(error)
    else:
        selection.choose(stored.id)
        benches().dismiss(bench.key)
        st.session_state[_OPENED] = True
