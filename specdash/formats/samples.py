"""Samples: a JSON line a response, saying which prompt and copy it answers and how its drafting went."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import Any

import polars as pl

from specdash.formats.base import File, Format, Role, has_suffix, stem
from specdash.formats.rows import BLANK
from specdash.formats.synonyms import SAMPLE, match, normalised
from specdash.schema import InputError

SAMPLES = pl.Schema(
    {
        "request": pl.String,
        "dataset": pl.String,
        "prompt": pl.String,
        "copy": pl.Int32,
        "drafts": pl.Int64,
        "drafted": pl.Int64,
        "accepted": pl.Int64,
        "output_tokens": pl.Int64,
    }
)
"""One row a line. Null where the file does not say: request, copy, drafts, drafted, accepted, output_tokens."""

_AN_OBJECT = "a JSON object"
# One decoder for all lines: json.loads would make a new one for each. NaN and Infinity are read as None.
_DECODER = json.JSONDecoder(parse_constant=lambda _: None)

_STRETCH = 2000  # lines; they may hold whole answers

_INTEGERS = ("copy", "drafts", "drafted", "accepted", "output_tokens")


def _first(file: File) -> dict[str, Any] | None:
    line = file.head().lstrip(b"\xef\xbb\xbf \r\n\t").split(b"\n", 1)[0]
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return first if isinstance(first, dict) else None


def _looks_like_samples(file: File) -> bool:
    if not has_suffix(file, ".jsonl", ".ndjson") or (first := _first(file)) is None:
        return False
    names = {column for column, known in SAMPLE.items() if any(normalised(name) in known for name in first)}
    return "prompt" in names and bool(names & {"request", "drafts", "drafted"})


FORMAT = Format(
    key="samples",
    role=Role.SAMPLES,
    what="samples.jsonl, a line a response",
    named=lambda file: stem(file).lower().startswith("samples") and has_suffix(file, ".jsonl", ".ndjson"),
    looks=_looks_like_samples,
)


def read(file: File, folder_dataset: str | None) -> pl.DataFrame:
    """Read a samples file.

    Args:
        file: The file.
        folder_dataset: Dataset of lines that do not name one (the folder's name); None when they have to.

    Returns:
        SAMPLES, in file order. ``accepted`` is taken from the acceptance length where only that is given and is
        printed with enough decimals to tell.

    Raises:
        InputError: A line is no JSON object, lacks a needed field, has one of the wrong kind, or repeats a request id.
    """
    shapes: dict[tuple[str, ...], dict[str, str]] = {}  # fields of a line to how they match; most lines are alike
    columns: dict[str, list[Any]] = {column: [] for column in (*SAMPLES, "accept_len")}
    line_of: dict[str, int] = {}
    for lines in _alike(file):
        numbers, rows = zip(*lines, strict=True)
        shape = tuple(rows[0])
        if shape not in shapes:
            shapes[shape] = _fields(rows[0], file.path, numbers[0], folder_dataset)
        for column, values in _columns(rows, shapes[shape], file.path, numbers, folder_dataset).items():
            columns[column] += values
        _check_once(columns["request"][-len(rows) :], numbers, line_of, file.path)
    if not shapes:
        raise InputError("the samples file is empty", file=file.path, expected="a JSON object a line")
    lengths = columns.pop("accept_len")
    columns["accepted"] = _accepted(columns["accepted"], columns["drafts"], lengths)
    return _with_copies(pl.DataFrame(columns, schema=SAMPLES))


def _check_once(requests: list[str | None], numbers: Sequence[int], line_of: dict[str, int], path: str) -> None:
    for request, number in zip(requests, numbers, strict=True):
        if request is not None and (first := line_of.setdefault(request, number)) != number:
            raise InputError(
                f"request {request} stands on line {first} too", file=path, line=number, expected="a line a request"
            )


def _alike(file: File) -> Iterator[list[tuple[int, dict[str, Any]]]]:
    """Yield the lines in stretches of the same fields in the same order, each not too long to hold."""
    by_shape = groupby(_objects(file), key=lambda line: tuple(line[1]))
    for _, lines in by_shape:
        while stretch := list(islice(lines, _STRETCH)):
            yield stretch


def _objects(file: File) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number and the object of every line that is not blank.

    Raises:
        InputError: A line is not one.
    """
    with file.local().open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            raw = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if not raw.strip():
                continue
            row = _parsed(raw, file.path, number)
            if not isinstance(row, dict):
                found = raw.decode()[:60].strip()
                raise InputError("not a JSON object", file=file.path, line=number, found=found, expected=_AN_OBJECT)
            yield number, row


def _parsed(raw: bytes, path: str, line: int) -> Any:
    """Return what a line says.

    Raises:
        InputError: It is no JSON.
    """
    problem = "not valid JSON" + ("" if raw.endswith(b"\n") else " (the line is cut off)")
    try:
        text = raw.decode()
        return _DECODER.decode(text)
    except UnicodeDecodeError as error:
        found: Any = raw[error.start : error.start + 4]
        raise InputError("not UTF-8 text", file=path, line=line, found=found, expected="UTF-8") from None
    except json.JSONDecodeError as error:
        found = f"{text[error.pos : error.pos + 40].strip() or 'the end'} ({error.msg})"
    except ValueError as error:  # a whole number of thousands of digits
        found = str(error)
    except RecursionError:
        found = "objects nested too deeply"
    raise InputError(problem, file=path, line=line, found=found, expected=_AN_OBJECT)


def _fields(row: dict[str, Any], path: str, line: int, folder_dataset: str | None) -> dict[str, str]:
    """Match a line's fields.

    Raises:
        InputError: A needed one is missing; the message lists what was found.
    """
    fields = match(row, SAMPLE, file=path, line=line)
    missing = [
        name for name in ("prompt", "dataset") if name not in fields and not (name == "dataset" and folder_dataset)
    ]
    drafts = {"drafts", "drafted"} & fields.keys()
    counted = drafts and ("accepted" in fields or {"accept_len", "drafts"} <= fields.keys())
    if not counted and "request" not in fields:
        missing.append("request id, or draft and accepted counts")
    if missing:
        raise InputError(
            f"no field for {' and '.join(missing)}",
            file=path,
            line=line,
            found="fields " + ", ".join(row),
            expected="; ".join(
                f"{name}: {', '.join(SAMPLE[name][:4])}" for name in ("prompt", "dataset", "drafts", "accepted")
            ),
        )
    return fields


def _columns(
    rows: Sequence[dict[str, Any]],
    fields: dict[str, str],
    path: str,
    lines: Sequence[int],
    folder_dataset: str | None,
) -> dict[str, list[Any]]:
    """Return the columns of lines with the same fields: at once where all values are alike and right, else one by one.

    Raises:
        InputError: A value is of the wrong kind, or a needed one is missing; the first wrong line of the stretch.
    """

    def values(column: str) -> list[Any]:
        return [row[fields[column]] for row in rows] if column in fields else [None] * len(rows)

    columns: dict[str, list[Any]] = {}
    for column in _INTEGERS:
        found = values(column)
        if not _counts(found):
            found = [_whole(value, column, path, line) for value, line in zip(found, lines, strict=True)]
        columns[column] = found
    lengths = zip(values("accept_len"), columns["drafts"], lines, strict=True)
    columns["accept_len"] = [_length(value, drafts, path, line) for value, drafts, line in lengths]
    for column in ("request", "dataset", "prompt"):
        found = values(column)
        if (texts := _texts(found)) is None:
            texts = [_text(value, column, path, line) for value, line in zip(found, lines, strict=True)]
        columns[column] = texts
    columns["dataset"] = [dataset or folder_dataset for dataset in columns["dataset"]]
    for column in ("prompt", "dataset"):
        if not all(columns[column]):
            first = columns[column].index(next(value for value in columns[column] if not value))
            found = "fields " + ", ".join(rows[first])
            raise InputError(f"{column} is missing", file=path, line=lines[first], found=found)
    return columns


def _counts(values: list[Any]) -> bool:
    """Tell whether all values are counts as they should be, or none is given."""
    kinds = set(map(type, values))
    return kinds == {type(None)} or (kinds == {int} and min(values) >= 0 and max(values) < 2**31)


def _texts(values: list[Any]) -> list[str | None] | None:
    """Return the values as texts where all are plain texts, all whole numbers, or none is given; else None."""
    kinds = set(map(type, values))
    if kinds == {type(None)}:
        return values
    if kinds == {int}:
        return list(map(str, values))
    if kinds != {str} or not "".join(values).isascii():
        return None
    stripped = [value.strip(BLANK) for value in values]
    return stripped if all(stripped) else None


def _whole(value: Any, column: str, path: str, line: int) -> int | None:
    if value is None or _endless(value):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,10}", value.strip()):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise InputError(
            f"{column} is not a count",
            file=path,
            line=line,
            found=value,
            expected="a whole number, 0 or more",
        )
    return value


def _endless(value: Any) -> bool:
    """Tell whether a number is too large to be one (1e999): like NaN it counts as not given."""
    return isinstance(value, float) and math.isinf(value)


def _text(value: Any, column: str, path: str, line: int) -> str | None:
    if isinstance(value, bool | list | dict):
        raise InputError(f"{column} is neither text nor number", file=path, line=line, found=value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = "" if value is None else str(value).strip(BLANK)
    if not text.isascii() and re.search("[\ud800-\udfff]", text):
        raise InputError(f"{column} is not valid Unicode", file=path, line=line, found=text)
    return text or None


def _length(value: Any, drafts: int | None, path: str, line: int) -> float | None:
    if value is None or _endless(value):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or (drafts and value < 1):
        raise InputError(
            "acceptance length is not a number from 1 on", file=path, line=line, found=value, expected="1 + accepted"
        )
    return float(min(value, 2**31))


def _accepted(accepted: list[int | None], drafts: list[int | None], lengths: list[float | None]) -> list[int | None]:
    """Fill in the accepted tokens that an acceptance length (bonus included) means, where its decimals leave no doubt.

    A length rounded to 2 decimals is good for 99 drafts; the file's longest decimals tell how it rounds.
    """
    decimals = max((len(repr(x).partition(".")[2]) for x in lengths if x is not None), default=0)

    def known(given: int | None, count: int | None, length: float | None) -> int | None:
        if given is not None or count is None or length is None:
            return given
        return round((length - 1) * count) if count < 10 ** max(2, decimals) else None

    return list(map(known, accepted, drafts, lengths))


def _with_copies(samples: pl.DataFrame) -> pl.DataFrame:
    """Number the copies of a prompt by their order where the file does not."""
    if samples["copy"].null_count() == 0:
        return samples
    order = pl.int_range(pl.len()).over("dataset", "prompt").cast(pl.Int32)
    return samples.with_columns(
        copy=pl.coalesce("copy", order) if samples["copy"].null_count() < samples.height else order
    )
