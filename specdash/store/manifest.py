"""The manifest of a stored evaluation: everything about it that is no table, as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from specdash._version import VERSION
from specdash.schema import (
    Bonus,
    End,
    Evaluation,
    Granularity,
    InputError,
    Mapping,
    PerPosition,
    Run,
    RunWarning,
    Semantics,
    Span,
    Undrafted,
)
from specdash.store import annotations, findings, tables
from specdash.verdict import Finding, Verdict

FORMAT = 2
"""Goes up whenever an older specdash would misread what a newer one stores."""

NAME = "manifest.json"


@dataclass(frozen=True)
class Entry:
    """What a list of evaluations shows of one of them.

    Attributes:
        id: 12 hex digits.
        title: For people; the one that people gave it, if they did.
        source: File name of the input.
        sha256: Of the input.
        runs: Names of the runs.
        added: When it was stored (ISO 8601, UTC).
        bytes: Size of all its files, the kept input included.
        order: "recorded", or "invented" when the order of steps means nothing.
        reconstruction: True for data that was built from printed tables instead of logged.
        note: What the input says about itself.
        granularity: By the name of the run.
        mapping: By the name of the run; None without samples.
        timed: Names of the runs that hold latencies.
        notes: What people wrote about it.
        tags: Short words of people, to find it by.
        checks: What the checks found, by the name of the run; a run that has to be checked anew is left out.
    """

    id: str
    title: str
    source: str
    sha256: str
    runs: tuple[str, ...]
    added: str
    bytes: int
    order: str
    reconstruction: bool
    note: str
    granularity: dict[str, Granularity]
    mapping: dict[str, Mapping | None]
    timed: tuple[str, ...] = ()
    notes: str = ""
    tags: tuple[str, ...] = ()
    checks: dict[str, tuple[Finding, ...]] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict over all runs; None while one of them has to be checked anew."""
        if set(self.checks) != set(self.runs):
            return None
        return Verdict.of(finding for found in self.checks.values() for finding in found)


def run_folder(folder: Path, number: int) -> Path:
    """Return where the tables of a run are; its name, which may be anything, is never part of a path."""
    return folder / "runs" / str(int(number))


def text(evaluation: Evaluation, stored: list[list[str]], *, size: int, added: str) -> str:
    """Return the manifest, in ASCII so that even half a surrogate pair survives.

    Args:
        evaluation: What is stored.
        stored: Names of the tables of each run; the run's place is its folder.
        size: Bytes of all files but the manifest.
        added: ISO 8601, UTC.

    Raises:
        ValueError: It holds something that JSON has no word for, NaN and infinity among it.
    """
    content = {
        "format": FORMAT,
        "specdash": VERSION,
        "id": evaluation.id,
        "title": evaluation.title,
        "source": evaluation.source,
        "sha256": evaluation.sha256,
        "options": evaluation.options,
        "added": added,
        "bytes": size,
        "order": evaluation.order,
        "reconstruction": evaluation.reconstruction,
        "note": evaluation.note,
        "runs": [
            _described(run, folder, names)
            for folder, (run, names) in enumerate(zip(evaluation.runs, stored, strict=True))
        ],
    }
    try:
        return json.dumps(content, indent=1, ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"evaluation {evaluation.id} cannot be written as JSON: {error}") from error


def read(folder: Path) -> dict[str, Any]:
    """Return the manifest of the evaluation in ``folder``.

    Raises:
        FileNotFoundError: There is none.
        ValueError: It is damaged.
        InputError: A newer specdash wrote it.
    """
    try:
        content = (folder / NAME).read_bytes()
    except NotADirectoryError as error:
        raise FileNotFoundError(*error.args) from error
    with _damaged():
        found = json.loads(content)
        check_format(found, folder.name)
    if found.get("id") != folder.name:
        raise ValueError(f"{NAME} belongs to another folder")
    return found


def is_whole(folder: Path) -> bool:
    """Tell whether there is a readable manifest.

    Raises:
        InputError: There is one, but of a newer specdash; it must not be replaced.
    """
    try:
        read(folder)
    except (FileNotFoundError, ValueError):
        return False
    return True


def check_format(found: dict[str, Any], file: str) -> None:
    """Let a manifest pass that this specdash understands.

    Raises:
        KeyError: It does not say its format.
        TypeError: Its format is no number, or it is no manifest at all.
        InputError: A newer specdash wrote it.
    """
    number = int(found["format"])
    if number > FORMAT:
        raise InputError(
            "the evaluation was stored by a newer specdash",
            file=file,
            found=f"format {number}",
            expected=f"format {FORMAT}",
        )


def entry(folder: Path) -> Entry:
    """Return what a list shows of the evaluation in ``folder``, from its manifest alone.

    Raises:
        FileNotFoundError: There is no manifest.
        ValueError: It is damaged.
        InputError: A newer specdash wrote it.
    """
    found = read(folder)
    with _damaged():
        runs = found["runs"]
        names = tuple(run["name"] for run in runs)
        names_beside = (NAME, annotations.NAME, findings.NAME)
        beside = (path.stat().st_size for name in names_beside if (path := folder / name).is_file())
        stored = Entry(
            **_common(found),
            runs=names,
            bytes=found["bytes"] + sum(beside),
            granularity={run["name"]: Granularity(run["granularity"]) for run in runs},
            mapping={run["name"]: _mapping(run) for run in runs},
            timed=tuple(run["name"] for run in runs if "latencies" in run["tables"]),
        )
        as_read = {run["name"]: dict(run["config_set"]) for run in runs}
    said = annotations.read(folder, names)
    settings = {name: config_set | said.config.get(name, {}) for name, config_set in as_read.items()}
    checked = findings.load(folder, settings)
    return replace(stored, title=said.title or stored.title, notes=said.notes, tags=said.tags, checks=checked)


def evaluation(folder: Path) -> Evaluation:
    """Return the evaluation in ``folder``, tables and all.

    Raises:
        FileNotFoundError: There is no manifest, or a table that it names is gone.
        ValueError: The manifest or a table is damaged.
        InputError: A newer specdash wrote it.
    """
    stored = built(read(folder), lambda run: tables.read(run_folder(folder, run["folder"]), run["tables"]))
    said = annotations.read(folder, [run.name for run in stored.runs])
    return findings.attached(said.applied(stored), folder)


def built(found: dict[str, Any], load: Callable[[dict[str, Any]], dict[str, Any]]) -> Evaluation:
    """Return the evaluation that a manifest describes, as it was read.

    Args:
        found: The manifest.
        load: Returns the tables of a run by their names, given its part of the manifest.

    Raises:
        ValueError: The manifest is damaged.
    """
    with _damaged():
        return Evaluation(
            **_common(found),
            options=found["options"],
            runs=tuple(_run(run, load(run)) for run in found["runs"]),
        )


def _common(found: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that an entry and an evaluation share."""
    texts = ("id", "title", "source", "sha256", "added", "order", "note")
    if not all(isinstance(found[name], str) for name in texts):
        raise TypeError("not a text")
    return {name: found[name] for name in (*texts, "reconstruction")}


def _described(run: Run, folder: int, names: list[str]) -> dict[str, Any]:
    return {
        "name": run.name,
        "folder": folder,
        "granularity": run.granularity.value,
        "k": run.k,
        "config": run.config,
        "config_set": run.config_set,
        "mapping": None if run.mapping is None else asdict(run.mapping),
        "warnings": [asdict(warning) for warning in run.warnings],
        "printed": list(run.printed),
        "semantics": None if run.semantics is None else asdict(run.semantics),
        "tables": names,
    }


def _run(found: dict[str, Any], loaded: dict[str, Any]) -> Run:
    return Run(
        name=found["name"],
        granularity=Granularity(found["granularity"]),
        k=found["k"],
        config=found["config"],
        config_set=found["config_set"],
        mapping=_mapping(found),
        warnings=tuple(RunWarning(**warning) for warning in found["warnings"]),
        printed=tuple(found["printed"]),
        semantics=_semantics(found.get("semantics")),
        **loaded,
    )


def _mapping(found: dict[str, Any]) -> Mapping | None:
    return None if found["mapping"] is None else Mapping(**found["mapping"])


def _semantics(found: dict[str, Any] | None) -> Semantics | None:
    if found is None:
        return None
    kinds = {"bonus": Bonus, "per_position": PerPosition, "span": Span, "end": End, "undrafted": Undrafted}
    return Semantics(**{k: kinds[k](v) if k in kinds and v is not None else v for k, v in found.items()})


@contextmanager
def _damaged() -> Iterator[None]:
    """Say of a manifest of the wrong shape that it is damaged."""
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{NAME} is damaged: {error!r}") from error
