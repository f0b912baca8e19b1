"""Prompts on their page: search, the list of them, one of them, one of its responses; all of it in the address."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl
import streamlit as st

from specdash.report.exports import FRAME_FORMATS, Sheet
from specdash.report.tables import UNDEFINED
from specdash.ui import downloads, link, text
from specdash.ui.selection import Selection

FIND, PROMPT, COPY = "find_prompt", "prompt", "copy"
"""Names in the address."""

_MOST_OPTIONS = 500  # more make a list slow to open; the search finds the others
_MOST_BUTTONS = 12  # copies that stand side by side
_NAME = 80
_TALLEST = 420  # px


def labelled(prompts: pl.DataFrame) -> pl.DataFrame:
    """Return prompts with ``label``: what each is called in lists and in the address, unique and stable."""
    names = [pl.col(name).str.replace_all(r"\p{Cc}", " ").str.slice(0, _NAME) for name in ("dataset", "prompt")]
    nth = pl.int_range(pl.len()).over("label")
    return prompts.with_columns(label=pl.format("{} · {}", *names)).with_columns(
        label=pl.when(nth > 0).then(pl.format("{} ({})", "label", nth + 1)).otherwise("label")
    )


def search(selected: Selection, prompts: pl.DataFrame) -> pl.DataFrame:
    """Show the search and return the prompts that it finds: by prompt, by dataset, or by the id of a request."""
    link.default(FIND, "")
    asked = st.text_input(
        "Find a prompt",
        key=FIND,
        bind="query-params",
        placeholder="part of a prompt id or dataset, or a whole request id",
    ).strip()
    if not asked:
        return prompts
    requested = selected.responses.filter(pl.col("request") == asked).select("dataset", "prompt").unique()
    by_request = pl.struct("dataset", "prompt").is_in(requested.to_struct().implode())
    wanted = asked.lower()
    named = pl.col("label").str.to_lowercase().str.contains(wanted, literal=True)
    return prompts.filter(named | pl.col("prompt").str.to_lowercase().str.contains(wanted, literal=True) | by_request)


def table(selected: Selection, prompts: pl.DataFrame) -> None:
    """Show the prompts, hardest first; a row that is clicked is the one looked at below."""
    st.dataframe(
        prompts.select(*_COLUMNS),
        key="prompts_table",
        hide_index=True,
        placeholder=UNDEFINED,
        height=min(_TALLEST, 35 * (prompts.height + 1) + 3),
        column_config=_COLUMNS,
        alt=f"Prompts: {prompts.height} rows",
        on_select=lambda: _pick(prompts["label"]),
        selection_mode="single-row",
    )
    _download(selected, "prompts_by_difficulty", "Prompts, hardest first", prompts.drop("label"))


def _download(selected: Selection, name: str, title: str, frame: pl.DataFrame) -> None:
    sheet = partial(Sheet, name, title, selected.origin, frame)
    downloads.menu(sheet, selected.origin.file(name), FRAME_FORMATS, name)


def _pick(labels: pl.Series) -> None:
    rows = st.session_state["prompts_table"]["selection"]["rows"]
    if rows:
        st.session_state[PROMPT] = labels[rows[0]]


def _tokens(label: str, help: str) -> object:
    return st.column_config.NumberColumn(label, format="%.2f", help=help)


_COLUMNS = {
    "dataset": st.column_config.TextColumn("dataset"),
    "prompt": st.column_config.TextColumn("prompt", pinned=True),
    "copies": st.column_config.NumberColumn("copies", format="localized", help="Responses with a drafted step."),
    "steps": st.column_config.NumberColumn("steps", format="localized", help="Drafted steps of its copies."),
    "shrunken": _tokens("τ, shrunken", "w·m + (1 − w)·μ: the mean m of its copies drawn to the mean μ of its dataset."),
    "low": _tokens("low", "Lower end of the 95% interval of its τ."),
    "high": _tokens("high", "Upper end of the 95% interval of its τ."),
    "mean": _tokens("mean of copies", "Mean of τ_r over its copies."),
    "tau": _tokens("τ, step-weighted", "1 + Σa/S over all steps of its copies."),
    "min": _tokens("worst copy", "Smallest τ_r."),
    "max": _tokens("best copy", "Largest τ_r."),
    "weight": st.column_config.NumberColumn(
        "w", format="percent", help="σ_b²/(σ_b² + noise): how much of its mean's distance is difficulty."
    ),
}


def choose(prompts: pl.DataFrame, found: pl.DataFrame) -> dict[str, object] | None:
    """Show the list of prompts and return the row of the chosen one; None when there is none to choose from.

    Args:
        prompts: All of them.
        found: Those the search finds.
    """
    known = _asked(PROMPT, prompts["label"], "prompt")
    options = found["label"].head(_MOST_OPTIONS).to_list()
    if known is not None and known not in options:
        options = [known, *options]  # What is looked at stays, whatever is searched for.
    if not options:
        return None
    if st.session_state.get(PROMPT) not in (*options, None):
        st.session_state[PROMPT] = options[0]
    link.default(PROMPT, options[0])
    chosen = st.selectbox("Prompt", options, key=PROMPT, bind="query-params")
    if found.height > _MOST_OPTIONS:
        st.caption(f"The {_MOST_OPTIONS} hardest of {found.height:,} are listed; the search finds the others.")
    return prompts.row(by_predicate=pl.col("label") == chosen, named=True)


def _asked(key: str, options: Sequence[str] | pl.Series, what: str) -> str | None:
    """Return what is chosen or what a link asks for; tell of a link that names what is not there."""
    chosen = st.session_state.get(key)
    if chosen is None:
        chosen = st.query_params.get(key)
        if chosen is not None and chosen not in options:
            text.notice(f"There is no {what} {text.short(chosen, 80)} here, which this link names.", "error")
    return chosen if chosen is not None and chosen in options else None


def names_of(responses: pl.DataFrame) -> list[str]:
    """Return what the copies of a prompt are called: by their numbers where these tell them apart."""
    copies = responses["copy"]
    if copies.null_count() == 0 and copies.n_unique() == copies.len():
        return [f"copy {number}" for number in copies]
    return [f"response {number}" for number in range(1, responses.height + 1)]


def choose_copy(names: list[str]) -> int:
    """Show the copies of a prompt and return the place of the chosen one."""
    _asked(COPY, names, "copy")
    if st.session_state.get(COPY) not in (*names, None):
        st.session_state[COPY] = names[0]  # Another prompt may have fewer.
    link.default(COPY, names[0])
    if len(names) <= _MOST_BUTTONS:
        chosen = st.segmented_control("Response", names, default=names[0], key=COPY, bind="query-params", required=True)
    else:
        chosen = st.selectbox("Response", names, key=COPY, bind="query-params")
    return names.index(chosen or names[0])


def copies_table(selected: Selection, responses: pl.DataFrame, names: list[str]) -> None:
    """Show the copies of a prompt: τ_r, steps, tokens."""
    shown = responses.select(
        pl.Series("response", names),
        "request",
        pl.col("tau").alias("τ_r"),
        "steps",
        pl.col("undrafted").alias("without draft"),
        "drafted",
        "accepted",
        (pl.col("accepted") / pl.col("drafted")).fill_nan(None).alias("acceptance ratio"),
        pl.col("output_tokens").alias("output tokens"),
    )
    st.dataframe(
        shown,
        key="copies_table",
        hide_index=True,
        placeholder=UNDEFINED,
        alt=f"Copies of the prompt: {shown.height} rows",
        column_config={
            "τ_r": st.column_config.NumberColumn(format="%.2f", help="1 + Σa/S over the steps of this response."),
            "acceptance ratio": st.column_config.NumberColumn(format="%.3f", help="Σa/ΣK of this response."),
        },
    )
    _download(selected, "prompt_copies_table", "Copies of a prompt", shown)
