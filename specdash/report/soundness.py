"""What the checks found, as rows and in words, the same in every output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from specdash import checks
from specdash.verdict import Finding, Outcome, Verdict

SCHEMA = dict.fromkeys(("check", "title", "outcome", "figure", "meaning", "cause"), pl.String)

MARKS = {Outcome.FAIL: "✕", Outcome.WARN: "!", Outcome.PASS: "✓", Outcome.NOT_APPLICABLE: "–"}


def verdict(findings: Iterable[Finding]) -> dict[str, Any]:
    """Return the worst outcome and how many there are of each, as the JSON has it."""
    found = Verdict.of(findings)
    return {"outcome": str(found.outcome)} | {outcome.name.lower(): n for outcome, n in found.counts.items()}


def short_rows(findings: Iterable[Finding]) -> list[dict[str, str]]:
    """Return a row a finding: check, title, outcome, figure."""
    return [{name: row[name] for name in ("check", "title", "outcome", "figure")} for row in rows(findings)]


def rows(findings: Iterable[Finding]) -> list[dict[str, str]]:
    """Return a row a finding, with what it means and its usual cause."""
    return [
        {
            "check": finding.check,
            "title": declared.title,
            "outcome": str(finding.outcome),
            "figure": finding.figure,
            "meaning": declared.meaning,
            "cause": declared.cause,
        }
        for finding in findings
        for declared in (checks.get(finding.check),)
    ]


def frame(findings: Iterable[Finding]) -> pl.DataFrame:
    """Return the rows as a frame, the columns those of SCHEMA."""
    return pl.DataFrame(rows(findings), schema=SCHEMA)


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, failures first and what does not apply last, else in the order of the checks."""
    order = list(Outcome)
    return sorted(findings, key=lambda finding: order.index(finding.outcome))


def told(findings: Sequence[Finding]) -> list[tuple[Finding, str]]:
    """Return what is not as it should be, each as a line of plain text."""
    return [
        (finding, f"{checks.get(finding.check).title}: {finding.figure}")
        for finding in worst_first(findings)
        if finding.outcome in (Outcome.FAIL, Outcome.WARN)
    ]
