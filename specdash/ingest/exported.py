"""An evaluation that a library exported (``store.export``), distrusted like any input: anybody can make such a zip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from specdash.formats.base import read_json
from specdash.ingest import exported_manifest, exported_tables
from specdash.ingest.options import Options
from specdash.ingest.source import Limits, Member, Progress, Source
from specdash.schema import Evaluation, InputError
from specdash.store import annotations, export, manifest
from specdash.store.annotations import Annotations

_MARK = b'"specdash"'
"""Stands in the manifest of an export, and so early that its head tells."""


def recognise(source: Source, options: Options | None) -> dict[str, Any] | None:
    """Return the checked manifest of an export, None for any other evaluation.

    Raises:
        InputError: It is an export, but its manifest is wrong, or ``options`` would change what it is.
    """
    member = _members(source).get(manifest.NAME)
    if member is None or _MARK not in member.head():
        return None
    if options and options.as_dict():
        raise InputError(
            "is an exported evaluation, whose settings are part of it",
            file=source.name,
            found="settings " + ", ".join([*options.config, *(name for name in options.as_dict() if name != "config")]),
            expected="none; change them once it is stored",
        )
    return exported_manifest.read(member)


def read(
    source: Source, found: dict[str, Any], workspace: Path, limits: Limits, progress: Progress | None = None
) -> tuple[Evaluation, Annotations]:
    """Read an export.

    Args:
        source: The opened input.
        found: Its manifest, from ``recognise``.
        workspace: Folder for the runs' ordered steps.
        limits: What a table may unpack to.
        progress: Called with a stage, the runs done and in all.

    Returns:
        The evaluation as it was read from its logs, and what people say of it.

    Raises:
        InputError: A member is missing, superfluous or holds what it cannot.
        OSError: The machine ran out of disk or memory.
    """
    runs, members = found["runs"], _members(source)
    names = export.members(runs)
    _check_members(members, {name for of_run in names for name in of_run})
    loaded = []
    for number, run in enumerate(runs):
        if progress:
            progress(f"load {run['name']}", number, len(runs))
        files = dict(zip(run["tables"], (members[name] for name in names[number]), strict=True))
        loaded.append(exported_tables.load(run, files, workspace / f"run{number}", limits))
    evaluation = manifest.built(found, lambda run: loaded[run["folder"]])
    said = _said(members.get(annotations.NAME), [run["name"] for run in runs])
    return replace(evaluation, added=None), said


def _members(source: Source) -> dict[str, Member]:
    return {member.path: member for member in source.members}


def _check_members(members: dict[str, Member], tables: set[str]) -> None:
    for name in sorted(tables - members.keys()):
        raise InputError("is missing from the exported evaluation", file=name)
    for name in sorted(members.keys() - tables - {manifest.NAME, annotations.NAME}):
        raise InputError("is no part of an exported evaluation", file=name, expected="what its manifest names")


def _said(member: Member | None, runs: Sequence[str]) -> Annotations:
    if member is None:
        return Annotations()
    return annotations.parsed(read_json(member), runs, member.path)
