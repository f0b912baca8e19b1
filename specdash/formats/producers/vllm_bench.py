"""What ``vllm bench serve --save-result`` writes: one JSON object a run, or one a line (``--append-result``).

The counts are differences of the server's counters over the main run, summed over its engines, so another client's
requests in that time are in them. The acceptance rate is percent, rates by position are fractions. The acceptance
length counts the bonus token. ``itls`` holds gaps between chunks, each of several tokens with speculation.
A baseline has no such keys, and is a run of latencies. Modular MAX's bench writes the same.
source: vllm/benchmarks/serve.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from specdash.formats import aggregate, benchlists, jsonlines, peek, recover
from specdash.formats.base import File
from specdash.formats.collect import number, numbers, scalars, whole
from specdash.formats.producer import Context, Producer, label_of
from specdash.formats.synonyms import SAMPLE, normalised
from specdash.schema import (
    Bonus,
    End,
    Granularity,
    NothingToRead,
    PerPosition,
    Run,
    RunWarning,
    Semantics,
    Span,
    Undrafted,
)

_KEY = "spec_decode_"
_MARKS = {"date", "backend", "completed", "duration"}

SEMANTICS = Semantics(
    producer="vllm bench serve",
    bonus=Bonus.IN,
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.RUN,
    end=End.RAW,
    undrafted=Undrafted.OMITTED,
    note="Differences of the server's counters over the run: other clients' requests would be in them.",
)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    found = [(file, line, record) for file in files for line, record in jsonlines.records(file)]
    key = _telling([record for _, _, record in found])
    runs = []
    for place, (file, line, record) in enumerate(found, start=1):
        label = "" if len(found) == 1 else f"{label_of(file)}/{record[key] if key else place}"
        run = _run(label, record, file.path, line, context)
        runs += [] if run is None else [run]
    if not runs:
        raise NothingToRead("neither acceptance nor latencies of single requests", file=files[0].path)
    alike = len({run.granularity for run in runs}) == 1 and len(runs) == len(found)
    by_dataset = key is not None and normalised(key) in SAMPLE["dataset"]
    return [_joined(runs)] if alike and by_dataset else runs


def _telling(records: list[dict[str, Any]]) -> str | None:
    """Return the first field that tells all runs of a file apart, the date aside."""
    for key in records[0] if len(records) > 1 else ():
        values = [record.get(key) for record in records]
        texts = all(isinstance(value, str) and 0 < len(value) <= 60 for value in values)
        if key != "date" and texts and len(set(values)) == len(values):
            return key
    return None


def _joined(runs: list[Run]) -> Run:
    """Join runs that differ in their dataset alone, as far as their settings say: then they are one run."""
    first, *others = runs
    same = {name: value for name, value in first.config.items() if all(run.config.get(name) == value for run in others)}
    tables = {}
    for name in ("counters", "latencies"):
        held = [table for run in runs if (table := getattr(run, name)) is not None]
        tables[name] = pl.concat(held) if held else None
    return replace(
        first,
        name="",
        k=max((run.k for run in runs if run.k is not None), default=None),
        config=same,
        warnings=tuple(warning for run in runs for warning in run.warnings),
        printed=tuple(row for run in runs for row in run.printed),
        **tables,
    )


def _run(label: str, record: dict[str, Any], path: str, line: int | None, context: Context) -> Run | None:
    by_name = {normalised(name): value for name, value in record.items() if isinstance(value, str) and value}
    dataset = next((by_name[name] for name in SAMPLE["dataset"] if name in by_name), context.dataset)
    latencies = benchlists.latencies(record, dataset, path, line)
    config = _config(record)
    steps, drafted, accepted = (
        whole(record.get(_KEY + name), _KEY + name, path, line)
        for name in ("num_drafts", "draft_tokens", "accepted_tokens")
    )
    if not drafted or accepted is None:
        if latencies is None:
            return None
        return Run(label, Granularity.LATENCIES, None, config=config, latencies=latencies)
    rates = numbers(record.get(_KEY + "per_position_acceptance_rates"), "rates by position", path, line)
    warnings, positions = [], None
    if rates and steps:
        recovered = recover.hits(rates, None, steps, accepted)
        positions = None if recovered is None else recovered.counts
        if positions is None:
            message = f"{path}: the rates by position do not fit {steps:,} drafts with {accepted:,} accepted tokens"
            warnings.append(RunWarning("positions_unknown", message))
    row = aggregate.row(
        dataset,
        path,
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        per_position=positions,
        k=context.k,
        responses=whole(record.get("completed"), "completed", path, line),
    )
    printed = aggregate.stored(
        dataset,
        tau=(_KEY + "acceptance_length", number(record.get(_KEY + "acceptance_length"), "length", path, line)),
        acceptance_ratio=(_KEY + "acceptance_rate", _fraction(record, accepted / drafted, path, line)),
        p=(_KEY + "per_position_acceptance_rates", rates if positions else None),
    )
    run = aggregate.run(label, [row], context.k, warnings, config=config, latencies=latencies)
    return replace(run, printed=(printed,) if printed["decimals"] else ())


def _fraction(record: Mapping[str, Any], counted: float, path: str, line: int | None) -> float | None:
    """Return the stored acceptance rate as a fraction: vLLM writes percent, some others do not."""
    rate = number(record.get(_KEY + "acceptance_rate"), _KEY + "acceptance_rate", path, line)
    if rate is None:
        return None
    return rate if abs(rate - counted) < abs(rate / 100 - counted) else rate / 100


def _config(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings and totals, without acceptance and without the statistics of latencies."""
    kept = {
        ("model" if name == "model_id" else name): value
        for name, value in record.items()
        if not name.startswith(_KEY) and not name.endswith("_ms")
    }
    return scalars(kept)


PRODUCERS = (
    Producer(
        key="vllm-bench",
        tool="vLLM",
        what="vllm bench serve result",
        looks=lambda file: peek.names(file) >= _MARKS,
        read=_read,
        semantics=SEMANTICS,
    ),
)
