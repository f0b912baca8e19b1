"""A table as it stands in a file: its columns and its rows, whatever tool wrote it.

CSV with commas, tabs or semicolons, with or without a header; JSON lines, or a list of objects; Parquet.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from specdash.formats import jsonlines, rows, stepload
from specdash.formats.base import File, has_suffix
from specdash.schema import InputError

SEPARATORS = {",": "comma", "\t": "tab", ";": "semicolon"}

_SAMPLE = 50  # rows that tell the separator, and objects that tell the columns
_LONGEST_CELL = 1 << 24  # characters: tables may hold whole answers
_DEEPEST = 3  # objects in an object whose fields are columns

Cells = Sequence[Any]
Row = tuple[int, Cells]
"""Line (of Parquet and of a JSON list the row), and cells: text in CSV, else what JSON or Parquet holds."""


@dataclass(frozen=True)
class Table:
    """A table, opened.

    Attributes:
        path: Of its file inside the evaluation, for messages.
        columns: Names of its columns; those of a table without a header are ``column 1``, ``column 2``, …
        read: Gives the rows anew, with the cells of the columns of some numbers. Raises InputError where one is wrong.
    """

    path: str
    columns: tuple[str, ...]
    read: Callable[[Sequence[int]], Iterator[Row]]

    def head(self, count: int) -> list[Row]:
        """Return the first rows, all columns, up to one that is wrong."""
        found = []
        with suppress(InputError):
            for row in islice(self.read(range(len(self.columns))), count):
                found.append(row)
        return found


def opened(file: File) -> Table | None:
    """Open a table; None when the file is none.

    Raises:
        InputError: It is one that cannot be read.
    """
    head = file.head()
    if head.startswith(b"PAR1"):
        return _parquet(file)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"{", b"[")):
        return _json(file)
    return None if b"\0" in head else _csv(file)


def needed(file: File) -> Table:
    """Open what has to be a table.

    Raises:
        InputError: It is none, or one that cannot be read.
    """
    table = opened(file)
    if table is None:
        raise InputError("no table", file=file.path, expected="a header, and rows with as many cells")
    return table


def _parquet(file: File) -> Table:
    names = tuple(stepload.parquet_columns(file.local(), file.path))

    def read(wanted: Sequence[int]) -> Iterator[Row]:
        yield from enumerate(stepload.parquet_cells(file.local(), file.path, [names[i] for i in wanted]), start=1)

    return Table(file.path, names, read)


def _json(file: File) -> Table | None:
    objects = islice(jsonlines.records(file, cut=lambda _: None), _SAMPLE)
    try:
        names = tuple(dict.fromkeys(name for _, found in objects for name in _fields(found)))
    except InputError:
        return None
    if not names:
        return None

    def read(wanted: Sequence[int]) -> Iterator[Row]:
        paths = [names[i].split(".") for i in wanted]
        for number, (line, found) in enumerate(jsonlines.records(file, cut=lambda _: None), start=1):
            yield line or number, [_at(found, path, names[i]) for i, path in zip(wanted, paths, strict=True)]

    return Table(file.path, names, read)


def _fields(found: dict[str, Any], prefix: str = "", depth: int = 1) -> Iterator[str]:
    for name, value in found.items():
        if isinstance(value, dict) and depth < _DEEPEST:
            yield from _fields(value, f"{prefix}{name}.", depth + 1)
        elif not isinstance(value, dict):
            yield prefix + name


def _at(found: Any, path: list[str], name: str) -> Any:
    if name in found:
        return found[name]
    for part in path:
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _csv(file: File) -> Table | None:
    first = _first_rows(file)
    if not first:
        return None
    separator = _separator(file, first)
    if separator is None:
        return None
    names = first[separator][0]
    width = len(names)
    header = not any(rows.is_number(name) for name in names)
    if header:
        names = [name.strip(rows.BLANK) or f"column {number}" for number, name in enumerate(names, start=1)]
    else:
        names = [f"column {number}" for number in range(1, width + 1)]

    def read(wanted: Sequence[int]) -> Iterator[Row]:
        found = rows.records(file.local(), file.path, separator, _LONGEST_CELL)
        for line, cells in islice(found, 1 if header else 0, None):
            if len(cells) == width + 1 and not cells[-1].strip(rows.BLANK):
                cells.pop()
            if len(cells) != width:
                raise rows.wrong_width(file.local(), file.path, line, cells, width)
            yield line, [cells[i] for i in wanted]

    return Table(file.path, tuple(names), read)


def _first_rows(file: File) -> dict[str, list[list[str]]]:
    """Return the first rows as each separator would have them; {} when they are no text."""
    head, whole = file.head(), True
    if len(head) >= 65536:
        head, _, _ = head.rpartition(b"\n")
        whole = False
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError:
        return {}
    found = {}
    for separator in SEPARATORS:
        lines = io.StringIO(text, newline="")
        records = csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=True)
        kept: list[list[str]] = []
        try:
            for cells in records:
                if any(cell.strip(rows.BLANK) for cell in cells):
                    kept.append(cells)
                if len(kept) > _SAMPLE:
                    break
        except csv.Error:
            if whole or not kept:
                continue
        found[separator] = kept
    return found


def _separator(file: File, first: dict[str, list[list[str]]]) -> str | None:
    """Return what separates the cells: what splits the head, and as many rows as no other into as many cells.

    Raises:
        InputError: Two of them do.
    """
    agree = {
        separator: sum(len(cells) == len(found[0]) for cells in found[1:])
        for separator, found in first.items()
        if len(found) > 1 and len(found[0]) > 1
    }
    best = max(agree.values(), default=0)
    fitting = [separator for separator, count in agree.items() if count == best and best]
    if len(fitting) > 1:
        found = " and ".join(SEPARATORS[separator] for separator in fitting)
        raise InputError("what separates the columns is not clear", file=file.path, line=1, found=f"{found} both fit")
    if not fitting:
        one_column = has_suffix(file, ".csv", ".tsv") and any(len(found) > 1 for found in first.values())
        return "," if one_column and not agree and "," in first else None
    return fitting[0]
