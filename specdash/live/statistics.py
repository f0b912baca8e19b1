"""What a bench comes to: every comparison of its arms, and the judgement."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from specdash.formats.producer import Context
from specdash.formats.producers import specdash_bench
from specdash.schema import Run
from specdash.speed.latency import Comparison, Verdict
from specdash.speed.latency.roles import against_baseline

Compared = tuple[Comparison, Verdict]


def runs(document: dict[str, Any]) -> list[Run]:
    """Return the runs of a document that measured something, without their ordered steps."""
    if not document["requests"]:
        return []
    with tempfile.TemporaryDirectory(prefix="specdash-bench-") as folder:
        return specdash_bench.runs(document, "bench", Context("bench", Path(folder)))


def comparisons(found: Sequence[Run]) -> dict[int, list[Compared]]:
    """Compare the arms of a bench in every measure that both have.

    Args:
        found: Its runs.

    Returns:
        By the number of requests in flight; none where an arm is missing.
    """
    return {run.config["concurrency"]: compared for run in found if (compared := against_baseline(found, run))}


def as_json(compared: dict[int, list[Compared]]) -> list[dict[str, Any]]:
    """Return comparisons and judgements for the document."""
    return [
        {"concurrency": concurrency, **comparison.as_dict(), "verdict": verdict.as_dict()}
        for concurrency, pairs in compared.items()
        for comparison, verdict in pairs
    ]
