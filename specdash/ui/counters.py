"""The page of live counters: watches of servers, and windows between two texts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st

from specdash import charts, families
from specdash.live.fetch import fetch
from specdash.live.policy import HOSTS, of_dashboard
from specdash.live.watch import Watch, Watches
from specdash.live.window import Window
from specdash.report import tables
from specdash.report.exports import Origin
from specdash.report.headline import headline_table
from specdash.report.sections import Subject
from specdash.schema import Evaluation, InputError
from specdash.store import home
from specdash.ui import figures, hosting, kept, library, selection, text
from specdash.ui.controls import slider
from specdash.ui.tables import show

_OPENED = "_opened_window"
_EXAMPLE = "http://localhost:8000/metrics"


@st.cache_resource
def _watches(root: Path) -> Watches:
    return Watches()


def watches() -> Watches:
    """Return the watches of this server."""
    return _watches(home())


def fetcher() -> Callable[[str], str]:
    """Return what gives the text at an address, as far as whoever asks now may have it.

    A watch goes on without a session, so what is allowed is decided when it starts.
    """
    return partial(fetch, policy=of_dashboard(local=not hosting.is_shared(), env=os.environ))


def starting() -> None:
    """Show what starts a watch."""
    url = kept.line("Address of the counters", "url", _EXAMPLE, "A page of metrics for Prometheus.")
    every = slider("Seconds between readings", 1, 60, 5, "every")
    if hosting.is_shared():
        text.paragraph(
            f"Others can reach this dashboard, so it asks only the hosts that {HOSTS} lists on its server.", faint=True
        )
    st.button(
        "Start mark",
        type="primary",
        icon=":material/play_arrow:",
        disabled=not url.strip(),
        on_click=_start,
        args=(url.strip(), float(every)),
    )
    _tell("start")


def _start(url: str, every: float) -> None:
    try:
        watches().start(url, every, fetcher())
    except InputError as error:
        _say("start", str(error), "error", "Not watched.")


def _say(key: str, *what: str) -> None:
    """Note what a callback has to tell; it is shown where the page tells of ``key``."""
    st.session_state[f"_said-{key}"] = what


def _tell(key: str) -> None:
    if said := st.session_state.pop(f"_said-{key}", None):
        text.notice(*said)


def watched() -> None:
    """Show the watches of this server; while one goes on, look again every other second."""
    active = any(not watch.state.stopped for watch in watches().all())
    st.fragment(_watched, run_every=2 if active else None)()


def _watched() -> None:
    if st.session_state.pop(_OPENED, False):
        st.rerun()  # A button of a fragment reruns the fragment alone; what was opened concerns the whole page.
    for watch in watches().all():
        with st.container(border=True, key=f"watch-{watch.state.key}"):
            _watch(watch)


def _watch(watch: Watch) -> None:
    state = watch.state
    text.paragraph(state.url)
    with watch.lock:
        length = f"{watch.window.seconds:,.0f} s, {state.taken:,} readings"
        text.paragraph(f"{'Stopped' if state.stopped else 'Watching'}: {length}", faint=True)
        if state.problem:
            text.notice(state.problem, "error", "No reading.")
        key = state.key
        if state.taken < 2:
            text.paragraph("The start mark is read; the next reading makes a window.", faint=True)
        else:
            _window(
                watch.window, key, st.number_input("Requests of ours in the window", 0, None, None, key=f"ours-{key}")
            )
        points = list(watch.points)
    if any(point.steps for point in points):
        figures.show(
            charts.tau_over_time(points, figures.theme()),
            f"figure_tau_{key}",
            name="tau_over_time",
            origin=_origin(state.url),
        )
    with st.container(horizontal=True):
        if not state.stopped:
            st.button("Stop mark", key=f"stop-{key}", on_click=watch.stop, icon=":material/stop:")
        if not library.store().read_only:
            st.button("Keep this window", key=f"keep-{key}", on_click=_keep, args=(watch,), icon=":material/save:")
        st.button("Dismiss", key=f"dismiss-{key}", on_click=watches().dismiss, args=(key,))
    _tell(key)


def _keep(watch: Watch) -> None:
    _kept(watch.state.key, lambda: watch.keep(library.store()))
    st.session_state[_OPENED] = True


def _kept(key: str, add: Callable[[], Evaluation]) -> None:
    """Add a window to the library and look at it."""
    try:
        stored = add()
    except (InputError, OSError) as error:
        _say(key, str(error), "error", "Not kept.")
    else:
        selection.choose(stored.id)
        _say(key, "It is in the library, and every page shows it now.", "info", "Kept.")


def _window(window: Window, key: str, ours: int | None) -> None:
    """Show what was counted in a window, or why nothing is known of it."""
    for sentence in window.sentences(ours):
        text.notice(sentence, "warning" if "not" in sentence or "restarted" in sentence else "info")
    try:
        with tempfile.TemporaryDirectory(prefix="specdash-") as workspace:
            runs = window.evaluation(Path(workspace)).runs
    except InputError as error:
        text.notice(error.problem, "info")
        return
    family_of = families.load(library.store().families_file())
    for number, run in enumerate(runs):
        _run(Subject.of(run, family_of), f"{key}-{number}")
    if engines := window.engines():
        st.caption("By engine")
        _table(tables.acceptance_length(), Subject.of(engines, family_of), f"{key}-engines")


def _run(subject: Subject, key: str) -> None:
    run = subject.run
    _table(headline_table(run), subject, f"{key}-length")
    if run.counters is not None and run.k and run.counters["per_position"].null_count() < run.counters.height:
        _table(tables.draft_positions(run.k)[0], subject, f"{key}-p")


def _table(table: tables.Table, subject: Subject, key: str) -> None:
    show(table, subject.rows, f"table-{key}", origin=_origin(subject.run.name))


def _origin(name: str) -> Origin:
    return Origin(None, "counters that no library keeps", name)


def pasted() -> None:
    """Show what lies between two readings that were saved, by upload or paste."""
    left, right = st.columns(2)
    before = _text(left, "Before", "Leave it empty to count since the server's start.")
    after = _text(right, "After", "The text of /metrics.")
    ours = st.number_input("Requests of ours in the window", 0, None, None, key="ours")
    if not after:
        return
    texts = [one for one in (before, after) if one]
    with tempfile.TemporaryDirectory(prefix="specdash-") as folder:
        try:
            window = _between(texts, Path(folder))
        except InputError as error:
            text.notice(str(error), "error", "Not read.")
            return
        _window(window, "pasted", ours)
    if not library.store().read_only:
        st.button("Keep this window", key="keep-pasted", icon=":material/save:", on_click=_keep_texts, args=(texts,))
    _tell("texts")


def _text(place: st.delta_generator.DeltaGenerator, name: str, help: str) -> str:
    with place:
        dropped = st.file_uploader(name, type=["prom", "txt"], key=f"file-{name}", help=help, max_upload_size=16)
        written = st.text_area(f"{name}, as text", key=f"text-{name}", height=120, placeholder=help)
    return dropped.getvalue().decode("utf-8", "replace") if dropped is not None else written


def _between(texts: list[str], folder: Path) -> Window:
    window = Window(folder / "window", "Counters", "the text", timed=False)
    for number, found in enumerate(texts):
        window.add(found, float(number))
    return window


def _keep_texts(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="specdash-") as folder:
        window = _between(texts, Path(folder))
        _kept("texts", lambda: window.keep(library.store()))
