"""How every page begins: its title, what is looked at, and one sentence where the run cannot answer it."""

from __future__ import annotations

import streamlit as st

from specdash.schema import Granularity
from specdash.ui import library, router, text
from specdash.ui.selection import Selection

_NEEDS = {
    Granularity.STEP: "an ordered log of steps",
    Granularity.RESPONSE: "responses with their prompts",
    Granularity.AGGREGATE: "counts",
    Granularity.RATES: "acceptance data",
}
_HOLDS = {
    Granularity.RESPONSE: "histograms without the order of steps",
    Granularity.AGGREGATE: "counters without responses",
    Granularity.RATES: "printed ratios without counts",
    Granularity.LATENCIES: "latencies alone",
}


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
        st.stop()
    evaluation, run = selected.evaluation, selected.run
    scope = "all datasets" if selected.datasets is None else f"{len(selected.datasets)} of its datasets"
    kind = "reconstruction · " if evaluation.reconstruction else ""
    text.paragraph(f"{text.short(evaluation.title, 120)} · {kind}run {text.short(run.name, 80)} · {scope}", faint=True)
    if not run.granularity.allows(needs):
        text.notice(f"This page needs {_NEEDS[needs]}; this run holds {_HOLDS[run.granularity]}.", "info")
        st.stop()
    return selected


def require_positions(selected: Selection) -> int:
    """Return the run's block length K; the page ends with one sentence when no counts by position are there."""
    if selected.run.k and any(row["p"] for row in selected.rows.datasets):
        return selected.run.k
    reason = "this run's counters hold none" if selected.run.counters is not None else "no step of this run drafted any"
    text.notice(f"This page needs counts by draft position; {reason}.", "info")
    st.stop()


def file_name(selected: Selection, table: str) -> str:
    """Return the name, without suffix, of a file that holds a table of the selection."""
    return f"{selected.evaluation.id}_{table}"
