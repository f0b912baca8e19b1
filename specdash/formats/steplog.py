"""Step logs: a row a verify step, ``request, drafted, accepted``, as CSV (also gzipped) or Parquet.

DuckDB loads them. Its CSV casts bend values in silence (2.6 becomes 3, 1_0 becomes 10, a row cut short becomes
null), so it is trusted only where that cannot happen: a log made of nothing but digits, commas and line ends is
loaded as numbers, any other as text with every value checked. Where DuckDB refuses a file, or a check fails, the
file is read once more row by row (``formats.rows``), which either names the line that is wrong or yields the rows.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import duckdb
import polars as pl

from specdash.formats import rows
from specdash.formats.base import File, Format, Role, has_suffix, natural, stem
from specdash.formats.synonyms import STEP, match
from specdash.schema import MAX_DRAFTED, InputError

_PLAIN_BYTES = b"0123456789,\r\n"
_CHUNK = 1 << 20
_EXPECTED = "columns request_id, drafted, accepted (or their synonyms), or three columns in that order without a header"


@dataclass(frozen=True)
class StepLog:
    """A step log, loaded and checked.

    Attributes:
        steps: Parquet file of the ordered steps (schema.STEPS).
        requests: One row a request, ``request``: by number where all ids are whole numbers, else by first appearance.
        numbered: All ids are whole numbers.
        counts: ``request, drafted, accepted, steps``, one row a combination that occurs.
    """

    steps: Path
    requests: pl.Series
    numbered: bool
    counts: pl.DataFrame


@dataclass(frozen=True)
class _Layout:
    """How a CSV is laid out: number of columns, index of each of ours, bytes before the first data row."""

    width: int
    columns: dict[str, int]
    header: bool
    body: int


def _looks_like_steps(file: File) -> bool:
    if has_suffix(file, ".parquet"):
        return file.head(4) == b"PAR1"
    if not has_suffix(file, ".csv"):
        return False
    try:
        _layout(file)
    except InputError:
        return False
    return True


FORMAT = Format(
    key="step-log",
    role=Role.STEPS,
    what="step log (spec_log*.csv, .csv.gz or .parquet)",
    named=lambda file: stem(file).lower().startswith("spec_log") and has_suffix(file, ".csv", ".parquet"),
    looks=_looks_like_steps,
)


def read(files: list[File], workspace: Path) -> StepLog:
    """Load the shards of one step log.

    Args:
        files: The shards; they are concatenated in the natural order of their names.
        workspace: Folder for the Parquet files this writes.

    Raises:
        InputError: A shard is no step log, a row is wrong, the log is empty, or two shards share a request.
    """
    shards = []
    for number, file in enumerate(sorted(files, key=lambda f: natural(f.name))):
        target = workspace / f"shard{number}.parquet"
        (_load_parquet if has_suffix(file, ".parquet") else _load_csv)(file, target)
        shards.append((file, target))
    _check_disjoint(shards)
    return _summarised(_joined([target for _, target in shards], workspace / "steps.parquet"))


def _layout(file: File) -> _Layout:
    """Find the columns of a CSV from its first line that is not blank.

    Raises:
        InputError: There is no row, or the columns are not those of a step log.
    """
    head = file.head()
    offset = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    number = 0
    for raw in head[offset:].splitlines(keepends=True):
        number, offset = number + 1, offset + len(raw)
        if raw.strip():
            break
    else:
        raise InputError("the step log is empty", file=file.path, expected="a row a verify step")
    try:
        cells = next(csv.reader([raw.decode("utf-8")]))
    except (UnicodeDecodeError, csv.Error):
        raise InputError("not a CSV file", file=file.path, line=number, found=raw[:60], expected=_EXPECTED) from None
    if any(rows.is_number(cell) for cell in cells[1:]):
        if len(cells) != 3:
            raise InputError(
                "wrong columns",
                file=file.path,
                line=number,
                found=f"{len(cells)} columns without a header",
                expected=_EXPECTED,
            )
        return _Layout(3, {"request": 0, "drafted": 1, "accepted": 2}, header=False, body=0)
    found = match(cells, STEP, file=file.path, line=number)
    if missing := [column for column in STEP if column not in found]:
        names = ", ".join(cell.strip() for cell in cells)
        raise InputError(
            f"no column for {' and '.join(missing)}",
            file=file.path,
            line=number,
            found=f"columns {names}",
            expected=_EXPECTED,
        )
    return _Layout(len(cells), {column: cells.index(name) for column, name in found.items()}, header=True, body=offset)


def _load_csv(file: File, target: Path) -> None:
    layout = _layout(file)
    source = file.local()
    plain, lines = _scan(source, layout.body)
    if plain and _copied(_csv_numbers(source, layout), target) and _rows(target) == lines and _valid(target):
        return
    if _copied(_csv_text(source, layout), target) and _valid(target):
        return
    clean = target.with_suffix(".clean.csv")
    count = rows.rewrite(source, file.path, layout.columns, layout.width, layout.header, clean)
    if not count:
        raise InputError("the step log is empty", file=file.path, expected="a row a verify step")
    clean_layout = _Layout(3, {"request": 0, "drafted": 1, "accepted": 2}, header=False, body=0)
    if not (_copied(_csv_text(clean, clean_layout), target) and _rows(target) == count and _valid(target)):
        raise InputError("the step log cannot be loaded", file=file.path)
    clean.unlink()


def _load_parquet(file: File, target: Path) -> None:
    source = _quoted(file.local())
    try:
        names = [
            name for name, *_ in duckdb.connect().execute(f"DESCRIBE SELECT * FROM read_parquet({source})").fetchall()
        ]
    except duckdb.Error as error:
        raise InputError("not a readable Parquet file", file=file.path, found=str(error).splitlines()[0]) from None
    found = match(names, STEP, file=file.path)
    if missing := [column for column in STEP if column not in found]:
        raise InputError(
            f"no column for {' and '.join(missing)}",
            file=file.path,
            found=f"columns {', '.join(names)}",
            expected=_EXPECTED,
        )
    cells = {column: f'CAST("{name.replace(chr(34), chr(34) * 2)}" AS VARCHAR)' for column, name in found.items()}
    if _copied(_checked(cells, f"read_parquet({source})"), target) and _valid(target):
        return
    _explain_parquet(file, cells, source)


def _explain_parquet(file: File, cells: dict[str, str], source: str) -> None:
    """Raise the error that names the first wrong row of a Parquet log."""
    query = f"SELECT {cells['request']}, {cells['drafted']}, {cells['accepted']} FROM read_parquet({source})"
    result = duckdb.connect().execute(query)
    number = 0
    while batch := result.fetchmany(100_000):
        for request, drafted, accepted in batch:
            number += 1
            rows.check(file.path, number, request or "", drafted or "", accepted or "")
    raise InputError("the step log is empty", file=file.path, expected="a row a verify step")


def _scan(source: Path, body: int) -> tuple[bool, int]:
    """Tell whether the bytes after ``body`` are digits, commas and line ends only, and count the lines there."""
    lines, last = 0, b"\n"
    with source.open("rb") as stream:
        stream.seek(body)
        while chunk := stream.read(_CHUNK):
            if chunk.translate(None, _PLAIN_BYTES):
                return False, 0
            lines += chunk.count(b"\n")
            last = chunk[-1:]
    return True, lines + (last != b"\n")


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _read_csv(source: Path, layout: _Layout, types: dict[str, str]) -> str:
    by_index = {index: types[column] for column, index in layout.columns.items()}
    columns = ", ".join(f"'c{i}': '{by_index.get(i, 'VARCHAR')}'" for i in range(layout.width))
    header = "true" if layout.header else "false"
    return (
        f"read_csv({_quoted(source)}, columns={{{columns}}}, header={header}, delim=',', quote='\"', escape='\"', "
        "auto_detect=false)"
    )


def _csv_numbers(source: Path, layout: _Layout) -> str:
    relation = _read_csv(source, layout, {"request": "BIGINT", "drafted": "UTINYINT", "accepted": "UTINYINT"})
    return "SELECT " + ", ".join(f"c{layout.columns[c]} AS {c}" for c in STEP) + f" FROM {relation}"


def _csv_text(source: Path, layout: _Layout) -> str:
    relation = _read_csv(source, layout, dict.fromkeys(STEP, "VARCHAR"))
    return _checked({column: f"c{index}" for column, index in layout.columns.items()}, relation)


def _checked(cells: dict[str, str], relation: str) -> str:
    """Return the query that turns text cells into a step; a cell that ``rows.check`` would refuse becomes null."""

    def number(cell: str) -> str:
        whole = f"regexp_full_match(trim({cell}), '{rows.WHOLE}')"
        return f"CASE WHEN {whole} THEN TRY_CAST(TRY_CAST(trim({cell}) AS DOUBLE) AS UTINYINT) END"

    return (
        f"SELECT nullif(trim({cells['request']}), '') AS request, {number(cells['drafted'])} AS drafted, "
        f"{number(cells['accepted'])} AS accepted FROM {relation}"
    )


def _copied(query: str, target: Path) -> bool:
    """Run a query into a Parquet file; False when DuckDB refuses the input."""
    try:
        duckdb.connect().execute(f"COPY ({query}) TO {_quoted(target)} (FORMAT parquet, COMPRESSION zstd)")
    except duckdb.Error as error:
        if isinstance(error, duckdb.IOException | duckdb.OutOfMemoryException):
            raise
        return False
    return True


def _rows(target: Path) -> int:
    return pl.scan_parquet(target).select(pl.len()).collect().item()


def _valid(target: Path) -> bool:
    """Tell whether every step of a Parquet file could have happened, and there is at least one."""
    step = pl.scan_parquet(target).select(
        rows=pl.len(),
        nulls=pl.any_horizontal(pl.all().is_null()).sum(),
        drafted=pl.col("drafted").max(),
        over=(pl.col("accepted") > pl.col("drafted")).sum(),
    )
    found = step.collect().row(0, named=True)
    return found["rows"] > 0 and not found["nulls"] and not found["over"] and found["drafted"] <= MAX_DRAFTED


def _check_disjoint(shards: list[tuple[File, Path]]) -> None:
    seen: dict[str, str] = {}
    for file, target in shards if len(shards) > 1 else []:
        requests = pl.scan_parquet(target).select(pl.col("request").cast(pl.String).unique()).collect()["request"]
        if shared := next((r for r in requests if r in seen), None):
            raise InputError(
                f"request {shared} is in {seen[shared]} too",
                file=file.path,
                expected="shards with disjoint request ids",
            )
        seen |= dict.fromkeys(requests, file.path)


def _joined(targets: list[Path], steps: Path) -> Path:
    if len(targets) == 1:
        return targets[0].replace(steps)
    types = {pl.scan_parquet(target).collect_schema()["request"] for target in targets}
    request = "request" if len(types) == 1 else "CAST(request AS VARCHAR) AS request"
    files = ", ".join(_quoted(target) for target in targets)
    duckdb.connect().execute(
        f"COPY (SELECT {request}, drafted, accepted FROM read_parquet([{files}])) TO {_quoted(steps)} "
        "(FORMAT parquet, COMPRESSION zstd)"
    )
    for target in targets:
        target.unlink()
    return steps


def _summarised(steps: Path) -> StepLog:
    scan = pl.scan_parquet(steps)
    counts = scan.group_by("request", "drafted", "accepted").agg(steps=pl.len().cast(pl.Int64)).collect()
    numbered = counts.schema["request"] == pl.Int64
    if numbered:
        requests = counts["request"].unique().sort()
    else:
        requests = scan.select(pl.col("request").unique(maintain_order=True)).collect()["request"]
        numbers = requests.cast(pl.Int64, strict=False)
        numbered = not numbers.null_count()
        if numbered:
            requests = requests.gather(numbers.arg_sort())
    return StepLog(steps, requests, numbered, counts)
