"""``profile_export_aiperf.csv``: the sums of an AIPerf run with two decimals, for where its JSON is not at hand.

Below the statistics of single requests stand rows of two cells, ``Metric,Value``; the counts of drafting among them are
whole numbers. The pooled histogram is in the JSON alone, so nothing by draft position is known.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace

from specdash.formats import aggregate
from specdash.formats.base import File, decimal, read_text
from specdash.formats.producer import Context
from specdash.schema import InputError, NothingToRead, Run

_HEAD = b"Metric,avg,min,max,sum,"
_COUNTS = {
    "steps": "Total Spec Decode Steps",
    "drafted": "Total Draft Tokens",
    "accepted": "Total Accepted Draft Tokens",
    "responses": "Request Count",
}
_LENGTH, _RATE = "Token-Weighted Acceptance Length", "Overall Draft Acceptance Rate"


def holds(file: File) -> bool:
    """Tell whether a file is such a table."""
    return file.head(64).removeprefix(b"\xef\xbb\xbf").startswith(_HEAD)


def read(files: Sequence[File], context: Context) -> Run:
    """Read the sums of a run.

    Raises:
        NothingToRead: There are none of drafting.
        InputError: A count is none.
    """
    path = files[0].path
    found = _values(files[0])
    counts = {name: _count(found, called, path) for name, called in _COUNTS.items()}
    if not counts["steps"] or counts["accepted"] is None:
        raise NothingToRead("the summary holds no drafting", file=path)
    row = aggregate.row(context.dataset, path, **counts)  # type: ignore[arg-type]
    rate = _value(found, _RATE)
    stored = aggregate.stored(
        context.dataset,
        tau=(_LENGTH, _value(found, _LENGTH)),
        acceptance_ratio=(_RATE, None if rate is None else round(rate / 100, 4)),
    )
    run = aggregate.run("summary", [row], context.k)
    return replace(run, printed=(stored,) if stored["decimals"] else ())


def _values(file: File) -> dict[str, str]:
    """Return the rows of two cells, their names without a unit."""
    try:
        lines = list(csv.reader(io.StringIO(read_text(file), newline=""), strict=True))
    except csv.Error as error:
        raise InputError(f"not readable as CSV ({error})", file=file.path) from None
    return {cells[0].partition(" (")[0]: cells[1] for cells in lines if len(cells) == 2}


def _value(found: dict[str, str], name: str) -> float | None:
    return decimal(found.get(name, "").strip())


def _count(found: dict[str, str], name: str, path: str) -> int | None:
    value = _value(found, name)
    if name in found and (value is None or not value.is_integer()):
        raise InputError(f"{name} is not a count", file=path, found=found[name], expected="a whole number")
    return None if value is None else int(value)
