"""DuckDB at work on one step log: CSV or Parquet in, a Parquet file of checked steps out.

Its CSV casts bend values in silence (2.6 becomes 3, 1_0 becomes 10, a row cut short becomes null), so it is trusted
only where that cannot happen. A log of nothing but digits, commas and line ends is loaded as numbers, which must take
as many characters as it has; any other is loaded as text with every value checked. Where DuckDB refuses a file, or a
check fails, the file is read once more row by row (``formats.rows``): that names the wrong line or yields the rows.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import duckdb
import polars as pl

from specdash.formats import rows
from specdash.schema import MAX_DRAFTED, InputError

_COLUMNS = ("request", "drafted", "accepted")


@dataclass(frozen=True)
class Layout:
    """How a CSV is laid out.

    Attributes:
        width: Number of columns.
        columns: Index of the columns request, drafted, accepted.
        header: Whether the first row that is not blank is a header.
        body: Bytes before the first data row.
    """

    width: int
    columns: dict[str, int]
    header: bool
    body: int


BARE = Layout(3, {column: i for i, column in enumerate(_COLUMNS)}, header=False, body=0)
"""Three columns in our order, no header."""


def load_csv(source: Path, name: str, layout: Layout, target: Path) -> None:
    """Load a CSV.

    Args:
        source: The log on disk, uncompressed.
        name: Its path inside the evaluation, for messages.
        layout: Where its columns are.
        target: Parquet file to write.

    Raises:
        InputError: The first row that is wrong, by its line.
        OSError: The machine ran out of disk or memory.
    """
    made = rows.plain(source, layout.body) if layout.width == len(_COLUMNS) else None
    if made and _copied(_numbers(source, name, layout), target) and _valid(target) and _spelled(target) == made:
        return
    blanks = rows.has_blanks(source, layout.body)
    if _copied(_text(source, name, layout, blanks=blanks), target) and _valid(target):
        return
    clean = target.with_suffix(".clean.csv")
    count = rows.rewrite(source, name, layout.columns, layout.width, layout.header, clean)
    if not count:
        raise empty(name)
    if not (_copied(_text(clean, name, BARE, blanks=False), target) and _rows(target) == count and _valid(target)):
        raise InputError("the step log cannot be loaded", file=name)
    clean.unlink()


def empty(name: str) -> InputError:
    """Return the error that a step log has no rows."""
    return InputError("the step log is empty", file=name, expected="a row a verify step")


def parquet_columns(source: Path, name: str) -> dict[str, str]:
    """Return the types of the columns of a Parquet file, in DuckDB's words, by their names.

    Raises:
        InputError: It is none.
    """
    try:
        described = _connect().execute(f"DESCRIBE SELECT * FROM {_parquet(source, name)}").fetchall()
    except duckdb.Error as error:
        raise _unreadable(source, name, error) from None
    return {column: kind for column, kind, *_ in described}


def parquet_rows(source: Path, name: str) -> int:
    """Return how many rows a Parquet file says it has.

    Raises:
        InputError: It cannot be read.
    """
    try:
        return _connect().execute(f"SELECT count(*) FROM {_parquet(source, name)}").fetchone()[0]
    except duckdb.Error as error:
        raise _unreadable(source, name, error) from None


def parquet_cells(source: Path, name: str, columns: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """Yield the cells of some columns of a Parquet file, row by row.

    Raises:
        InputError: It cannot be read.
    """
    wanted = ", ".join(f'"{column.replace(chr(34), chr(34) * 2)}"' for column in columns)
    try:
        result = _connect().execute(f"SELECT {wanted} FROM {_parquet(source, name)}")
        while batch := result.fetchmany(10_000):
            yield from batch
    except duckdb.Error as error:
        raise _unreadable(source, name, error) from None


def copy_parquet(source: Path, name: str, target: Path) -> None:
    """Write the rows of a Parquet file anew: what comes out is safe to be read by polars, which damaged files crash.

    Args:
        source: The file.
        name: Its path inside the evaluation, for messages.
        target: Parquet file to write.

    Raises:
        InputError: It cannot be read.
        OSError: The machine ran out of disk or memory.
    """
    if not _copied(f"SELECT * FROM {_parquet(source, name)}", target):
        raise InputError("not a readable Parquet file", file=name)


def load_parquet(source: Path, name: str, columns: dict[str, str], target: Path) -> None:
    """Load a Parquet log.

    Args:
        source: The log on disk.
        name: Its path inside the evaluation, for messages.
        columns: Our columns to their names in the file.
        target: Parquet file to write.

    Raises:
        InputError: The first row that is wrong, by its number, or the file is damaged.
        OSError: The machine ran out of disk or memory.
    """
    cells = {ours: f'CAST("{theirs.replace(chr(34), chr(34) * 2)}" AS VARCHAR)' for ours, theirs in columns.items()}
    relation = _parquet(source, name)
    if _copied(_checked(cells, relation, blanks=True), target) and _valid(target):
        return
    try:
        _explain(name, f"SELECT {', '.join(cells[column] for column in _COLUMNS)} FROM {relation}")
    except duckdb.Error as error:
        raise _unreadable(source, name, error) from None


def _explain(name: str, query: str) -> None:
    """Raise the error that names the first wrong row of a Parquet log."""
    result = _connect().execute(query)
    number = 0
    while batch := result.fetchmany(100_000):
        for cells in batch:
            number += 1
            rows.check(name, number, *(cell or "" for cell in cells))
    raise InputError("the step log cannot be loaded", file=name) if number else empty(name)


def _unreadable(source: Path, name: str, error: duckdb.Error) -> InputError:
    said = str(error).splitlines()[0].replace(str(source), name)
    return InputError("not a readable Parquet file", file=name, found=said)


def _literal(path: Path, name: str) -> str:
    """Return a path as an SQL text.

    Raises:
        InputError: It cannot be spelled in UTF-8.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise InputError("lies under a path that is not UTF-8 text", file=name, found=str(path)) from None
    return "'" + str(path).replace("'", "''") + "'"


def _pattern(path: Path, name: str) -> str:
    """Return a path as an SQL text that matches this file alone: DuckDB reads ``run[1]`` as ``run1``."""
    return _literal(Path(re.sub(r"([\[*?])", r"[\1]", str(path))), name)


def _parquet(source: Path, name: str) -> str:
    # Without hive_partitioning=false a folder named k=7 would become a column k.
    return f"read_parquet({_pattern(source, name)}, hive_partitioning=false)"


def _csv(source: Path, name: str, layout: Layout, types: dict[str, str]) -> str:
    by_index = {index: types[column] for column, index in layout.columns.items()}
    columns = ", ".join(f"'c{i}': '{by_index.get(i, 'VARCHAR')}'" for i in range(layout.width))
    header = "true" if layout.header else "false"
    return (
        f"read_csv({_pattern(source, name)}, columns={{{columns}}}, header={header}, delim=',', quote='\"', "
        "escape='\"', auto_detect=false, compression='none', hive_partitioning=false)"
    )


def _numbers(source: Path, name: str, layout: Layout) -> str:
    relation = _csv(source, name, layout, {"request": "BIGINT", "drafted": "UTINYINT", "accepted": "UTINYINT"})
    return "SELECT " + ", ".join(f"c{layout.columns[c]} AS {c}" for c in _COLUMNS) + f" FROM {relation}"


def _text(source: Path, name: str, layout: Layout, *, blanks: bool) -> str:
    relation = _csv(source, name, layout, dict.fromkeys(_COLUMNS, "VARCHAR"))
    return _checked({column: f"c{index}" for column, index in layout.columns.items()}, relation, blanks=blanks)


def _checked(cells: dict[str, str], relation: str, *, blanks: bool) -> str:
    """Return the query that turns text cells into a step; a cell that ``rows.check`` would refuse becomes null.

    Args:
        cells: SQL of each of our columns.
        relation: SQL of where they are.
        blanks: Whether there may be other blanks than spaces around them; trimming those takes twice the time.
    """
    around = ", " + " || ".join(f"chr({ord(c)})" for c in rows.BLANK) if blanks else ""

    def number(cell: str) -> str:
        whole = f"regexp_full_match(trim({cell}{around}), '{rows.WHOLE}')"
        return f"CASE WHEN {whole} THEN TRY_CAST(TRY_CAST(trim({cell}{around}) AS DOUBLE) AS UTINYINT) END"

    return (
        f"SELECT nullif(trim({cells['request']}{around}), '') AS request, {number(cells['drafted'])} AS drafted, "
        f"{number(cells['accepted'])} AS accepted FROM {relation}"
    )


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """Return the empty database in memory that all loads share: opening one takes longer than a small log."""
    spill = Path(tempfile.gettempdir()) / "specdash-spill"  # made when needed; DuckDB's own is where we happen to be
    # A file that was written anew must be read anew: no cache of files.
    settings = {"autoinstall_known_extensions": "false", "enable_external_file_cache": "false"}
    return duckdb.connect(config=settings | {"temp_directory": str(spill)})


def _connect() -> duckdb.DuckDBPyConnection:
    """Return a connection of its own for the calling thread."""
    return _database().cursor()


def _copied(query: str, target: Path) -> bool:
    """Run a query into a Parquet file; False when DuckDB refuses the input.

    Raises:
        OSError: The machine ran out of disk or memory.
    """
    copy = f"COPY ({query}) TO {_literal(target, target.name)} (FORMAT parquet, COMPRESSION zstd)"
    try:
        _connect().execute(copy)
    except duckdb.Error as error:
        if isinstance(error, duckdb.OutOfMemoryException) or "No space left" in str(error):
            raise OSError(f"the step log cannot be loaded: {str(error).splitlines()[0]}") from error
        return False
    except RuntimeError as error:
        if "interrupted" in str(error):  # DuckDB's word for Ctrl-C
            raise KeyboardInterrupt from error
        raise
    return True


def join(targets: list[Path], steps: Path) -> None:
    """Concatenate the Parquet files of shards, in their order; ids become text unless all are numbers.

    Raises:
        OSError: The machine ran out of disk or memory.
    """
    kinds = {scan(target).collect_schema()["request"] for target in targets}
    request = "request" if len(kinds) == 1 else "CAST(request AS VARCHAR) AS request"
    # Not one read_parquet of all: it would cast the ids of every file to the type of the first one.
    parts = [f"SELECT {request}, drafted, accepted FROM {_parquet(target, target.name)}" for target in targets]
    if not _copied(" UNION ALL ".join(parts), steps):
        raise OSError("the shards of the step log cannot be joined")


def scan(steps: Path) -> pl.LazyFrame:
    """Return a Parquet file of steps, of whatever name, as a lazy frame."""
    return pl.scan_parquet(steps, glob=False, hive_partitioning=False)


def _spelled(target: Path) -> rows.Plain:
    """Return the lines and characters of a plain CSV that spells whole numbers as they are spelled.

    A CSV of as many lines and more characters has leading zeros, which are not to be lost (as an id, 007 is not 7), or
    something else that did not make it into the numbers.
    """
    steps = scan(target)
    longest = steps.select(pl.all().cast(pl.Int64).max()).collect().row(0, named=True)
    digits = [
        (pl.col(column) >= 10**power).sum().cast(pl.Int64)
        for column, largest in longest.items()
        for power in range(1, len(str(largest)))
    ]
    found = steps.select(pl.len().cast(pl.Int64), pl.sum_horizontal(digits or [pl.lit(0)])).collect()
    lines, further = found.row(0)
    return rows.Plain(lines, lines * (2 * len(longest) - 1) + further)


def _rows(target: Path) -> int:
    return scan(target).select(pl.len()).collect().item()


def _valid(target: Path) -> bool:
    """Tell whether every step of a Parquet file could have happened, and there is at least one."""
    step = scan(target).select(
        rows=pl.len(),
        nulls=pl.any_horizontal(pl.all().is_null()).sum(),
        drafted=pl.col("drafted").max(),
        over=(pl.col("accepted") > pl.col("drafted")).sum(),
    )
    found = step.collect().row(0, named=True)
    return found["rows"] > 0 and not found["nulls"] and not found["over"] and found["drafted"] <= MAX_DRAFTED
