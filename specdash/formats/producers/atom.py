"""ATOM's counts of multi-token prediction: ``GET /debug/mtp_stats``, its metrics for Prometheus, its log.

All of them count drafted and accepted tokens, bonus out, and steps by accepted tokens (``distribution``); tokens a
forward pass count the bonus token. They are of a server since its start, over its data-parallel ranks.

The log prints the distribution in percent: an "Interval" line of what came since the line before, and one since the
start. Steps follow from drafts of one length, steps by accepted tokens where the decimals tell them. A shorter line
has ratios alone, which are shown as printed.
source: ROCm/ATOM, atom/model_engine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from specdash.formats import aggregate, counting, jsonlines, peek, scrapes
from specdash.formats.base import File, spelled
from specdash.formats.collect import histogram, whole
from specdash.formats.producer import Context, Producer, Together
from specdash.formats.scrapes import Series
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

_MARKS = {"total_draft_tokens", "total_accepted_tokens", "average_tokens_per_forward", "distribution"}
_PREFIX = "atom:mtp_"
_LINE = re.compile(
    rb"\[MTP Stats( Interval)? *\] Average toks/fwd: (\d+\.\d+), Accepted/Total Draft tokens: (\d+)/(\d+), "
    rb"Acceptance rate: [\d.]+%, Accepted tokens distribution: \{(.*?)\}"
)
_SHORT = re.compile(
    rb"\[MTP Stats\] acceptance: (\d+\.\d+)%\s+avg toks/fwd: (\d+\.\d+)\s+dist [\d/]+: (\d+\.\d+(?:/\d+\.\d+)*)%"
)
_ANY = re.compile(_LINE.pattern + b"|" + _SHORT.pattern)
_TELLING = 10_000  # so many steps in percent of two decimals are whole numbers still

_SEMANTICS = Semantics(
    producer="ATOM, MTP statistics",
    bonus=Bonus.IN,
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.SINCE_START,
    end=End.UNKNOWN,
    undrafted=Undrafted.OMITTED,
    note="Counters of a server: every client's requests are in them.",
)


@dataclass(frozen=True)
class _Counts:
    """Counts of some steps.

    Attributes:
        drafted: Sum of K_s.
        accepted: Sum of a_s.
        by_accepted: Steps by accepted tokens; None where they are not told.
        steps: All steps; None where they are not told.
    """

    drafted: int
    accepted: int
    by_accepted: Mapping[int, int] | None
    steps: int | None

    def __add__(self, other: _Counts) -> _Counts:
        by_accepted = None
        if self.by_accepted is not None and other.by_accepted is not None:
            keys = self.by_accepted.keys() | other.by_accepted.keys()
            by_accepted = {j: self.by_accepted.get(j, 0) + other.by_accepted.get(j, 0) for j in sorted(keys)}
        steps = None if self.steps is None or other.steps is None else self.steps + other.steps
        return _Counts(self.drafted + other.drafted, self.accepted + other.accepted, by_accepted, steps)

    def row(self, context: Context, path: str) -> dict[str, Any]:
        """Return the row of schema.COUNTERS.

        Raises:
            InputError: The counts contradict each other.
        """
        positions = None
        if self.by_accepted is not None and self.steps:
            longest = max((j for j, n in self.by_accepted.items() if n), default=0)
            even = self.drafted // self.steps if self.drafted % self.steps == 0 else 0
            k = even if longest <= even <= MAX_DRAFTED else max(longest, 1)
            positions = [sum(n for j, n in self.by_accepted.items() if j > i) for i in range(k)]
        return aggregate.row(
            context.dataset,
            path,
            steps=self.steps,
            drafted=self.drafted,
            accepted=self.accepted,
            per_position=positions,
            k=context.k,
        )


_NONE = _Counts(0, 0, {}, 0)


def _read_json(files: Sequence[File], context: Context) -> list[Run]:
    runs = []
    for interval in scrapes.intervals(files):
        path = interval.scrapes[-1].path
        # Of a file of several readings the last one counts.
        readings = [_reading(list(jsonlines.records(file))[-1][1], file.path) for file in interval.scrapes]
        counts, reset = _increase(readings)
        if counts.steps:
            warnings = counting.resets(["total_draft_tokens"] if reset else [], path)
            span = Span.DIFFERENCE if len(readings) > 1 else Span.SINCE_START
            said = replace(_SEMANTICS, span=span)
            runs.append(aggregate.run(interval.label, [counts.row(context, path)], context.k, warnings, semantics=said))
    return runs or _nothing(files)


def _nothing(files: Sequence[File]) -> list[Run]:
    raise NothingToRead("its counts say that nothing was drafted", file=files[0].path)


def _reading(found: Mapping[str, Any], path: str) -> _Counts:
    by_accepted = histogram(found.get("distribution"), "distribution", path) or {}
    drafted, accepted = (whole(found.get(f"total_{name}_tokens"), name, path) or 0 for name in ("draft", "accepted"))
    counted = sum(j * n for j, n in by_accepted.items())
    if counted != accepted:
        expected = "as many accepted tokens as its distribution has"
        raise InputError(
            "total_accepted_tokens is another", file=path, found=f"{accepted}, {counted}", expected=expected
        )
    return _Counts(drafted, accepted, by_accepted, sum(by_accepted.values()))


def _increase(readings: Sequence[_Counts]) -> tuple[_Counts, bool]:
    """Return what came between the first and the last reading, and whether the counts were reset in between."""
    if len(readings) == 1:
        return readings[0], False
    total, reset = _NONE, False
    for before, after in pairwise(readings):
        known, now = before.by_accepted or {}, after.by_accepted or {}
        if any(now.get(j, 0) < n for j, n in known.items()):
            total, reset = total + after, True
            continue
        came = {j: n - known.get(j, 0) for j, n in now.items()}
        total += _Counts(after.drafted - before.drafted, after.accepted - before.accepted, came, sum(came.values()))
    return total, reset


def _read_metrics(files: Sequence[File], context: Context) -> list[Run]:
    runs = []
    for interval in scrapes.intervals(files):
        path = interval.scrapes[-1].path
        found = scrapes.increase([_totals(scrapes.read(file, _PREFIX)) for file in interval.scrapes])
        counts = _scraped(found.values, path)
        if counts.steps:
            said = replace(_SEMANTICS, span=Span.DIFFERENCE if len(interval.scrapes) > 1 else Span.SINCE_START)
            rows, warnings = [counts.row(context, path)], counting.resets(found.resets, path)
            runs.append(aggregate.run(interval.label, rows, context.k, warnings, semantics=said))
    return runs or _nothing(files)


def _totals(scrape: Mapping[Series, float]) -> dict[Series, float]:
    return {series: value for series, value in scrape.items() if series[0].endswith(("_total", "_created"))}


def _scraped(values: Mapping[Series, float], path: str) -> _Counts:
    drafted, accepted = (scrapes.summed(values, f"{_PREFIX}{n}_tokens_total", path) or 0 for n in ("draft", "accepted"))
    name = f"{_PREFIX}decode_steps_total"
    keys = {dict(labels).get("accepted_tokens", "") for found, labels in values if found == name}
    steps = {key: scrapes.summed(values, name, path, accepted_tokens=key) for key in keys}
    by_accepted = histogram(steps, name, path) or {}
    return _Counts(drafted, accepted, by_accepted, sum(by_accepted.values()))


def _read_log(files: Sequence[File], context: Context) -> list[Run]:
    path = files[0].path
    windows, totals, shorts = list[_Counts](), list[_Counts](), list[re.Match[bytes]]()
    for file in files:
        for number, raw in jsonlines.lines(file):
            if match := _LINE.search(raw):
                (windows if match.group(1) else totals).append(_line(match, file.path, number))
            elif match := _SHORT.search(raw):
                shorts.append(match)
    # Since the start: the last line counts, and the last one before every restart. But each rank has lines of its own,
    # which look like restarts; what came in since the line before adds up over ranks too.
    ends = [a for a, b in pairwise([*totals, _NONE]) if b.drafted < a.drafted]
    counted, span = (sum(windows, _NONE), Span.WINDOWS) if windows else (sum(ends, _NONE), Span.SINCE_START)
    if counted.drafted:
        said = replace(_SEMANTICS, span=span)
        return [aggregate.run("", [counted.row(context, path)], context.k, _unknown(counted), semantics=said)]
    if not shorts:
        return _nothing(files)
    return [_printed(shorts[-1], context)]


def _line(match: re.Match[bytes], path: str, line: int) -> _Counts:
    """Read a line with counts; its steps follow where drafts are of one length."""
    _, mean, accepted_, drafted_, shares_ = (part.decode() if part else "" for part in match.groups())
    accepted, drafted = spelled(accepted_), spelled(drafted_)
    if accepted > drafted:
        raise InputError("more tokens accepted than drafted", file=path, line=line, found=f"{accepted} of {drafted}")
    shares = {spelled(j): float(share) for j, share in re.findall(r"(\d+): '(\d+\.\d+)%'", shares_)}
    k = max(shares, default=0)
    steps, rest = divmod(drafted, k) if k else (0, 1)
    if rest or not steps or abs(1 + accepted / steps - float(mean)) > 0.00501:
        return _Counts(drafted, accepted, None, None)
    by_accepted = {j: round(share / 100 * steps) for j, share in shares.items()}
    sums = sum(by_accepted.values()), sum(j * n for j, n in by_accepted.items())
    told = steps < _TELLING and sums == (steps, accepted)
    return _Counts(drafted, accepted, by_accepted if told else None, steps)


def _unknown(counts: _Counts) -> list[RunWarning]:
    if counts.steps is None:
        said = "drafts are not of one length, so the log does not tell the steps: τ is not known"
        return [RunWarning("steps_unknown", said)]
    if counts.by_accepted is None:
        said = "the log prints too few decimals to tell steps by accepted tokens"
        return [RunWarning("positions_unknown", said)]
    return []


def _printed(match: re.Match[bytes], context: Context) -> Run:
    """Return the run of a line of ratios alone."""
    ratio, length, shares = (part.decode() for part in match.groups())
    outcome = [float(share) / 100 for share in shares.split("/")]
    row = {"dataset": context.dataset, "tau": float(length), "acceptance_ratio": float(ratio) / 100, "outcome": outcome}
    return aggregate.rates_run("", [row], context.k)


PRODUCERS = (
    Producer(
        key="atom-stats",
        tool="ATOM",
        what="/debug/mtp_stats JSON",
        looks=lambda file: peek.names(file) >= _MARKS,
        read=_read_json,
        semantics=_SEMANTICS,
        together=Together.FOLDER,
    ),
    Producer(
        key="atom-metrics",
        tool="ATOM",
        what="/metrics text",
        looks=lambda file: counting.holds(file, _PREFIX, r"\w+_total"),
        read=_read_metrics,
        semantics=_SEMANTICS,
        together=Together.FOLDER,
    ),
    Producer(
        key="atom-log",
        tool="ATOM",
        what="server log",
        looks=lambda file: peek.is_log(file, _ANY),
        read=_read_log,
        semantics=_SEMANTICS,
    ),
)
