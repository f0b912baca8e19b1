"""Intervals: what another sample of prompts could have given instead.

Each is 95 % and clustered by prompt: standard error by delete-one-prompt jackknife (``variance``), symmetric on the
log scale for lengths and on the logit scale for shares, Student's t with Q - 1 degrees of freedom (Satterthwaite's
where datasets are strata). Steps are not independent: intervals that take them to be cover the truth about one time in
eight. Where the data hold only one outcome, 0 % or 100 %, the jackknife says nothing and the rule of three takes its
place, counting prompts. source: metrics by ratio of sums; Miller 2024 (arXiv 2411.00640); Hanley & Lippman-Hand 1983
for the rule of three.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from specdash.metrics import variance
from specdash.metrics.clusters import Clusters
from specdash.metrics.group import Group
from specdash.metrics.registry import Ends, Interval
from specdash.metrics.tally import Estimate, plain
from specdash.schema import LEVEL, Granularity

FEWEST = 5
"""Prompts below which there is no interval."""

FEW = 20
"""Prompts below which an interval comes with a warning."""

Limits = Callable[[int], tuple[np.ndarray | float, np.ndarray | float]]
"""Block length of a run to the smallest and the largest value there can be."""

NO_INTERVAL = "no interval: "
NO_PROMPTS = "no samples say which prompt a response answers"
"""Begins what is said of a row without intervals."""


class Scale(StrEnum):
    """The scale on which an interval is symmetric."""

    LOG = "log"  # lengths and spreads
    LOGIT = "logit"  # shares


@dataclass(frozen=True)
class Uncertain:
    """An estimate from a sample of prompts.

    Attributes:
        estimate: Tally to values.
        scale: The scale on which its interval is symmetric.
        over: Tally to the steps that the values rest on; a prompt without any says nothing about them.
        limits: Smallest and largest value there can be; None for 0 and 1 on the logit scale and none on the log scale.
    """

    estimate: Estimate
    scale: Scale
    over: Estimate
    limits: Limits | None


def refusal(group: Group) -> str | None:
    """Say why a group has no interval; None when it has."""
    if not group.granularity.allows(Granularity.RESPONSE) or group.clusters is None:
        return NO_INTERVAL + "counters do not tell prompts apart"
    prompts, responses = group.clusters.units.height, group.measured
    unknown = responses["prompt"].null_count()
    if not responses.height:
        return NO_INTERVAL + "no step drafted any token"
    if unknown == responses.height:
        return NO_INTERVAL + NO_PROMPTS
    if unknown:
        return NO_INTERVAL + f"the prompt of {unknown:,} of {responses.height:,} responses is not known"
    if prompts < FEWEST:
        return NO_INTERVAL + ("one prompt" if prompts == 1 else f"{prompts} prompts") + f", {FEWEST} are needed"
    return None


def note(group: Group) -> str | None:
    """Say why a group has no interval, or what to think of the one it has; None when nothing need be said."""
    said = refusal(group)
    if said is not None:
        return said
    prompts, steps = group.clusters.units.height, np.asarray(group.clusters.tally.steps, dtype=float)
    if _alike(group.clusters):
        return f"all {prompts:,} prompts have the same τ, so it has no interval"
    if prompts < FEW:
        return f"only {prompts} prompts, so the interval is rough"
    if (equal := few_of_equal_length(steps)) is not None:
        return f"the {prompts:,} prompts weigh as few as {equal:.1f} of equal length would, so the interval is rough"
    return None


def few_of_equal_length(steps: np.ndarray) -> float | None:
    """Return how many prompts of equal length weigh as much as some do, where few have most of the steps; else None.

    An interval of prompts that do holds the truth some 90 % of the time instead of 95 % (simulated, 40 prompts that
    weigh like 18).

    Args:
        steps: Shape (prompts,), their drafted steps, at least one.

    source: Kish 1965, effective sample size of unequal weights.
    """
    equal = float(steps.sum() ** 2 / (steps @ steps))
    return equal if equal < min(FEW, steps.size / 2) else None


def _alike(clusters: Clusters) -> bool:
    """Tell whether τ is the same in every prompt, and neither the smallest nor the largest there can be."""
    accepted, steps = (np.asarray(count, dtype=np.int64) for count in (clusters.tally.accepted, clusters.tally.steps))
    same = (accepted * steps[0] == accepted[0] * steps).all()
    return bool(same and 0 < accepted[0] < (clusters.tally.k or 0) * steps[0])


def sample(group: Group) -> Clusters | None:
    """Return the prompts of a group, None when there are too few for an interval."""
    return None if refusal(group) else group.clusters


def clustered(uncertain: Uncertain) -> Interval:
    """Declare the interval of an estimate, clustered by prompt."""

    def of(group: Group) -> Ends | list[Ends]:
        clusters = sample(group)
        known = clusters is not None and uncertain.estimate(clusters.total) is not None
        low, high = map(plain, ends(uncertain, clusters)) if known else (None, None)
        if not isinstance(low, list):
            return None if low is None else [low, high]
        return [None if a is None else [a, b] for a, b in zip(low, high, strict=True)]

    return Interval(
        f"{LEVEL:.0%} over prompts: delete-one-prompt jackknife, datasets as strata; symmetric on the "
        f"{uncertain.scale} scale; Student's t with Q − 1 degrees of freedom, Satterthwaite's over several datasets",
        of,
    )


def ends(uncertain: Uncertain, clusters: Clusters) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and the upper ends of an estimate, of its shape; NaN where there is no interval.

    There is none where fewer than ``FEWEST`` prompts say anything about it, and none where prompts do not differ.
    """
    spread = variance.jackknife(uncertain.estimate, clusters)
    value = uncertain.estimate(clusters.total)
    prompts = np.broadcast_to((uncertain.over(clusters.tally) > 0).sum(axis=0), value.shape)
    low, high = _symmetric(value, spread, uncertain.scale)
    limits = uncertain.limits or ((lambda k: (0.0, 1.0)) if uncertain.scale is Scale.LOGIT else None)
    if limits is not None:
        floor, ceiling = (np.broadcast_to(limit, value.shape) for limit in limits(clusters.tally.k))
        reach = (ceiling - floor) * (1 - (1 - LEVEL) ** (1 / np.maximum(prompts, 1)))
        lowest, highest = value <= floor + 1e-12, value >= ceiling - 1e-12
        low = np.where(lowest, floor, np.where(highest, ceiling - reach, np.maximum(low, floor)))
        high = np.where(highest, ceiling, np.where(lowest, floor + reach, np.minimum(high, ceiling)))
    few = prompts < FEWEST
    return np.where(few, np.nan, low), np.where(few, np.nan, high)


def _symmetric(value: np.ndarray, spread: variance.Spread, scale: Scale) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends at t standard errors to both sides on a scale; NaN where the error is 0."""
    from scipy.special import expit, logit, stdtrit  # Takes longer to import than most reports to compute.

    there, back, slope = (np.log, np.exp, value) if scale is Scale.LOG else (logit, expit, value * (1 - value))
    varies = spread.se > 1e-12 * np.abs(value)
    with np.errstate(divide="ignore", invalid="ignore"):
        half = np.where(varies, stdtrit(spread.df, (1 + LEVEL) / 2) * spread.se / slope, np.nan)
        return back(there(value) - half), back(there(value) + half)
