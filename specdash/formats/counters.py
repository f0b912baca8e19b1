"""Counter files: drafts, accepted tokens and accepted tokens by position, summed over a dataset.

Ratios stored beside the counts are recomputed and compared, never used.
"""

from __future__ import annotations

from typing import Any

from specdash.formats.base import File, Format, Role, has_suffix, read_json, stem
from specdash.formats.synonyms import COUNTER, match, normalised
from specdash.schema import MAX_DRAFTED, InputError, RunWarning

_EXPECTED = "counts such as drafts, accepted_tokens, per_pos"
_ACCEPTED = {*COUNTER["accepted"], *COUNTER["per_position"]}
_DEEPEST = 8  # objects around the records
_MOST = 2**53  # counts up to here are exact as a float too
_RATIOS = ("tau", "rates", "verify_rate", "acceptance_ratio")


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


def read(file: File, default: str, config_k: int | None) -> tuple[list[dict[str, Any]], list[RunWarning]]:
    """Read a counter file.

    Args:
        file: The file.
        default: Dataset name of a record that names none.
        config_k: K by the configuration beside the file, None when it does not say.

    Returns:
        Rows of schema.COUNTERS, and warnings about stored ratios that the counts contradict.

    Raises:
        InputError: A count is missing, is no whole number, or contradicts another.
    """
    records = _records(read_json(file), default)
    if not records:
        raise InputError("no counters found", file=file.path, expected=_EXPECTED)
    rows, warnings = [], []
    for name, record in records:
        fields = match(map(str, record), COUNTER, file=file.path)
        values = {column: record[field] for column, field in fields.items()}
        dataset = _dataset(values.get("dataset") or name, record, file.path)
        row = _row(values, dataset, file.path, config_k)
        rows.append(row)
        warnings += _disagreements(values, fields, row, file.path)
        if row["drafted"] is None and row["block"] is not None:
            row["drafted"] = row["block"] * row["steps"]
            warnings.append(
                RunWarning(
                    "drafted_assumed",
                    f"{dataset}: no count of drafted tokens; every step is taken to have drafted {row['block']}",
                )
            )
    return rows, warnings


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


def _disagreements(values: dict[str, Any], fields: dict[str, str], row: dict[str, Any], path: str) -> list[RunWarning]:
    steps, drafted, accepted = row["steps"], row["drafted"], row["accepted"]
    if not steps:
        return []
    k_sum = drafted if drafted is not None else row["block"] and row["block"] * steps
    ours: dict[str, Any] = {"tau": 1 + accepted / steps}
    if k_sum:
        ours |= {"verify_rate": (steps + accepted) / (steps + k_sum), "acceptance_ratio": accepted / k_sum}
    if row["per_position"] is not None:
        ours["rates"] = [n / steps for n in row["per_position"]]
    warnings = []
    for column in _RATIOS:
        stored, computed = values.get(column), ours.get(column)
        if stored is None or computed is None or _agree(stored, computed):
            continue
        shown = [f"{x:.4f}" for x in computed] if isinstance(computed, list) else f"{computed:.4f}"
        said = f"stored {fields[column]} {str(stored)[:200]} is {shown} by the counts".replace("'", "")
        warnings.append(RunWarning("ratio_disagrees", f"{path}: {row['dataset']}: {said}"))
    return warnings


def _agree(stored: Any, computed: Any) -> bool:
    """Tell whether a stored ratio, possibly rounded to 2 decimals or more, is the computed one."""
    if isinstance(computed, list):
        return isinstance(stored, list) and len(stored) == len(computed) and all(map(_agree, stored, computed))
    if isinstance(stored, bool) or not isinstance(stored, int | float) or abs(stored) > _MOST:
        return False
    # Half a unit of the last printed decimal; a number in exponent notation counts as exact to 1e-6.
    decimals = len(repr(float(stored)).partition(".")[2]) if "e" not in repr(float(stored)) else 6
    return abs(stored - computed) <= 0.5000001 * 10.0 ** -max(2, min(decimals, 6))
