"""What a format is: how a file is recognised and which part of a run it gives."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

import orjson

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
    parts = re.split(r"([0-9]+)", name)  # text, number, text, …
    # A number is compared by its length, then its digits: int() refuses thousands of them.
    return [(len(d), d) if i % 2 else (-1, part) for i, part in enumerate(parts) for d in (part.lstrip("0"),)]


def read_text(file: File) -> str:
    """Return the content as text.

    Raises:
        InputError: It is not UTF-8; the message names the line.
    """
    content = file.local().read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError(
            "not UTF-8 text", file=file.path, line=line, found=error.object[error.start : error.start + 4]
        ) from None


def read_json(file: File) -> Any:
    """Return the parsed JSON document; numbers that are not finite (``NaN``, ``1e999``) are read as None.

    Raises:
        InputError: It is not JSON, or a text in it is not Unicode; the message names the line.
    """
    try:
        return orjson.loads(file.local().read_bytes())
    except orjson.JSONDecodeError:
        pass  # Python reads more (NaN, a byte order mark), and says what is wrong and where.
    text = read_text(file)
    try:
        document = json.loads(text, parse_constant=lambda _: None, parse_float=finite)
        half = _half_pair(text, document)
    except json.JSONDecodeError as error:
        found = text[max(0, error.pos - 20) : error.pos + 20].strip() or "nothing"
        raise InputError(f"not valid JSON ({error.msg})", file=file.path, line=error.lineno, found=found) from None
    except ValueError as error:  # a whole number of thousands of digits
        raise InputError("not readable JSON", file=file.path, found=str(error)) from None
    except RecursionError:
        raise InputError("JSON nested too deeply", file=file.path) from None
    if half:
        raise InputError("half a surrogate pair is no Unicode", file=file.path, line=half, expected="Unicode text")
    return document


def finite(number: str) -> float | None:
    """Return a number as JSON spells it, None for one that is too large."""
    value = float(number)
    return value if math.isfinite(value) else None


_TOO_MANY = 10**18
"""Stands for counts of more digits, which is more than any count may be."""


def spelled(digits: str | bytes) -> int:
    """Return the count that digits spell; a huge one is cut to one that no check lets pass, as int() may refuse it."""
    return int(digits) if len(digits) <= 18 else _TOO_MANY


def decimal(text: str) -> float | None:
    """Return the number that digits and a point spell, None where they spell none or one that is too large."""
    return finite(text) if re.fullmatch(r"\d+\.?\d*|\.\d+", text) else None


def _half_pair(text: str, document: Any) -> int | None:
    """Return the line of the first escape that may be half a surrogate pair, if one of the document's texts is."""
    escape = re.search(r"\\u[dD][89a-fA-F]", text)
    if not escape:
        return None
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return text.count("\n", 0, escape.start()) + 1
    return None
