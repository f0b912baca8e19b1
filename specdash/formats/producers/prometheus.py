"""Answers of a Prometheus server's ``/api/v1/query`` and ``query_range`` for counters of drafts.

A range is the increase over it, added up over resets as Prometheus does, but without its extrapolation. A series that
begins inside of a range counts from 0: its server was started there. An instant counts since the start. The answers to
several queries in one folder belong together, one metric a file as a rule.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from specdash.formats import aggregate, counting, jsonlines, peek, scrapes
from specdash.formats.base import File
from specdash.formats.producer import Context, Producer, Together
from specdash.schema import (
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

_NAME = re.compile(r"(\w+:spec_decode_)num_\w+_total")
_KINDS = {"vector": Span.SINCE_START, "matrix": Span.DIFFERENCE}

_SEMANTICS = Semantics(
    producer="Prometheus",
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.DIFFERENCE,
    end=End.RAW,
    undrafted=Undrafted.OMITTED,
    note="Counters of servers, added up over all instances and engines: every client's requests are in them.",
)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    runs, missing = [], []
    for kind, span in _KINDS.items():
        values, resets = increases(files, kind)
        prefixes = dict.fromkeys(found[1] for name, _ in values if (found := _NAME.fullmatch(name)))
        for prefix in prefixes:
            path = files[0].path
            own = {series: value for series, value in values.items() if series[0].startswith(prefix)}
            try:
                row = counting.counters(own, prefix, context, path)
            except NothingToRead as nothing:
                missing.append(nothing)
                continue
            if row is None:
                missing.append(NothingToRead("lacks the drafts, or nothing was drafted", file=path))
                continue
            said = f"{resets} series fell in between (a restart): what they counted just before is lost"
            warnings = [RunWarning("counter_reset", said)] if resets else []
            warnings += counting.engines(own, prefix)
            label = f"{prefix.partition(':')[0]}_{'range' if kind == 'matrix' else 'instant'}"
            runs.append(aggregate.run(label, [row], context.k, warnings, semantics=replace(_SEMANTICS, span=span)))
    if not runs:
        raise missing[0] if missing else NothingToRead("no counters of drafts", file=files[0].path)
    return runs


def increases(files: Sequence[File], kind: str) -> tuple[dict[scrapes.Series, float], int]:
    """Return the increase of every series of a kind of answer ("vector" or "matrix"), and how many were reset.

    Raises:
        InputError: An answer is not of the shape that Prometheus gives.
    """
    found: dict[scrapes.Series, list[tuple[float, float]]] = {}
    for file in files:
        for series, samples in _series(file, kind):
            found.setdefault(series, []).extend(samples)
    start = min((samples[0][0] for samples in found.values() if samples), default=0.0)
    values, resets = {}, 0
    for series, unsorted in found.items():
        samples = sorted(dict(unsorted).items())
        if kind == "vector":
            values[series] = samples[-1][1]
            continue
        before = samples[0][1] if samples[0][0] <= start else 0.0
        falls = sum(b < a for (_, a), (_, b) in itertools.pairwise(samples))
        total = samples[0][1] - before
        total += sum(b - a if b >= a else b for (_, a), (_, b) in itertools.pairwise(samples))
        values[series], resets = total, resets + (falls > 0)
    return values, resets


def _series(file: File, kind: str) -> Iterator[tuple[scrapes.Series, list[tuple[float, float]]]]:
    for line, answer in jsonlines.records(file):
        data = answer.get("data")
        result = data.get("result") if isinstance(data, dict) and data.get("resultType") == kind else []
        if not isinstance(result, list):
            raise InputError("a result is no list", file=file.path, line=line, found=result)
        for entry in result:
            labels = entry.get("metric") if isinstance(entry, dict) else None
            if not isinstance(labels, dict) or not _NAME.fullmatch(str(labels.get("__name__"))):
                continue
            samples = [entry.get("value")] if kind == "vector" else entry.get("values")
            own = frozenset((str(name), str(value)) for name, value in labels.items() if name != "__name__")
            if samples:
                yield (labels["__name__"], own), [_sample(sample, file.path, line) for sample in samples]


def _sample(sample: Any, path: str, line: int | None) -> tuple[float, float]:
    try:
        time, value = sample
        found = float(time), float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError("not a sample", file=path, line=line, found=sample, expected="[time, value]") from None
    if not all(abs(x) < float("inf") for x in found):
        raise InputError("not a sample", file=path, line=line, found=sample, expected="finite numbers")
    return found


PRODUCERS = (
    Producer(
        key="prometheus-query",
        tool="Prometheus",
        what="query and query_range answers",
        looks=lambda file: {"status", "data.resultType"} <= peek.names(file) and bool(_NAME.search(peek.text(file))),
        read=_read,
        semantics=_SEMANTICS,
        together=Together.FOLDER,
    ),
)
