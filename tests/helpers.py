"""Builders that tests share: a run from a few lines, the golden logs."""

import csv
import json
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl

from specdash.schema import COUNTERS, COUNTS, LATENCIES, RATES, RESPONSES, Granularity, Run

GOLDEN = Path(__file__).parent / "data" / "golden"
REPORT = Path(__file__).parents[1] / "data" / "reference_tables"

Step = tuple[int, int]
"""Drafted and accepted tokens of a verify step: (K_s, a_s)."""


@dataclass(frozen=True)
class Response:
    """A logged response, with its steps in order."""

    steps: tuple[Step, ...]
    dataset: str = "d"
    prompt: str | None = "q"
    copy: int | None = None
    output_tokens: int | None = None


def response(*steps: Step, **fields) -> Response:
    return Response(steps, **fields)


def taking(tau: int, **fields) -> Response:
    """A response of one step that has the acceptance length ``tau``, a whole number."""
    return Response(((8, tau - 1),), **fields)


def log_run(responses, k=None, name="run", granularity=Granularity.STEP, **fields) -> Run:
    """The run of a step log. ``k`` is the largest K_s of the log unless given."""
    responses = list(responses)
    if k is None:
        k = max((drafted for r in responses for drafted, _ in r.steps), default=0)
    table = pl.DataFrame(
        [(i, str(i), r.dataset, r.prompt, r.copy, r.output_tokens) for i, r in enumerate(responses)],
        schema=RESPONSES,
        orient="row",
    )
    counts = pl.DataFrame(
        [(i, *step, n) for i, r in enumerate(responses) for step, n in Counter(r.steps).items()],
        schema=COUNTS,
        orient="row",
    )
    return Run(name, granularity, k, responses=table, counts=counts, **fields)


def counters(steps, dataset="d", *, block=None, per_position=None, drafted=None, accepted=None, responses=None) -> dict:
    """A row of schema.COUNTERS as given; what is accepted follows from ``per_position`` where it is not."""
    if accepted is None:
        accepted = sum(per_position)
    return {
        "dataset": dataset,
        "responses": responses,
        "steps": steps,
        "drafted": drafted,
        "accepted": accepted,
        "per_position": per_position,
        "block": block,
        "exposed": None,
    }


def counters_of(steps, dataset="d", *, block=None) -> dict:
    """The row of schema.COUNTERS that counts ``steps``, all of them drafted."""
    k = max(drafted for drafted, _ in steps)
    return counters(
        len(steps),
        dataset,
        block=block,
        drafted=sum(drafted for drafted, _ in steps),
        accepted=sum(a for _, a in steps),
        per_position=[sum(a > i for _, a in steps) for i in range(k)],
    )


def counter_run(*rows, k=None, name="run", **fields) -> Run:
    """The run of counter files."""
    if k is None:
        k = max((len(row["per_position"] or []) or row["block"] or 0 for row in rows), default=0) or None
    table = pl.DataFrame(rows, schema=COUNTERS)
    return Run(name, Granularity.AGGREGATE, k, counters=table, **fields)


def rates_run(*rows, name="run", **fields) -> Run:
    """The run of printed ratios."""
    return Run(name, Granularity.RATES, None, rates=pl.DataFrame(rows, schema=RATES), **fields)


def latencies(*rows) -> pl.DataFrame:
    """A table of latencies; what a row does not give is null, its dataset "d"."""
    return pl.DataFrame([{"dataset": "d"} | row for row in rows], schema=LATENCIES)


def timed_run(*rows, name="run", **fields) -> Run:
    """The run of latencies alone."""
    return Run(name, Granularity.LATENCIES, None, latencies=latencies(*rows), **fields)


def golden(name: str) -> dict:
    """Expected values, computed apart from this project: see the README beside the originals."""
    return json.loads((GOLDEN / name).read_text("utf-8"))


@cache
def golden_responses(log: str, requests: str) -> tuple[Response, ...]:
    """The responses of a golden log that have rows in it."""
    steps: dict[str, list[Step]] = {}
    with (GOLDEN / log).open(encoding="utf-8", newline="") as lines:
        for request, drafted, accepted in csv.reader(lines):
            steps.setdefault(request, []).append((int(drafted), int(accepted)))
    with (GOLDEN / requests).open(encoding="utf-8", newline="") as lines:
        return tuple(
            Response(
                tuple(steps[row["request_id"]]),
                row["dataset"],
                row["prompt"],
                int(row["copy"]),
                int(row["completion_tokens"]) if row.get("completion_tokens") else None,
            )
            for row in csv.DictReader(lines)
            if row["request_id"] in steps
        )


def log_a() -> tuple[Response, ...]:
    return golden_responses("log_A.csv", "requests.csv")


def edge() -> tuple[Response, ...]:
    return golden_responses("edge.csv", "edge_requests.csv")


def report_table(name: str) -> dict[str, dict[str, str]]:
    """The rows of one of the acceptance report's printed tables, by dataset; a cell that is not printed is empty."""
    with (REPORT / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        return {row["dataset"]: row for row in csv.DictReader(lines)}
