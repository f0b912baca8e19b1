"""The lines on speculative decoding in the log of a vLLM server, of all its generations.

V1 prints what came in since the last line, so lines add up; averages of them would not be the average. A line says
accepted and drafted tokens, not steps: those follow from the drafts' length where it is constant, else from the mean
acceptance length, as well as its decimals allow. The mean counts the bonus token, but not in 0.8.5, which its rates by
position tell. V0 prints sums since the start; its efficiency counts the bonus token.
source: vllm/v1/spec_decode/metrics.py, vllm/engine/metrics.py.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any

from specdash.formats import aggregate, jsonlines, peek
from specdash.formats.base import File, decimal, spelled
from specdash.formats.growing import Many
from specdash.formats.producer import Context, Producer
from specdash.formats.windows import Window, add_up
from specdash.schema import (
    MAX_DRAFTED,
    Bonus,
    End,
    InputError,
    NothingToRead,
    PerPosition,
    Run,
    RunWarning,
    Semantics,
    Span,
    Undrafted,
)

_MARK = re.compile(rb"(?:SpecDecoding|Speculative) metrics: (?!Draft acceptance rate: \d+\.\d\d%, Mean)")
"""LMDeploy's lines begin alike, with a rate of two decimals."""

_ANSI = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
_FIELDS = {
    "mean": r"Mean acceptance length: ([\d.]+|nan)",
    "accepted": r"(?:Accepted|Number of accepted tokens): (\d+)",
    "drafted": r"(?:Drafted|Number of draft tokens): (\d+)",
    "emitted": r"Number of emitted tokens: (\d+)",
    "k": r"Number of speculative tokens: (\d+)",
    "efficiency": r"System efficiency: ([\d.]+|nan)",
    "rates": r"Per-position acceptance rate: ((?:[\d.]+|nan)(?:, (?:[\d.]+|nan))*)",
}
_PATTERNS = {name: re.compile(pattern) for name, pattern in _FIELDS.items()}

_SEMANTICS = Semantics(
    producer="vLLM, server log",
    bonus=Bonus.IN,
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.WINDOWS,
    end=End.RAW,
    undrafted=Undrafted.OMITTED,
    note="Windows of the log, added up by their counts: every client's requests, warm-up too.",
)


@dataclass(frozen=True)
class _Line(Window):
    """What a line says; None for what it does not.

    Attributes:
        number: Of the line.
        emitted: Of V0: tokens emitted since the start.
        k: Of V0: draft length.
    """

    number: int
    emitted: int | None
    k: int | None


def _lines(file: File) -> Iterator[_Line]:
    """Yield what the lines on speculative decoding say.

    Raises:
        InputError: One of them lacks its counts.
    """
    for number, raw in jsonlines.lines(file):
        if not _MARK.search(raw):
            continue
        text = _ANSI.sub(b"", raw).decode("utf-8", "replace")
        found = {name: match[1] for name, pattern in _PATTERNS.items() if (match := pattern.search(text))}
        if "accepted" not in found or "drafted" not in found:
            if not raw.endswith(b"\n"):
                return  # cut off
            shown = text.strip()[-160:]
            raise InputError("no accepted and drafted tokens", file=file.path, line=number, found=shown)
        accepted, drafted = spelled(found["accepted"]), spelled(found["drafted"])
        if accepted > drafted:
            shown = f"{accepted} of {drafted}"
            raise InputError("more tokens accepted than drafted", file=file.path, line=number, found=shown)
        rates = _rates(found.get("rates"), file.path, number)
        yield _Line(
            accepted,
            drafted,
            _length(found.get("mean"), rates),
            rates,
            number,
            spelled(found["emitted"]) if "emitted" in found else None,
            spelled(found["k"]) if "k" in found else None,
        )


def _rates(text: str | None, path: str, line: int) -> tuple[list[float], int] | None:
    if text is None or "nan" in text:
        return None
    parts = text.split(", ")
    if len(parts) > MAX_DRAFTED:
        expected = f"at most {MAX_DRAFTED}"
        raise InputError("too many draft positions", file=path, line=line, found=len(parts), expected=expected)
    return [_number(part, path, line) for part in parts], max(len(part.partition(".")[2]) for part in parts)


def _number(text: str, path: str, line: int) -> float:
    value = decimal(text)
    if value is None:
        raise InputError("not a number", file=path, line=line, found=text)
    return value


def _length(text: str | None, rates: tuple[list[float], int] | None) -> tuple[float, int] | None:
    """Return the mean with the bonus token: 0.8.5 left it out, where the mean is the sum of the rates."""
    mean = None if text is None else decimal(text)
    if text is None or mean is None:
        return None
    decimals = len(text.partition(".")[2])
    without = rates is not None and abs(mean - sum(rates[0])) < abs(mean - 1 - sum(rates[0]))
    return (mean + 1 if without or mean < 1 else mean), decimals


def _read(files: Sequence[File], context: Context) -> list[Run]:
    windows, tokens, totals = kinds = Many[_Line](), Many[_Line](), Many[_Line]()
    idle = False
    for line in (line for file in files for line in _lines(file)):
        if line.emitted is not None:
            totals.append(line)
        elif line.length is None:
            tokens.append(line)
        elif line.drafted:
            windows.append(line)
        else:
            idle = True
    if not any(kinds):
        said = "nothing was drafted in any window of the log" if idle else "no line on speculative decoding is whole"
        raise NothingToRead(said, file=files[0].path)
    path = files[0].path
    reads = zip(kinds, (add_up, _tokens_only, _since_start), strict=True)
    return [read(found, context, path) for found, read in reads if found]


def _tokens_only(lines: Collection[_Line], context: Context, path: str) -> Run:
    """Return the run of lines without a mean: tokens of windows, no steps unless the draft length is said."""
    drafted, accepted = sum(line.drafted for line in lines), sum(line.accepted for line in lines)
    k = context.k
    steps = drafted // k if k and all(line.drafted % k == 0 for line in lines) else None
    warnings = []
    if steps is None:
        said = "the log counts tokens, not steps: without the draft length (--k) there is no acceptance length"
        warnings.append(RunWarning("k_unknown", said))
    row = aggregate.row(context.dataset, path, steps=steps, drafted=drafted, accepted=accepted, k=k)
    return aggregate.run("", [row], k, warnings, semantics=replace(_SEMANTICS, bonus=None, per_position=None))


def _since_start(lines: Collection[_Line], context: Context, path: str) -> Run:
    """Return the run of V0 lines: each counts since the start, so the last before every restart counts.

    What V0 calls accepted need not be a prefix of the draft. Emitted tokens less one a step are.
    """
    total: dict[str, int] = {"steps": 0, "drafted": 0, "accepted": 0}
    for line, following in pairwise(chain(lines, [None])):
        if following is not None and following.k == line.k and following.drafted >= line.drafted:
            continue
        found = _v0(line, path)
        total = {name: total[name] + found[name] for name in total}
    k = max(line.k or 0 for line in lines)
    semantics = replace(_SEMANTICS, per_position=None, position_base=None, span=Span.SINCE_START)
    return aggregate.run("", [aggregate.row(context.dataset, path, **total, k=k)], k, semantics=semantics)


def _v0(line: _Line, path: str) -> dict[str, Any]:
    if not line.k or line.emitted is None or line.drafted % line.k:
        shown = f"{line.drafted} draft tokens of {line.k or 'unknown'} a step"
        raise InputError("steps cannot be told", file=path, line=line.number, found=shown)
    steps = line.drafted // line.k
    accepted = line.emitted - steps
    if not 0 <= accepted <= line.drafted:
        shown = f"{line.emitted} emitted in {steps} steps"
        raise InputError("emitted tokens are impossible", file=path, line=line.number, found=shown)
    return {"steps": steps, "drafted": line.drafted, "accepted": accepted}


PRODUCERS = (
    Producer(
        key="vllm-log",
        tool="vLLM",
        what="server log",
        looks=lambda file: peek.is_log(file, _MARK),
        read=_read,
        semantics=_SEMANTICS,
    ),
)
