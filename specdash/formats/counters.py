"""Counter files: drafts, accepted tokens and accepted tokens by position, summed over a dataset.

Ratios stored beside the counts are kept to be held against them, never used.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from specdash.formats.aggregate import decimals
from specdash.formats.base import File, Format, Role, has_suffix, read_json, stem
from specdash.formats.synonyms import COUNTER, match, normalised
from specdash.schema import MAX_DRAFTED, InputError, RunWarning

_EXPECTED = "counts such as drafts, accepted_tokens, per_pos"
_ACCEPTED = {*COUNTER["accepted"], *COUNTER["per_position"]}
_DEEPEST = 8  # objects around the records
_MOST = 2**53  # counts up to here are exact as a float too
_RATIOS = {"tau": "tau", "rates": "p", "verify_rate": "verify_rate", "acceptance_ratio": "acceptance_ratio"}
"""Stored ratios to their names among printed ones."""


def _is_record(value: Any) -> bool:
    """Tell whether a JSON object holds the counts of one dataset."""
    if not isinstance(value, dict):
        return False
    names = {normalised(str(name)) for name in value}
    return bool(names & set(COUNTER["drafts"])) and bool(names & _ACCEPTED)


def _is_half(value: Any) -> bool:
    """Tell whether a JSON object is a record that lacks its drafts or its accepted tokens."""
    if not isinstance(value, dict) or _is_record(value):
        return False
    names = {normalised(str(name)) for name in value}
    return bool(names & (_ACCEPTED | {"drafts", "num_drafts", "n_drafts"}))


def _records(document: Any, default: str, depth: int = 0) -> list[tuple[str, dict[str, Any]]]:
    """Find the records of a document: an object, a list, an object of objects, or one of these under one key.

    Returns:
        Pairs of a dataset name for a record that names none, and the record. Beside at least one whole record stand
        those that lack a count too, so that ``_row`` can say so.
    """
    if _is_record(document):
        return [(default, document)]
    if isinstance(document, list):
        named = [(default if len(document) == 1 else "", record) for record in document]
        return named if any(map(_is_record, document)) and all(isinstance(r, dict) for r in document) else []
    if isinstance(document, dict) and depth < _DEEPEST:
        if any(map(_is_record, document.values())):
            return [(name, value) for name, value in document.items() if _is_record(value) or _is_half(value)]
        inner = [
            found
            for value in document.values()
            if isinstance(value, list | dict) and (found := _records(value, default, depth + 1))
        ]
        if len(inner) == 1:
            return inner[0]
    return []


def _looks_like_counters(file: File) -> bool:
    if not has_suffix(file, ".json"):
        return False
    head = file.head().lower()
    if not any(name.encode() in head for name in ("accepted", "per_pos", "num_accepted")):
        return False
    try:
        return bool(_records(read_json(file), "-"))
    except InputError:
        return False


FORMAT = Format(
    key="counters",
    role=Role.COUNTERS,
    what="JSON counters (drafts, accepted tokens, per_pos)",
    named=lambda file: stem(file).lower() in ("counters", "spec_counters") and has_suffix(file, ".json"),
    looks=_looks_like_counters,
)


class Counted(NamedTuple):
    """What a counter file holds.

    Attributes:
        rows: Rows of schema.COUNTERS.
        stored: Ratios that stood beside the counts, as Run.printed has them, one row a dataset that has any.
        warnings: What was assumed, and stored ratios that cannot be read.
    """

    rows: list[dict[str, Any]]
    stored: list[dict[str, Any]]
    warnings: list[RunWarning]


def read(file: File, default: str, config_k: int | None) -> Counted:
    """Read a counter file.

    Args:
        file: The file.
        default: Dataset name of a record that names none.
        config_k: K by the configuration beside the file, None when it does not say.

    Raises:
        InputError: A count is missing, is no whole number, or contradicts another.
    """
    records = _records(read_json(file), default)
    if not records:
        raise InputError("no counters found", file=file.path, expected=_EXPECTED)
    found = Counted([], [], [])
    for name, record in records:
        fields = match(map(str, record), COUNTER, file=file.path)
        values = {column: record[field] for column, field in fields.items()}
        dataset = _dataset(values.get("dataset") or name, record, file.path)
        row = _row(values, dataset, file.path, config_k)
        found.rows.append(row)
        stored, unread = _stored(values, fields, row, file.path)
        found.warnings.extend(unread)
        if stored["decimals"]:
            found.stored.append(stored)
        if row["drafted"] is None and row["block"] is not None:
            row["drafted"] = row["block"] * row["steps"]
            found.warnings.append(
                RunWarning(
                    "drafted_assumed",
                    f"{dataset}: no count of drafted tokens; every step is taken to have drafted {row['block']}",
                )
            )
    return found


def _dataset(name: Any, record: dict[str, Any], path: str) -> str:
    if isinstance(name, bool | list | dict):
        raise InputError("a dataset is neither text nor number", file=path, found=name)
    dataset = str(name).strip() if name is not None else ""
    if not dataset:
        raise InputError("a record names no dataset", file=path, found="fields " + ", ".join(map(str, record)))
    return dataset


def _count(values: dict[str, Any], column: str, dataset: str, path: str) -> int | None:
    value = values.get(column)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
        raise InputError(
            f"{dataset}: {column} is not a count",
            file=path,
            found=value,
            expected="a whole number from 0 to 2^53",
        )
    return value


def _positions(values: dict[str, Any], dataset: str, path: str) -> list[int] | None:
    """Return the accepted counts by position (0-based) from a list, or an object keyed by position."""
    found = values.get("per_position")
    if found is None:
        return None
    if isinstance(found, dict):
        if sorted(found, key=lambda key: (len(key), key)) != [str(i) for i in range(len(found))]:
            raise InputError(f"{dataset}: positions are not 0, 1, 2, …", file=path, found=", ".join(map(str, found)))
        found = [found[str(i)] for i in range(len(found))]
    if not isinstance(found, list) or not 1 <= len(found) <= MAX_DRAFTED:
        raise InputError(
            f"{dataset}: per_pos is not a list of 1 to {MAX_DRAFTED} counts",
            file=path,
            found=found,
            expected=f"1 to {MAX_DRAFTED} counts",
        )
    if None in found:
        raise InputError(f"{dataset}: per_pos has a gap", file=path, found=found, expected="counts")
    return [_count({"per_pos": n}, "per_pos", dataset, path) for n in found]


def _row(values: dict[str, Any], dataset: str, path: str, config_k: int | None) -> dict[str, Any]:
    steps = _count(values, "drafts", dataset, path)
    positions = _positions(values, dataset, path)
    accepted = _count(values, "accepted", dataset, path)
    if accepted is None and positions is not None:
        accepted = sum(positions)
    drafted = _count(values, "drafted", dataset, path)
    if steps is None or accepted is None:
        raise InputError(
            f"{dataset}: no count of drafts or of accepted tokens",
            file=path,
            found="fields " + ", ".join(values),
            expected=_EXPECTED,
        )
    block = _block(steps, drafted, positions, config_k)
    if positions is not None:
        _check_positions(dataset, path, steps, accepted, positions)
        if drafted is not None and drafted > len(positions) * steps:
            raise InputError(
                f"{dataset}: more drafted tokens than per_pos has positions for",
                file=path,
                found=drafted,
                expected=f"at most {len(positions) * steps}: {steps} steps of {len(positions)}",
            )
    _check_totals(dataset, path, steps, drafted, accepted, block)
    return {
        "dataset": dataset,
        "responses": _count(values, "responses", dataset, path),
        "steps": steps,
        "drafted": drafted,
        "accepted": accepted,
        "per_position": positions,
        "block": block,
    }


def _check_positions(dataset: str, path: str, steps: int, accepted: int, positions: list[int]) -> None:
    if positions != sorted(positions, reverse=True):
        raise InputError(
            f"{dataset}: accepted counts rise with the position",
            file=path,
            found=positions,
            expected="counts that do not rise",
        )
    if positions[0] > steps:
        raise InputError(
            f"{dataset}: more steps accepted position 0 than there are",
            file=path,
            found=positions[0],
            expected=f"at most {steps}",
        )
    if sum(positions) != accepted:
        raise InputError(
            f"{dataset}: per_pos does not sum to the accepted tokens",
            file=path,
            found=sum(positions),
            expected=str(accepted),
        )


def _check_totals(dataset: str, path: str, steps: int, drafted: int | None, accepted: int, block: int | None) -> None:
    if drafted is not None and not max(accepted, steps) <= drafted <= steps * MAX_DRAFTED:
        raise InputError(
            f"{dataset}: impossible number of drafted tokens", file=path, found=drafted,
            expected=f"{max(accepted, steps)} to {steps * MAX_DRAFTED}",
        )  # fmt: skip
    if accepted > steps * MAX_DRAFTED:
        raise InputError(
            f"{dataset}: impossible number of accepted tokens",
            file=path,
            found=accepted,
            expected=f"at most {steps * MAX_DRAFTED}",
        )
    if drafted is None and block is not None and accepted > block * steps:
        raise InputError(
            f"{dataset}: more accepted tokens than the configured k allows",
            file=path,
            found=accepted,
            expected=f"at most {block * steps}: {steps} steps of k = {block}",
        )


def _block(steps: int, drafted: int | None, positions: list[int] | None, config_k: int | None) -> int | None:
    """Return K where every step must have drafted the same number: the positions all belong to every draft."""
    k = len(positions) if positions is not None else config_k
    if k is None:
        return None
    return k if drafted is None or drafted == k * steps else None


def _stored(
    values: dict[str, Any], fields: dict[str, str], row: dict[str, Any], path: str
) -> tuple[dict[str, Any], list[RunWarning]]:
    """Return the ratios stored in a record, with their decimals and names there, and what is said of the unreadable."""
    stored: dict[str, Any] = {"dataset": row["dataset"], "decimals": {}}
    unread = []
    for column, name in _RATIOS.items():
        value = values.get(column)
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            continue
        wanted = len(row["per_position"] or []) if name == "p" else None
        if wanted == 0:
            continue
        if not (_is_ratios(value, wanted) if wanted else _is_ratio(value)):
            shown = f"stored {fields[column]} {str(value)[:200]} is not {f'{wanted} ratios' if wanted else 'a ratio'}"
            unread.append(RunWarning("ratio_unread", f"{path}: {row['dataset']}: {shown}".replace("'", "")))
            continue
        stored |= {name: value, f"{name}_called": fields[column]}
        stored["decimals"][name] = max(map(decimals, value)) if wanted else decimals(value)
    return stored, unread


def _is_ratio(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and 0 <= value <= _MOST


def _is_ratios(value: Any, wanted: int) -> bool:
    return isinstance(value, list) and len(value) == wanted and all(map(_is_ratio, value))
