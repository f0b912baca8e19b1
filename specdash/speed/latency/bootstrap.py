"""Bootstrap of percentiles and of the ratio of means, resampling prompts with all their copies.

Where arms are paired both are resampled by the same prompts, so that what a slow prompt costs both cancels out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from specdash.speed.lap import Floats
from specdash.speed.latency.arms import Pair, Sample

LEVELS = (0.5, 0.95, 0.99)
REPLICATES = 2000
_CELLS = 200_000  # counts held at a time: few enough to stay in the processor's cache


@dataclass(frozen=True)
class Interval:
    """A number and its 95 % percentile-bootstrap interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Percentile:
    """One percentile of both arms (type 7).

    Attributes:
        level: 0..1.
        base: Seconds without speculation.
        spec: Seconds with it.
        speedup: base / spec.
        resolved: Whether at least one value of each arm lies beyond it: else it interpolates the two largest ones.
    """

    level: float
    base: Interval
    spec: Interval
    speedup: Interval
    resolved: bool


@dataclass(frozen=True)
class Bootstrap:
    """What resampling says.

    Attributes:
        percentiles: Of ``LEVELS``.
        mean_ratio: Mean of base / mean of spec.
        replicates: Samples drawn.
    """

    percentiles: tuple[Percentile, ...]
    mean_ratio: Interval
    replicates: int


def bootstrap(pair: Pair, levels: Sequence[float] = LEVELS, replicates: int = REPLICATES) -> Bootstrap | None:
    """Resample two arms.

    The same values give the same intervals always: the seed follows from them.

    Args:
        pair: The arms.
        levels: Percentiles, 0..1.
        replicates: Samples to draw.

    Returns:
        None when an arm is empty.
    """
    arms = pair.base, pair.spec
    if not all(arm.seconds.size for arm in arms):
        return None
    rng = np.random.default_rng(_seed(pair))
    drawn: list[list[Floats]] = [[], []]
    chunk = max(1, _CELLS // max(arm.seconds.size for arm in arms))
    for start in range(0, replicates, chunk):
        count = min(chunk, replicates - start)
        weights = _weights(rng, arms[0], count)
        both = weights, weights if pair.prompts is not None else _weights(rng, arms[1], count)
        for found, arm, by_prompt in zip(drawn, arms, both, strict=True):
            found.append(_statistics(arm.seconds, by_prompt[:, arm.prompts], levels))
    base, spec = (np.concatenate(found) for found in drawn)
    exact = [_statistics(arm.seconds, np.ones((1, arm.seconds.size), dtype=np.int64), levels)[0] for arm in arms]
    smallest = min(arm.seconds.size for arm in arms)
    percentiles = tuple(
        Percentile(
            level,
            _interval(exact[0][i], base[:, i]),
            _interval(exact[1][i], spec[:, i]),
            _interval(exact[0][i] / exact[1][i], base[:, i] / spec[:, i]),
            smallest * (1 - level) >= 1 - 1e-9,
        )
        for i, level in enumerate(levels)
    )
    ratio = _interval(exact[0][-1] / exact[1][-1], base[:, -1] / spec[:, -1])
    return Bootstrap(percentiles, ratio, replicates)


def _seed(pair: Pair) -> int:
    content = b"".join(arm.seconds.tobytes() + arm.prompts.tobytes() for arm in (pair.base, pair.spec))
    return int.from_bytes(hashlib.sha256(content).digest()[:8], "big")


def _weights(rng: np.random.Generator, arm: Sample, count: int) -> NDArray[np.int64]:
    """Shape (count, prompts): how often each prompt is in each sample."""
    prompts = int(arm.prompts.max()) + 1
    drawn = rng.integers(prompts, size=(count, prompts)) + np.arange(count)[:, None] * prompts
    return np.bincount(drawn.ravel(), minlength=count * prompts).reshape(count, prompts)


def _statistics(values: Floats, counts: NDArray[np.int64], levels: Sequence[float]) -> Floats:
    """Percentiles and, last, the mean of samples.

    Args:
        values: Shape (n,), ascending.
        counts: Shape (samples, n), how often each value is in each sample.
        levels: Percentiles, 0..1.

    Returns:
        Shape (samples, levels + 1).
    """
    running = counts.cumsum()  # over all samples in a row, so that one search finds the ranks of every sample
    ends = running[counts.shape[1] - 1 :: counts.shape[1]]
    total = np.diff(ends, prepend=0)

    def at(rank: NDArray[np.int64]) -> Floats:
        """The values of 0-based ranks, one a sample."""
        return values[np.searchsorted(running, ends - total + rank, side="right") % counts.shape[1]]

    columns = []
    for level in levels:
        place = (total - 1) * level
        below = np.floor(place).astype(np.int64)
        low, high = at(below), at(np.minimum(below + 1, total - 1))
        columns.append(low + (place - below) * (high - low))
    return np.stack([*columns, counts @ values / total], axis=1)


def _interval(value: float, drawn: Floats) -> Interval:
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Interval(float(value), float(low), float(high))
