"""What a job asks: which column of a table is what, whether lengths count the bonus token, K."""

from __future__ import annotations

from typing import Any

import polars as pl
import streamlit as st

from specdash import metrics
from specdash.formats.table.columns import FIELDS
from specdash.ingest import Options
from specdash.ingest.jobs import Job
from specdash.ingest.options import Question
from specdash.ingest.preview import preview
from specdash.schema import MAX_DRAFTED, InputError, Run
from specdash.ui import library, text

_NONE = "–"
_SHOWN = 8  # rows
_WIDTH = 245  # px
_OF_WHOM = ("request", "dataset", "prompt", "copy", "output_tokens")
_KINDS = {
    "a verify step": ("accepted", "drafted", "step", *_OF_WHOM),
    "a response": ("accepted", "accept_len", "steps", "drafted", *_OF_WHOM),
    "the sum of a dataset": ("accepted", "accept_len", "steps", "drafted", "dataset"),
}
"""Columns that a table may have, by what its rows are."""

_LABELS = {
    "accepted": "Accepted tokens",
    "accept_len": "or: mean acceptance length",
    "drafted": "Drafted tokens",
    "steps": "Verify steps",
    "step": "Number of the step",
    "request": "Request id",
    "dataset": "Dataset",
    "prompt": "Prompt",
    "copy": "Copy",
    "output_tokens": "Output tokens",
}

_BONUS = {"in": "yes: the shortest possible length is 1", "out": "no: draft tokens alone, from 0"}


def ask(job: Job) -> None:
    """Show what a job asks, and go on with it once it is answered."""
    question = job.question
    text.notice(
        f"{question.file}: {question.problem}." if question.file else f"{question.problem}.", "info", "A question."
    )
    if job.error:
        text.notice(job.error, "error", "Not so.")
    if question.columns:
        options = _table(job.key, question)
    elif question.asks == "bonus":
        options = _with_bonus(job.key)
    else:
        options = _with_k(job.key)
    with st.container(horizontal=True):
        if question.asks == "k" and not question.columns:
            st.button(
                "K is not known",
                key=f"unknown-{job.key}",
                on_click=library.jobs().answer,
                args=(job.key, job.options),
                help="Nothing by draft position can be told then, nor the share of drafts that was accepted.",
            )
        st.button(
            "Read it",
            key=f"answer-{job.key}",
            type="primary",
            disabled=options is None,
            on_click=_answer,
            args=(job, options),
        )
        st.button("Cancel", key=f"cancel-{job.key}", on_click=library.jobs().cancel, args=(job.key,))


def _answer(job: Job, options: Options) -> None:
    if job.question.columns:
        library.store().answers.remember(job.question.columns, options.as_dict())
    library.jobs().answer(job.key, options)


def _with_k(key: str, saved: Any = None, help: str | None = None) -> Options | None:
    k = _k(key, saved, help)
    return None if k is None else Options({"k": k})


def _k(key: str, saved: Any = None, help: str | None = None) -> int | None:
    return st.number_input(
        "Draft length K, the same for all steps",
        min_value=0,
        max_value=MAX_DRAFTED,
        value=saved if isinstance(saved, int) and 0 <= saved <= MAX_DRAFTED else None,
        step=1,
        key=f"k-{key}",
        placeholder="not known",
        help=help,
    )


def _with_bonus(key: str) -> Options | None:
    said = _bonus(key, None)
    return None if said is None else Options.of({"bonus": said})


def _bonus(key: str, saved: Any) -> str | None:
    return st.radio(
        "Do lengths count the bonus token that the target adds to every step?",
        list(_BONUS),
        index=list(_BONUS).index(saved) if saved in _BONUS else None,
        format_func=_BONUS.get,
        key=f"bonus-{key}",
    )


def _table(key: str, question: Question) -> Options | None:
    """Show the form of a table with what it would give, and return the answer once it says enough."""
    saved = library.store().answers.recall(question.columns)
    if saved:
        st.caption("Filled in as the last table with these columns was read.")
    said = saved.get("map", {}) if isinstance(saved.get("map"), dict) else {}
    _rows(question)
    kinds = list(_KINDS)
    kind = st.radio(
        "A row is",
        kinds,
        index=_kind(question.known | said),
        horizontal=True,
        key=f"kind-{key}",
    )
    columns = _columns(key, question, question.known | said, _KINDS[kind])
    with st.container(horizontal=True, vertical_alignment="top"):
        bonus = _bonus(key, saved.get("bonus"))
        k = None
        if not columns.get("drafted"):
            k = _k(key, saved.get("config", {}).get("k"), "Needed only where no column tells what a step drafted.")
    if not columns.get("accepted") and not columns.get("accept_len"):
        return _missing("Choose the column of the accepted tokens.")
    if kind != "a verify step" and not columns.get("steps") and columns.get("accept_len"):
        return _missing("Choose the column of the number of verify steps.")
    if bonus is None:
        return _missing("Say whether lengths count the bonus token.")
    options = Options.of({"map": columns, "bonus": bonus, "config": {} if k is None else {"k": k}})
    return options if _previewed(question, options) else None


def _missing(what: str) -> None:
    text.paragraph(what, faint=True)


def _kind(known: dict[str, str]) -> int:
    return 1 if known.get("steps") else 0


def _columns(key: str, question: Question, known: dict[str, str], fields: tuple[str, ...]) -> dict[str, str]:
    """Show a list of columns for each field, and return which column was chosen for it, "" for none."""
    options = [_NONE, *question.columns]
    chosen: dict[str, str] = {}
    place = st.container(horizontal=True)
    for field in fields:
        proposed = known.get(field)
        found = place.selectbox(
            _LABELS[field],
            options,
            index=options.index(proposed) if proposed in options else 0,
            format_func=lambda name: text.short(name, 60),
            key=f"map-{field}-{key}",
            help=FIELDS[field][0].upper() + FIELDS[field][1:] + ".",
            width=_WIDTH,
        )
        chosen[field] = "" if found in (None, _NONE) else found
    # A field without a column is named only where the table's own names would fill it.
    return {field: column for field, column in chosen.items() if column or question.known.get(field)} | {
        field: "" for field in question.known if field not in fields
    }


def _rows(question: Question) -> None:
    shown: dict[str, list[str]] = {}
    for number, name in enumerate(question.columns):
        name = text.short(name, 80)
        while name in shown:
            name += "\u2009"  # two columns of one name
        shown[name] = [_cell(cells[number]) for _, cells in question.rows[:_SHOWN]]
    st.dataframe(pl.DataFrame(shown), hide_index=True, alt=f"The first {_SHOWN} rows of the table")


def _cell(cell: Any) -> str:
    return "" if cell is None else text.short(str(cell), 80)


def _previewed(question: Question, options: Options) -> bool:
    """Show what the first rows give as the answer has them; tell whether they can be read so."""
    try:
        run = preview(question, options)
    except InputError as error:
        text.notice(str(error), "error", "Not so.")
        return False
    with st.container(horizontal=True):
        for label, value in _facts(run):
            st.metric(label, value, border=True, width=130)
    text.paragraph(f"In the first {len(question.rows):,} rows, read so.", faint=True)
    for warning in run.warnings:
        text.notice(warning.message)
    return True


def _facts(run: Run) -> list[tuple[str, str]]:
    row = metrics.run_rows(run, lambda _: None)[0][-1]
    tau, steps = row["tau"], row["steps"]
    return [
        ("τ", _NONE if tau is None else f"{tau:.3f}"),
        ("K", _NONE if run.k is None else f"{run.k}"),
        ("responses", _NONE if run.responses is None else f"{run.responses.height:,}"),
        ("verify steps", _NONE if steps is None else f"{steps:,}"),
    ]
