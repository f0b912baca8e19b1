"""Files of producers' formats: which are read together, and the runs that they give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from specdash.formats import File, config
from specdash.formats.base import natural
from specdash.formats.producer import Context, Producer, belong_together, folder_of, label_of
from specdash.ingest.options import Options
from specdash.schema import NothingToRead, Run


@dataclass
class Unit:
    """Files of one producer's format that are read at once.

    Attributes:
        producer: Reads them.
        folder: To which they belong.
        files: In natural order of their paths.
        configs: Configurations that lie beside or above them.
    """

    producer: Producer
    folder: PurePosixPath
    files: list[File]
    configs: list[File] = field(default_factory=list)


def claimed(files: list[File], recognise: Callable[[File], Producer | None]) -> tuple[list[Unit], list[File]]:
    """Sort out the files that producers recognise.

    Args:
        files: All of them.
        recognise: Returns the producer of a file, None where it has none.

    Returns:
        The units, in natural order of their files, and the files that are left.
    """
    units: dict[tuple[PurePosixPath, str, str], Unit] = {}
    left = []
    for file in sorted(files, key=lambda file: natural(file.path)):
        producer = recognise(file)
        if producer is None:
            left.append(file)
            continue
        folder = folder_of(producer, file)
        key = (folder, producer.key, belong_together(producer, file))
        units.setdefault(key, Unit(producer, folder, [])).files.append(file)
    return list(units.values()), left


def read(
    unit: Unit, name: str, workspace: Path, options: Options, say: Callable[[str], None], *, ask: bool = False
) -> tuple[list[Run], NothingToRead | None]:
    """Read a unit's runs; their names are labels still, or "".

    Args:
        unit: The unit.
        name: Of its folder: that of a dataset where the files name none.
        workspace: Empty folder for what is written.
        options: What the user says.
        say: Called with a stage.
        ask: Whether the user is there to be asked what the reading can do without.

    Returns:
        The runs, and why there are none where the files hold nothing.

    Raises:
        InputError: A file is wrong.
    """
    settings: dict[str, Any] = {}
    for file in unit.configs:
        settings |= config.read(file)
    context = Context(
        dataset=name,
        workspace=workspace,
        k=options.config.get("k", settings.get("k")),
        bonus=options.bonus,
        columns=options.columns,
        say=say,
        ask=ask,
    )
    try:
        runs = unit.producer.read(unit.files, context)
    except NothingToRead as nothing:
        return [], nothing
    semantics, label = unit.producer.semantics, label_of(unit.files[0])
    return [
        replace(run, name=run.name or label, config=settings | run.config, semantics=run.semantics or semantics)
        for run in runs
    ], None


def named(runs: list[tuple[str, str, Run]]) -> list[Run]:
    """Name runs by their folder, and by their label where a folder has several.

    Args:
        runs: Name of the folder, label ("" for a run that is the folder's own), run.

    Returns:
        The runs, in natural order of their names, which are unique.
    """
    folders = [folder for folder, _, _ in runs]
    one_folder, made = len(set(folders)) == 1, []
    for folder, label, run in runs:
        alone = folders.count(folder) == 1 or not label
        wanted = folder if alone else label if one_folder else f"{folder}/{label}"
        made.append((wanted, run))
    taken: set[str] = set()
    unique = []
    for wanted, run in made:
        name, number = wanted, 2
        while name in taken:
            name, number = f"{wanted} ({number})", number + 1
        taken.add(name)
        unique.append(replace(run, name=name))
    return sorted(unique, key=lambda run: natural(run.name))
