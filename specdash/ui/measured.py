"""Where measured acceptance lengths come from: other runs of the evaluation, another evaluation, a known curve."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import streamlit as st

from specdash import ingest
from specdash.metrics import fixed_block
from specdash.report.measured import Other
from specdash.schema import Evaluation, InputError, Run
from specdash.ui import kept, library, text
from specdash.ui.selection import Selection

KNOWN = library.REFERENCE.parent / "measured" / "deepseek-v4-pro-dspark.yaml"
"""A curve that others have measured and published."""

_KNOWN_ABOUT = (
    "Published by SemiAnalysis InferenceX: DeepSeek-V4-Pro with DSpark on the coding prompts of SPEED-Bench, thinking "
    "on, temperature 1. It is another workload than this run's, so it tells how such a curve bends, not where it lies."
)
_BESIDE, _PICK, _ADDRESS = "beside", "_beside", "_beside_address"
_MOST = 40  # runs of an evaluation that are looked at


def others(selected: Selection) -> list[Other]:
    """Show the controls and return the runs that stand beside the one looked at."""
    evaluation, run = selected.evaluation, selected.run
    found = [other for other in _of(evaluation) if other.run.name != run.name and other.block != run.k]
    left, right = st.columns(2, gap="medium", vertical_alignment="bottom")
    with left:
        id = _choose(evaluation.id)
    with right:
        known = kept.switch("Show a published curve (InferenceX)", False, "published", _KNOWN_ABOUT)
    if id:
        try:
            found += _of(library.evaluation(id), elsewhere=True)
        except InputError as error:
            text.notice(str(error), "error")
    if known:
        found += _of(_known())
        text.paragraph(_KNOWN_ABOUT, faint=True)
    return found


@st.cache_resource(show_spinner=False)
def _known() -> Evaluation:
    with tempfile.TemporaryDirectory() as workspace:
        return ingest.read(KNOWN, Path(workspace))


def _of(evaluation: Evaluation, *, elsewhere: bool = False) -> list[Other]:
    """Return the runs of an evaluation whose steps all drafted the same number of tokens."""
    found = []
    for run in evaluation.runs[:_MOST]:
        block = fixed_block(run)
        if block:
            label = f"{text.short(evaluation.title, 60)}: {run.name}" if elsewhere else run.name
            rows = _rows(evaluation, run)
            found.append(Other(label, _curve(evaluation, run), run, rows, block))
    return found


def _rows(evaluation: Evaluation, run: Run) -> list[dict[str, Any]]:
    if run.rates is not None:
        return [{"family": None} | row for row in run.rates.iter_rows(named=True)]
    return library.subject(library.choice(evaluation.id, run.name, None, False)).rows.datasets


def _curve(evaluation: Evaluation, run: Run) -> str:
    """Return what the runs of a curve have in common: the evaluation, and the model and mode of a published one."""
    said = (str(run.config[name]) for name in ("model", "mode") if run.rates is not None and name in run.config)
    return " ".join(said) or text.short(evaluation.title, 40)


def _choose(own: str) -> str:
    """Show the choice of another evaluation and return its id, "" for none.

    The id stands in the address by hand, as that of the evaluation looked at does: titles may change.
    """
    entries = {entry.id: entry for entry in library.store().list() if entry.id != own}
    labels = {"": "none"} | {id: f"{text.short(entry.title, 60)} · {id}" for id, entry in entries.items()}
    state, asked = st.session_state, st.query_params.get(_BESIDE, "")
    if asked not in labels:
        kept.tell("The evaluation measured beside", asked, "none")
    if asked != state.get(_ADDRESS) or state.get(_PICK) not in labels:
        state[_ADDRESS], state[_PICK] = asked, asked if asked in labels else ""
    chosen = st.selectbox(
        "Measured in another evaluation",
        list(labels),
        format_func=labels.__getitem__,
        key=_PICK,
        help="Its runs are drawn at their block lengths: golden acceptance lengths, or the same prompts at another K.",
    )
    if chosen != asked:
        state[_ADDRESS] = chosen
        if chosen:
            st.query_params[_BESIDE] = chosen
        else:
            st.query_params.pop(_BESIDE, None)
    kept.note(_BESIDE, chosen, "")
    return chosen
