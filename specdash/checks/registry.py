"""The declared checks: one object each, from which verdicts, explanations and the Methods page come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from specdash.checks.subject import Subject
from specdash.registry import Registry
from specdash.schema import Granularity
from specdash.verdict import Finding, Outcome

Result = tuple[Outcome, str]
"""Outcome and figure found."""

_HELD = {
    Granularity.RESPONSE: "responses without the order of steps",
    Granularity.AGGREGATE: "counters without responses",
    Granularity.RATES: "printed ratios without counts",
    Granularity.LATENCIES: "latencies alone",
}


def passed(figure: str) -> Result:
    """All is as it should be."""
    return Outcome.PASS, figure


def warned(figure: str) -> Result:
    """Something that whoever quotes the numbers has to know."""
    return Outcome.WARN, figure


def failed(figure: str) -> Result:
    """Something that cannot be."""
    return Outcome.FAIL, figure


def idle(why: str) -> Result:
    """The run does not hold what the check looks at."""
    return Outcome.NOT_APPLICABLE, why


@dataclass(frozen=True)
class Check:
    """One declared check.

    Attributes:
        key: Name in JSON, CSV and on disk.
        title: Short name of what it looks at.
        meaning: What it means for the numbers when it does not pass.
        cause: The usual cause.
        needs: The coarsest granularity that can tell.
        compute: Looks at a run.
        ordered: It needs the order of steps or requests, as recorded.
    """

    key: str
    title: str
    meaning: str
    cause: str
    needs: Granularity
    compute: Callable[[Subject], Result]
    ordered: bool = False

    def found(self, subject: Subject) -> Finding:
        """Return what the check finds in a run."""
        return Finding(self.key, *self._result(subject))

    def _result(self, subject: Subject) -> Result:
        held = subject.run.granularity
        if not held.allows(self.needs):
            return idle(f"this run holds {_HELD[held]}")
        if self.ordered and not subject.order_recorded:
            return idle("not available: the order of steps is invented")
        return self.compute(subject)


_CHECKS = Registry("check", Check)

check, get, all_checks = _CHECKS.declare, _CHECKS.get, _CHECKS.all
"""Declare a check (the keywords are the fields of Check), return one by its key, return all in their order."""
