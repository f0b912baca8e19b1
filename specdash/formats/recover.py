"""The whole numbers behind rounded ratios, as far as they can be told, and how far off they may be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_SLACK = 1e-9


@dataclass(frozen=True)
class Recovered:
    """Counts by draft position.

    Attributes:
        counts: Steps that accepted position i.
        doubt: Largest number of steps by which one of them may be off; 0 when no others would fit.
    """

    counts: tuple[int, ...]
    doubt: int


def hits(rates: Sequence[float], decimals: int | None, steps: int, accepted: int) -> Recovered | None:
    """Return the counts by position that rates over all steps were rounded from.

    Args:
        rates: Accepted at position i over steps, as fractions.
        decimals: Of the fractions as printed; None for ratios at full precision.
        steps: Drafted steps.
        accepted: Accepted tokens: the sum of the counts.

    Returns:
        Counts that do not rise, lie in the rounding of their rates and sum to ``accepted``; None when there are none.
    """
    half = 1e-9 if decimals is None else 0.5 * 10.0**-decimals
    low = [max(0, math.ceil((rate - half) * steps - _SLACK)) for rate in rates]
    high = [min(steps, math.floor((rate + half) * steps + _SLACK)) for rate in rates]
    for i in range(1, len(rates)):
        high[i] = min(high[i], high[i - 1])
    for i in range(len(rates) - 2, -1, -1):
        low[i] = max(low[i], low[i + 1])
    if any(a > b for a, b in zip(low, high, strict=True)) or not sum(low) <= accepted <= sum(high):
        return None
    counts = _between(low, high, [round(rate * steps) for rate in rates], accepted)
    doubt = max((b - a for a, b in zip(low, high, strict=True)), default=0)
    fixed = sum(low) == accepted or sum(high) == accepted
    return Recovered(tuple(counts), 0 if fixed else doubt)


def _between(low: list[int], high: list[int], near: list[int], total: int) -> list[int]:
    """Return whole numbers that do not rise, lie between ``low`` and ``high``, sum to ``total`` and are near ``near``.

    Both bounds do not rise themselves, so one of them is always within reach.
    """
    counts = [min(max(n, a), b) for n, a, b in zip(near, low, high, strict=True)]
    for i in range(1, len(counts)):
        counts[i] = min(counts[i], counts[i - 1])
    left = total - sum(counts)
    while left:
        before = left
        order = range(len(counts)) if left > 0 else range(len(counts) - 1, -1, -1)
        for i in order:
            if left > 0:
                room = min(high[i], counts[i - 1] if i else high[i]) - counts[i]
            else:
                room = max(low[i], counts[i + 1] if i + 1 < len(counts) else low[i]) - counts[i]
            step = max(min(left, room), 0) if left > 0 else min(max(left, room), 0)
            step = max(-1, min(1, step))  # one at a time, so that no position takes all of it
            counts[i] += step
            left -= step
            if not left:
                break
        if left == before:
            raise ValueError("bounds that cannot be met")
    return counts


def steps(length: float, decimals: int, accepted: int, most: int) -> range:
    """Return the numbers of steps whose acceptance length 1 + accepted/steps is printed as ``length``.

    Args:
        length: As printed, bonus token included.
        decimals: Of it.
        accepted: Accepted tokens.
        most: Largest number of steps there can be.
    """
    half = 0.5 * 10.0**-decimals
    longest, shortest = length - 1 + half, length - 1 - half
    if longest <= 0:
        return range(0)
    last = most if shortest <= 0 else math.floor(accepted / shortest + _SLACK)
    return range(math.ceil(accepted / longest - _SLACK), min(last, most) + 1)
