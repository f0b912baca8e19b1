"""The Parquet files of an export: their columns are looked at, then their rows are written anew.

So nothing is stored but the declared columns, whatever else a file may hide, and polars, which some damaged files
crash, only reads files that this machine wrote.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from specdash.formats import stepload
from specdash.ingest.source import Limits, Member
from specdash.schema import STEPS, InputError
from specdash.store import tables

_SQL = {pl.Int16: "SMALLINT", pl.Int32: "INTEGER", pl.Int64: "BIGINT", pl.Float64: "DOUBLE", pl.String: "VARCHAR"}

_WHOLE = [f"{sign}{size}" for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT") for sign in ("U", "")]

_VALUE = 4
"""Bytes that a value is taken to need, to refuse a small file of endless rows."""


def _sql(kind: pl.DataType) -> str:
    return f"{_sql(kind.inner)}[]" if isinstance(kind, pl.List) else _SQL[kind.base_type()]


_KINDS = {
    name: {column: [_sql(kind)] for column, kind in schema.items()} for name, schema in tables.SCHEMAS.items()
} | {"steps": dict(zip(STEPS, (["BIGINT", "VARCHAR"], _WHOLE, _WHOLE), strict=True))}
"""Types that each column of a table may have."""


def copy(name: str, member: Member, folder: Path, limits: Limits) -> Path:
    """Write the rows of a table anew.

    Args:
        name: Which table it is.
        member: The file that came.
        folder: Where the new file goes.
        limits: What it may unpack to.

    Returns:
        The new file.

    Raises:
        InputError: It is damaged, too large, or has not exactly the columns of the table.
        OSError: The machine ran out of disk or memory.
    """
    file, kinds = member.local(), _KINDS[name]
    found = stepload.parquet_columns(file, member.path)
    earlier = [column for column in kinds if column not in tables.SINCE_2.get(name, ())]
    if list(found) not in (list(kinds), earlier) or not all(found[column] in kinds[column] for column in found):
        raise InputError(
            "has other columns",
            file=member.path,
            found=", ".join(f"{column} {kind}" for column, kind in found.items()),
            expected=", ".join(f"{column} {' or '.join(kind[:2])}" for column, kind in kinds.items()),
        )
    size = stepload.parquet_rows(file, member.path) * len(kinds) * _VALUE
    limits.check(member.path, size, size)
    target = folder / f"{name}.parquet"
    stepload.copy_parquet(file, member.path, target)
    return target
