"""Step logs: a row a verify step, ``request, drafted, accepted``, as CSV (also gzipped) or Parquet."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from specdash.formats import rows, stepload
from specdash.formats.base import File, Format, Role, has_suffix, natural, stem
from specdash.formats.stepload import Layout
from specdash.formats.synonyms import STEP, match
from specdash.schema import InputError

_EXPECTED = "columns request_id, drafted, accepted (or their synonyms), or three columns in that order without a header"


@dataclass(frozen=True)
class StepLog:
    """A step log, loaded and checked.

    Attributes:
        steps: Parquet file of the ordered steps (schema.STEPS).
        requests: One row a request, ``request``: by number where all ids are whole numbers, else by first appearance.
        numbers: The ids as numbers in the same order, where all are different whole numbers; else None.
        counts: ``request, drafted, accepted, steps``, one row a combination that occurs.
    """

    steps: Path
    requests: pl.Series
    numbers: np.ndarray | None
    counts: pl.DataFrame


def _looks_like_steps(file: File) -> bool:
    try:
        if has_suffix(file, ".parquet"):
            return file.head(4) == b"PAR1" and bool(_parquet_columns(file))
        return has_suffix(file, ".csv") and bool(_layout(file))
    except InputError:
        return False


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
        OSError: The machine ran out of disk or memory.
    """
    shards = []
    for number, file in enumerate(sorted(files, key=lambda f: natural(f.name))):
        target = workspace / f"shard{number}.parquet"
        if has_suffix(file, ".parquet"):
            stepload.load_parquet(file.local(), file.path, _parquet_columns(file), target)
        else:
            stepload.load_csv(file.local(), file.path, _layout(file), target)
        shards.append((file, target))
    _check_disjoint(shards)
    return _summarised(_joined([target for _, target in shards], workspace / "steps.parquet"))


def _layout(file: File) -> Layout:
    """Find the columns of a CSV from its first row that is not blank.

    Raises:
        InputError: There is no row, or the columns are not those of a step log.
    """
    head = file.head().removeprefix(b"\xef\xbb\xbf")
    lines = head.splitlines(keepends=True)
    number = next((i for i, raw in enumerate(lines, start=1) if raw.strip()), None)
    if number is None:
        raise stepload.empty(file.path)
    try:
        row = csv.reader((raw.decode() for raw in lines[number - 1 :]), skipinitialspace=True, strict=True)
        cells = next(row)
    except (UnicodeDecodeError, csv.Error):
        found = lines[number - 1][:60]
        raise InputError("not a CSV file", file=file.path, line=number, found=found, expected=_EXPECTED) from None
    if any(rows.is_number(cell) for cell in cells[1:]):
        if len(cells) != 3:
            raise InputError(
                "wrong columns",
                file=file.path,
                line=number,
                found=f"{len(cells)} columns without a header",
                expected=_EXPECTED,
            )
        return stepload.BARE
    columns = _columns(cells, file.path, number)
    body = len(file.head()) - len(head) + sum(map(len, lines[: number - 1 + row.line_num]))
    return Layout(len(cells), {ours: cells.index(theirs) for ours, theirs in columns.items()}, header=True, body=body)


def _parquet_columns(file: File) -> dict[str, str]:
    return _columns(list(stepload.parquet_columns(file.local(), file.path)), file.path, None)


def _columns(names: list[str], path: str, line: int | None) -> dict[str, str]:
    """Return our columns to their names in the file.

    Raises:
        InputError: One is missing; the message lists those that are there.
    """
    found = match(names, STEP, file=path, line=line)
    if missing := [column for column in STEP if column not in found]:
        raise InputError(
            f"no column for {' and '.join(missing)}",
            file=path,
            line=line,
            found="columns " + ", ".join(name.strip() for name in names),
            expected=_EXPECTED,
        )
    return found


def _check_disjoint(shards: list[tuple[File, Path]]) -> None:
    seen: dict[str, str] = {}
    for file, target in shards if len(shards) > 1 else []:
        ids = pl.col("request").cast(pl.String).unique(maintain_order=True)
        requests = stepload.scan(target).select(ids).collect()["request"]
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
    stepload.join(targets, steps)
    for target in targets:
        target.unlink()
    return steps


def _summarised(steps: Path) -> StepLog:
    scan = stepload.scan(steps)
    counts = scan.group_by("request", "drafted", "accepted").agg(steps=pl.len().cast(pl.Int64)).collect()
    if counts.schema["request"] == pl.Int64:
        requests = counts["request"].unique().sort()
        return StepLog(steps, requests, requests.to_numpy(), counts)
    requests = scan.select(pl.col("request").unique(maintain_order=True)).collect()["request"]
    # A table that once had gaps writes its whole-number ids as 17.0.
    numbers = requests.str.replace(r"\.0+$", "").cast(pl.Int64, strict=False)
    if numbers.null_count() or numbers.n_unique() < numbers.len():
        return StepLog(steps, requests, None, counts)
    order = numbers.arg_sort()
    return StepLog(steps, requests.gather(order), numbers.gather(order).to_numpy(), counts)
