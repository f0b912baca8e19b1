"""The record of one response's drafting that vLLM puts into its answers and AIPerf into its export.

``acceptance_histogram`` counts steps by accepted draft tokens, bonus token out, dense as a list or sparse as an object.
It does not say how long the drafts were; that follows where all must have been of the longest length, and else stands
in ``acceptance_histogram_by_draft_length`` or, step by step, in ``per_step_drafted``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from specdash.formats.collect import Drafting, histogram, stepwise, whole, wholes
from specdash.schema import MAX_DRAFTED, InputError

MARKS = ("acceptance_histogram", "num_spec_steps", "num_accepted_draft_tokens")
"""Names that such a record has."""

_EXPECTED = "counts that agree"


def drafting(record: Mapping[str, Any], path: str, line: int | None) -> tuple[Drafting, int | None]:
    """Read a record.

    Returns:
        The drafting, and the configured draft length where the record says it.

    Raises:
        InputError: A field is of the wrong kind, or two counts contradict each other.
    """

    def count(name: str, most: int = 2**53) -> int | None:
        return whole(record.get(name), name, path, line, most)

    k = count("num_spec_tokens", MAX_DRAFTED)
    found = histogram(record.get("acceptance_histogram"), "acceptance_histogram", path, line)
    steps, accepted, drafted = map(count, ("num_spec_steps", "num_accepted_draft_tokens", "num_draft_tokens"))
    if found is not None:
        counted = {"num_spec_steps": steps, "num_accepted_draft_tokens": accepted}
        steps, accepted = sum(found.values()), sum(j * n for j, n in found.items())
        _agree(counted, {"num_spec_steps": steps, "num_accepted_draft_tokens": accepted}, "the histogram", path, line)
    if steps is None or accepted is None:
        shown = "fields " + ", ".join(map(str, record))
        raise InputError("no acceptance_histogram and no counts", file=path, line=line, found=shown)
    ordered = _ordered(record, k, steps, accepted, drafted, path, line)
    if ordered is not None:
        return Drafting(stepwise(ordered), steps, drafted, accepted, ordered), k
    outcomes = _by_length(record, steps, accepted, drafted, path, line)
    if outcomes is None and found is not None:
        constant = k if k is not None and drafted == k * steps else None
        outcomes = {(constant, j): n for j, n in found.items()}
    return Drafting(outcomes if steps else {}, steps, drafted, accepted), k


def _agree(said: Mapping[str, int | None], counted: Mapping[str, int], what: str, path: str, line: int | None) -> None:
    for name, value in said.items():
        if value is not None and value != counted[name]:
            raise InputError(
                f"{name} is not what {what} gives",
                file=path,
                line=line,
                found=f"{value}, by {what} {counted[name]}",
                expected=_EXPECTED,
            )


def _ordered(
    record: Mapping[str, Any],
    k: int | None,
    steps: int,
    accepted: int,
    drafted: int | None,
    path: str,
    line: int | None,
) -> list[tuple[int, int]] | None:
    """Return the steps in order where the record holds them with the length of every draft."""
    by_step = wholes(record.get("per_step_accepted"), "per_step_accepted", path, line, MAX_DRAFTED)
    lengths = wholes(record.get("per_step_drafted"), "per_step_drafted", path, line, MAX_DRAFTED)
    if by_step is None:
        return None
    if lengths is None:
        if k is None or drafted != k * steps:
            return None
        lengths = [k] * len(by_step)
    if len(by_step) != len(lengths):
        found = f"{len(by_step)} and {len(lengths)}"
        raise InputError("per_step lists are not of one length", file=path, line=line, found=found)
    counted = {
        "num_spec_steps": len(by_step),
        "num_accepted_draft_tokens": sum(by_step),
        "num_draft_tokens": sum(lengths),
    }
    said = {"num_spec_steps": steps, "num_accepted_draft_tokens": accepted, "num_draft_tokens": drafted}
    _agree(said, counted, "the steps", path, line)
    return list(zip(lengths, by_step, strict=True))


def _by_length(
    record: Mapping[str, Any], steps: int, accepted: int, drafted: int | None, path: str, line: int | None
) -> dict[tuple[int | None, int], int] | None:
    rows = record.get("acceptance_histogram_by_draft_length")
    if rows is None:
        return None
    lengths = rows if isinstance(rows, dict) else {}
    if not isinstance(rows, dict) or not all(key.isdecimal() and len(key) < 3 for key in lengths):
        problem = "acceptance_histogram_by_draft_length is no object by length"
        raise InputError(problem, file=path, line=line, found=rows)
    outcomes: dict[tuple[int | None, int], int] = {}
    for length, row in lengths.items():
        found = histogram(row, "acceptance_histogram_by_draft_length", path, line) or {}
        outcomes |= {(int(length), j): n for j, n in found.items()}
    counted = {
        "num_spec_steps": sum(outcomes.values()),
        "num_accepted_draft_tokens": sum(j * n for (_, j), n in outcomes.items()),
        "num_draft_tokens": sum((k or 0) * n for (k, _), n in outcomes.items()),
    }
    said = {"num_spec_steps": steps, "num_accepted_draft_tokens": accepted, "num_draft_tokens": drafted}
    _agree(said, counted, "the histogram by draft length", path, line)
    return outcomes


def stored_ratios(record: Mapping[str, Any], found: Drafting) -> list[str]:
    """Return how the ratios stored in a record differ from those of its counts, a phrase each."""
    if not found.steps or found.accepted is None:
        return []
    ours = {"mean_acceptance_length": 1 + found.accepted / found.steps}
    if found.drafted:
        ours["draft_acceptance_rate"] = found.accepted / found.drafted
    said = {name: record.get(name) for name in ours}
    return [
        f"{name} {stored} is {ours[name]:.4f} by the counts"
        for name, stored in said.items()
        if isinstance(stored, int | float) and not math.isclose(stored, ours[name], rel_tol=1e-6, abs_tol=1e-6)
    ]
