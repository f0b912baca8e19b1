"""The arms of an A/B measurement on a page: which they are, what comparing them gives, and how that is shown."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
import streamlit as st

from specdash import charts
from specdash.report import csv_text
from specdash.report.latency_tables import Compared, Sheet
from specdash.schema import Run
from specdash.speed.latency import MEASURES, Arm, Case, Comparison, Settings, Verdict, compare, judge
from specdash.speed.latency.roles import again_of, baseline_of, is_baseline, timed
from specdash.store import home
from specdash.ui import figures, kept, library, text
from specdash.ui.selection import Selection

NONE = "none"
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
    """The chosen arms; ``again`` is a second measurement of the baseline, None without one."""

    base: Key
    spec: Key
    again: Key | None


def choose(selected: Selection) -> Arms | None:
    """Show the choice of arms and return it; None, after saying why, where there are not two to choose from.

    Every run of the library that holds latencies can be one, those of the evaluation that is looked at first.
    """
    here = selected.evaluation
    entries = sorted(library.store().list(), key=lambda entry: entry.id != here.id)
    known = {str(key): key for entry in entries for key in (Key(name, entry.id) for name in entry.timed)}
    if len(known) < 2:
        text.notice(_too_few(len(known)), "info")
        return None
    base, spec, again = _guess(here.runs, selected.run, [str(key) for key in known.values()], here.id)
    _follow(here.id, {"base": base, "spec": spec, "again": again})
    left, middle, right = st.columns(3)
    with left:
        chosen_base = kept.choice("Baseline", list(known), "base", default=base)
    with middle:
        chosen_spec = kept.choice("With speculation", list(known), "spec", default=spec)
    with right:
        floor = [NONE, *known]
        chosen_again = kept.choice(
            "Baseline again (A/A)", floor, "again", default=again,
            help="A second measurement of the baseline: how far the machine differs from itself without any cause.",
        )  # fmt: skip
    return Arms(known[chosen_base], known[chosen_spec], known.get(chosen_again))


def _too_few(count: int) -> str:
    how = "Measure with specdash bench, or add files of vllm bench serve, AIPerf or GuideLLM, or two columns of a CSV."
    if count:
        return f"One run of this library alone holds latencies: without a baseline no speed-up can be claimed. {how}"
    return f"No run of this library holds latencies. {how}"


def _guess(runs: Sequence[Run], looked_at: Run, known: list[str], id: str) -> tuple[str, str, str]:
    """Return the arms that the evaluation suggests: the run that is looked at against its baseline."""
    own = timed(runs)
    specs = [run for run in own if not is_baseline(run)]
    spec = next((run for run in specs if run.name == looked_at.name), next(iter(specs), None))
    base = (baseline_of(own, spec) if spec else None) or next((run for run in own if is_baseline(run)), None)
    again = again_of(own, base) if base else None
    named = [str(Key(run.name, id)) if run else None for run in (base, spec)]
    others = [key for key in known if key not in named]
    filled = [name or others.pop(0) for name in named]
    return filled[0], filled[1], str(Key(again.name, id)) if again else NONE


def _follow(id: str, guessed: dict[str, str]) -> None:
    """Go back to the guessed arms when another evaluation is looked at; a link's own are left alone."""
    state = st.session_state
    if state.get(_OF) not in (None, id):
        state.update(guessed)
    state[_OF] = id


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


def observed(selected: Selection) -> Comparison | None:
    """Return the comparison in TPOT of the run that is looked at with its baseline in the same evaluation, if any."""
    base = baseline_of(selected.evaluation.runs, selected.run)
    if base is None:
        return None
    id = selected.evaluation.id
    found, _ = compared(Arms(Key(base.name, id), Key(selected.run.name, id), None), selected.datasets, "tpot")
    return found if found.deciding is not None else None


def shared_datasets(found: Comparison) -> list[str]:
    """Return the datasets that both arms have, where there are several."""
    names = [arm.latencies["dataset"].unique(maintain_order=True).to_list() for arm in (found.base, found.spec)]
    both = [name for name in names[0] if name in names[1]]
    return both if len(both) > 1 else []


def verdict(judged: Verdict) -> None:
    """Show a judgement: what it comes to, its sentence, and what else there is to know."""
    colour, mark = _LOOKS[judged.case]
    badge = (
        f'<span style="background:{colour};color:#fff;border-radius:.3rem;padding:.12rem .55rem;font-weight:650;'
        f'white-space:nowrap">{mark} {html.escape(str(judged.case))}</span> '
        if judged.has_badge
        else ""
    )
    st.html(
        f'<div role="status" class="sd-verdict" style="border:1px solid {colour};border-radius:.4rem;'
        f'padding:.7rem .9rem;line-height:1.6">{badge}{html.escape(judged.headline)}</div>'
    )
    for note in judged.notes:
        kind: Literal["warning", "info"] = "warning" if note.warns else "info"
        text.notice(note.message, kind)


def sheet(shown: Sheet, *, file: str) -> None:
    """Show a sheet with its note and a CSV of full precision."""
    st.subheader(shown.title)
    labels = {
        name: st.column_config.NumberColumn(head.label, format=head.format, help=head.help or None)
        if head.format
        else st.column_config.TextColumn(head.label, help=head.help or None, pinned=name == "name")
        for name, head in shown.heads.items()
    }
    st.dataframe(
        shown.frame,
        key=f"sheet_{shown.key}",
        hide_index=True,
        placeholder="–",
        height="content",
        column_config=labels,
        alt=f"{shown.title}: {shown.frame.height} rows",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(shown.note)
        st.download_button(
            "CSV",
            lambda: csv_text(shown.frame).encode(),
            file_name=f"{file}_{shown.key}.csv",
            mime="text/csv",
            key=f"sheet_{shown.key}_csv",
            on_click="ignore",
            icon=":material/download:",
            help="Every number at full precision.",
        )


def show_figures(found: Comparison, *, file: str) -> None:
    """Show both arms' distributions, and prompt against prompt where they are paired."""
    theme, noun, pair = figures.theme(), found.measure.noun, found.pair
    names = found.base.name, found.spec.name
    sides = (
        charts.Side(f"baseline: {names[0]}", pair.base.seconds),
        charts.Side(f"spec: {names[1]}", pair.spec.seconds),
    )
    st.subheader("Distribution")
    figures.show(charts.latency_ecdf(*sides, theme, measure=noun), "figure_ecdf", file=f"{file}_ecdf")
    st.subheader("Prompt by prompt")
    prompts = None
    if pair.prompts:
        base, spec = (np.exp(side.mean_log_by_prompt).tolist() for side in (pair.base, pair.spec))
        prompts = charts.Prompts(pair.names, base, spec)
    chart = charts.latency_by_prompt(prompts, theme, measure=noun, names=(f"baseline: {names[0]}", f"spec: {names[1]}"))
    figures.show(chart, "figure_prompts", file=f"{file}_prompts")
