"""Tests on means: Welch's for two unrelated samples, the paired one on log ratios for the same prompts.

Both come from scipy. A speed-up is always baseline over speculation: above 1 speculation is faster.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

POWER = 0.8
"""Chance with which a speed-up as large as the smallest detectable one is found."""

_ROUNDING = 1e-12
"""Relative spread up to which values are the same: there is nothing to test against."""


@dataclass(frozen=True)
class WelchResult:
    """Welch's t-test and what follows from its means.

    Attributes:
        n: Values of (base, spec).
        mean: Their means, in the unit of the values.
        sd: Their standard deviations (ddof 1).
        delta: Mean of spec − mean of base: negative where speculation is faster.
        delta_low: 95 % interval of the difference, from.
        delta_high: To.
        change: delta / mean of base, the change of the latency; no speed-up.
        t: Of base − spec: positive where speculation is faster.
        df: Welch–Satterthwaite degrees of freedom.
        p: Two-sided.
        speedup: Mean of base / mean of spec.
        low: 95 % interval of the speed-up by the delta method on the log, from.
        high: To.
        low90: 90 % interval, for equivalence, from.
        high90: To.
        cohens_d: Difference of means over the root mean square of the standard deviations.
        mde: Smallest speed-up that ``POWER`` of such measurements would find.
    """

    n: tuple[int, int]
    mean: tuple[float, float]
    sd: tuple[float, float]
    delta: float
    delta_low: float
    delta_high: float
    change: float
    t: float
    df: float
    p: float
    speedup: float
    low: float
    high: float
    low90: float
    high90: float
    cohens_d: float
    mde: float


def welch_from_summary(
    mean_base: float, sd_base: float, n_base: int, mean_spec: float, sd_spec: float, n_spec: int
) -> WelchResult | None:
    """Welch's test from means and standard deviations (ddof 1).

    Returns:
        None for fewer than two values a side, or when no value differs from its mean: there is no t then.
    """
    if min(n_base, n_spec) < 2 or max(sd_base / mean_base, sd_spec / mean_spec) <= _ROUNDING:
        return None
    from scipy import stats

    test = stats.ttest_ind_from_stats(mean_base, sd_base, n_base, mean_spec, sd_spec, n_spec, equal_var=False)
    parts = sd_base**2 / n_base, sd_spec**2 / n_spec
    df = sum(parts) ** 2 / (parts[0] ** 2 / (n_base - 1) + parts[1] ** 2 / (n_spec - 1))
    spread, relative = math.sqrt(sum(parts)), math.sqrt(parts[0] / mean_base**2 + parts[1] / mean_spec**2)
    delta, log_ratio = mean_spec - mean_base, math.log(mean_base / mean_spec)
    t95, t90, t_power = (float(stats.t.ppf(level, df)) for level in (0.975, 0.95, POWER))
    return WelchResult(
        n=(n_base, n_spec),
        mean=(mean_base, mean_spec),
        sd=(sd_base, sd_spec),
        delta=delta,
        delta_low=delta - t95 * spread,
        delta_high=delta + t95 * spread,
        change=delta / mean_base,
        t=float(test.statistic),
        df=df,
        p=float(test.pvalue),
        speedup=mean_base / mean_spec,
        low=math.exp(log_ratio - t95 * relative),
        high=math.exp(log_ratio + t95 * relative),
        low90=math.exp(log_ratio - t90 * relative),
        high90=math.exp(log_ratio + t90 * relative),
        cohens_d=-delta / math.sqrt((sd_base**2 + sd_spec**2) / 2),
        mde=math.exp((t95 + t_power) * relative),
    )


def welch(base: ArrayLike, spec: ArrayLike) -> WelchResult | None:
    """Welch's test on two samples as if they had nothing in common.

    Args:
        base: Shape (n,), positive latencies without speculation, any unit.
        spec: Shape (m,), with it, same unit.

    Returns:
        None for fewer than two values a side, or when no value differs from its mean.
    """
    a, b = (np.asarray(values, dtype=np.float64) for values in (base, spec))
    if min(a.size, b.size) < 2:
        return None
    means, sds = (float(a.mean()), float(b.mean())), (float(a.std(ddof=1)), float(b.std(ddof=1)))
    return welch_from_summary(means[0], sds[0], a.size, means[1], sds[1], b.size)


@dataclass(frozen=True)
class PairedResult:
    """Paired t-test on log ratios by prompt, back-transformed.

    Attributes:
        prompts: Pairs.
        speedup: Geometric mean over prompts of base / spec.
        low: 95 % interval of it, from.
        high: To.
        low90: 90 % interval, for equivalence, from.
        high90: To.
        t: Positive where speculation is faster; None when all prompts have the same ratio.
        df: Degrees of freedom, prompts − 1.
        p: Two-sided; None without t.
        correlation: Of the log latencies of the two arms over prompts: what pairing gains from; None if undefined.
        mde: Smallest speed-up that ``POWER`` of such measurements would find.
    """

    prompts: int
    speedup: float
    low: float
    high: float
    low90: float
    high90: float
    t: float | None
    df: int
    p: float | None
    correlation: float | None
    mde: float


def paired_by_prompt(log_base: ArrayLike, log_spec: ArrayLike) -> PairedResult | None:
    """Paired t-test of the log latencies of the same prompts.

    Args:
        log_base: Shape (prompts,), log latency of each prompt without speculation (mean over its copies).
        log_spec: Shape (prompts,), with it, in the same order.

    Returns:
        None for fewer than two prompts.
    """
    a, b = (np.asarray(values, dtype=np.float64) for values in (log_base, log_spec))
    if a.size < 2:
        return None
    from scipy import stats

    ratios = a - b
    mean, df = float(ratios.mean()), a.size - 1
    se = float(ratios.std(ddof=1)) / math.sqrt(a.size)
    constant = se <= _ROUNDING * max(1.0, abs(mean))
    test = None if constant else stats.ttest_rel(a, b)
    t95, t90, t_power = (float(stats.t.ppf(level, df)) for level in (0.975, 0.95, POWER))
    varied = min(float(np.ptp(a)), float(np.ptp(b))) > 0
    return PairedResult(
        prompts=a.size,
        speedup=math.exp(mean),
        low=math.exp(mean - t95 * se),
        high=math.exp(mean + t95 * se),
        low90=math.exp(mean - t90 * se),
        high90=math.exp(mean + t90 * se),
        t=None if test is None else float(test.statistic),
        df=df,
        p=None if test is None else float(test.pvalue),
        correlation=float(np.corrcoef(a, b)[0, 1]) if varied else None,
        mde=math.exp((t95 + t_power) * se),
    )
