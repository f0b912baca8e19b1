"""The library as the dashboard sees it: opened once a process, its numbers computed once a selection."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from specdash import families, ingest, metrics
from specdash.ingest.jobs import Jobs, max_memory
from specdash.schema import Evaluation, Run
from specdash.store import Store, home

REFERENCE = Path(__file__).resolve().parents[2] / "data" / "reference.zip"
"""The reference evaluation, which a new library starts with."""


@st.cache_resource(show_spinner="Preparing the library…")
def _opened(root: Path) -> tuple[Store, Jobs]:
    store = Store(root)
    if not store.is_started():
        if REFERENCE.is_file():
            ingest.add(REFERENCE, store)
        store.set_started()
    return store, Jobs(store, max_memory(dict(os.environ)))


def store() -> Store:
    """Return the library; a new one gets the reference evaluation first."""
    return _opened(home())[0]


def jobs() -> Jobs:
    """Return the ingest jobs of this server."""
    return _opened(home())[1]


@st.cache_resource(max_entries=8, show_spinner="Opening the evaluation…")
def _evaluation(root: Path, id: str) -> Evaluation:
    return Store(root).open(id)


def evaluation(id: str) -> Evaluation:
    """Return a stored evaluation; its tables are shared by all sessions and must not be changed.

    Raises:
        InputError: There is none of that id.
    """
    return _evaluation(home(), id)


def forget() -> None:
    """Drop what is cached of evaluations; called when one was removed or changed."""
    _evaluation.clear()
    _rows.clear()


@dataclass(frozen=True)
class Rows:
    """The numbers of a run: rows by dataset with the pooled one last, and rows by family."""

    datasets: list[metrics.Row]
    families: list[metrics.Row]


@st.cache_resource(max_entries=256, show_spinner="Computing…")
def _rows(root: Path, id: str, run: str, datasets: tuple[str, ...] | None, families_stamp: float) -> Rows:
    found = _evaluation(root, id).run(run)
    if datasets is not None:
        found = metrics.restricted(found, datasets)
    return Rows(*metrics.run_rows(found, families.load(Store(root).families_file())))


def rows(id: str, run: str, datasets: tuple[str, ...] | None) -> Rows:
    """Return the numbers of a run over some of its datasets (all of them when None)."""
    file = store().families_file()
    return _rows(home(), id, run, datasets, file.stat().st_mtime if file.is_file() else 0.0)


def datasets_of(run: Run) -> list[str]:
    """Return the names of a run's datasets in its order."""
    table = next(t for t in (run.responses, run.counters, run.rates) if t is not None)
    return table["dataset"].unique(maintain_order=True).to_list()
