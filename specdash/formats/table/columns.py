"""Which column of a table is what: by names that are known, else by what the user says."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from specdash.formats.producer import Context
from specdash.formats.synonyms import SAMPLE, STEP, normalised
from specdash.formats.table.opened import Table
from specdash.schema import Bonus, InputError, Unsaid

FIELDS = {
    "accepted": "accepted tokens: of the step, of the response in all, or a list with an entry a step",
    "accept_len": "mean acceptance length of the response",
    "drafted": "drafted tokens: of the step, of the response in all, or a list with an entry a step",
    "steps": "number of verify steps of the response",
    "step": "number of the step in its response; a new response begins where it does not rise",
    "request": "id of the response",
    "dataset": "dataset",
    "prompt": "prompt that is answered",
    "copy": "number of the answer to the prompt",
    "output_tokens": "output tokens of the response",
}
"""What a column may be, by the name it has on the command line."""

_LENGTHS = (
    "accept_length", "acceptance_length", "accept_len", "acceptance_len", "accepted_length", "accept_lengths",
    "acceptance_lengths", "accept_lens", "acceptance_lens", "accepted_lengths", "acc_len", "acc_lens", "tau",
)  # fmt: skip
"""Names of a length that may or may not count the bonus token."""

_COUNTS = (*STEP["accepted"], "per_step_accepted", "accepted_per_step")
"""Names of a number of draft tokens: no bonus token is one."""

_SHOWN = 500  # rows that go with a question
_LONGEST = 2000  # characters of a cell that go with a question, or entries of a list

_COMMON = {
    "dataset": SAMPLE["dataset"],
    "copy": SAMPLE["copy"],
    "output_tokens": SAMPLE["output_tokens"],
}

BY_STEP = _COMMON | {
    "accepted": (*_COUNTS, *_LENGTHS),
    "drafted": (*STEP["drafted"], "per_step_drafted", "candidate_length", "num_candidates"),
    "step": ("step", "step_idx", "step_index", "step_id", "verify_step", "round", "cycle", "iteration"),
    "request": STEP["request"],
    # An index may be that of the row.
    "prompt": tuple(name for name in SAMPLE["prompt"] if name not in ("idx", "index")),
}
"""Known names in a table of steps, and in one with a list of steps a row."""

BY_RESPONSE = _COMMON | {
    "accepted": SAMPLE["accepted"],
    "accept_len": (*_LENGTHS, *SAMPLE["accept_len"]),
    "drafted": SAMPLE["drafted"],
    "steps": SAMPLE["drafts"],
    "request": (*SAMPLE["request"], "id", "rid"),
    "prompt": SAMPLE["prompt"],
}
"""Known names in a table of responses, or of sums by dataset."""


class Rows(StrEnum):
    """What a row of a table is."""

    STEP = "step"
    STEPS = "steps"  # a response, with a list of its steps
    RESPONSE = "response"  # in sum


@dataclass(frozen=True)
class Reading:
    """How a table is to be read.

    Attributes:
        rows: What a row is.
        columns: Number of the column by what it is.
        bonus: Whether its lengths count the bonus token.
        said: Which column is what, for people.
    """

    rows: Rows
    columns: Mapping[str, int]
    bonus: Bonus
    said: str


def known(table: Table) -> dict[str, str]:
    """Return what the names of a table's columns tell: the column's name by what it is."""
    by_response = _matched(table, BY_RESPONSE)
    lists = _lists(table)
    by_step = _matched(table, BY_STEP)
    if "steps" in by_response and {"accepted", "accept_len"} & by_response.keys():
        return by_response if by_step.get("accepted") not in lists else by_step
    return by_step


def suffices(table: Table) -> bool:
    """Tell whether a table's own names say enough to read it, the bonus token and K aside."""
    found = known(table)
    if "steps" in found:
        return True
    of_whom = {"request", "step", "prompt"} & found.keys()
    return "accepted" in found and (bool(of_whom) or found["accepted"] in _lists(table))


def holds(table: Table, said: Mapping[str, str]) -> bool:
    """Tell whether a table has all columns that the user names."""
    return bool(said) and all(name in table.columns for name in said.values() if name)


def reading(table: Table, context: Context) -> Reading:
    """Return how a table is to be read.

    Args:
        table: The table.
        context: What the user says wins over the names that are known; a column "" means that there is none.

    Raises:
        Unsaid: Its names do not tell, or do not tell whether its lengths count the bonus token.
        InputError: What the user says cannot be.
    """
    said = _checked(table, context.columns)
    found = {ours: theirs for ours, theirs in (known(table) | said).items() if theirs}
    taken = set(said.values())
    found = {ours: theirs for ours, theirs in found.items() if ours in said or theirs not in taken}
    if "accepted" not in found and not {"accept_len", "steps"} <= found.keys():
        raise asking(table, "no column is known to hold accepted tokens")
    if not said and not suffices(table):
        raise asking(table, "no column tells which response a step belongs to")
    if found["accepted" if "accepted" in found else "accept_len"] in _lists(table):
        rows = Rows.STEPS
    else:
        rows = Rows.RESPONSE if "steps" in found else Rows.STEP
    columns = {ours: table.columns.index(theirs) for ours, theirs in found.items()}
    shown = ", ".join(f"{ours} is {theirs}" for ours, theirs in found.items())
    return Reading(rows, columns, _bonus(table, found, context), shown)


def _checked(table: Table, said: Mapping[str, str]) -> dict[str, str]:
    """Let pass what the user says of columns.

    Raises:
        InputError: A column is not there, is there twice, or is to be something that no column is.
    """
    for ours, theirs in said.items():
        if ours not in FIELDS:
            raise InputError(f"--map: no column can be {ours}", file=table.path, expected=", ".join(FIELDS))
        if theirs and table.columns.count(theirs) != 1:
            times = "twice" if theirs in table.columns else "not"
            found = "columns " + ", ".join(table.columns)
            raise InputError(f"column {theirs} is {times} there", file=table.path, found=found, expected="it once")
    return dict(said)


def asking(table: Table, problem: str, asks: str = "map", found: str | None = None) -> Unsaid:
    """Return the error that asks which column of a table is what, or something else of it."""
    return Unsaid.about(
        asks,
        problem,
        columns=table.columns,
        known=known(table),
        rows=tuple((line, tuple(map(_short, cells))) for line, cells in table.head(_SHOWN)),
        file=table.path,
        found=found or "columns " + ", ".join(table.columns),
    )


def _short(cell: Any) -> Any:
    """Return a cell as JSON has it, cut where it is very long."""
    if isinstance(cell, float) and not math.isfinite(cell):
        return None
    if cell is None or isinstance(cell, bool | int | float):
        return cell
    if isinstance(cell, list | tuple):
        return [_short(inner) for inner in cell[:_LONGEST]]
    return str(cell)[:_LONGEST]


def _bonus(table: Table, found: Mapping[str, str], context: Context) -> Bonus:
    if context.bonus is not None:
        return context.bonus
    column = found["accepted" if "accepted" in found else "accept_len"]
    if normalised(column) in (*_COUNTS, *SAMPLE["accepted"]):
        return Bonus.OUT
    index = table.columns.index(column)
    examples = ", ".join(str(cells[index])[:40] for _, cells in table.head(5))
    problem = f"column {column} may or may not count the token that the target adds to every step"
    raise asking(table, problem, "bonus", f"values {examples}")


def _matched(table: Table, names: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Match names, each column once; of several columns for one thing that whose name stands first counts."""
    by_name: dict[str, list[str]] = {}
    for column in table.columns:
        by_name.setdefault(normalised(column), []).append(column)
    found: dict[str, str] = {}
    for ours, theirs in names.items():
        name = next((n for n in theirs if len(by_name.get(n, ())) == 1 and by_name[n][0] not in found.values()), None)
        if name is not None:
            found[ours] = by_name[name][0]
    return found


def _lists(table: Table) -> set[str]:
    """Return the columns whose first cell that is not empty is a list."""
    found: dict[str, bool] = {}
    for _, cells in table.head(20):
        for name, cell in zip(table.columns, cells, strict=True):
            if name not in found and cell not in (None, ""):
                found[name] = listed(cell) is not None
    return {name for name, is_list in found.items() if is_list}


def listed(cell: Any) -> list[Any] | None:
    """Return the list that a cell holds, as JSON or Python spell it; None when it holds none."""
    if isinstance(cell, list | tuple):
        return list(cell)
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            found = json.loads(cell)
        except ValueError:
            return None
        return found if isinstance(found, list) else None
    return None
