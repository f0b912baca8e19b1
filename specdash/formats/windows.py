"""Windows of a server's log: what came in since the line before, added up by counts.

A line says accepted and drafted tokens, not steps. Those follow from the drafts' length where it is constant, else from
the mean acceptance length, as well as its decimals allow. Averages of printed means would not be the run's.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from specdash.formats import aggregate, recover
from specdash.formats.producer import Context
from specdash.schema import MAX_DRAFTED, NothingToRead, Run, RunWarning

TOLERATED = 0.01
"""Largest doubt about τ, relative, with which it is shown."""

_SEARCHED = 20_000  # numbers of steps of a window that are tried


@dataclass(frozen=True)
class Window:
    """What a line says of its window; None for what it does not.

    Attributes:
        accepted: Draft tokens accepted.
        drafted: Draft tokens.
        length: Mean acceptance length as printed, bonus token included, with its decimals.
        rates: Accepted at position i over steps, as printed, with their decimals.
    """

    accepted: int
    drafted: int
    length: tuple[float, int] | None
    rates: tuple[list[float], int] | None


@dataclass(frozen=True)
class Possible:
    """A line with the numbers of steps that it may be of, from the least to the most."""

    line: Window
    least: int
    most: int

    def nearest(self, drafted: float) -> int:
        """Return the possible number of steps nearest to that of drafts of a mean length."""
        return min(max(round(self.line.drafted / drafted), self.least), self.most)


def add_up(lines: Collection[Window], context: Context, path: str) -> Run:
    """Return the run of windows that follow each other, added up by their counts.

    Args:
        lines: The windows in which something was drafted; gone through more than once.
        context: Of the reader; its K where no window has rates by position.
        path: Of the log, for messages.

    Raises:
        NothingToRead: There are none.
    """
    if not lines:
        raise NothingToRead("nothing was drafted in any window of the log", file=path)
    k = max((len(line.rates[0]) for line in lines if line.rates), default=context.k)
    fewest, most = _numbers_of_steps(lines, k)
    accepted, drafted = sum(line.accepted for line in lines), sum(line.drafted for line in lines)
    low, high = sum(fewest), sum(most)
    warnings = []
    if low < high:
        span = f"between {1 + accepted / high:.3f} and {1 + accepted / low:.3f}"
        many = sum(a < b for a, b in zip(fewest, most, strict=True))
        said = f"{many:,} of {len(lines):,} windows do not tell their number of steps exactly: τ lies {span}"
        warnings.append(RunWarning("steps_recovered", said))
    if (accepted / low - accepted / high) > TOLERATED * (1 + accepted / high):
        row = aggregate.row(context.dataset, path, steps=None, drafted=drafted, accepted=accepted)
        return aggregate.run("", [row], k, warnings)
    sure = sum(a for a, b in zip(fewest, most, strict=True) if a == b)
    surely_drafted = sum(line.drafted for line, a, b in zip(lines, fewest, most, strict=True) if a == b)
    mean = surely_drafted / max(sure, 1) or 1.0
    ranges = zip(lines, fewest, most, strict=True)
    steps = array("q", (Possible(line, a, b).nearest(mean) for line, a, b in ranges))
    positions, doubt = _positions(lines, steps, k)
    if positions is None:
        warnings.append(RunWarning("positions_unknown", "rates by position do not fit the counts of their windows"))
    if doubt:
        said = f"counts by position are recovered from rounded rates: off by {doubt:,} of {sum(steps):,} at most"
        warnings.append(RunWarning("positions_recovered", said))
    row = aggregate.row(
        context.dataset, path, steps=sum(steps), drafted=drafted, accepted=accepted, per_position=positions, k=k
    )
    return aggregate.run("", [row], k, warnings)


def _numbers_of_steps(lines: Collection[Window], k: int | None) -> tuple[array[int], array[int]]:
    """Return the least and the most steps that each window may be of.

    When all drafts are of length k the drafted tokens tell the steps, and both are the same.
    """
    if k and all(not line.drafted % k and _fits(line, line.drafted // k) for line in lines):
        steps = array("q", (line.drafted // k for line in lines))
        return steps, steps
    fewest, most = array("q"), array("q")
    for line in lines:
        found = possible(line, k)
        fewest.append(found.least)
        most.append(found.most)
    return fewest, most


def _fits(line: Window, steps: int) -> bool:
    """Tell whether so many steps print the mean of a line."""
    length, decimals = line.length or (0.0, 0)
    printed = 1 + line.accepted / steps if steps else 1.0
    return abs(printed - length) <= 0.5000001 * 10.0**-decimals


def possible(line: Window, k: int | None) -> Possible:
    """Return how many steps a window may be of when drafts differ in length."""
    least, most = -(-line.drafted // (k or MAX_DRAFTED)), line.drafted
    length, decimals = line.length or (1.0, 2)
    found = recover.steps(length, decimals, line.accepted, most) if line.accepted else range(least, most + 1)
    numbers = [n for n in (found[:_SEARCHED] if len(found) > _SEARCHED else found) if n >= least]
    if not numbers:
        return Possible(line, least, most)
    if line.rates and line.accepted:
        # Only the ends are asked for, so the search comes from both sides and stops at the first that fits.
        fitting = (n for n in numbers if recover.hits(*line.rates, n, line.accepted))
        if (first := next(fitting, None)) is not None:
            last = next(n for n in reversed(numbers) if recover.hits(*line.rates, n, line.accepted))
            return Possible(line, first, last)
    return Possible(line, numbers[0], numbers[-1])


def _positions(lines: Collection[Window], steps: Sequence[int], k: int | None) -> tuple[list[int] | None, int]:
    """Return the accepted tokens by position, None where a window's rates do not fit its counts, and their doubt."""
    total, doubt = [0] * (k or 0), 0
    for line, n in zip(lines, steps, strict=True):
        found = recover.hits(*line.rates, n, line.accepted) if line.rates else None
        if found is None:
            return None, 0
        doubt += found.doubt
        counts = [*found.counts, *[0] * (len(total) - len(found.counts))]
        total = [a + b for a, b in zip(total, counts, strict=True)]
    return total or None, doubt
