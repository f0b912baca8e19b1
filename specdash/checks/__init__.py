"""Soundness of a run: declared checks over its canonical tables, pure. Who reads the ordered steps passes them in."""

from __future__ import annotations

from specdash.checks.registry import Check, all_checks, get
from specdash.checks.subject import Subject
from specdash.verdict import Finding

# Importing these modules declares their checks, in the order in which they are told.
# isort: off
from specdash.checks import identities, printed, requests, copies, drafting, lengths, loops, sample  # noqa: F401
# isort: on


def findings(subject: Subject) -> tuple[Finding, ...]:
    """Return what every check finds in a run, in the order of declaration."""
    return tuple(check.found(subject) for check in all_checks())


__all__ = ["Check", "Finding", "Subject", "all_checks", "findings", "get"]
