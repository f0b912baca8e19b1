"""``speed_bench_report.csv`` of AIPerf: a row a model, a column a category, figures of two decimals, no counts.

What the figures are does not stand in the file; its name says it as a rule (accept_length, accept_rate, throughput),
else their size does. Acceptance lengths count the bonus token. ``Overall`` is the mean of the categories, not of the
steps, and of several data-parallel engines the tool reads the first: nothing here can be pooled.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from specdash.formats import aggregate
from specdash.formats.base import File, read_text
from specdash.formats.producer import Context, Producer, Together
from specdash.schema import MAX_DRAFTED, Bonus, End, InputError, NothingToRead, Run, Semantics, Span, Undrafted

_OVERALL = "Overall"

_SEMANTICS = Semantics(
    producer="AIPerf, SPEED-Bench report",
    bonus=Bonus.IN,
    span=Span.RUN,
    end=End.UNKNOWN,
    undrafted=Undrafted.OMITTED,
    note="Two decimals a category. Its Overall is the mean of the categories; it is left out.",
)


def _looks(file: File) -> bool:
    first = file.head(2048).split(b"\n", 1)[0].lstrip(b"\xef\xbb\xbf").strip()
    return first.startswith(b"Model,") and first.endswith(b"," + _OVERALL.encode())


@dataclass
class _Report:
    """The figures of a report by model and category."""

    figure: str
    rows: dict[str, dict[str, float | None]]


def _read(files: Sequence[File], context: Context) -> list[Run]:
    reports = [report for report in map(_report, files) if report.figure in ("tau", "acceptance_ratio")]
    if not reports:
        raise NothingToRead("holds neither acceptance lengths nor rates", file=files[0].path)
    models = list(dict.fromkeys(model for report in reports for model in report.rows))
    runs = []
    for model in models:
        rows: dict[str, dict[str, object]] = {}
        for report in reports:
            for category, value in report.rows.get(model, {}).items():
                rows.setdefault(category, {"dataset": category})[report.figure] = value
        label = "report" if len(models) == 1 else f"report/{model}"
        runs.append(aggregate.rates_run(label, list(rows.values()), context.k, config={"model": model}))
    return runs


def _report(file: File) -> _Report:
    try:
        header, *lines = csv.reader(io.StringIO(read_text(file), newline=""), strict=True)
    except csv.Error as error:
        raise InputError(f"not readable as CSV ({error})", file=file.path) from None
    categories = header[1:-1]
    rows: dict[str, dict[str, float | None]] = {}
    for number, cells in enumerate(lines, start=2):
        if not any(cells):
            continue
        if len(cells) != len(header) or not cells[0].strip() or cells[0] in rows:
            expected = f"a model and {len(header) - 1} figures, a row a model"
            raise InputError("a row is odd", file=file.path, line=number, found=",".join(cells), expected=expected)
        rows[cells[0]] = {
            category: _figure(cell, file.path, number) for category, cell in zip(categories, cells[1:-1], strict=True)
        }
    if not rows or len(set(categories)) < len(categories) or not all(categories):
        raise InputError("no rows, or categories that repeat", file=file.path, found=",".join(header))
    return _Report(_meaning(file, rows), rows)


def _figure(cell: str, path: str, line: int) -> float | None:
    if cell.strip() in ("", "-", "–", "N/A", "nan"):
        return None
    try:
        value = float(cell)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e12:
        raise InputError("not a figure", file=path, line=line, found=cell, expected="a number, 0 or more")
    return value


def _meaning(file: File, rows: dict[str, dict[str, float | None]]) -> str:
    """Return the column of schema.RATES that the figures are for, or "throughput"."""
    for word, figure in (("length", "tau"), ("rate", "acceptance_ratio"), ("throughput", "throughput")):
        if word in file.name.lower():
            return figure
    values = [value for row in rows.values() for value in row.values() if value is not None]
    if max(values, default=0.0) <= 1:
        return "acceptance_ratio"
    return "tau" if min(values) >= 1 and max(values) <= MAX_DRAFTED + 1 else "throughput"


PRODUCERS = (
    Producer(
        key="aiperf-report",
        tool="AIPerf",
        what="speed_bench_report.csv",
        looks=_looks,
        read=_read,
        semantics=_SEMANTICS,
        together=Together.FOLDER,
    ),
)
