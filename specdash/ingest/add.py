"""Add an evaluation to the library: the one way in, for the command line and the dashboard alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from specdash.ingest import exported
from specdash.ingest.checking import checked
from specdash.ingest.options import Options, evaluation_id
from specdash.ingest.read import read_source
from specdash.ingest.source import DEFAULT_LIMITS, Limits, Progress, open_source
from specdash.schema import Evaluation
from specdash.store import Store


def add(
    path: Path,
    store: Store,
    *,
    options: Options | None = None,
    limits: Limits = DEFAULT_LIMITS,
    keep_original: bool = False,
    progress: Progress | None = None,
    ask: bool = False,
) -> Evaluation:
    """Read an evaluation and store it, whole or not at all; one that is stored already is returned as it is.

    Args:
        path: A zip, a folder or a single file; also what a library exported.
        store: The library.
        options: What the user says of it; with other options it is another evaluation.
        limits: What it may unpack to.
        keep_original: Keep a copy of the input beside what was read from it; not of an export, which is no more.
        progress: Called with a stage and the bytes done and in all; what it raises ends the reading.
        ask: Whether the user is there to be asked what the reading can do without.

    Raises:
        Unsaid: It does not say what only the user can; the library is as before.
        InputError: It cannot be read as a whole; the library is as before.
    """
    options, said = options or Options(), None
    with store.workspace() as workspace, open_source(path, workspace, limits, progress) as source:
        found = exported.recognise(source, options)
        id = found["id"] if found else evaluation_id(source.sha256, options)
        if id in store:
            return store.open(id)
        if found:
            evaluation, said = exported.read(source, found, workspace, limits, progress)
        else:
            evaluation = read_source(source, workspace, options, progress, ask=ask)
        seen = checked(said.applied(evaluation) if said else evaluation, progress)
        findings = {run.name: run.checks for run in seen.runs}
        evaluation = replace(evaluation, runs=tuple(replace(run, checks=findings[run.name]) for run in evaluation.runs))
        if progress:
            progress("store", 0, None)
        kept = path if keep_original and not found else None
        return store.add(evaluation, original=kept, said=said)
