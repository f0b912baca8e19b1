"""The checks of an evaluation, its ordered steps included: checks themselves read no files."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from specdash import checks
from specdash.ingest.source import Progress
from specdash.ingest.steps import ordered
from specdash.schema import Evaluation, InputError, Run


def checked(evaluation: Evaluation, progress: Progress | None = None) -> Evaluation:
    """Return the evaluation with the findings of its runs; a run that has them keeps them.

    Args:
        evaluation: Read or opened.
        progress: Called with a stage and the runs done and in all; what it raises ends the checks.

    Raises:
        InputError: The ordered steps cannot be read.
        OSError: The same, for a reason of the disk.
    """
    runs = []
    for number, run in enumerate(evaluation.runs):
        if run.checks is None:
            if progress:
                progress(f"check {run.name}", number, len(evaluation.runs))
            run = replace(run, checks=_findings(evaluation, run))
        runs.append(run)
    return replace(evaluation, runs=tuple(runs))


def unchecked(evaluation: Evaluation) -> Evaluation:
    """Return the evaluation without findings, to have it checked again."""
    return replace(evaluation, runs=tuple(replace(run, checks=None) for run in evaluation.runs))


def _findings(evaluation: Evaluation, run: Run) -> tuple[checks.Finding, ...]:
    steps = ordered(run)
    try:
        return checks.findings(checks.Subject.of(evaluation, run, steps))
    except pl.exceptions.PolarsError as error:
        if steps is None:
            raise
        raise InputError("the ordered steps cannot be read", file=run.name, found=error) from error
