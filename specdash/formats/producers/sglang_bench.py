"""What SGLang's ``bench_serving`` writes, a line a benchmark, and the length it prints.

``accept_length`` (bonus token in) is what the server says of itself: over its whole life, warm-up and other clients
included, and of its first data-parallel rank alone. It is shown as printed. It is null without speculation. With
``--output-details`` the times of the requests stand beside it.
source: sglang/bench_serving.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from specdash.formats import aggregate, benchlists, jsonlines, peek
from specdash.formats.base import File
from specdash.formats.collect import number, scalars
from specdash.formats.producer import Context, Producer, label_of
from specdash.schema import (
    MAX_DRAFTED,
    Bonus,
    End,
    Granularity,
    InputError,
    NothingToRead,
    Run,
    RunWarning,
    Semantics,
    Span,
    Undrafted,
)

_KEY = "accept_length"
_MARKS = {_KEY, "backend", "completed", "mean_e2e_latency_ms"}
_PRINTED = re.compile(rb"^\s*Accept length: +(\d+(?:\.\d+)?)", re.MULTILINE)

_SEMANTICS = Semantics(
    producer="SGLang, bench_serving",
    bonus=Bonus.IN,
    span=Span.SINCE_START,
    end=End.UNKNOWN,
    undrafted=Undrafted.UNKNOWN,
    note="The server's own figure since it started, of its first data-parallel rank.",
)

_LIFETIME = RunWarning(
    "server_lifetime",
    "bench_serving's accept length is the server's since it started, of its first data-parallel rank: other requests "
    "are in it, and it cannot be pooled",
)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    found = [(file, line, record) for file in files for line, record in jsonlines.records(file) if _KEY in record]
    runs = []
    for place, (file, line, record) in enumerate(found, start=1):
        label = "" if len(found) == 1 else f"{label_of(file)}/{record.get('tag') or place}"
        runs += [run] if (run := _run(label, record, file.path, line, context)) else []
    if not runs:
        expected = "a server that speculates, or --output-details"
        raise NothingToRead("neither an accept length nor latencies", file=files[0].path, expected=expected)
    return runs


def _run(label: str, record: Mapping[str, Any], path: str, line: int | None, context: Context) -> Run | None:
    dataset = str(record.get("dataset_name") or context.dataset)
    latencies = benchlists.latencies(record, dataset, path, line)
    settings = {name: value for name, value in record.items() if not name.endswith("_ms") and name != _KEY}
    config = scalars(settings)
    length = number(record.get(_KEY), _KEY, path, line)
    if not length:
        if latencies is None:
            return None
        return Run(label, Granularity.LATENCIES, None, config=config, latencies=latencies)
    return _rates(label, length, dataset, path, line, context, config=config, latencies=latencies)


def _rates(
    label: str, length: float, dataset: str, path: str, line: int | None, context: Context, **fields: Any
) -> Run:
    if not 1 <= length <= MAX_DRAFTED + 1:
        expected = f"a length from 1 to {MAX_DRAFTED + 1}"
        raise InputError("impossible accept length", file=path, line=line, found=length, expected=expected)
    return aggregate.rates_run(label, [{"dataset": dataset, "tau": length}], context.k, [_LIFETIME], **fields)


def _read_console(files: Sequence[File], context: Context) -> list[Run]:
    runs = []
    for file in files:
        printed = [(n, m.group(1)) for n, raw in jsonlines.lines(file) if (m := _PRINTED.match(raw))]
        for place, (line, text) in enumerate(printed, start=1):
            label = label_of(file) if len(printed) == 1 else f"{label_of(file)}/{place}"
            runs.append(_rates(label, float(text), context.dataset, file.path, line, context))
    return runs


PRODUCERS = (
    Producer(
        key="sglang-bench",
        tool="SGLang",
        what="bench_serving result",
        looks=lambda file: peek.names(file) >= _MARKS,
        read=_read,
        semantics=_SEMANTICS,
    ),
    Producer(
        key="sglang-bench-console",
        tool="SGLang",
        what="bench_serving, what it prints",
        looks=lambda file: peek.is_log(file, _PRINTED),
        read=_read_console,
        semantics=_SEMANTICS,
    ),
)
