"""speculators' ``acceptance.csv``: counters of vLLM by subset of a benchmark, read before and after it.

Its rates by position are accepted tokens at the position over drafts, at full precision, so the counts follow from
them. Some versions take the times at which vLLM's counters were made (``_created``) for counts: such rates fit no
counts. ``perf_results.csv`` may hold the same columns, in a row for every rate of requests.
source: vllm-project/speculators, scripts/evaluate.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from specdash.formats import aggregate, recover
from specdash.formats.base import File
from specdash.formats.producer import Context, Producer
from specdash.formats.table.cells import Cells, named
from specdash.formats.table.opened import Table, needed
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

_COUNTS = ("num_drafts", "num_draft_tokens", "num_accepted_tokens")
_MARKS = {"subset", "acceptance_length", *_COUNTS}
_POSITION = re.compile(r"acceptance_at_pos_(\d{1,3})")
_SWEEP = ("strategy", "target_rate")

_SEMANTICS = Semantics(
    producer="speculators, evaluation against vLLM",
    bonus=Bonus.IN,
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.DIFFERENCE,
    end=End.RAW,
    undrafted=Undrafted.OMITTED,
    note="Counters of a server: requests of other clients during the benchmark are in them.",
)


class _Reading:
    """Rows of counters by run, and what is told of them."""

    def __init__(self) -> None:
        self.runs: dict[str, dict[str, dict[str, Any]]] = {}
        self.printed: dict[str, list[dict[str, Any]]] = {}
        self.warnings: dict[str, list[RunWarning]] = {}
        self._seen: set[tuple[Any, ...]] = set()

    def take(self, table: Table) -> None:
        """Take in a table."""
        positions = sorted((int(found[1]), name) for name in table.columns if (found := _POSITION.fullmatch(name)))
        if [i for i, _ in positions] != list(range(len(positions))) or len(positions) > MAX_DRAFTED:
            found = ", ".join(name for _, name in positions)
            raise InputError("positions are not 0, 1, 2, …", file=table.path, line=1, found=found)
        for line, cells in table.read(range(len(table.columns))):
            self._add(named(table.columns, cells, table.path, line), [name for _, name in positions])

    def _add(self, row: Cells, positions: list[str]) -> None:
        subset = row.text("subset")
        if not subset:
            raise row.wrong("a row without a subset")
        steps, drafted, accepted = (row.needed(name) for name in _COUNTS)
        rates = [rate for name in positions if (rate := row.number(name)) is not None]
        counted = (subset, steps, drafted, accepted, *rates)
        if not steps or counted in self._seen:  # a sweep says the same of a subset at every rate
            return
        self._seen.add(counted)
        label = " ".join(filter(None, (row.text(name) for name in _SWEEP)))
        if label not in self.runs:
            self.runs[label], self.printed[label], self.warnings[label] = {}, [], []
        if subset in self.runs[label]:
            raise row.wrong("a subset is counted twice", found=subset, expected="a row a subset")
        recovered = recover.hits(rates, None, steps, accepted) if rates else None
        if rates and recovered is None:
            message = f"{row.path}: {subset}: the rates by position fit no counts of {steps:,} drafts"
            self.warnings[label].append(RunWarning("positions_unknown", message))
        self.runs[label][subset] = aggregate.row(
            subset,
            row.path,
            steps=steps,
            drafted=drafted,
            accepted=accepted,
            per_position=recovered.counts if recovered else None,
        )
        stored = aggregate.stored(
            subset,
            tau=("acceptance_length", row.number("acceptance_length")),
            p=("acceptance_at_pos", rates if recovered else None),
        )
        if stored["decimals"]:
            self.printed[label].append(stored)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    reading = _Reading()
    for file in files:
        reading.take(needed(file))
    if not reading.runs:
        raise NothingToRead("its counts say that nothing was drafted", file=files[0].path)
    alone = len(reading.runs) == 1
    return [
        aggregate.run(
            "" if alone else label,
            list(rows.values()),
            context.k,
            reading.warnings[label],
            printed=tuple(reading.printed[label]),
        )
        for label, rows in reading.runs.items()
    ]


def _looks(file: File) -> bool:
    first = file.head(8192).removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("utf-8", "replace")
    return {cell.strip(' "\r') for cell in first.split(",")} >= _MARKS


PRODUCERS = (
    Producer(
        key="speculators-acceptance",
        tool="speculators",
        what="acceptance.csv",
        looks=_looks,
        read=_read,
        semantics=_SEMANTICS,
    ),
)
