"""Two columns of latencies, baseline and speculation, a row a prompt: ``baseline_ms,spec_ms``.

They are end-to-end latencies; what of them is waiting for the first token, and how many tokens there were, no such file
says. Its header has to say the unit. An empty cell is a request without a latency.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from specdash.formats.base import File, read_text
from specdash.formats.collect import Responses
from specdash.formats.producer import Context, Producer
from specdash.schema import InputError, Run, Semantics

_BASELINE = ("baseline", "base", "vanilla", "control")
_SPEC = ("spec", "speculative", "speculation", "speculating", "treatment")
_UNITS = {"ms": 1e-3, "s": 1.0}
_HEAD = re.compile(r"(?P<arm>[a-z]+)(?:[_ ]latenc(?:y|ies))?(?:[_ ]?\(?(?P<unit>ms|s)\)?)?", re.IGNORECASE)
_EXPECTED = "baseline_ms,spec_ms or baseline_s,spec_s"

_SEMANTICS = Semantics("two columns of latencies", note="End-to-end latencies, paired by row; no output tokens.")


@dataclass(frozen=True)
class _Column:
    """A column: which arm it is of, and seconds a unit, None where the header does not say."""

    arm: str
    scale: float | None


def _columns(line: str) -> list[_Column] | None:
    """Return what the two columns of a header are, None when it is not one of this kind."""
    found = []
    for cell in line.strip().lstrip("\ufeff").split(","):
        match = _HEAD.fullmatch(cell.strip().strip('"'))
        arm = match["arm"].lower() if match else ""
        name = "baseline" if arm in _BASELINE else "spec" if arm in _SPEC else None
        if match is None or name is None:
            return None
        found.append(_Column(name, _UNITS[match["unit"].lower()] if match["unit"] else None))
    return found if sorted(column.arm for column in found) == ["baseline", "spec"] else None


def _looks(file: File) -> bool:
    first = file.head(512).split(b"\n", 1)[0]
    return _columns(first.decode("utf-8", "replace")) is not None


def _read(files: Sequence[File], context: Context) -> list[Run]:
    return [run for file in files for run in _runs(file, context)]


def _runs(file: File, context: Context) -> list[Run]:
    head, *rows = csv.reader(read_text(file).splitlines())
    columns = _columns(",".join(head)) or []
    if any(column.scale is None for column in columns):
        raise InputError(
            "the header does not say the unit", file=file.path, line=1, found=",".join(head), expected=_EXPECTED
        )
    made = []
    for index, column in enumerate(columns):
        responses = Responses(context.workspace, file.path)
        for number, cells in enumerate(rows, start=2):
            if not cells:
                continue
            if len(cells) != len(columns):
                raise InputError("not two columns", file=file.path, line=number, found=",".join(cells)[:60])
            seconds = _seconds(cells[index], column.scale or 1.0, file.path, number)
            responses.time(context.dataset, logged=False, prompt=str(number - 2), e2e_s=seconds)
        made.append(responses.run(column.arm, None, {"arm": column.arm}))
    return made


def _seconds(cell: str, scale: float, path: str, line: int) -> float | None:
    if not cell.strip():
        return None
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        raise InputError("not a latency", file=path, line=line, found=cell, expected="a number, 0 or more")
    return value * scale


PRODUCERS = (
    Producer(
        key="latency-csv",
        tool="any",
        what="two columns of latencies: baseline_ms,spec_ms",
        looks=_looks,
        read=_read,
        semantics=_SEMANTICS,
    ),
)
