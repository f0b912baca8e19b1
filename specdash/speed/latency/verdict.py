"""The judgement in words: never a badge alone, always with its interval, and "no effect" never from a large p."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from specdash.speed.latency.arms import PER_TOKEN
from specdash.speed.latency.comparison import LEAST, Comparison
from specdash.speed.latency.notes import Note, bunched, notes, number
from specdash.speed.latency.student import PairedResult, WelchResult

__all__ = ["Case", "Note", "Verdict", "judge", "telling"]


class Case(StrEnum):
    """What a comparison comes to."""

    TOO_FEW = "too few to judge"
    BUFFERED = "not to be judged by this"
    UNDECIDED = "no difference established"
    EQUIVALENT = "equivalent"
    WITHIN_FLOOR = "within the machine's own drift"
    FASTER = "faster"
    SLOWER = "slower"


@dataclass(frozen=True)
class Verdict:
    """A judgement.

    Attributes:
        case: What it comes to.
        headline: One sentence with the interval.
        notes: What else a reader has to know before acting on it, the weightiest first.
    """

    case: Case
    headline: str
    notes: tuple[Note, ...]

    @property
    def has_badge(self) -> bool:
        """Whether there is anything to put a badge on."""
        return self.case not in (Case.TOO_FEW, Case.BUFFERED)

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {"case": str(self.case), "headline": self.headline, "notes": [asdict(note) for note in self.notes]}


def judge(comparison: Comparison) -> Verdict:
    """Judge a comparison.

    The cases are those of the benchmarking page, corrected: below 5 a side there is no badge; a p of 0.05 or more is
    an interval and, where that is narrow enough, equivalence; else speculation is faster or slower.

    Where many answers arrived whole with their first chunk, their pace was not seen and is not judged.

    source: How We Benchmark DeepSpec, stage 3; Schuirmann 1987 for equivalence by the 90 % interval.
    """
    case = _case(comparison)
    return Verdict(case, _headline(comparison, case), notes(comparison, faster=case is Case.FASTER))


def telling(compared: Sequence[tuple[Comparison, Verdict]]) -> list[Verdict]:
    """Return the judgement of the first measure and, where its pace was not seen, that of end to end per token."""
    instead = [verdict for one, verdict in compared[1:] if one.measure is PER_TOKEN]
    return [verdict for _, verdict in compared[:1]] + (instead if compared[0][1].case is Case.BUFFERED else [])


def _case(comparison: Comparison) -> Case:
    found, margin = comparison.deciding, comparison.settings.margin
    if found is None:
        return Case.TOO_FEW
    if any(bunched(comparison)):
        return Case.BUFFERED
    significant = found.low > 1 or found.high < 1
    if not significant:
        within = found.low90 > 1 / (1 + margin) and found.high90 < 1 + margin
        return Case.EQUIVALENT if within else Case.UNDECIDED
    nearest = min(abs(math.log(found.low)), abs(math.log(found.high)))
    if comparison.floor is not None and nearest <= math.log(comparison.floor):
        return Case.WITHIN_FLOOR
    return Case.FASTER if found.speedup > 1 else Case.SLOWER


def _headline(comparison: Comparison, case: Case) -> str:
    found, noun = comparison.deciding, comparison.measure.noun
    if found is None:
        return _too_few(comparison)
    if case is Case.BUFFERED:
        return (
            f"Not to be judged by {noun}: too many answers arrived whole with their first chunk, so their pace was not "
            "seen. End-to-end latency per output token tells which is faster."
        )
    interval = f"{number(found.low)} to {number(found.high)}"
    by = _basis(found)
    if case in (Case.FASTER, Case.SLOWER):
        said = "Faster: a speed-up of" if case is Case.FASTER else "Slower: a speed-up below 1,"
        return (
            f"{said} {number(found.speedup)} in {noun} (95 % interval {interval}; {by}). "
            f"It takes {number(100 / found.speedup, 1)} % of the time it takes without speculation."
        )
    if case is Case.WITHIN_FLOOR:
        return (
            f"Not beyond the machine's own drift: a speed-up of {number(found.speedup)} in {noun} (95 % interval "
            f"{interval}; {by}), but the same server differs from itself by a factor of up to "
            f"{number(comparison.floor or 1)}."
        )
    if case is Case.EQUIVALENT:
        return (
            f"Equivalent within {number(100 * comparison.settings.margin, 0)} %: the speed-up in {noun} lies between "
            f"{number(found.low90)} and {number(found.high90)} (90 % interval; {by})."
        )
    return (
        f"No difference established: the speed-up in {noun} lies between {number(found.low)} and {number(found.high)} "
        f"(95 % interval; {by}). A measurement of this size finds a speed-up of {number(found.mde)} or more four times "
        "out of five; it does not show that there is none."
    )


def _too_few(comparison: Comparison) -> str:
    pair, noun = comparison.pair, comparison.measure.noun
    if pair.least >= LEAST:
        return f"Nothing to judge: the values of {noun} do not vary, so there is no noise to compare with."
    if pair.prompts is not None:
        return (
            f"Too few to judge: {_counted(pair.prompts, 'prompt')} with {noun} in both arms, at least {LEAST} are "
            "needed. No difference is claimed."
        )
    a, b = pair.base.seconds.size, pair.spec.seconds.size
    return (
        f"Too few to judge: {a} and {b} requests with {noun}, at least {LEAST} a side are needed. "
        "No difference is claimed."
    )


def _basis(found: PairedResult | WelchResult) -> str:
    """Say which test an interval is of."""
    if isinstance(found, PairedResult):
        test = "all prompts alike" if found.t is None else f"t {number(found.t, 2)}, {p_value(found.p)}"
        return f"{found.prompts:,} prompts paired, {test}"
    return f"Welch, {found.n[0]:,} and {found.n[1]:,} requests, t {number(found.t, 2)}, {p_value(found.p)}"


def p_value(p: float | None) -> str:
    """Return a p-value as people read it."""
    if p is None:
        return "p –"
    if p >= 0.001:
        return f"p = {p:.3f}"
    return f"p = {p:.1e}" if p > 1e-300 else "p < 1e-300"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
