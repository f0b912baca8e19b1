"""Estimates: metrics that are ratios of counts, written once for a tally of one set of steps and of many.

The value of a row is the estimate of its tally; its interval comes from the estimates of the same tally without a
prompt, or resampled.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from specdash.metrics.intervals import Limits, Scale, Uncertain, clustered
from specdash.metrics.registry import metric
from specdash.metrics.tally import Count, Estimate, plain
from specdash.schema import Granularity


def estimate(
    key: str,
    *,
    scale: Scale | None = None,
    over: Estimate = lambda tally: np.asarray(tally.steps),
    limits: Limits | None = None,
    **declared: object,
) -> Callable[[Estimate], Estimate]:
    """Declare the decorated function of a tally as the metric ``key``.

    Args:
        key: Key of the metric.
        scale: The scale on which its interval is symmetric, None when it has no interval.
        over: The steps that it rests on (see ``Uncertain``).
        limits: Smallest and largest possible value by block length; None for 0 and 1 on the logit scale, else none.
        declared: Further fields of Metric.
    """

    def declare(of: Estimate) -> Estimate:
        interval = None if scale is None else clustered(Uncertain(of, scale, over, limits))
        metric(key, needs=Granularity.AGGREGATE, interval=interval, **declared)(lambda group: plain(of(group.tally)))
        return of

    return declare


def ratio(numerator: Count | None, denominator: Count | None) -> np.ndarray | None:
    """Divide elementwise, broadcasting; NaN for 0/0, None when a side is not known."""
    if numerator is None or denominator is None:
        return None
    above, below = np.broadcast_arrays(np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float))
    return np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0)
