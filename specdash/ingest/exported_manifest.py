"""The manifest of an export, which comes from outside: every field of it is checked before it is used."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from specdash.formats.base import File, read_json
from specdash.ingest.options import Options, evaluation_id
from specdash.schema import (
    MAX_DRAFTED,
    Bonus,
    End,
    Granularity,
    InputError,
    PerPosition,
    Span,
    Undrafted,
    check_settings,
)
from specdash.store import manifest
from specdash.store.tables import ALLOWED, NEEDED

_MOST = 2**53  # counts up to here are exact as a float too


@dataclass(frozen=True)
class _Kind:
    """What a field may hold; ``what`` says it to people."""

    what: str
    fits: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: Any, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _is_settings(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(v, str | int | float) for v in value.values())


def _optional(kind: _Kind) -> _Kind:
    return _Kind(f"{kind.what}, or null", lambda value: value is None or kind.fits(value))


def _each(kind: _Kind) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(kind.fits, value))


def _one_of(names: Iterable[str]) -> _Kind:
    known = list(names)
    return _Kind(" or ".join(known), lambda value: isinstance(value, str) and value in known)


def _hex(digits: int) -> _Kind:
    pattern = re.compile(rf"[0-9a-f]{{{digits}}}")
    return _Kind(f"{digits} hex digits", lambda value: isinstance(value, str) and bool(pattern.fullmatch(value)))


_ANY = _Kind("anything", lambda _: True)
_NOTHING = _Kind("no such field", lambda _: False)
_TEXT = _Kind("text", lambda value: isinstance(value, str))
_NAME = _Kind("text that is not empty", lambda value: isinstance(value, str) and bool(value))
_FLAG = _Kind("true or false", lambda value: isinstance(value, bool))
_COUNT = _Kind("a whole number, 0 or more", lambda value: _is_whole(value, _MOST))
_BLOCK = _Kind(f"a whole number from 0 to {MAX_DRAFTED}", lambda value: _is_whole(value, MAX_DRAFTED))
_NUMBER = _Kind("a number", _is_number)
_OBJECT = _Kind("an object", lambda value: isinstance(value, dict))
_SETTINGS = _Kind("texts, numbers, true or false by name", _is_settings)
_COLUMNS = _Kind("texts by name", lambda value: isinstance(value, dict) and all(map(_TEXT.fits, value.values())))
_OBJECTS = _Kind("a list of objects", _each(_OBJECT))
_CELL = _Kind(
    "text, a number, null or a list of numbers",
    lambda value: value is None or isinstance(value, str) or _is_number(value) or _each(_optional(_NUMBER))(value),
)
_DECIMALS = _Kind(
    "whole numbers by name", lambda value: isinstance(value, dict) and all(_is_whole(v, 99) for v in value.values())
)

_MARK = {"format": _Kind("a whole number, 1 or more", lambda value: _is_whole(value, _MOST) and value > 0)}

_EVALUATION = {
    "id": _hex(12),
    "title": _TEXT,
    "source": _TEXT,
    "sha256": _hex(64),
    "options": _OBJECT,
    "added": _TEXT,
    "order": _one_of(["recorded", "invented"]),
    "reconstruction": _FLAG,
    "note": _TEXT,
    "runs": _Kind("a list of at least one object", lambda value: _OBJECTS.fits(value) and bool(value)),
}

_RUN = {
    "name": _NAME,
    "folder": _COUNT,
    "granularity": _one_of(Granularity),
    "k": _optional(_BLOCK),
    "config": _SETTINGS,
    "config_set": _SETTINGS,
    "mapping": _optional(_OBJECT),
    "warnings": _OBJECTS,
    "printed": _OBJECTS,
    "tables": _Kind("a list of texts", _each(_TEXT)),
}

_SEMANTICS = {
    "producer": _TEXT,
    "bonus": _optional(_one_of(Bonus)),
    "position_base": _optional(_COUNT),
    "per_position": _optional(_one_of(PerPosition)),
    "span": _one_of(Span),
    "end": _one_of(End),
    "undrafted": _one_of(Undrafted),
    "note": _TEXT,
}

_MAPPING = {"matched": _COUNT, "total": _COUNT, "absent": _COUNT}

_WARNING = {"code": _TEXT, "message": _TEXT}

_PRINTED = {"dataset": _TEXT, "decimals": _DECIMALS}


def read(file: File) -> dict[str, Any]:
    """Read the manifest of an export.

    Returns:
        What ``store.manifest.built`` takes; fields that are not known are still in it.

    Raises:
        InputError: A newer specdash wrote it, or a field is missing or holds what it cannot.
    """
    found = read_json(file)
    _check(found, _MARK)
    manifest.check_format(found, manifest.NAME)
    _check(found, _EVALUATION)
    _check_id(found)
    names: set[str] = set()
    for number, run in enumerate(found["runs"]):
        _check_run(run, number)
        if run["name"] in names:
            raise _error("two runs have the same name", run["name"])
        names.add(run["name"])
    return found


def _error(problem: str, found: Any, expected: str | None = None) -> InputError:
    return InputError(problem, file=manifest.NAME, found=found, expected=expected)


def _check(found: Any, kinds: dict[str, _Kind], where: str = "", *, others: _Kind = _ANY) -> None:
    """Check the fields of an object.

    Args:
        found: The object.
        kinds: Fields that it must have.
        where: What it is, for messages.
        others: What other fields may hold.

    Raises:
        InputError: A field is missing or of the wrong kind.
    """
    if not isinstance(found, dict):
        raise _error("not a JSON object", found, "the manifest of an export")
    for name in kinds:
        if name not in found:
            raise _error(f"{where}{name} is missing", "fields " + ", ".join(found), kinds[name].what)
    for name, value in found.items():
        kind = kinds.get(name, others)
        if not kind.fits(value):
            raise _error(f"{where}{name[:40]!r} is of the wrong kind", value, kind.what)


def _check_id(found: dict[str, Any]) -> None:
    stored = found["options"]
    kinds = {"config": _SETTINGS, "bonus": _one_of(Bonus), "map": _COLUMNS}
    fits = all(name in kinds and kinds[name].fits(value) for name, value in stored.items())
    if not fits or Options.of(stored).as_dict() != stored:
        raise _error("options are not those of an evaluation", stored, "settings as config, bonus, map, or nothing")
    wanted = evaluation_id(found["sha256"], Options.of(stored))
    if found["id"] != wanted:
        raise _error("id does not belong to sha256 and options", found["id"], wanted)


def _check_run(run: dict[str, Any], number: int) -> None:
    where = f"run {number}: "
    _check(run, _RUN, where)
    if run["folder"] != number:
        raise _error(f"{where}folder is not its place", run["folder"], str(number))
    for name in ("config", "config_set"):
        check_settings(run[name], manifest.NAME)
    if run["mapping"] is not None:
        _check(run["mapping"], _MAPPING, f"{where}mapping: ", others=_NOTHING)
        if run["mapping"]["matched"] > run["mapping"]["total"]:
            raise _error(f"{where}mapping: more matched than there are", run["mapping"])
    for warning in run["warnings"]:
        _check(warning, _WARNING, f"{where}warnings: ", others=_NOTHING)
    for row in run["printed"]:
        _check(row, _PRINTED, f"{where}printed: ", others=_CELL)
    if run.get("semantics") is not None:
        _check(run["semantics"], _SEMANTICS, f"{where}semantics: ", others=_NOTHING)
    _check_tables(run, where)


def _check_tables(run: dict[str, Any], where: str) -> None:
    granularity, named = Granularity(run["granularity"]), run["tables"]
    needed, allowed = NEEDED[granularity], ALLOWED[granularity]
    counted = "responses" not in needed or {"counts", "sums"} & set(named)
    if not set(needed) <= set(named) or named != [name for name in allowed if name in named] or not counted:
        raise _error(f"{where}tables are not those of {granularity}", named, ", ".join(needed))
