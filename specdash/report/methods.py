"""What a declared metric or check means, in words."""

from __future__ import annotations

from specdash import metrics
from specdash.checks import Check
from specdash.metrics import Metric, Shape
from specdash.schema import LEVEL

PRINCIPLE = (
    "Every number is computed from counts of verify steps; sums are divided last, ratios are never averaged. "
    "An undefined number is shown as – and stored as null."
)
"""What holds of all of them."""

INTERVALS = (
    f"Intervals are {LEVEL:.0%} and say what another sample of prompts could have given: steps and copies of "
    f"one prompt resemble each other, so prompts are what counts. Fewer than {metrics.FEWEST} prompts give none, fewer "
    f"than {metrics.FEW} a rough one. A share of 0% or 100% in the data gets the rule of three, counting prompts."
)
"""What holds of their intervals."""

CHECKS = (
    "Every run is checked when it is added. Fail: it cannot be as it is, so its numbers are not to be used before that "
    "is cleared. Warn: nothing is broken, but whoever quotes the numbers has to know it. A check that needs what the "
    "run does not hold is not applicable."
)
"""What the outcomes of checks mean."""

TOOLS = (
    "The same name has several meanings among tools. Every number here has the one meaning above, and is recomputed "
    "from a tool's counts; what its own numbers mean is kept with a run and shown with it."
)
"""What holds of the files of tools."""

_NEEDS = {
    "response": "responses",
    "aggregate": "counters",
    "step": "ordered steps",
    "rates": "printed ratios",
    "latencies": "nothing",
}
_SHAPES = {
    Shape.POSITION: " per draft position, 0 = first drafted token",
    Shape.OUTCOME: " per number of accepted tokens, 0..K",
    Shape.BLOCK: " per block length, 1..K",
}


def provenance(metric: Metric) -> str:
    """Return a metric's unit, estimator, what it needs its source and how its interval is made, on one line."""
    unit = (metric.unit or "pure number") + _SHAPES.get(metric.shape, "")
    parts = [
        f"Unit: {unit}",
        f"Estimator: {metric.estimator}",
        f"Needs: {_NEEDS[metric.needs]}",
        f"Source: {metric.source}",
    ]
    return " · ".join([*parts, f"Interval: {metric.interval.how}"] if metric.interval else parts)


def requirement(check: Check) -> str:
    """Return what a run has to hold for a check to apply."""
    return f"Needs: {_NEEDS[check.needs]}" + (" in their recorded order" if check.ordered else "")
