"""In which order requests are sent: both arms see the same prompts in the same order, one arm at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

BASELINE, SPEC, AGAIN = "baseline", "spec", "baseline again"
"""The arms. The third is the first once more, for what a machine shows without any cause."""


@dataclass(frozen=True)
class Block:
    """Requests to one arm that are in flight together.

    Attributes:
        arm: Its name.
        prompts: Indices of the prompts, in order.
    """

    arm: str
    prompts: tuple[int, ...]


def blocks(prompts: int, arms: Sequence[str], concurrency: int, *, interleaved: bool = True) -> Iterator[Block]:
    """Yield the blocks of one pass over the prompts.

    Interleaved, every block of prompts goes to all arms before the next, in an order that turns around each time (A B,
    B A, …): what drifts in the machine hits both alike. A block holds one prompt when one request is in flight, and
    twice as many as are in flight otherwise, so that most of it runs at the wanted load.

    Args:
        prompts: Number of prompts.
        arms: Names of the arms.
        concurrency: Requests in flight.
        interleaved: False to finish an arm before the next begins.
    """
    size = prompts if not interleaved else 1 if concurrency == 1 else 2 * concurrency
    for number, start in enumerate(range(0, prompts, max(1, size))):
        indices = tuple(range(start, min(start + size, prompts)))
        for arm in arms if number % 2 == 0 else reversed(arms):
            yield Block(arm, indices)
