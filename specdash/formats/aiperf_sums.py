"""The sums of an AIPerf run, for where the records of its requests are not at hand.

``profile_export_aiperf.json`` has them at full precision, with the pooled histogram of accepted tokens;
``profile_export_aiperf.csv`` with two decimals and without it, so that nothing by draft position is known. In the table
they stand below the statistics of single requests, in rows of two cells, ``Metric,Value``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from specdash.formats import aggregate
from specdash.formats.base import File, decimal, read_json, read_text
from specdash.formats.collect import histogram, number, whole
from specdash.formats.producer import Context
from specdash.schema import InputError, NothingToRead, Run

_HEAD = b"Metric,avg,min,max,sum,"
_COUNTS = {
    "steps": ("total_spec_decode_steps", "Total Spec Decode Steps"),
    "drafted": ("total_draft_tokens", "Total Draft Tokens"),
    "accepted": ("total_accepted_draft_tokens", "Total Accepted Draft Tokens"),
    "responses": ("request_count", "Request Count"),
}
_LENGTH = ("spec_decode_token_weighted_acceptance_length", "Token-Weighted Acceptance Length")
_RATE = ("spec_decode_overall_draft_acceptance_rate", "Overall Draft Acceptance Rate")
_HISTOGRAM = "pooled_spec_decode_acceptance_histogram"


def is_table(file: File) -> bool:
    """Tell whether a file is the table of a run."""
    return file.head(64).removeprefix(b"\xef\xbb\xbf").startswith(_HEAD)


def read(file: File, context: Context) -> Run:
    """Read the sums of a run from either file.

    Raises:
        NothingToRead: There are none of drafting.
        InputError: A count is none.
    """
    if is_table(file):
        cells = _cells(file)
        counts = {name: _printed_count(cells, called, file.path) for name, (_, called) in _COUNTS.items()}
        length, rate = (decimal(cells.get(called, "").strip()) for _, called in (_LENGTH, _RATE))
        called, pooled = (_LENGTH[1], _RATE[1]), None
    else:
        found = read_json(file)
        counts = {name: whole(_average(found, at, file), name, file.path) for name, (at, _) in _COUNTS.items()}
        length, rate = (_average(found, at, file) for at, _ in (_LENGTH, _RATE))
        called, pooled = (_LENGTH[0], _RATE[0]), histogram(found.get(_HISTOGRAM), "histogram", file.path)
    return _run(counts, pooled, (length, rate), called, context, file.path)


def _run(
    counts: Mapping[str, int | None],
    pooled: Mapping[int, int] | None,
    ratios: tuple[float | None, float | None],
    called: tuple[str, str],
    context: Context,
    path: str,
) -> Run:
    """Return the run of sums.

    Args:
        counts: By our names.
        pooled: Steps by accepted tokens, None where they are not told.
        ratios: The acceptance length, and the accepted share of the drafted tokens in percent.
        called: What the file calls the two.
        context: Of the reader.
        path: Of the file.
    """
    steps, drafted, accepted = counts["steps"], counts["drafted"], counts["accepted"]
    if not steps or accepted is None:
        raise NothingToRead("the summary holds no drafting", file=path)
    hits = None
    if pooled and sum(pooled.values()) == steps:
        hits = [sum(n for j, n in pooled.items() if j > i) for i in range(max(pooled))]
    row = aggregate.row(
        context.dataset,
        path,
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        per_position=hits or None,
        responses=counts["responses"],
    )
    # A histogram does not show positions that nothing was accepted at, so its length need not be K.
    row["block"] = None if drafted is None or context.k is None or drafted != context.k * steps else row["block"]
    length, percent = ratios
    stored = aggregate.stored(
        context.dataset,
        tau=(called[0], length),
        acceptance_ratio=(called[1], None if percent is None else round(percent / 100, 15)),
    )
    run = aggregate.run("summary", [row], context.k)
    return replace(run, printed=(stored,) if stored["decimals"] else ())


def _average(found: Mapping[str, Any], name: str, file: File) -> float | None:
    entry = found.get(name)
    return number(entry.get("avg") if isinstance(entry, dict) else entry, name, file.path)


def _cells(file: File) -> dict[str, str]:
    """Return the rows of two cells, their names without a unit."""
    try:
        lines = list(csv.reader(io.StringIO(read_text(file), newline=""), strict=True))
    except csv.Error as error:
        raise InputError(f"not readable as CSV ({error})", file=file.path) from None
    return {cells[0].partition(" (")[0]: cells[1] for cells in lines if len(cells) == 2}


def _printed_count(cells: Mapping[str, str], name: str, path: str) -> int | None:
    value = decimal(cells.get(name, "").strip())
    if name in cells and (value is None or not value.is_integer()):
        raise InputError(f"{name} is not a count", file=path, found=cells[name], expected="a whole number")
    return None if value is None else int(value)
