"""Intervals: what another sample of prompts could have given instead.

Each is 95 % and clustered by prompt: standard error by delete-one-prompt jackknife (``variance``), symmetric on the
log scale for lengths and on the logit scale for shares, Student's t with Q - 1 degrees of freedom (Satterthwaite's
where datasets are strata). Steps are not independent: intervals that take them to be cover the truth about one time in
eight. Where the data hold only one outcome, 0 % or 100 %, the jackknife says nothing and the rule of three takes its
place, counting prompts. source: metrics by ratio of sums; Miller 2024 (arXiv 2411.00640); Hanley & Lippman-Hand 1983
for the rule of three.
"""

from __future__ import annotations

import numpy as np

from specdash.metrics import variance
from specdash.metrics.clusters import Clusters
from specdash.metrics.estimates import plain
from specdash.metrics.group import Group
from specdash.metrics.registry import Metric, Scale, Uncertain
from specdash.schema import Granularity

LEVEL = 0.95
"""Confidence of every interval."""

FEWEST = 5
"""Prompts below which there is no interval."""

FEW = 20
"""Prompts below which an interval comes with a warning."""

Ends = list[float] | None
"""Lower and upper end, None where there is no interval."""

_HOW = {Scale.LOG: "log", Scale.LOGIT: "logit"}
_NO = "no interval: "


def how(declared: Metric) -> str | None:
    """Say how the interval of a metric is made, None when it has none."""
    if declared.uncertain is None:
        return None
    return (
        f"{LEVEL:.0%} over prompts: delete-one-prompt jackknife, datasets as strata; symmetric on the "
        f"{_HOW[declared.uncertain.scale]} scale; Student's t with Q − 1 degrees of freedom"
    )


def refusal(group: Group) -> str | None:
    """Say why a group has no interval; None when it has."""
    if not group.granularity.allows(Granularity.RESPONSE) or group.clusters is None:
        return _NO + "counters do not tell prompts apart"
    prompts, responses = group.clusters.units.height, group.measured
    unknown = responses["prompt"].null_count()
    if not responses.height:
        return _NO + "no step drafted any token"
    if unknown == responses.height:
        return _NO + "no samples say which prompt a response answers"
    if unknown:
        return _NO + f"the prompt of {unknown:,} of {responses.height:,} responses is not known"
    if prompts < FEWEST:
        return _NO + ("one prompt" if prompts == 1 else f"{prompts} prompts") + f", {FEWEST} are needed"
    return None


def note(group: Group) -> str | None:
    """Say why a group has no interval, or what to think of the one it has; None when nothing need be said."""
    said = refusal(group)
    if said is None and group.clusters.units.height < FEW:
        return f"only {group.clusters.units.height} prompts: the interval is rough"
    return said


def sample(group: Group) -> Clusters | None:
    """Return the prompts of a group, None when there are too few for an interval."""
    return None if refusal(group) else group.clusters


def interval(declared: Metric, group: Group) -> Ends | list[Ends]:
    """Return the interval of a metric: its ends, or those of each element of a list; None where there is none."""
    clusters = sample(group)
    if clusters is None or declared.uncertain is None:
        return None
    found = ends(declared.uncertain, clusters)
    if found is None:
        return None
    low, high = (plain(end) for end in found)
    if isinstance(low, list):
        return [None if a is None or b is None else [a, b] for a, b in zip(low, high, strict=True)]
    return None if low is None or high is None else [low, high]


def ends(uncertain: Uncertain, clusters: Clusters) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the lower and the upper ends of an estimate, of its shape; NaN where there is no interval.

    There is none where fewer than ``FEWEST`` prompts say anything about it, and none where prompts do not differ.
    """
    spread = variance.jackknife(uncertain.estimate, uncertain.over, clusters)
    if spread is None:
        return None
    value = uncertain.estimate(clusters.total)
    prompts = np.broadcast_to((uncertain.over(clusters.tally) > 0).sum(axis=0), value.shape)
    low, high = _symmetric(value, spread, uncertain.scale)
    if uncertain.limits is not None:
        floor, ceiling = (np.broadcast_to(limit, value.shape) for limit in uncertain.limits(clusters.tally.k))
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
