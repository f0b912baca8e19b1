"""The ordered steps of an export: they are taken in only when they are the very steps that were counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from specdash.formats import stepload
from specdash.ingest.source import Member
from specdash.schema import STEPS, InputError
from specdash.store import tables

_REQUEST, *_NUMBERS = STEPS


@contextmanager
def readable(member: Member) -> Iterator[None]:
    """Say of a file that polars cannot read that it is damaged."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        said = (str(error) or repr(error)).splitlines()[0]
        raise InputError("not a readable Parquet file", file=member.path, found=said) from error


def columns(schema: Mapping[str, Any]) -> str:
    """Return the columns of a table for a message."""
    return ", ".join(f"{name} {kind}" for name, kind in schema.items())


def write(member: Member, responses: pl.DataFrame, counts: pl.DataFrame, target: Path) -> None:
    """Write the steps of a run anew, so that nothing but them is stored.

    Args:
        member: The file of the steps.
        responses: RESPONSES, each request once.
        counts: COUNTS, each (response, drafted, accepted) once.
        target: Parquet file to write.

    Raises:
        InputError: It is damaged, has other columns, or other steps than were counted.
        OSError: ``target`` cannot be written.
    """
    with readable(member):
        found = tables.schema_of(member.local())
    fits = list(found) == list(STEPS) and found[_REQUEST] in (pl.Int64, pl.String)
    if not fits or not all(found[name].is_integer() for name in _NUMBERS):
        expected = f"{_REQUEST} Int64 or String, " + ", ".join(f"{name} a whole number" for name in _NUMBERS)
        raise InputError("has other columns", file=member.path, found=columns(found), expected=expected)
    steps = stepload.scan(member.local())
    _check(member, steps, responses, counts)
    try:
        steps.with_columns(pl.col(_NUMBERS).cast(pl.UInt8)).sink_parquet(target, compression="zstd")
    except pl.exceptions.PolarsError as error:  # it was read once already: what fails now is the disk
        raise OSError(f"{target.name} could not be written: {error}") from error


def _check(member: Member, steps: pl.LazyFrame, responses: pl.DataFrame, counts: pl.DataFrame) -> None:
    """Check that the steps, grouped, are the counts."""
    key = (pl.col(_REQUEST).cast(pl.String), pl.col(_NUMBERS).cast(pl.Int64))
    with readable(member):
        rows = steps.select(pl.len()).collect().item()
        grouped = steps.group_by(STEPS).agg(steps=pl.len().cast(pl.Int64)).collect().with_columns(key)
    total = counts["steps"].sum()
    if rows != total:
        raise InputError(
            "has not the steps that were counted", file=member.path, found=f"{rows:,}", expected=f"{total:,}"
        )
    counted = counts.join(responses, on="response").select(*key, "steps")
    # As many steps in all, and every count found: so there is none besides.
    missing = counted.join(grouped, on=[*STEPS, "steps"], how="anti")
    for request, drafted, accepted, number in missing.head(1).iter_rows():
        raise InputError(
            f"has not the steps of request {request} that were counted",
            file=member.path,
            expected=f"{number:,} that drafted {drafted} and accepted {accepted}",
        )
