"""What a producer's format is: files of a tool that give whole runs by themselves.

The other kind (``base.Format``) gives a part of a run, and the parts of a folder are joined. A producer's files are
recognised by what they hold, never by their names, and read by one function into runs of the canonical tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath

from specdash.formats.base import File
from specdash.schema import Bonus, Run, RunWarning, Semantics, Unsaid


class Together(StrEnum):
    """Which files of one format are read at once."""

    FILE = "file"  # each by itself; shards of one file together
    FOLDER = "folder"  # all of a folder


@dataclass(frozen=True)
class Context:
    """What a reader is told beside its files.

    Attributes:
        dataset: Name of a dataset where the files name none.
        workspace: Empty folder for what it has to write; ordered steps stay there.
        k: Draft length by the user or a configuration beside the files, None when neither says it.
        bonus: Whether lengths count the bonus token, by the user; None when he did not say.
        columns: Column of a table by our name for it, by the user.
        ask: Whether the user is there to be asked what the reading can do without.
        say: Called with a stage of the reading, for people.
    """

    dataset: str
    workspace: Path
    k: int | None = None
    bonus: Bonus | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    ask: bool = False
    say: Callable[[str], None] = lambda _: None

    def without_k(self, path: str, why: str) -> list[RunWarning]:
        """Return the warning that K is not known, none where it is; ask for it where somebody is there to be asked.

        Args:
            path: File that does not say it.
            why: How it comes that it does not, as a sentence without a full stop.

        Raises:
            Unsaid: The user is asked.
        """
        if self.k is not None:
            return []
        if self.ask:
            raise Unsaid.about("k", why, file=path)
        lost = "nothing by draft position is known, nor what share of the drafts was accepted; --k N says it"
        return [RunWarning("k_unknown", f"{path}: {why}: {lost}")]


@dataclass(frozen=True)
class Producer:
    """A format of a tool.

    Attributes:
        key: Name of the format.
        tool: The tool, for people: a row of the README's table.
        what: What the files are, for people.
        looks: Tells by its content that a file is of this format. No two producers' claim the same file.
        read: Reads files that belong together. The name of a run it returns is its label, which tells runs of one
            folder apart; "" takes the first file's name. Raises NothingToRead where there is nothing in them.
        semantics: What the numbers in its files mean; a reader may say more of a run it read.
        together: Which files are read at once.
        above: How many folders above its own the folder is that a file belongs to: 1 for a folder a dataset.
        last: Asked after all others: a format without marks of its own.
    """

    key: str
    tool: str
    what: str
    looks: Callable[[File], bool]
    read: Callable[[Sequence[File], Context], list[Run]]
    semantics: Semantics
    together: Together = Together.FILE
    above: int = 0
    last: bool = False


_SHARD = re.compile(r"[-_.]?(?:part|shard|rank|chunk)[-_.]?\d+|[-_.]\d+[-_.]of[-_.]\d+", re.IGNORECASE)


def label_of(file: File) -> str:
    """Return a file's name without its suffixes and the number of a shard."""
    name = re.sub(r"\.gz$", "", file.name, flags=re.IGNORECASE)
    name = re.sub(r"\.(csv|tsv|jsonl|ndjson|json|txt|parquet|log|prom|sse|ya?ml)$", "", name, flags=re.IGNORECASE)
    return _SHARD.sub("", name) or name


def folder_of(producer: Producer, file: File) -> PurePosixPath:
    """Return the folder that a file belongs to, the topmost there is at most."""
    parents = PurePosixPath(file.path).parents
    return parents[min(producer.above, len(parents) - 1)]


def belong_together(producer: Producer, file: File) -> str:
    """Return what is the same for all files of a folder that are read at once."""
    return "" if producer.together is Together.FOLDER else label_of(file)
