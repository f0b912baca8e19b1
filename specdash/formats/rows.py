"""The exact reader of step logs: row by row, slower than DuckDB, and able to say which line is wrong and why."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from specdash.schema import MAX_DRAFTED, InputError

WHOLE = r"\+?[0-9]+(\.0*)?"
"""A whole number as a log may write it (7, +7, 7.0), as a regular expression DuckDB and Python read alike."""

BLANK = " \t\n\v\f\r\xa0\ufeff"
"""Characters around a cell that say nothing."""

LONGEST_CELL = 1 << 17
"""Characters that a cell of a log may have."""

_PLAIN = b"0123456789,\r\n"
_BLANKS = [c.encode() for c in BLANK if c not in " \r\n"]
_CHUNK = 1 << 20
_EXPECTED = f"a whole number from 0 to {MAX_DRAFTED}"


@dataclass(frozen=True)
class Plain:
    """What the data rows of a CSV are made of that holds nothing but digits, commas and line ends.

    Attributes:
        lines: Number of lines.
        characters: Number of digits and commas.
    """

    lines: int
    characters: int


def plain(source: Path, body: int) -> Plain | None:
    """Look at the bytes of a file from ``body`` on; None when there is anything but digits, commas and line ends."""
    lines = characters = 0
    last = b"\n"
    with source.open("rb") as stream:
        stream.seek(body)
        while chunk := stream.read(_CHUNK):
            if chunk.translate(None, _PLAIN):
                return None
            feeds = chunk.count(b"\n")
            lines += feeds
            characters += len(chunk) - feeds - chunk.count(b"\r")
            last = chunk[-1:]
    return Plain(lines + (last != b"\n"), characters)


def has_blanks(source: Path, body: int) -> bool:
    """Tell whether there may be other blanks than spaces around a cell of a file from ``body`` on."""
    tail = b"\n"
    with source.open("rb") as stream:
        stream.seek(body)
        while chunk := stream.read(_CHUNK):
            feeds, both = chunk.count(b"\n"), chunk.count(b"\r\n")
            mixed = chunk.count(b"\r") != both or 0 < both < feeds  # then a \r may end up in a cell
            window = tail + chunk
            if mixed or any(blank in window for blank in _BLANKS):
                return True
            tail = chunk[-2:]
    return False


def is_number(cell: str) -> bool:
    """Tell whether a cell is meant as a number, right or wrong: then its row is data, not a header."""
    return re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", cell.strip(BLANK)) is not None


def is_whole(cell: str) -> bool:
    """Tell whether a cell is a whole number, not negative, as a log may write it."""
    return re.fullmatch(WHOLE, cell) is not None


def check(file: str, line: int, request: str, drafted: str, accepted: str) -> tuple[str, int, int]:
    """Return the step that three cells spell.

    Raises:
        InputError: A cell is empty or no whole number in range, or more is accepted than was drafted.
    """
    request = request.strip(BLANK)
    if not request:
        raise InputError("the request id is empty", file=file, line=line, expected="an id")
    k, a = (_whole(file, line, name, cell) for name, cell in (("drafted", drafted), ("accepted", accepted)))
    if a > k:
        raise InputError(
            "more tokens accepted than drafted",
            file=file,
            line=line,
            found=f"accepted {a}",
            expected=f"0 to {k} (drafted)",
        )
    return request, k, a


def _whole(file: str, line: int, column: str, cell: str) -> int:
    cell = cell.strip(BLANK)
    if not cell:
        raise InputError(f"{column} is empty", file=file, line=line, expected=_EXPECTED)
    whole = is_whole(cell)
    if whole and (value := float(cell)) <= MAX_DRAFTED:  # a float first: int() refuses thousands of digits
        return int(value)
    if not is_number(cell):
        problem = f"{column} is not a number"
    elif cell.startswith("-"):
        problem = f"{column} is negative"
    elif whole:
        problem = f"{column} is too large"
    else:
        problem = f"{column} is not a whole number"
    raise InputError(problem, file=file, line=line, found=cell, expected=_EXPECTED)


def rewrite(source: Path, name: str, columns: dict[str, int], width: int, header: bool, target: Path) -> int:
    """Read a CSV step log row by row and write what it says as a CSV without header, quirks or doubts.

    Args:
        source: The log.
        name: Its path inside the evaluation, for messages.
        columns: Index of the columns request, drafted, accepted.
        width: Number of columns.
        header: Whether the first row is a header.
        target: CSV to write: request, drafted, accepted.

    Returns:
        The number of steps.

    Raises:
        InputError: The first row that is wrong, by its line.
    """
    count = 0
    with target.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        for number, (line, cells) in enumerate(records(source, name)):
            if header and not number:
                continue
            if len(cells) == width + 1 and not cells[-1].strip(BLANK):
                cells.pop()  # a comma at the end of a row, to which DuckDB does not object either
            if len(cells) != width:
                raise wrong_width(source, name, line, cells, width)
            writer.writerow(check(name, line, *(cells[columns[c]] for c in ("request", "drafted", "accepted"))))
            count += 1
    return count


def records(
    source: Path, name: str, separator: str = ",", longest: int = LONGEST_CELL
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and cells of every row that is not blank.

    Args:
        source: The file.
        name: Its path inside the evaluation, for messages.
        separator: Between cells.
        longest: Characters that a cell may have.

    Raises:
        InputError: It is not CSV of that separator, or not UTF-8; the message names the line.
    """
    line = 1
    with source.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream, strict=True, skipinitialspace=True, delimiter=separator)
        while True:
            csv.field_size_limit(longest)  # Python has one for all readers
            try:
                cells = next(reader, None)
            except csv.Error as error:
                raise InputError(f"not readable as CSV ({error})", file=name, line=line) from None
            except UnicodeDecodeError:
                _wrong_encoding(source, name)
            if cells is None:
                return
            if any(cell.strip(BLANK) for cell in cells) or len(cells) > 1:
                yield line, cells
            line = reader.line_num + 1


def wrong_width(source: Path, name: str, line: int, cells: list[str], width: int) -> InputError:
    """Return the error that a row has not as many cells as the table has columns."""
    with source.open("rb") as stream:
        lines = sum(1 for _ in stream)
        stream.seek(-1, 2)
        cut = stream.read() not in b"\r\n" and len(cells) < width and line >= lines
    problem = "the last row is cut off" if cut else "wrong number of columns"
    found = f"{len(cells)} ({','.join(cells)})"
    return InputError(problem, file=name, line=line, found=found, expected=f"{width} columns")


def _wrong_encoding(source: Path, name: str) -> NoReturn:
    with source.open("rb") as stream:
        for line, raw in enumerate(stream, start=1):
            try:
                raw.decode("utf-8")
            except UnicodeDecodeError as error:
                found = raw[error.start : error.start + 4]
                raise InputError("not UTF-8 text", file=name, line=line, found=found, expected="UTF-8") from None
    raise InputError("not UTF-8 text", file=name, expected="UTF-8")
