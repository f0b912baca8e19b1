"""Estimates: metrics that are ratios of counts, written once for a tally of one set of steps and of many.

The value of a row is the estimate of its tally; its interval comes from the estimates of the same tally without a
prompt, or resampled.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from specdash.metrics.registry import Estimate, Scale, Uncertain, Value, metric
from specdash.metrics.tally import Count
from specdash.schema import Granularity


def estimate(
    key: str,
    *,
    scale: Scale | None = None,
    over: Estimate = lambda tally: np.asarray(tally.steps),
    limits: Callable[[int], tuple[np.ndarray | float, np.ndarray | float]] | None = None,
    **declared: object,
) -> Callable[[Estimate], Estimate]:
    """Declare the decorated function of a tally as the metric ``key``.

    Args:
        key: Key of the metric.
        scale: The scale on which its interval is symmetric, None when it has no interval.
        over: The steps that it rests on (see ``Uncertain``).
        limits: Smallest and largest possible value by block length; 0 and 1 on the logit scale.
        declared: Further fields of Metric.
    """

    def declare(of: Estimate) -> Estimate:
        ends = limits or ((lambda k: (0.0, 1.0)) if scale is Scale.LOGIT else None)
        uncertain = None if scale is None else Uncertain(of, scale, over, ends)
        metric(key, needs=Granularity.AGGREGATE, uncertain=uncertain, **declared)(lambda group: plain(of(group.tally)))
        return of

    return declare


def ratio(numerator: Count | None, denominator: Count | None) -> np.ndarray | None:
    """Divide elementwise, broadcasting; NaN for 0/0, None when a side is not known."""
    if numerator is None or denominator is None:
        return None
    above, below = np.broadcast_arrays(np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float))
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0)


def plain(values: np.ndarray | None) -> Value:
    """Return an estimate of one set as a row has it: a number or a list, None where undefined."""
    if values is None:
        return None
    if values.ndim:
        return [None if np.isnan(v) else v for v in values.tolist()]
    return None if np.isnan(values) else float(values)
