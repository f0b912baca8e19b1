"""JSON a line at a time, so that a file of any size takes the memory of its longest line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from specdash.formats.base import File, finite, read_json
from specdash.schema import InputError

_EXPECTED = "a JSON object"
# What orjson refuses (NaN and Infinity as Python writes them, 1e999) is read as None, as everywhere.
_DECODER = json.JSONDecoder(parse_constant=lambda _: None, parse_float=finite)


def objects(file: File, *, cut: Callable[[int], None] | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number and the object of every line that is not blank.

    Args:
        file: The file.
        cut: Called with the number of a last line that was cut off, as logs of a killed process are; without it
            such a line is an error like any other.

    Raises:
        InputError: A line is no JSON object.
    """
    for number, value in _values(file, cut):
        if not isinstance(value, dict):
            raise _no_object(file.path, number, value)
        yield number, value


def _values(file: File, cut: Callable[[int], None] | None) -> Iterator[tuple[int, Any]]:
    """Yield the line number and the value of every line that is not blank."""
    for number, raw in lines(file):
        if not raw.strip():
            continue
        try:
            value = parsed(raw, file.path, number)
        except InputError:
            if cut is None or raw.endswith(b"\n"):
                raise
            cut(number)
            return
        yield number, value


def lines(file: File) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the bytes of every line, its end included; a byte order mark is taken off."""
    with file.local().open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            yield number, raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw


def parsed(raw: bytes, path: str, line: int) -> Any:
    """Return what a line of JSON says.

    Raises:
        InputError: It is no JSON.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _exactly(raw, path, line)


def _exactly(raw: bytes, path: str, line: int) -> Any:
    """Read what is JSON to Python but not to orjson, or say what is wrong with it."""
    problem = "not valid JSON" + ("" if raw.endswith(b"\n") else " (the line is cut off)")
    try:
        text = raw.decode()
        value = _DECODER.decode(text)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError("half a surrogate pair is no Unicode", file=path, line=line, expected="Unicode text") from None
    except UnicodeDecodeError as error:
        found: Any = raw[error.start : error.start + 4]
        raise InputError("not UTF-8 text", file=path, line=line, found=found, expected="UTF-8") from None
    except json.JSONDecodeError as error:
        found = f"{text[error.pos : error.pos + 40].strip() or 'the end'} ({error.msg})"
    except ValueError as error:  # a whole number of thousands of digits
        found = str(error)
    except RecursionError:
        found = "objects nested too deeply"
    else:
        return value
    raise InputError(problem, file=path, line=line, found=found, expected=_EXPECTED)


def records(file: File, *, cut: Callable[[int], None] | None = None) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """Yield the objects of a file that holds one, a list of them, one or a list a line, or a captured stream's events.

    Args:
        file: The file.
        cut: As of ``objects``.

    Yields:
        The line (None within one document) and the object.

    Raises:
        InputError: It is none of these.
    """
    if is_stream(file):
        yield from _events(file, cut)
    elif _is_document(_first(file)):
        for number, value in _values(file, cut):
            for found in value if isinstance(value, list) else [value]:
                if not isinstance(found, dict):
                    raise _no_object(file.path, number, found)
                yield number, found
    else:
        document = read_json(file)
        for value in document if isinstance(document, list) else [document]:
            if not isinstance(value, dict):
                raise _no_object(file.path, None, value)
            yield None, value


def is_stream(file: File) -> bool:
    """Tell whether a file is a captured stream of server-sent events."""
    return _first(file).startswith((b"data:", b"event:", b"id:", b":"))


def _first(file: File) -> bytes:
    """Return the first line that is not blank."""
    return next((raw for _, raw in lines(file) if raw.strip()), b"").lstrip()


def _no_object(path: str, line: int | None, found: Any) -> InputError:
    return InputError("not a JSON object", file=path, line=line, found=found, expected=_EXPECTED)


def _is_document(raw: bytes) -> bool:
    try:
        return isinstance(parsed(raw, "", 0), dict | list)
    except InputError:
        return False


def _events(file: File, cut: Callable[[int], None] | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the data of server-sent events; ``[DONE]`` and what is no object are no data of ours."""
    for number, raw in lines(file):
        data = raw.removeprefix(b"data:").strip()
        if not raw.startswith(b"data:") or data == b"[DONE]":
            continue
        try:
            value = parsed(data, file.path, number)
        except InputError:
            if cut is None or raw.endswith(b"\n"):
                raise
            cut(number)
            return
        if isinstance(value, dict):
            yield number, value
