"""How every page begins: its title, what is looked at, and one sentence where the run cannot answer it."""

from __future__ import annotations

from typing import NoReturn

import streamlit as st

from specdash.report import sections
from specdash.report.sections import Section
from specdash.schema import Granularity
from specdash.ui import library, router, soundness, text
from specdash.ui.selection import Selection


class Ended(Exception):
    """A page has shown all it can. Unlike ``st.stop`` it lets what is around the page be drawn to its end."""


def end() -> NoReturn:
    """End the page here."""
    raise Ended


def begin(title: str, needs: Granularity = Granularity.RATES) -> Selection:
    """Show the head of a page and return what it is about.

    The page ends here with one sentence when there is nothing to look at, or when the run is too coarse for it.

    Args:
        title: Title of the page.
        needs: The coarsest granularity that it can show.
    """
    router.ensure()
    selected: Selection | None = st.session_state["selection"]
    text.title(title)
    if selected is None:
        empty = not library.store().list()
        text.notice(
            "The library is empty: add an evaluation on the Overview page."
            if empty
            else "Choose an evaluation in the sidebar.",
            "info",
        )
        end()
    evaluation, run = selected.evaluation, selected.run
    scope = "all datasets" if selected.datasets is None else f"{len(selected.datasets)} of its datasets"
    kind = "reconstruction · " if evaluation.reconstruction else ""
    about = f"{text.short(evaluation.title, 120)} · {kind}run {text.short(run.name, 80)} · {scope}"
    text.paragraph(about, faint=True, end=soundness.said(run.checks or ()))
    _end_where(sections.too_coarse(run, needs))
    return selected


def begin_section(section: Section) -> Selection:
    """Show the head of a section's page and return what it is about; the page ends here where the run lacks a need."""
    selected = begin(section.title)
    _end_where(section.missing(selected.subject))
    return selected


def _end_where(missing: str | None) -> None:
    if missing is not None:
        text.notice(f"This page {missing}", "info")
        end()
