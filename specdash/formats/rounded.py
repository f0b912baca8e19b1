"""The whole counts behind ratios that a log prints rounded: taken only where a single count fits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


def steps_within(accepted: int, mean: str, most: int) -> range:
    """Return the steps for which ``1 + accepted / steps`` is printed as ``mean``.

    Args:
        accepted: Accepted tokens, bonus token out.
        mean: Tokens per step as printed, bonus token in.
        most: No more steps than that can be.

    Returns:
        From the fewest to the most; empty when none fits.
    """
    value, half = Fraction(mean) - 1, _half_unit(mean)
    if value + half <= 0:
        return range(0)
    fewest = max(math.ceil(Fraction(accepted) / (value + half)), 1)
    largest = math.floor(Fraction(accepted) / (value - half)) if value > half else most
    return range(fewest, min(largest, most) + 1)


def hits(rates: Sequence[str], steps: int, accepted: int) -> list[int] | None:
    """Return the steps that accepted each position, whose shares of ``steps`` are printed as ``rates``.

    Args:
        rates: By position, as printed.
        steps: All steps.
        accepted: Sum of the result.

    Returns:
        The counts; None where a rate leaves several, or they do not add up to ``accepted``.
    """
    found = []
    for rate in rates:
        value, half = Fraction(rate), _half_unit(rate)
        fewest, most = math.ceil((value - half) * steps), math.floor((value + half) * steps)
        fewest, most = max(fewest, 0), min(most, steps)
        if fewest != most:
            return None
        found.append(fewest)
    return found if sum(found) == accepted and found == sorted(found, reverse=True) else None


def _half_unit(printed: str) -> Fraction:
    """Return half a unit of the last digit that is printed."""
    return Fraction(1, 2 * 10 ** len(printed.partition(".")[2]))
