"""What a format is: how a file is recognised and which part of a run it gives."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from specdash.schema import InputError


class File(Protocol):
    """A file of an evaluation, its content uncompressed."""

    @property
    def path(self) -> str:
        """Posix path inside the evaluation."""

    @property
    def name(self) -> str:
        """Last part of the path."""

    def head(self, size: int = 65536) -> bytes:
        """Return the first bytes of the content."""

    def local(self) -> Path:
        """Return the path of the whole content on this machine."""


class Role(StrEnum):
    """Which part of a run a file gives."""

    STEPS = "steps"
    SAMPLES = "samples"
    COUNTERS = "counters"
    PRINTED = "printed"
    CONFIG = "config"
    ABOUT = "about"


@dataclass(frozen=True)
class Format:
    """One kind of file.

    Attributes:
        key: Name of the format.
        role: Which part of a run it gives.
        what: What the file is, for people.
        named: Tells by its name alone that a file claims to be of this kind: if it is not, that is an error.
        looks: Tells by its content that a file is of this kind whatever its name.
    """

    key: str
    role: Role
    what: str
    named: Callable[[File], bool]
    looks: Callable[[File], bool]


def stem(file: File) -> str:
    """Return the file's name without its suffixes, ``.gz`` included."""
    return re.sub(r"\.(csv|tsv|jsonl|ndjson|json|txt|parquet)(\.gz)?$|\.gz$", "", file.name, flags=re.IGNORECASE)


def has_suffix(file: File, *suffixes: str) -> bool:
    """Tell whether the name ends in one of the suffixes, ``.gz`` aside."""
    return file.name.lower().removesuffix(".gz").endswith(suffixes)


def natural(name: str) -> list[tuple[int, str]]:
    """Return a sort key under which ``log_2`` comes before ``log_10``."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]+)", name)]


def read_text(file: File) -> str:
    """Return the content as text.

    Raises:
        InputError: It is not UTF-8; the message names the line.
    """
    content = file.local().read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(
            "not UTF-8 text", file=file.path, line=line, found=content[error.start : error.start + 4]
        ) from None


def read_json(file: File) -> Any:
    """Return the parsed JSON document; ``NaN`` and ``Infinity`` are read as None.

    Raises:
        InputError: It is not JSON; the message names the line.
    """
    text = read_text(file)
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except json.JSONDecodeError as error:
        found = text.splitlines()[error.lineno - 1][max(0, error.colno - 20) : error.colno + 20] if text else "nothing"
        raise InputError(f"not valid JSON ({error.msg})", file=file.path, line=error.lineno, found=found) from None
    except RecursionError:
        raise InputError("JSON nested too deeply", file=file.path) from None
