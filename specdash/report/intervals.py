"""How sure the numbers of a table are: a column of ± beside each that has an interval, and why some have none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from specdash.checks import words
from specdash.metrics import NO_INTERVAL
from specdash.report.tables import Column, Row, Table, metric_column
from specdash.schema import LEVEL

_HELP = (
    f"Half the width of the {LEVEL:.0%} interval over prompts. The interval reaches a little further to one side than "
    "to the other, and to one side alone where every step had the same outcome (±: its whole width); the CSV has its "
    "ends."
)
_FURTHER = 2  # decimals that ± may have more than its number
_NAMED = 4  # rows that a sentence names
_SENTENCES = 4


def with_margins(table: Table, rows: Sequence[Row]) -> Table:
    """Return a table with a column of ± after each whose numbers have intervals in some of the rows.

    Beside a number of steps stands how many independent ones they are worth.
    """
    columns: list[Column] = []
    shown = {column.metric for column in table.columns}
    for column in table.columns:
        columns.append(column)
        if column.metric == "steps" and any(row.get("effective_steps") for row in rows):
            columns += [metric_column("effective_steps")] if "effective_steps" not in shown else []
        margins = [margin for row in rows if (margin := column.margin(row)) is not None]
        if margins:
            columns.append(_margin(column, margins))
    return replace(table, columns=tuple(columns))


def _margin(column: Column, margins: Sequence[float]) -> Column:
    """Return the column of ± of another one, with decimals enough that the smallest of the margins is no 0."""
    smallest = min(margins) * (100 if column.percent else 1)
    enough = max(column.decimals, min(column.decimals + _FURTHER, math.ceil(-math.log10(smallest))))
    return replace(
        column,
        key=f"{column.key}_margin",
        label=f"± {column.label}",
        metric=None,
        decimals=enough,
        signed=False,
        derive=column.margin,
        carries=None,
        bounds=None,
        help=_HELP,
    )


def notes(rows: Sequence[Row]) -> list[str]:
    """Return the sentences that say why rows have no interval, or a rough one.

    Args:
        rows: Rows with "dataset" and "interval_note".
    """
    whom: dict[str, list[str]] = {}
    for row in rows:
        if row.get("interval_note"):
            whom.setdefault(row["interval_note"], []).append(row["dataset"])
    said = [_sentence(note, names, len(names) == len(rows)) for note, names in whom.items()]
    more = len(said) - _SENTENCES
    return said if more <= 0 else [*said[:_SENTENCES], f"The like holds for {more} more groups of rows."]


def _sentence(note: str, names: list[str], everybody: bool) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    named = ", ".join(map(words.name, names[:_NAMED])) + more
    if note.startswith(NO_INTERVAL):
        whom = "" if everybody else f" for {named}"
        return f"No interval{whom}: {note.removeprefix(NO_INTERVAL)}."
    return f"{note[0].upper()}{note[1:]}." if everybody else f"{named}: {note}."
