"""The arms of an A/B measurement on a page: which they are, what comparing them gives, and how that is shown."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl
import streamlit as st

from specdash.report.exports import Origin
from specdash.report.latency_tables import Compared
from specdash.report.sections import Subject
from specdash.schema import Run
from specdash.speed.latency import MEASURES, PER_TOKEN, TPOT, Arm, Case, Comparison, Settings, Verdict, compare, judge
from specdash.speed.latency.roles import again_of, baseline_of, is_baseline, timed
from specdash.store import home
from specdash.ui import kept, library, text
from specdash.ui.selection import Selection

NONE = "none"
_HOW = "Measure with specdash bench, or add files of vllm bench serve, AIPerf or GuideLLM, or two columns of a CSV."
_OF = "_ab_of"
_KEYS = ("base", "spec", "again")
_LOOKS: dict[Case, tuple[str, str]] = {
    Case.FASTER: ("#2F855A", "▲"),
    Case.SLOWER: ("#C53030", "▼"),
    Case.EQUIVALENT: ("#3182CE", "="),
    Case.UNDECIDED: ("#718096", "?"),
    Case.WITHIN_FLOOR: ("#718096", "≈"),
    Case.TOO_FEW: ("#718096", ""),
    Case.BUFFERED: ("#B7791F", ""),
}


@dataclass(frozen=True)
class Key:
    """A run of the library as an arm: what the address spells ``run @ id``."""

    run: str
    id: str

    def __str__(self) -> str:
        return f"{self.run} @ {self.id}"


@dataclass(frozen=True)
class Arms:
    """The chosen arms, each None where none is; ``again`` is a second measurement of the baseline."""

    base: Key | None
    spec: Key | None
    again: Key | None = None

    @property
    def one(self) -> Key | None:
        """The arm to show where there are not two."""
        return self.spec or self.base

    def origin(self, selected: Selection) -> Origin:
        """Where numbers of both come from: an arm of another evaluation is named with its own."""
        named = (key.run if key.id == selected.evaluation.id else str(key) for key in (self.spec, self.base) if key)
        return Origin.of(selected.evaluation, " against ".join(named), selected.datasets)


def choose(selected: Selection) -> Arms:
    """Show the choice of arms and return it.

    Every run of the library that holds latencies can be one, those of the evaluation that is looked at first.
    """
    here = selected.evaluation
    entries = sorted(library.store().list(), key=lambda entry: entry.id != here.id)
    known = {str(key): key for entry in entries for key in (Key(name, entry.id) for name in entry.timed)}
    base, spec, again = (str(Key(run.name, here.id)) if run else NONE for run in _guess(here.runs, selected.run))
    _follow(f"{here.id}/{selected.run.name}", {"base": base, "spec": spec, "again": again})
    if not known:
        return Arms(None, None, None)
    options = [NONE, *known]
    left, middle, right = st.columns(3)
    with left:
        chosen_base = kept.choice("Baseline", options, "base", default=base)
    with middle:
        chosen_spec = kept.choice("With speculation", options, "spec", default=spec)
    with right:
        chosen_again = kept.choice(
            "Baseline again (A/A)", options, "again", default=again,
            help="A second measurement of the baseline: how far the machine differs from itself without any cause.",
        )  # fmt: skip
    return Arms(known.get(chosen_base), known.get(chosen_spec), known.get(chosen_again))


def _guess(runs: Sequence[Run], looked_at: Run) -> tuple[Run | None, Run | None, Run | None]:
    """Return the arms that the evaluation suggests: the run that is looked at and its baseline, or who it is one of."""
    own = timed(runs)
    specs = [run for run in own if not is_baseline(run)]
    if any(run.name == looked_at.name for run in own) and is_baseline(looked_at):
        base: Run | None = looked_at
        spec = next((run for run in specs if _is(baseline_of(own, run), looked_at)), None)
    else:
        spec = next((run for run in specs if run.name == looked_at.name), next(iter(specs), None))
        base = baseline_of(own, spec) if spec else next(iter(own), None)
    return base, spec, again_of(own, base) if base else None


def _is(run: Run | None, other: Run) -> bool:
    return run is not None and run.name == other.name


def _follow(looked_at: str, guessed: dict[str, str]) -> None:
    """Go back to the guessed arms when another run is looked at; a link's own are left alone."""
    state = st.session_state
    if state.get(_OF) not in (None, looked_at):
        state.update(guessed)
    state[_OF] = looked_at


def missing(arms: Arms) -> str | None:
    """Return why these arms cannot be compared, None where they can."""
    if arms.base is not None and arms.base == arms.spec:
        return "Both arms are the same run: there is nothing to compare."
    if arms.base is not None and arms.spec is not None:
        return None
    if arms.spec is not None:
        return f"Without a baseline no speed-up can be claimed: choose one above. {_HOW}"
    if arms.base is not None:
        return f"Nothing is compared with this baseline yet: choose a run with speculation above. {_HOW}"
    return f"No latencies are chosen. {_HOW}"


@library.forgotten
@st.cache_resource(max_entries=64, show_spinner="Comparing…")
def _compared(
    root: Path,
    keys: tuple[tuple[str, str] | None, ...],
    datasets: tuple[str, ...] | None,
    measure: str,
    paired: bool,
    margin: float,
) -> Compared:
    base, spec, again = (None if key is None else _arm(*key, datasets) for key in keys)
    found = compare(base, spec, MEASURES[measure], Settings(paired, margin), again)
    return found, judge(found)


def _arm(run: str, id: str, datasets: tuple[str, ...] | None) -> Arm:
    arm = Arm.of(library.evaluation(id).run(run))
    if datasets is None:
        return arm
    return Arm(arm.name, arm.latencies.filter(pl.col("dataset").is_in(list(datasets))), arm.concurrency)


def compared(
    arms: Arms, datasets: tuple[str, ...] | None, measure: str, *, paired: bool = True, margin: float = 0.05
) -> Compared:
    """Return the comparison of two arms with its judgement; computed once.

    Args:
        arms: Which.
        datasets: Over these, all when None.
        measure: Key of what is compared.
        paired: By prompt.
        margin: Of equivalence.
    """
    keys = tuple(None if key is None else (key.run, key.id) for key in (arms.base, arms.spec, arms.again))
    return _compared(home(), keys, datasets, measure, paired, margin)


def subject(key: Key, datasets: tuple[str, ...] | None) -> Subject:
    """Return the run of an arm over some of its datasets; those it has none of do not count."""
    known = library.datasets_of(library.evaluation(key.id).run(key.run))
    chosen = None if datasets is None else tuple(name for name in datasets if name in known) or None
    return library.subject(library.choice(key.id, key.run, chosen, intervals=False))


def observed(selected: Selection) -> Comparison | None:
    """Return the comparison of the run that is looked at with its baseline in the same evaluation, if any.

    It is in TPOT or, where the pace of answers was not seen, in end to end per token.
    """
    base = baseline_of(selected.evaluation.runs, selected.run)
    if base is None:
        return None
    id = selected.evaluation.id
    arms = Arms(Key(base.name, id), Key(selected.run.name, id))
    for measure in (TPOT, PER_TOKEN):
        found, judged = compared(arms, selected.datasets, measure.key)
        if judged.has_badge:
            return found
    return None


def shared_datasets(found: Comparison) -> list[str]:
    """Return the datasets that both arms have, where there are several."""
    names = [arm.latencies["dataset"].unique(maintain_order=True).to_list() for arm in (found.base, found.spec)]
    both = [name for name in names[0] if name in names[1]]
    return both if len(both) > 1 else []


def verdict(judged: Verdict, *others: Verdict) -> None:
    """Show a judgement and those beside it, each with its badge, and what else there is to know of the first."""
    for one in (judged, *others):
        _sentence(one)
    for note in judged.notes:
        kind: Literal["warning", "info"] = "warning" if note.warns else "info"
        text.notice(note.message, kind)


def _sentence(judged: Verdict) -> None:
    colour, mark = _LOOKS[judged.case]
    badge = (
        f'<span style="background:{colour};color:#fff;border-radius:.3rem;padding:.12rem .55rem;font-weight:650;'
        f'white-space:nowrap">{mark} {html.escape(str(judged.case))}</span> '
        if judged.has_badge
        else ""
    )
    st.html(
        f'<div role="status" class="sd-judgement" style="border:1px solid {colour};border-radius:.4rem;'
        f'padding:.7rem .9rem;line-height:1.6">{badge}{html.escape(judged.headline)}</div>'
    )
