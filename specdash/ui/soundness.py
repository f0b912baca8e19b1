"""The verdict of the checks on a page: in short, and every check with what it found, means and comes from."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from specdash.report import soundness
from specdash.report.exports import FRAME_FORMATS, Origin, Sheet
from specdash.ui import downloads, library, text
from specdash.ui.selection import Selection
from specdash.verdict import Finding, Outcome, Verdict

_KINDS = {Outcome.FAIL: "error", Outcome.WARN: "warning", Outcome.PASS: "sound", Outcome.NOT_APPLICABLE: "idle"}


def show(selected: Selection) -> None:
    """Show the verdict of the run that is looked at, what is not as it should be, and folded away every check.

    The checks are of the whole run, whatever datasets are chosen.
    """
    findings = selected.run.checks or ()
    verdict = Verdict.of(findings)
    told = [finding for finding, _ in soundness.told(findings)]
    colour, _ = text.MARKS[_KINDS[verdict.outcome]]
    lines = f'<ul style="{_LIST};margin-top:.35rem">{_items(told)}</ul>' if told else ""
    st.html(
        f'<div role="status" class="sd-verdict sd-verdict-{verdict.outcome.name.lower()}" style="border-left:4px solid '
        f'{colour};background:{colour}1c;padding:.5rem .75rem;border-radius:.3rem">{_mark(verdict.outcome)}'
        f"<strong>Soundness</strong> {html.escape(str(verdict))}{lines}</div>"
    )
    with st.expander(f"All {len(findings)} checks", icon=":material/fact_check:"):
        ordered = soundness.worst_first(findings)
        st.html(f'<ul style="{_LIST}">{_items(ordered)}</ul>')
        with st.container(horizontal=True):
            origin = replace(selected.origin, datasets=None)
            sheet = partial(_sheet, findings, origin)
            downloads.menu(sheet, origin.file("checks"), FRAME_FORMATS, "checks")
            if library.store().read_only:
                return
            st.button(
                "Check again",
                key="check_again",
                on_click=library.check_again,
                args=(selected.evaluation.id,),
                help="Checks are made when an evaluation is added, and again when its settings change.",
            )


def _sheet(findings: Sequence[Finding], origin: Origin) -> Sheet:
    return Sheet("checks", "What the checks found", origin, soundness.frame(findings))


_LIST = "list-style:none;padding:0;margin:0"


def _items(findings: Sequence[Finding]) -> str:
    """Return list items that open: what was found, and behind it what it means and where it comes from."""
    return "".join(
        '<li style="margin:.15rem 0"><details><summary style="cursor:pointer;overflow-wrap:anywhere">'
        f"{_mark(Outcome(row['outcome']))}<strong>{html.escape(row['title'])}</strong> "
        f'<span style="opacity:.6">{row["outcome"]}</span> {text.wrapped(row["figure"])}</summary>'
        f'<p style="margin:.1rem 0 .4rem 1.6rem;opacity:.85;font-size:.9rem">{html.escape(row["meaning"])}<br>'
        f"Usual cause: {html.escape(row['cause'])}</p></details></li>"
        for row in soundness.rows(findings)
    )


def _mark(outcome: Outcome) -> str:
    colour, mark = text.MARKS[_KINDS[outcome]]
    return f'<span aria-hidden="true" style="color:{colour};margin-right:.45rem">{mark}</span>'


def said(findings: Sequence[Finding]) -> tuple[str, str] | None:
    """Return the verdict in short and its kind of mark, for a page's head; None when all is as it should be."""
    verdict = Verdict.of(findings)
    return short(verdict) if verdict.outcome in (Outcome.FAIL, Outcome.WARN) else None


def short(verdict: Verdict) -> tuple[str, str]:
    """Return a verdict in short and its kind of mark."""
    return verdict.short, _KINDS[verdict.outcome]
