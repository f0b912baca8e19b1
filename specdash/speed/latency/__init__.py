"""Latency comparison: two arms of an A/B measurement in, a judgement with its intervals out."""

from specdash.speed.latency.arms import E2E, MEASURES, PER_TOKEN, TPOT, TTFT, Arm, Measure, pair
from specdash.speed.latency.comparison import Comparison, Settings, compare
from specdash.speed.latency.student import PairedResult, WelchResult, paired_by_prompt, welch, welch_from_summary
from specdash.speed.latency.verdict import Case, Note, Verdict, judge, telling

__all__ = [
    "E2E",
    "MEASURES",
    "PER_TOKEN",
    "TPOT",
    "TTFT",
    "Arm",
    "Case",
    "Comparison",
    "Measure",
    "Note",
    "PairedResult",
    "Settings",
    "Verdict",
    "WelchResult",
    "compare",
    "judge",
    "pair",
    "paired_by_prompt",
    "telling",
    "welch",
    "welch_from_summary",
]
