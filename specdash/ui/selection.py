"""What is looked at: evaluation, run and datasets, chosen in the sidebar and carried by the address."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import polars as pl
import streamlit as st

from specdash.report.exports import Origin
from specdash.report.sections import Rows, Subject
from specdash.schema import LEVEL, Evaluation, InputError, Run
from specdash.store import Entry
from specdash.ui import library, link, text

_EVALUATION, _RUN, _DATASETS, _INTERVALS = "eval", "run", "ds", "ci"
_MISSING, _CHOSEN, _ADDRESS = "_missing", "_chosen", "_address"


@dataclass(frozen=True)
class Selection:
    """The choice that a page shows.

    Attributes:
        evaluation: The evaluation.
        run: One of its runs.
        datasets: Chosen datasets in the run's order, None for all.
        intervals: Whether numbers are shown with their intervals.
    """

    evaluation: Evaluation
    run: Run
    datasets: tuple[str, ...] | None
    intervals: bool

    @property
    def choice(self) -> library.Choice:
        """The key under which its numbers are kept."""
        return library.choice(self.evaluation.id, self.run.name, self.datasets, self.intervals)

    @property
    def origin(self) -> Origin:
        """Where its numbers come from, as exports name it."""
        return Origin.of(self.evaluation, self.run.name, self.datasets)

    @property
    def subject(self) -> Subject:
        """The run over the chosen datasets, with its numbers."""
        return library.subject(self.choice)

    @property
    def rows(self) -> Rows:
        """The numbers of the chosen datasets."""
        return self.subject.rows

    @property
    def responses(self) -> pl.DataFrame:
        """One row a response of the chosen datasets, with its sums and its family (metrics.response_sums)."""
        return self.subject.responses


def sidebar() -> Selection | None:
    """Show the controls and return the choice; None when there is nothing to choose from.

    The evaluation's id stands in the address by hand: its label holds the title, which may change, while a widget
    bound to the address would put the label there.
    """
    entries = {entry.id: entry for entry in reversed(library.store().list())}
    if _MISSING not in st.session_state:
        st.session_state[_MISSING] = []
    with st.sidebar:
        chosen = _choose_evaluation(entries)
        if chosen is None:
            return None
        try:
            evaluation = library.evaluation(chosen)
        except InputError as error:
            st.session_state[_MISSING].append(str(error))
            return None
        run = evaluation.run(_choose_run(evaluation))
        return Selection(evaluation, run, _choose_datasets(run), _choose_intervals())


def choose(id: str) -> None:
    """Look at an evaluation; for the callback of a button."""
    st.session_state[_CHOSEN] = id
    _clear_missing()


def leave(id: str) -> None:
    """Stop looking at an evaluation that was removed; for the callback of a button."""
    if st.session_state.get(_CHOSEN) == id:
        del st.session_state[_CHOSEN]
        st.query_params.pop(_EVALUATION, None)


def missing() -> list[str]:
    """Return what the address names that is not there."""
    return list(dict.fromkeys(st.session_state.get(_MISSING, [])))


def _note_missing(what: str) -> None:
    st.session_state[_MISSING].append(what)


def _clear_missing() -> None:
    st.session_state[_MISSING] = []


def _choose_evaluation(entries: dict[str, Entry]) -> str | None:
    """Return the evaluation that is looked at: the address's when it has changed, else the one chosen last."""
    state, asked = st.session_state, st.query_params.get(_EVALUATION)
    if asked is not None and asked != state.get(_ADDRESS):
        state[_ADDRESS] = asked
        state[_CHOSEN] = asked if asked in entries else None
        if asked not in entries:
            _note_missing(f"The evaluation {text.short(asked, 40)} that this link names is not in this library.")
    if state.get(_CHOSEN, "") not in (*entries, None):
        state[_CHOSEN] = next(iter(entries), None)
    if not entries:
        return None
    chosen = _picked(entries)
    if chosen is not None and asked != chosen:
        state[_ADDRESS] = st.query_params[_EVALUATION] = chosen
    return chosen


def _picked(entries: dict[str, Entry]) -> str | None:
    """Show the list of evaluations and return the chosen one.

    The browser remembers a choice by its label. When somebody changes a title it would fall back to the first entry,
    so the list is a new widget whenever a label changes, and what is chosen is kept apart from it.
    """
    labels = {id: f"{text.short(entry.title, 80)} · {id}" for id, entry in entries.items()}
    key = "evaluation-" + hashlib.sha256(repr(labels).encode("utf-8", "replace")).hexdigest()[:12]
    chosen = st.session_state[_CHOSEN]
    # A new list begins with what is chosen: were that set afterwards, a quick reader could outrun it and lose it.
    if st.session_state.get(key, chosen) != chosen:
        st.session_state[key] = chosen
    with st.container(key=_EVALUATION):
        return st.selectbox(
            "Evaluation",
            list(entries),
            index=None if chosen is None else list(entries).index(chosen),
            format_func=labels.__getitem__,
            key=key,
            placeholder="Choose an evaluation",
            on_change=lambda: choose(st.session_state[key]),
        )


def _choose_run(evaluation: Evaluation) -> str:
    names = [run.name for run in evaluation.runs]
    asked = st.query_params.get(_RUN)
    if asked is not None and asked not in names and _RUN not in st.session_state:
        _note_missing(f"This evaluation has no run {text.short(asked, 80)}.")
    # The finest run is shown first: it answers most questions.
    finest = min(evaluation.runs, key=lambda run: list(type(run.granularity)).index(run.granularity)).name
    if st.session_state.get(_RUN, finest) not in names:
        st.session_state[_RUN] = finest  # Only what is set by hand leaves the address as well.
    link.default(_RUN, finest)
    return st.selectbox(
        "Run", names, index=names.index(finest), key=_RUN, bind="query-params", on_change=_clear_missing
    )


def _choose_datasets(run: Run) -> tuple[str, ...] | None:
    names = library.datasets_of(run)
    asked = st.query_params.get_all(_DATASETS)
    gone = [name for name in asked if name and name not in names]
    if gone and _DATASETS not in st.session_state:
        _note_missing(f"This run has no dataset {text.short(', '.join(gone), 80)}.")
    # Set only where need be: what is set in a run overrules what is chosen by hand while it lasts.
    if not set(st.session_state.get(_DATASETS, [])) <= set(names):
        st.session_state[_DATASETS] = [name for name in st.session_state[_DATASETS] if name in names]
    chosen = st.multiselect(
        "Datasets", names, key=_DATASETS, bind="query-params", placeholder="All datasets", on_change=_clear_missing
    )
    return tuple(name for name in names if name in chosen) if chosen else None


def _choose_intervals() -> bool:
    label, said = f"{LEVEL:.0%} intervals", st.query_params.get(_INTERVALS)
    if said is not None and said.lower() not in ("true", "false"):
        link.doubt(f"{label} are true or false, not {text.short(said, 40)}; they are shown here.")
    link.default(_INTERVALS, "true")
    return st.toggle(
        label,
        True,
        key=_INTERVALS,
        bind="query-params",
        help="Shows ± in tables and intervals in figures: what another sample of prompts could have given.",
    )
