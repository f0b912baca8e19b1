"""The tables of one run as Parquet files in one folder."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import polars as pl

from specdash.schema import COUNTERS, COUNTS, LATENCIES, RATES, RESPONSES, STEPS, SUMS, Granularity, Run

SCHEMAS = {
    "responses": RESPONSES,
    "counts": COUNTS,
    "sums": SUMS,
    "counters": COUNTERS,
    "rates": RATES,
    "latencies": LATENCIES,
}
"""Tables that are read into memory; the ordered steps stay a file."""

NEEDED = {
    Granularity.STEP: ("responses", "counts", "steps"),
    Granularity.RESPONSE: ("responses",),
    Granularity.AGGREGATE: ("counters",),
    Granularity.RATES: ("rates",),
    Granularity.LATENCIES: ("latencies",),
}
"""Tables that a run of each granularity has."""

SINCE_2 = {"counters": ("exposed",), "rates": ("acceptance_ratio", "p", "c", "outcome")}
"""Columns that a table lacks which a specdash before format 2 wrote; they read as null."""

ALLOWED = {
    Granularity.STEP: ("responses", "counts", "sums", "steps", "latencies"),
    Granularity.RESPONSE: ("responses", "counts", "sums", "latencies"),
    Granularity.AGGREGATE: ("counters", "latencies"),
    Granularity.RATES: ("rates", "latencies"),
    Granularity.LATENCIES: ("latencies",),
}
"""Tables that it may have, in the order in which they are written. Responses come with counts, sums or both."""


def write(run: Run, folder: Path, *, spent: Path) -> list[str]:
    """Write the tables of ``run`` into the new folder ``folder``.

    Args:
        run: Its tables may hold more columns than the schema; those are not stored.
        folder: Must not exist.
        spent: A steps file below this folder is moved, any other is copied. Only a temporary file may be
            taken away from where it is: a run that was opened from a library keeps its file there.

    Returns:
        Names of the tables written.

    Raises:
        ValueError: A table is missing or does not fit its schema.
        OSError: A file cannot be written.
    """
    missing = [name for name in NEEDED[run.granularity] if getattr(run, name) is None]
    if run.responses is not None and run.counts is None and run.sums is None:
        missing.append("counts or sums")
    if missing:
        raise ValueError(f"run {run.name!r} of granularity {run.granularity} lacks {', '.join(missing)}")
    strange = {name for name in (*SCHEMAS, "steps") if getattr(run, name) is not None} - {*ALLOWED[run.granularity]}
    if strange:
        raise ValueError(f"run {run.name!r} of granularity {run.granularity} has {', '.join(sorted(strange))}")
    folder.mkdir(parents=True)
    names = []
    for name in ALLOWED[run.granularity]:
        table = getattr(run, name)
        if table is None:
            continue
        if name == "steps":
            _take(table, path(folder, name), spent, f"steps of run {run.name!r}")
        else:
            _write(_fitted(table, SCHEMAS[name], f"{name} of run {run.name!r}"), path(folder, name))
        names.append(name)
    return names


def read(folder: Path, names: list[str]) -> dict[str, Any]:
    """Read the tables ``names`` from ``folder``.

    Returns:
        Frames by name; for ``steps`` the path of its file.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: A file is damaged.
    """
    found: dict[str, Any] = {}
    for name in names:
        file = path(folder, name)
        if name == "steps":
            file.stat()  # only to notice that it is gone
            found[name] = file
            continue
        try:
            found[name] = completed(name, load(file))
        except pl.exceptions.PolarsError as error:
            raise ValueError(f"{file.name}: {error}") from error
    return found


def completed(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with the columns that an earlier specdash did not know, null."""
    lacking = [column for column in SINCE_2.get(name, ()) if column not in frame.columns]
    return frame.with_columns(pl.lit(None, SCHEMAS[name][column]).alias(column) for column in lacking)


def load(file: Path) -> pl.DataFrame:
    """Read one table.

    Raises:
        FileNotFoundError: There is no such file.
        polars.exceptions.PolarsError: It is damaged.
    """
    # The path of a library may hold [ or *, which must not be taken for a pattern.
    return pl.read_parquet(file, glob=False)


def schema_of(file: Path) -> pl.Schema:
    """Return the columns of a Parquet file.

    Raises:
        OSError: It cannot be read.
        polars.exceptions.PolarsError: It is no Parquet file.
    """
    # An open file, because polars would take [ or * in a path for a pattern.
    with file.open("rb") as opened:
        return pl.Schema(pl.read_parquet_schema(opened))


def path(folder: Path, name: str) -> Path:
    """Return where a table of a run is.

    Raises:
        ValueError: There is no table of that name.
    """
    if name != "steps" and name not in SCHEMAS:
        raise ValueError(f"no such table: {name!r}")
    return folder / f"{name}.parquet"


def _write(frame: pl.DataFrame, path: Path) -> None:
    try:
        frame.write_parquet(path, compression="zstd")
    except pl.exceptions.ComputeError as error:  # polars' word for a disk that is full
        raise OSError(f"{path.name} could not be written: {error}") from error


def _fitted(frame: pl.DataFrame, schema: pl.Schema, what: str) -> pl.DataFrame:
    """Return the declared columns of ``frame`` in the declared order and types.

    Raises:
        ValueError: A column is missing, is of another kind or holds values that its type cannot.
    """
    found = frame.schema
    wrong = [name for name, wanted in schema.items() if name not in found or not _fits(found[name], wanted)]
    if wrong:
        have = ", ".join(f"{name} {found.get(name, 'missing')}" for name in wrong)
        want = ", ".join(f"{name} {schema[name]}" for name in wrong)
        raise ValueError(f"{what} does not fit: found {have}; expected {want}")
    try:
        return frame.select(schema.names()).cast(dict(schema))
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{what} does not fit: {error}") from error


def _fits(found: pl.DataType, wanted: pl.DataType) -> bool:
    """Tell whether a cast keeps the meaning; polars itself would cut 2.7 to 2 and read "12" as a number."""
    if found in (wanted, pl.Null):
        return True
    if isinstance(wanted, pl.List):
        return isinstance(found, pl.List) and _fits(found.inner, wanted.inner)
    if wanted.is_integer():
        return found.is_integer()
    if wanted.is_float():
        return found.is_float() or found.is_integer()
    return isinstance(found, pl.Categorical | pl.Enum)


def _take(source: Path, target: Path, spent: Path, what: str) -> None:
    """Move or copy a file of ordered steps after a look at its columns.

    Raises:
        ValueError: It is no Parquet file or its columns are not those of ordered steps.
        OSError: It cannot be read or ``target`` cannot be written.
    """
    try:
        found = schema_of(source)
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{what}: {error}") from error
    request, *numbers = STEPS
    if (
        set(found) != set(STEPS)
        or found[request] not in (pl.Int64, pl.String)
        or not all(found[name].is_integer() for name in numbers)
    ):
        raise ValueError(f"{what} do not fit: found {dict(found)}; expected the columns {', '.join(STEPS)}")
    if source.resolve().is_relative_to(spent.resolve()):
        shutil.move(source, target)
    else:
        shutil.copyfile(source, target)
