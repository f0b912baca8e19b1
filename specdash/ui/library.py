"""The library as the dashboard sees it: opened once a process, its numbers computed once a selection."""

from __future__ import annotations

import os
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import streamlit as st

from specdash import families, ingest
from specdash.ingest.jobs import Jobs, max_memory
from specdash.report.sections import Subject
from specdash.schema import Evaluation, InputError, Run
from specdash.store import Store, home, is_read_only

REFERENCE = Path(__file__).resolve().parents[2] / "data" / "reference.zip"
"""The reference evaluation, which a new library starts with."""


@st.cache_resource(show_spinner="Preparing the library…")
def _opened(root: Path, read_only: bool) -> tuple[Store, Jobs]:
    # The first start brings the reference to a read-only library as well, where the disk allows it.
    with suppress(OSError) if read_only else nullcontext():
        _start(Store(root))
    store = Store(root, read_only=read_only)
    return store, Jobs(store, max_memory(dict(os.environ)))


def _start(store: Store) -> None:
    if not store.is_started():
        if REFERENCE.is_file():
            ingest.add(REFERENCE, store)
        store.set_started()


def store() -> Store:
    """Return the library; a new one gets the reference evaluation first."""
    return _opened(home(), is_read_only())[0]


def jobs() -> Jobs:
    """Return the ingest jobs of this server."""
    return _opened(home(), is_read_only())[1]


@st.cache_resource(max_entries=8, show_spinner="Opening the evaluation…")
def _evaluation(root: Path, id: str) -> Evaluation:
    store = Store(root)
    opened = store.open(id)
    checked = ingest.checked(opened)
    if any(run.checks is None for run in opened.runs):
        with suppress(OSError, InputError):  # They are made again next time, that is all.
            store.keep_checks(checked)
    return checked


def evaluation(id: str) -> Evaluation:
    """Return a stored evaluation, checked; its tables are shared by all sessions and must not be changed.

    Raises:
        InputError: There is none of that id.
    """
    return _evaluation(home(), id)


_CACHES: list[Any] = []


def forgotten(cached: Any) -> Any:
    """Let a cache of numbers of evaluations be dropped with the others; a decorator above the cache's own."""
    _CACHES.append(cached)
    return cached


def forget() -> None:
    """Drop what is cached of evaluations; called when one was removed or changed."""
    for cached in (_evaluation, _subject, _steps, *_CACHES):
        cached.clear()


def check_again(id: str) -> None:
    """Make the checks of a stored evaluation anew; for the callback of a button."""
    checked = ingest.checked(ingest.unchecked(evaluation(id)))
    with suppress(OSError, InputError):
        store().keep_checks(checked)
    forget()


@dataclass(frozen=True)
class Choice:
    """What is looked at, as a key of the caches.

    Attributes:
        root: Folder of the library.
        id: Evaluation.
        run: Name of the run.
        datasets: Chosen datasets, None for all.
        intervals: Whether its numbers come with their intervals.
        families_stamp: When the user's map of families changed last; 0 without one.
    """

    root: Path
    id: str
    run: str
    datasets: tuple[str, ...] | None
    intervals: bool
    families_stamp: float


def choice(id: str, run: str, datasets: tuple[str, ...] | None, intervals: bool) -> Choice:
    """Return the key of a run over some of its datasets (all of them when None)."""
    file = store().families_file()
    return Choice(home(), id, run, datasets, intervals, file.stat().st_mtime if file.is_file() else 0.0)


_HASH = {Choice: lambda c: (str(c.root), c.id, c.run, c.datasets, c.intervals, c.families_stamp)}


@st.cache_resource(max_entries=32, show_spinner="Computing…", hash_funcs=_HASH)
def _subject(chosen: Choice) -> Subject:
    evaluation = _evaluation(chosen.root, chosen.id)
    run, family_of = evaluation.run(chosen.run), families.load(Store(chosen.root).families_file())
    subject = Subject.of(run, family_of, chosen.datasets, intervals=chosen.intervals, evaluation=evaluation)
    subject.rows  # Every page shows them: they are computed here, under the spinner.  # noqa: B018
    return subject


def subject(chosen: Choice) -> Subject:
    """Return what a choice is about, with its numbers; shared by all sessions, so it must not be changed."""
    return _subject(chosen)


@st.cache_resource(max_entries=64, show_spinner=False)
def _steps(root: Path, id: str, run: str, request: str) -> pl.DataFrame:
    return ingest.of_response(_evaluation(root, id).run(run), request)


def steps(id: str, run: str, request: str) -> pl.DataFrame:
    """Return the ordered steps of one response, ``drafted, accepted``; only its own are read.

    Raises:
        InputError: They cannot be read.
    """
    return _steps(home(), id, run, request)


def datasets_of(run: Run) -> list[str]:
    """Return the names of a run's datasets in its order."""
    table = next(t for t in (run.responses, run.counters, run.rates, run.latencies) if t is not None)
    return table["dataset"].unique(maintain_order=True).to_list()
