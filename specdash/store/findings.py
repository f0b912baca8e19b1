"""What the checks found in a stored evaluation: a file of its own, because it can be made again at any time.

Findings depend on the settings of a run, which people may change, and on the version of the checks: those made with
others do not count, and neither does a file that is damaged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from specdash.schema import Evaluation
from specdash.verdict import VERSION, Finding, Outcome

NAME = "checks.json"

Settings = Mapping[str, Mapping[str, Any]]
"""Settings of the runs that were set by hand, by the name of the run."""


def settings_of(evaluation: Evaluation) -> Settings:
    """Return the settings with which the runs of an evaluation, as people see it, are checked."""
    return {run.name: run.config_set for run in evaluation.runs}


def text(evaluation: Evaluation, settings: Settings) -> str | None:
    """Return findings as the content of their file, in ASCII; None when a run was not checked.

    Args:
        evaluation: With the findings of its runs.
        settings: Those that the runs were checked with.
    """
    if any(run.checks is None for run in evaluation.runs):
        return None
    runs = [
        {
            "name": run.name,
            "settings": dict(settings[run.name]),
            "findings": [[finding.check, finding.outcome, finding.figure] for finding in run.checks],
        }
        for run in evaluation.runs
    ]
    return json.dumps({"version": VERSION, "runs": runs}, indent=1, ensure_ascii=True)


def load(folder: Path, settings: Settings) -> dict[str, tuple[Finding, ...]]:
    """Return the findings in an evaluation's folder by the name of the run, those that count.

    Args:
        folder: Of the evaluation.
        settings: Those that its runs have now.
    """
    try:
        found = json.loads((folder / NAME).read_bytes())
        if found["version"] != VERSION:
            return {}
        return {
            run["name"]: tuple(_finding(*parts) for parts in run["findings"])
            for run in found["runs"]
            if run["settings"] == settings.get(run["name"])
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _finding(check: Any, outcome: Any, figure: Any) -> Finding:
    return Finding(str(check), Outcome(outcome), str(figure))


def attached(evaluation: Evaluation, folder: Path) -> Evaluation:
    """Return the evaluation, as people see it, with the findings in its folder that count."""
    found = load(folder, settings_of(evaluation))
    return replace(evaluation, runs=tuple(replace(run, checks=found.get(run.name)) for run in evaluation.runs))
