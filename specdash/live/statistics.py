"""What a bench comes to: every comparison of its arms, and the judgement."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from specdash.formats.producer import Context
from specdash.formats.producers import specdash_bench
from specdash.live.plan import AGAIN, BASELINE, SPEC
from specdash.schema import Run
from specdash.speed.latency import MEASURES, Arm, Comparison, Verdict, compare, judge

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
    arms: dict[int, dict[str, Arm]] = {}
    for run in found:
        arms.setdefault(run.config["concurrency"], {})[run.config["arm"]] = Arm.of(run, run.config["arm"])
    made = {}
    for concurrency, by_name in arms.items():
        if not {BASELINE, SPEC} <= by_name.keys():
            continue
        compared = [compare(by_name[BASELINE], by_name[SPEC], m, again=by_name.get(AGAIN)) for m in MEASURES.values()]
        made[concurrency] = [(one, judge(one)) for one in compared if one.pair.least]
    return made


def as_json(compared: dict[int, list[Compared]]) -> list[dict[str, Any]]:
    """Return comparisons and judgements for the document."""
    return [
        {"concurrency": concurrency, **comparison.as_dict(), "verdict": _judged(verdict)}
        for concurrency, pairs in compared.items()
        for comparison, verdict in pairs
    ]


def _judged(verdict: Verdict) -> dict[str, Any]:
    return {
        "case": str(verdict.case),
        "headline": verdict.headline,
        "notes": [asdict(note) for note in verdict.notes],
    }
