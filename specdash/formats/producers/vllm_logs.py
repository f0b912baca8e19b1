"""The lines on speculative decoding in the log of a vLLM server, of all its generations.

V1 prints what came in since the last line, so lines add up; averages of them would not be the average. A line says
accepted and drafted tokens, not steps: those follow from the drafts' length where it is constant, else from the mean
acceptance length, as well as its decimals allow. The mean counts the bonus token, but not in 0.8.5, which its rates by
position tell. V0 prints sums since the start; its efficiency counts the bonus token.
source: vllm/v1/spec_decode/metrics.py, vllm/engine/metrics.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from specdash.formats import aggregate, jsonlines, peek, recover
from specdash.formats.base import File
from specdash.formats.producer import Context, Producer
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

_MARK = re.compile(rb"(?:SpecDecoding|Speculative) metrics: ")
_TOLERATED = 0.01
"""Largest doubt about τ, relative, with which it is shown."""

_SEARCHED = 20_000  # numbers of steps of a window that are tried
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
class _Line:
    """What a line says; None for what it does not.

    Attributes:
        number: Of the line.
        accepted: Draft tokens accepted.
        drafted: Draft tokens.
        length: Mean acceptance length as printed, bonus token included, with its decimals.
        rates: Accepted at position i over steps, as printed, with their decimals.
        emitted: Of V0: tokens emitted since the start.
        k: Of V0: draft length.
    """

    number: int
    accepted: int
    drafted: int
    length: tuple[float, int] | None
    rates: tuple[list[float], int] | None
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
        accepted, drafted = int(found["accepted"]), int(found["drafted"])
        if accepted > drafted:
            shown = f"{accepted} of {drafted}"
            raise InputError("more tokens accepted than drafted", file=file.path, line=number, found=shown)
        rates = _rates(found.get("rates"), file.path, number)
        yield _Line(
            number,
            accepted,
            drafted,
            _length(found.get("mean"), rates),
            rates,
            int(found["emitted"]) if "emitted" in found else None,
            int(found["k"]) if "k" in found else None,
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
    try:
        return float(text)
    except ValueError:
        raise InputError("not a number", file=path, line=line, found=text) from None


def _length(text: str | None, rates: tuple[list[float], int] | None) -> tuple[float, int] | None:
    """Return the mean with the bonus token: 0.8.5 left it out, where the mean is the sum of the rates."""
    if text is None or text == "nan" or text.count(".") > 1:
        return None
    mean, decimals = float(text), len(text.partition(".")[2])
    without = rates is not None and abs(mean - sum(rates[0])) < abs(mean - 1 - sum(rates[0]))
    return (mean + 1 if without or mean < 1 else mean), decimals


def _read(files: Sequence[File], context: Context) -> list[Run]:
    lines = [line for file in files for line in _lines(file)]
    if not lines:
        raise NothingToRead("no line on speculative decoding is whole", file=files[0].path)
    path, runs = files[0].path, []
    totals = [line for line in lines if line.emitted is not None]
    windows = [line for line in lines if line.emitted is None and line.length is not None]
    tokens = [line for line in lines if line.emitted is None and line.length is None]
    for found, read in ((windows, _windows), (tokens, _tokens_only), (totals, _since_start)):
        if found:
            runs.append(read(found, context, path))
    return runs


@dataclass(frozen=True)
class _Window:
    """A line with the numbers of steps that it may be of."""

    line: _Line
    least: int
    most: int

    def nearest(self, drafted: float) -> int:
        """Return the possible number of steps nearest to that of drafts of a mean length."""
        return min(max(round(self.line.drafted / drafted), self.least), self.most)


def _windows(lines: list[_Line], context: Context, path: str) -> Run:
    """Add up windows by their counts."""
    k = max((len(line.rates[0]) for line in lines if line.rates), default=context.k)
    windows = _constant(lines, k) or [_possible(line, k) for line in lines]
    accepted, drafted = sum(line.accepted for line in lines), sum(line.drafted for line in lines)
    least, most = sum(window.least for window in windows), sum(window.most for window in windows)
    warnings = []
    if least < most:
        span = f"between {1 + accepted / most:.3f} and {1 + accepted / least:.3f}"
        many = sum(window.least < window.most for window in windows)
        said = f"{many:,} of {len(windows):,} windows do not tell their number of steps exactly: τ lies {span}"
        warnings.append(RunWarning("steps_recovered", said))
    if (accepted / least - accepted / most) > _TOLERATED * (1 + accepted / most):
        row = aggregate.row(context.dataset, path, steps=None, drafted=drafted, accepted=accepted)
        return aggregate.run("", [row], k, warnings)
    sure = [window for window in windows if window.least == window.most]
    mean = sum(w.line.drafted for w in sure) / max(sum(w.least for w in sure), 1) or 1.0
    steps = [window.nearest(mean) for window in windows]
    positions, doubt = _positions(lines, steps, k)
    if positions is None:
        warnings.append(RunWarning("positions_unknown", "rates by position do not fit the counts of their windows"))
    if doubt:
        said = f"counts by position are recovered from rounded rates: off by {doubt:,} of {sum(steps):,} at most"
        warnings.append(RunWarning("positions_recovered", said))
    row = aggregate.row(
        context.dataset, path, steps=sum(steps), drafted=drafted, accepted=accepted, per_position=positions, k=k
    )
    return aggregate.run("", [row], k, warnings)


def _constant(lines: list[_Line], k: int | None) -> list[_Window] | None:
    """Return the windows when all drafts are of length k: then the drafted tokens tell the steps."""
    if not k or any(line.drafted % k or not _fits(line, line.drafted // k) for line in lines):
        return None
    return [_Window(line, line.drafted // k, line.drafted // k) for line in lines]


def _fits(line: _Line, steps: int) -> bool:
    """Tell whether so many steps print the mean of a line."""
    length, decimals = line.length or (0.0, 0)
    printed = 1 + line.accepted / steps if steps else 1.0
    return abs(printed - length) <= 0.5000001 * 10.0**-decimals


def _possible(line: _Line, k: int | None) -> _Window:
    """Return how many steps a window may be of when drafts differ in length."""
    least, most = -(-line.drafted // (k or MAX_DRAFTED)), line.drafted
    length, decimals = line.length or (1.0, 2)
    found = recover.steps(length, decimals, line.accepted, most) if line.accepted else range(least, most + 1)
    possible = [n for n in (found[:_SEARCHED] if len(found) > _SEARCHED else found) if n >= least]
    if line.rates and line.accepted:
        possible = [n for n in possible if recover.hits(*line.rates, n, line.accepted)] or possible
    return _Window(line, min(possible, default=least), max(possible, default=most))


def _positions(lines: list[_Line], steps: list[int], k: int | None) -> tuple[list[int] | None, int]:
    """Return the accepted tokens by position, None where a window's rates do not fit its counts, and their doubt."""
    total, doubt = [0] * (k or 0), 0
    for line, n in zip(lines, steps, strict=True):
        found = recover.hits(*line.rates, n, line.accepted) if line.rates else None
        if found is None:
            return None, 0
        doubt += found.doubt
        counts = [*found.counts, *[0] * (len(total) - len(found.counts))]
        total = [a + b for a, b in zip(total, counts, strict=True)]
    return total or None, doubt


def _tokens_only(lines: list[_Line], context: Context, path: str) -> Run:
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


def _since_start(lines: list[_Line], context: Context, path: str) -> Run:
    """Return the run of V0 lines: each counts since the start, so the last before every restart counts.

    What V0 calls accepted need not be a prefix of the draft. Emitted tokens less one a step are.
    """
    total: dict[str, int] = {"steps": 0, "drafted": 0, "accepted": 0}
    for line, following in zip(lines, [*lines[1:], None], strict=True):
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
