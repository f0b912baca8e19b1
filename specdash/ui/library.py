"""The library as the dashboard sees it: opened once a process, its numbers computed once a selection."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import streamlit as st

from specdash import families, ingest, metrics
from specdash.ingest.jobs import Jobs, max_memory
from specdash.schema import OTHER_FAMILY, Evaluation, Run
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
    for cached in (_evaluation, _chosen, _rows, _responses, _fits):
        cached.clear()


@dataclass(frozen=True)
class Rows:
    """The numbers of a run: rows by dataset with the pooled one last, and rows by family."""

    datasets: list[metrics.Row]
    families: list[metrics.Row]


@dataclass(frozen=True)
class Choice:
    """What is looked at, as a key of the caches.

    Attributes:
        root: Folder of the library.
        id: Evaluation.
        run: Name of the run.
        datasets: Chosen datasets, None for all.
        families_stamp: When the user's map of families changed last; 0 without one.
    """

    root: Path
    id: str
    run: str
    datasets: tuple[str, ...] | None
    families_stamp: float


def choice(id: str, run: str, datasets: tuple[str, ...] | None) -> Choice:
    """Return the key of a run over some of its datasets (all of them when None)."""
    file = store().families_file()
    return Choice(home(), id, run, datasets, file.stat().st_mtime if file.is_file() else 0.0)


_HASH = {Choice: lambda c: (str(c.root), c.id, c.run, c.datasets, c.families_stamp)}


def _family_of(chosen: Choice) -> families.FamilyOf:
    return families.load(Store(chosen.root).families_file())


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=_HASH)
def _chosen(chosen: Choice) -> Run:
    run = _evaluation(chosen.root, chosen.id).run(chosen.run)
    return run if chosen.datasets is None else metrics.restricted(run, chosen.datasets)


@st.cache_resource(max_entries=256, show_spinner="Computing…", hash_funcs=_HASH)
def _rows(chosen: Choice) -> Rows:
    return Rows(*metrics.run_rows(_chosen(chosen), _family_of(chosen)))


def rows(chosen: Choice) -> Rows:
    """Return the numbers of a choice."""
    return _rows(chosen)


@st.cache_resource(max_entries=8, show_spinner="Computing…", hash_funcs=_HASH)
def _responses(chosen: Choice) -> pl.DataFrame:
    sums = metrics.response_sums(_chosen(chosen))
    family_of = _family_of(chosen)
    known = {name: family_of(name) or OTHER_FAMILY for name in sums["dataset"].unique()}
    return sums.with_columns(family=pl.col("dataset").replace_strict(known, return_dtype=pl.String))


def responses(chosen: Choice) -> pl.DataFrame:
    """Return one row a response of a choice: ``metrics.response_sums`` and the family of its dataset."""
    return _responses(chosen)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_HASH)
def _fits(chosen: Choice) -> tuple[dict[str, list[float] | None], dict[str, list[float] | None]]:
    return metrics.mle_outcomes(_chosen(chosen), _family_of(chosen))


def fits(chosen: Choice) -> tuple[dict[str, list[float] | None], dict[str, list[float] | None]]:
    """Return the maximum-likelihood geometric outcomes of a choice, by dataset and by family."""
    return _fits(chosen)


def datasets_of(run: Run) -> list[str]:
    """Return the names of a run's datasets in its order."""
    table = next(t for t in (run.responses, run.counters, run.rates, run.latencies) if t is not None)
    return table["dataset"].unique(maintain_order=True).to_list()
