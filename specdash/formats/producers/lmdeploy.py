"""LMDeploy's ``/metrics``, which counts drafts as vLLM's does, and its log.

A line of the log holds what came in since the line before: accepted and drafted tokens, a mean length with the bonus
token in, rates by position over all steps. Lines add up. A log whose counts never fall may be of a build that prints
sums since the start instead: that is told.
source: lmdeploy/metrics/loggers.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from specdash.formats import aggregate, counting, jsonlines, peek
from specdash.formats.base import File, spelled
from specdash.formats.producer import Context, Producer, Together
from specdash.formats.windows import Window, add_up
from specdash.schema import (
    MAX_DRAFTED,
    Bonus,
    End,
    InputError,
    PerPosition,
    Run,
    RunWarning,
    Semantics,
    Span,
    Undrafted,
)

_PREFIX = "lmdeploy:spec_decode_"
_LINE = re.compile(
    rb"(?:DP|Engine )(\d+)\] .*?SpecDecoding metrics: Draft acceptance rate: (?:[\d.]+|nan)%, "
    rb"Mean acceptance length: (\d+\.\d+), Accepted: (\d+) tokens, Drafted: (\d+) tokens, "
    rb"Per-position acceptance rate: (\d\.\d+(?:, \d\.\d+)*)"
)
_TELLING = 4  # lines of one engine whose counts never fall look like sums

_METRICS = Semantics(
    producer="LMDeploy, /metrics",
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.SINCE_START,
    end=End.UNKNOWN,
    undrafted=Undrafted.OMITTED,
    note="Counters of a server: every client's requests are in them.",
)
_LOG = Semantics(
    producer="LMDeploy, server log",
    bonus=Bonus.IN,
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.WINDOWS,
    end=End.UNKNOWN,
    undrafted=Undrafted.OMITTED,
    note="Windows of the log, added up by their counts.",
)


def _read_log(files: Sequence[File], context: Context) -> list[Run]:
    by_engine: dict[str, list[Window]] = {}
    for file in files:
        for number, raw in jsonlines.lines(file):
            if match := _LINE.search(raw):
                engine, *said = (part.decode() for part in match.groups())
                by_engine.setdefault(engine, []).append(_window(*said, file.path, number))
    drafted = [window for windows in by_engine.values() for window in windows if window.drafted]
    run = add_up(drafted, context, files[0].path)
    return [aggregate.with_warnings(run, *_falling(by_engine))]


def _window(mean: str, accepted: str, drafted: str, rates: str, path: str, line: int) -> Window:
    counts = spelled(accepted), spelled(drafted)
    if counts[0] > counts[1]:
        raise InputError("more tokens accepted than drafted", file=path, line=line, found=f"{accepted} of {drafted}")
    shares = [float(rate) for rate in rates.split(", ")]
    if len(shares) > MAX_DRAFTED:
        expected = f"at most {MAX_DRAFTED}"
        raise InputError("too many draft positions", file=path, line=line, found=len(shares), expected=expected)
    return Window(*counts, (float(mean), 2), (shares, 3))


def _falling(by_engine: Mapping[str, Sequence[Window]]) -> list[RunWarning]:
    """Tell of lines whose counts never fall."""
    for engine, windows in by_engine.items():
        rising = all(a.accepted <= b.accepted and a.drafted <= b.drafted for a, b in pairwise(windows))
        if len(windows) >= _TELLING and rising:
            last = windows[-1]
            said = (
                f"the counts of engine {engine} never fall over {len(windows)} lines: if this build prints sums since "
                f"the start, only the last line counts ({last.accepted:,} of {last.drafted:,} tokens)"
            )
            return [RunWarning("windows_or_sums", said)]
    return []


PRODUCERS = (
    Producer(
        key="lmdeploy-metrics",
        tool="LMDeploy",
        what="/metrics text",
        looks=lambda file: counting.holds(file, _PREFIX),
        read=lambda files, context: counting.runs(files, _PREFIX, context, _METRICS),
        semantics=_METRICS,
        together=Together.FOLDER,
    ),
    Producer(
        key="lmdeploy-log",
        tool="LMDeploy",
        what="server log",
        looks=lambda file: peek.is_log(file, _LINE),
        read=_read_log,
        semantics=_LOG,
    ),
)
