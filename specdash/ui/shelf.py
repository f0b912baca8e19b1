"""The library on the page: search, open, edit, export, remove; and the configuration of a run, editable."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import streamlit as st

from specdash.schema import InputError
from specdash.store import Entry, Store
from specdash.ui import library, selection, soundness, text
from specdash.ui.selection import Selection

_SHOWN = 20
_LARGEST_EXPORT = 300 * 10**6  # bytes; a download is held in memory, larger ones go through the command line
_MESSAGE = "_shelf_message"


def shelf() -> None:
    """Show the evaluations of the library, newest first, those that match the search."""
    entries = list(reversed(library.store().list()))
    query = st.text_input("Search the library", key="shelf_search", placeholder="title, file, note, tag or id")
    found = [entry for entry in entries if _matches(entry, query)]
    st.caption(
        f"{len(found)} of {len(entries)} evaluations" + ("" if len(found) <= _SHOWN else f"; the newest {_SHOWN} shown")
    )
    if message := st.session_state.pop(_MESSAGE, None):
        text.notice(message, "error")
    for entry in found[:_SHOWN]:
        _entry(entry)


def _matches(entry: Entry, query: str) -> bool:
    said = " ".join((entry.title, entry.source, entry.id, entry.notes, *entry.tags, *entry.runs)).casefold()
    return all(word in said for word in query.casefold().split())


def _entry(entry: Entry) -> None:
    with st.container(border=True, key=f"entry-{entry.id}"):
        text.paragraph(entry.title)
        facts = [entry.id, entry.source, _size(entry.bytes), f"added {entry.added}", *entry.tags]
        text.paragraph(" · ".join(facts), faint=True)
        text.paragraph(_held(entry), faint=True, end=_verdict(entry))
        if entry.notes:
            text.block(entry.notes)
        with st.container(horizontal=True):
            st.button("Open", key=f"open-{entry.id}", on_click=selection.choose, args=(entry.id,))
            _export(entry)
            if library.store().read_only:
                return
            with st.popover("Edit"):
                _edit(entry)
            with st.popover("Remove"):
                st.write("Remove this evaluation for everybody who uses this library?")
                st.button("Remove it", key=f"remove-{entry.id}", on_click=_remove, args=(entry.id,), type="primary")


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 10**5 else f"{size / 1e3:,.1f} kB"


def _verdict(entry: Entry) -> tuple[str, str] | None:
    """Return the verdict over the runs in short and its kind of mark; None while one has to be checked anew."""
    return None if entry.verdict is None else soundness.short(entry.verdict)


def _held(entry: Entry) -> str:
    """Return what each run holds and how well its requests were assigned to responses."""
    runs = []
    for name in entry.runs:
        mapping = entry.mapping.get(name)
        runs.append(f"{name}: {entry.granularity[name]}" + (f", {mapping}" if mapping else ""))
    return "; ".join(runs)


def _edit(entry: Entry) -> None:
    with st.form(f"edit-{entry.id}", border=False):
        title = st.text_input("Title", entry.title, key=f"title-{entry.id}")
        notes = st.text_area("Notes", entry.notes, key=f"notes-{entry.id}")
        tags = st.text_input("Tags, separated by commas", ", ".join(entry.tags), key=f"tags-{entry.id}")
        if not st.form_submit_button("Save"):
            return
    said = {"title": title, "notes": notes, "tags": [tag.strip() for tag in tags.split(",") if tag.strip()]}
    if _annotated(entry.id, **said):
        st.rerun()


def _annotated(id: str, **said: Any) -> bool:
    try:
        library.store().annotate(id, **said)
    except (InputError, OSError) as error:
        text.notice(str(error), "error")
        return False
    library.forget()
    return True


def _export(entry: Entry) -> None:
    if entry.bytes > _LARGEST_EXPORT:
        st.caption(f"specdash export {entry.id}")
        return
    store = library.store()
    st.download_button(
        "Export",
        lambda: _exported(store, entry.id),
        file_name=f"{entry.id}.specdash.zip",
        mime="application/zip",
        key=f"export-{entry.id}",
        on_click="ignore",
        help="A zip of Parquet files that can be added to any library and gives the same numbers.",
    )


def _exported(store: Store, id: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return store.export(id, Path(folder) / "export.zip").read_bytes()


def _remove(id: str) -> None:
    try:
        library.store().remove(id)
    except (InputError, OSError) as error:
        st.session_state[_MESSAGE] = str(error)
    library.forget()
    selection.leave(id)


def configuration(selected: Selection) -> None:
    """Show the configuration of a run: what its files say, and beside it what was set by hand and wins."""
    run = selected.run
    names = list(dict.fromkeys([*run.config, *run.config_set]))
    frame = pl.DataFrame(
        {
            "setting": names,
            "in the files": [_shown(run.config.get(name)) for name in names],
            "set by hand": [_shown(run.config_set.get(name)) for name in names],
        },
        schema={"setting": pl.String, "in the files": pl.String, "set by hand": pl.String},
    )
    if library.store().read_only:
        st.dataframe(frame, key="config", hide_index=True)
        return
    edited = st.data_editor(
        frame,
        key=f"config-{selected.evaluation.id}-{run.name}",
        hide_index=True,
        num_rows="dynamic",
        disabled=["in the files"],
        column_config={"setting": st.column_config.TextColumn(required=True, max_chars=100)},
    )
    st.caption("What is set by hand wins over the files, in every report and for everybody who uses this library.")
    if st.button("Save the configuration", key="save_config"):
        wanted = {row["setting"]: row["set by hand"] for row in edited.iter_rows(named=True) if row["setting"]}
        overlay = {name: _parsed(wanted.get(name)) for name in [*wanted, *run.config_set]}
        if _annotated(selected.evaluation.id, config={run.name: overlay}):
            st.rerun()


def _shown(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _parsed(value: str | None) -> Any:
    """Return what a cell says: a number or true/false where it reads as one, else the text; None removes."""
    if value is None or not value.strip():
        return None
    try:
        parsed = json.loads(value)
    except ValueError:
        return value
    return parsed if isinstance(parsed, int | float | bool) else value
