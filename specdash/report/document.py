"""The JSON contract: an evaluation with every number at full precision, undefined ones null."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from specdash._version import VERSION
from specdash.families import FamilyOf
from specdash.metrics import ERROR_KEYS, INTERVAL_KEYS, KEYS, Background, run_rows
from specdash.report import soundness
from specdash.schema import Evaluation, Run
from specdash.speed.latency.roles import against_baseline
from specdash.speed.latency.summary import latency_rows

Document = dict[str, Any]


def document(evaluation: Evaluation, family_of: FamilyOf, runs: tuple[Run, ...] | None = None) -> Document:
    """Return everything known of an evaluation, ready for ``json.dumps``.

    Args:
        evaluation: The evaluation.
        family_of: Family of a dataset name.
        runs: The runs to report, all when None.
    """
    return head(evaluation) | {
        "runs": [run_document(evaluation, run, family_of) for run in (evaluation.runs if runs is None else runs)],
    }


def checks_document(evaluation: Evaluation, runs: tuple[Run, ...]) -> Document:
    """Return what the checks found in some runs of an evaluation, with the verdict over all of them."""
    return head(evaluation) | {
        "verdict": soundness.verdict(finding for run in runs for finding in run.checks),
        "runs": [
            {"name": run.name, "verdict": soundness.verdict(run.checks), "checks": soundness.rows(run.checks)}
            for run in runs
        ],
    }


def head(evaluation: Evaluation) -> Document:
    """Return the version and what the evaluation is, as every document of it begins."""
    return {
        "specdash": VERSION,
        "evaluation": {
            "id": evaluation.id,
            "title": evaluation.title,
            "source": evaluation.source,
            "sha256": evaluation.sha256,
            "note": evaluation.note,
            "reconstruction": evaluation.reconstruction,
            "order": evaluation.order,
        },
    }


def run_document(evaluation: Evaluation, run: Run, family_of: FamilyOf) -> Document:
    """Return one run of ``document``."""
    keys = (*KEYS, *INTERVAL_KEYS, *ERROR_KEYS)
    datasets, families = run_rows(run, family_of, keys, Background.of(evaluation, run))
    mapping = run.mapping
    compared = against_baseline(evaluation.runs, run)
    return {
        "name": run.name,
        "granularity": str(run.granularity),
        "k": run.k,
        "config": run.effective_config,
        "semantics": None if run.semantics is None else asdict(run.semantics),
        "mapping": mapping and {"matched": mapping.matched, "total": mapping.total, "absent": mapping.absent},
        "datasets": datasets,
        "families": families,
        "latencies": None if run.latencies is None else latency_rows(run.latencies, family_of),
        "against_baseline": [one.as_dict() | {"verdict": verdict.as_dict()} for one, verdict in compared],
        "warnings": [{"code": warning.code, "message": warning.message} for warning in run.warnings],
        "verdict": None if run.checks is None else soundness.verdict(run.checks),
        "checks": None if run.checks is None else soundness.short_rows(run.checks),
    }
