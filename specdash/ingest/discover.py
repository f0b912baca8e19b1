"""Which files of an evaluation make which run.

What producers recognise gives runs by itself (``units``); of the rest every folder that holds known files is a run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from specdash.formats import FORMATS, File, Role, producers, recognise
from specdash.formats.base import natural
from specdash.formats.table import producer as table
from specdash.formats.table.producer import TABLE
from specdash.ingest.units import Unit, claimed
from specdash.schema import InputError

_ROOT = PurePosixPath(".")


@dataclass
class RunFiles:
    """The files of one run.

    Attributes:
        name: Name of the run, unique in the evaluation.
        by_role: Its files by role, in natural order of their paths.
    """

    name: str
    by_role: dict[Role, list[File]] = field(default_factory=dict)

    def files(self, role: Role) -> list[File]:
        """Return the files of a role."""
        return self.by_role.get(role, [])


@dataclass(frozen=True)
class Discovered:
    """What an evaluation holds.

    Attributes:
        runs: The runs of folders.
        units: Files of producers, with the name of their folder.
        about: The file in which the evaluation says what it is, or None.
        unread: Paths of the files that no run uses.
    """

    runs: list[RunFiles]
    units: list[tuple[str, Unit]]
    about: File | None
    unread: list[str]


def discover(files: list[File], stem: str, columns: Mapping[str, str] | None = None) -> Discovered:
    """Sort the files of an evaluation into runs.

    Args:
        files: All of them.
        stem: The evaluation's own name, that of a run whose files lie at its top.
        columns: Column of a table by our name for it, by the user: the tables that have them are read so.

    Raises:
        Unsaid: There are only tables whose columns nobody knows.
        InputError: No file is one that is known, or no table has the columns that the user names.
    """
    said = columns or {}
    produced, left = claimed(files, lambda file: TABLE if table.holds(file, said) else producers.recognise(file))
    if said and not any(unit.producer is TABLE for unit in produced):
        raise InputError(
            "no table has all columns of --map", file=stem, expected=", ".join(filter(None, said.values()))
        )
    folders, unread = _recognised(left, alone=len(files) == 1)
    about = folders.pop_about()
    runs = {folder: roles for folder, roles in folders.items() if _is_run(folder, folders)}
    for folder, roles in folders.items():
        if folder in runs:
            continue
        owner = _owner(folder, runs)
        for role, members in roles.items():
            if owner is None and role is Role.CONFIG and _below(folder, produced):
                continue
            if owner is None:
                unread += members
            else:
                runs[owner].setdefault(role, []).extend(members)
    unread += _superfluous(runs)
    tables, unread = claimed(unread, lambda file: TABLE if _apart(file, runs) and TABLE.looks(file) else None)
    produced += tables
    _inherit_configs(folders, runs)
    for unit in produced:
        unit.configs = _configs(unit.folder, folders)
    if not runs and not produced:
        if question := table.question(sorted(files, key=lambda file: natural(file.path))):
            raise question
        names = ", ".join(sorted(file.path for file in files)[:8]) + (", …" if len(files) > 8 else "")
        raise InputError(
            "nothing that can be read",
            file=stem,
            found=names or "no files",
            expected="; ".join([*(f.what for f in FORMATS[1:-1]), f"what these write: {', '.join(_tools())}"]),
        )
    names = _names(list(dict.fromkeys([*runs, *(unit.folder for unit in produced)])), stem)
    made = [
        RunFiles(names[folder], {role: _sorted(found) for role, found in roles.items()})
        for folder, roles in runs.items()
    ]
    return Discovered(
        made, [(names[unit.folder], unit) for unit in produced], about, sorted(file.path for file in unread)
    )


def _tools() -> list[str]:
    return sorted({producer.tool for producer in producers.PRODUCERS if producer.tool != "any"}, key=str.lower)


def _is_run(folder: PurePosixPath, folders: _Folders) -> bool:
    """Tell whether a folder is a run of its own; one with the samples of a dataset belongs to the log above it."""
    roles = folders[folder].keys()
    if roles & {Role.STEPS, Role.COUNTERS}:
        return True
    below_log = any(Role.STEPS in folders.get(parent, {}) for parent in folder.parents)
    return Role.PRINTED in roles and not (Role.SAMPLES in roles and below_log)


def _superfluous(runs: dict[PurePosixPath, dict[Role, list[File]]]) -> list[File]:
    """Take out of the runs what their other files leave no use for, and return it."""
    taken = []
    for roles in runs.values():
        taken += roles.pop(Role.COUNTERS if Role.STEPS in roles else Role.SAMPLES, [])
    return taken


def _apart(file: File, runs: Collection[PurePosixPath]) -> bool:
    """Tell whether a file lies neither below nor above a run's folder: a table there is about the run's own log."""
    folder = PurePosixPath(file.path).parent
    return not any(run in (folder, *folder.parents) or folder in run.parents for run in runs)


class _Folders(dict[PurePosixPath, dict[Role, list[File]]]):
    """Files by folder and role."""

    def pop_about(self) -> File | None:
        """Take out the files that say what the evaluation is, and return the one nearest to the top."""
        found = [file for roles in self.values() for file in roles.pop(Role.ABOUT, [])]
        return min(found, key=lambda file: (file.path.count("/"), file.path), default=None)


def _recognised(files: list[File], alone: bool) -> tuple[_Folders, list[File]]:
    """Group the known files by folder. A step log that its name claims outdoes those its folder only seems to hold."""
    found: list[tuple[PurePosixPath, Role, bool, File]] = []
    unread = []
    known = [(file, recognise(file)) for file in files]
    samples = any(format is not None and format[0].role is Role.SAMPLES for _, format in known)
    for file, format in known:
        if format is None and alone and _is_log(file):
            found.append((_ROOT, Role.STEPS, True, file))
        elif format is None or (format[0].role is Role.STEPS and table.outdoes_log(file, samples)):
            unread.append(file)
        else:
            found.append((PurePosixPath(file.path).parent, format[0].role, format[1], file))
    claimed = {folder for folder, role, named, _ in found if role is Role.STEPS and named}
    folders = _Folders()
    for folder, role, named, file in found:
        if role is Role.STEPS and not named and folder in claimed:
            unread.append(file)
        else:
            folders.setdefault(folder, {}).setdefault(role, []).append(file)
    return folders, unread


def _is_log(file: File) -> bool:
    """Tell whether a file that is no table can only be meant as a step log: then it is said what is wrong with it."""
    return file.name.lower().endswith((".csv", ".csv.gz", ".parquet")) and table.question([file]) is None


def _owner(folder: PurePosixPath, runs: dict[PurePosixPath, dict[Role, list[File]]]) -> PurePosixPath | None:
    return next((parent for parent in folder.parents if parent in runs), None)


def _inherit_configs(folders: _Folders, runs: dict[PurePosixPath, dict[Role, list[File]]]) -> None:
    """Give a run without a configuration the one that lies nearest above it."""
    for folder, roles in runs.items():
        if Role.CONFIG not in roles:
            above = next(
                (folders[p] for p in folder.parents if Role.CONFIG in folders.get(p, {}) and p not in runs),
                None,
            )
            if above:
                roles[Role.CONFIG] = list(above[Role.CONFIG])


def _below(folder: PurePosixPath, units: list[Unit]) -> bool:
    """Tell whether files of a producer lie in a folder or below it."""
    return any(folder in (unit.folder, *unit.folder.parents) for unit in units)


def _configs(folder: PurePosixPath, folders: _Folders) -> list[File]:
    """Return the configurations of the nearest folder, going up, that has any."""
    holds = (folders.get(place, {}).get(Role.CONFIG, []) for place in (folder, *folder.parents))
    return _sorted(next((files for files in holds if files), []))


def _sorted(files: list[File]) -> list[File]:
    return sorted(files, key=lambda file: natural(file.path))


def _names(folders: list[PurePosixPath], stem: str) -> dict[PurePosixPath, str]:
    """Name runs by their folders below the one they share; a single run or files at the top by the last name."""
    if len(folders) == 1:
        return {folders[0]: folders[0].name or stem}
    shared = 0
    parts = [folder.parts for folder in folders]
    while all(len(p) > shared for p in parts) and len({p[shared] for p in parts}) == 1:
        shared += 1
    names = {folder: "/".join(folder.parts[shared:]) or folder.name or stem for folder in folders}
    top = next((folder for folder in folders if len(folder.parts) == shared), None)
    while top is not None and list(names.values()).count(names[top]) > 1:
        names[top] += " (top)"
    return names
