"""What the checks of a run found, and the verdict over all of them. Knows nothing else of the project."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

VERSION = 2
"""Goes up whenever a check would say something else of the same run: findings kept from before are made anew."""


class Outcome(StrEnum):
    """What a check says of a run, the worst first."""

    FAIL = "fail"
    """The log or what stands beside it cannot be as it is: the numbers are not to be used before that is cleared."""
    WARN = "warn"
    """Nothing is broken, but whoever quotes the numbers has to know it."""
    PASS = "pass"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True)
class Finding:
    """What one check found in a run.

    Attributes:
        check: Key of the check.
        outcome: What it says.
        figure: The figure found, as one plain sentence; why the check does not apply where it does not.
    """

    check: str
    outcome: Outcome
    figure: str


@dataclass(frozen=True)
class Verdict:
    """The worst outcome over some findings, and how many there are of each.

    Attributes:
        outcome: The worst.
        counts: By outcome, the worst first; an outcome that did not occur is 0.
    """

    outcome: Outcome
    counts: dict[Outcome, int]

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Verdict:
        """Return the verdict over findings, of one run or of several."""
        outcomes = [finding.outcome for finding in findings]
        counts = {outcome: outcomes.count(outcome) for outcome in Outcome}
        worst = next((outcome for outcome, count in counts.items() if count), Outcome.NOT_APPLICABLE)
        return cls(worst, counts)

    def __str__(self) -> str:
        failed, warned, passed, idle = self.counts.values()
        parts = [f"{failed} failed"] if failed else []
        parts += [f"{warned} warning{'' if warned == 1 else 's'}"] if warned else []
        return ", ".join([*parts, f"{passed} passed", f"{idle} not applicable"])

    @property
    def short(self) -> str:
        """What is not as it should be, such as "1 failed, 2 warnings"; "sound" when all is, "not checked" by any."""
        unchecked = self.outcome is Outcome.NOT_APPLICABLE
        return ", ".join(str(self).split(", ")[:-2]) or ("not checked" if unchecked else "sound")
