"""Counters of a server or a run as canonical rows, checked against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from specdash.formats.collect import MOST
from specdash.schema import COUNTERS, MAX_DRAFTED, RATES, Granularity, InputError, Run, RunWarning


def row(
    dataset: str,
    path: str,
    *,
    steps: int | None,
    drafted: int | None,
    accepted: int,
    per_position: Sequence[int] | None = None,
    exposed: Sequence[int] | None = None,
    k: int | None = None,
    responses: int | None = None,
) -> dict[str, Any]:
    """Return a row of schema.COUNTERS.

    Args:
        dataset: Its dataset.
        path: File the counts come from, for messages.
        steps: Drafted steps, None when the source does not count them.
        drafted: Sum of K_s, or None.
        accepted: Sum of a_s.
        per_position: Steps that accepted position i, or None.
        exposed: Steps that drafted position i, or None.
        k: Configured draft length, where it is known and there are no positions.
        responses: Number of responses, or None.

    Raises:
        InputError: The counts contradict each other.
    """
    positions = None if per_position is None else list(per_position)
    longest = len(positions) if positions is not None else k
    _check(dataset, path, steps, drafted, accepted, positions)
    constant = longest is not None and steps is not None and drafted == longest * steps
    return {
        "dataset": dataset,
        "responses": responses,
        "steps": steps,
        "drafted": drafted,
        "accepted": accepted,
        "per_position": positions if steps is not None else None,
        "block": longest if constant else None,
        "exposed": None if exposed is None else list(exposed),
    }


def _check(
    dataset: str, path: str, steps: int | None, drafted: int | None, accepted: int, positions: list[int] | None
) -> None:
    def refuse(problem: str, found: Any, expected: str) -> None:
        raise InputError(f"{dataset}: {problem}", file=path, found=found, expected=expected)

    for name, value in {"drafts": steps, "drafted": drafted, "accepted": accepted}.items():
        if value is not None and not 0 <= value <= MOST:
            refuse(f"{name} is not a count", value, "a whole number from 0 to 2^53")
    if drafted is not None and accepted > drafted:
        refuse("more tokens accepted than drafted", f"{accepted} of {drafted}", "no more")
    if steps is not None and max(accepted, drafted or 0) > steps * MAX_DRAFTED:
        refuse("impossible number of tokens", max(accepted, drafted or 0), f"at most {MAX_DRAFTED} a step")
    if positions is None:
        return
    if not 1 <= len(positions) <= MAX_DRAFTED:
        refuse("impossible number of draft positions", len(positions), f"1 to {MAX_DRAFTED}")
    if sum(positions) != accepted:
        refuse("accepted tokens by position do not sum to all of them", sum(positions), str(accepted))
    if positions != sorted(positions, reverse=True):
        refuse("accepted counts rise with the position", positions, "counts that do not rise")
    if steps is not None and positions[0] > steps:
        refuse("more steps accepted position 0 than there are", positions[0], f"at most {steps}")


def run(
    label: str, rows: Sequence[Mapping[str, Any]], k: int | None, warnings: Sequence[RunWarning] = (), **fields: Any
) -> Run:
    """Return the run of rows of counters.

    Args:
        label: Its label.
        rows: From ``row``.
        k: Draft length where the source or the user says it.
        warnings: What a reader has to know.
        fields: Others of Run.
    """
    lengths = [k, *(len(r["per_position"]) if r["per_position"] else r["block"] for r in rows)]
    return Run(
        name=label,
        granularity=Granularity.AGGREGATE,
        k=max((n for n in lengths if n is not None), default=None),
        counters=pl.DataFrame(list(rows), schema=COUNTERS),
        warnings=tuple(warnings),
        **fields,
    )


def with_warnings(run: Run, *warnings: RunWarning) -> Run:
    """Return the run with further warnings."""
    return replace(run, warnings=(*run.warnings, *warnings))


def decimals(value: float) -> int:
    """Return how exactly a number says itself: at least 2 decimals, at most 6; exponents are as exact as can be."""
    text = repr(float(value))
    return max(2, min(len(text.partition(".")[2]), 6)) if "e" not in text else 6


def stored(dataset: str, **ratios: tuple[str, float | Sequence[float] | None]) -> dict[str, Any]:
    """Return ratios that stand beside counts, as Run.printed holds them to be checked against the counts.

    Args:
        dataset: Their dataset.
        ratios: By our name: what the file calls it, and its value; None where it has none.
    """
    row: dict[str, Any] = {"dataset": dataset, "decimals": {}}
    for name, (called, value) in ratios.items():
        if value is None or value == []:
            continue
        values = list(value) if isinstance(value, Sequence) else [value]
        row |= {name: list(values) if isinstance(value, Sequence) else value, f"{name}_called": called}
        row["decimals"][name] = max(map(decimals, values))
    return row


def rates_run(
    label: str, rows: Sequence[Mapping[str, Any]], k: int | None, warnings: Sequence[RunWarning] = (), **fields: Any
) -> Run:
    """Return the run of printed ratios; rows may lack columns of schema.RATES, and lists are filled up to K.

    Args:
        label: Its label.
        rows: Columns of RATES by name, ``dataset`` at least.
        k: Draft length where the source or the user says it.
        warnings: What a reader has to know.
        fields: Others of Run.
    """
    found = [len(r[c]) for r in rows for c in ("p", "c", "p_exposed") if r.get(c)]
    found += [len(r["outcome"]) - 1 for r in rows if r.get("outcome")]
    longest = max([*found, *([] if k is None else [k])], default=None)
    wanted = {"p": longest, "c": longest, "p_exposed": longest, "outcome": None if longest is None else longest + 1}

    def filled(column: str, value: Any) -> Any:
        size = wanted.get(column)
        return value if value is None or size is None else [*value, *[None] * (size - len(value))]

    full = [{column: filled(column, r.get(column)) for column in RATES} for r in rows]
    return Run(
        name=label,
        granularity=Granularity.RATES,
        k=longest,
        rates=pl.DataFrame(full, schema=RATES),
        warnings=tuple(warnings),
        **fields,
    )
