"""Alignment of two sequences that are mostly alike, such as the requests of a log and the lines of its samples.

Few differences are found with the fewest skips (Myers 1986), which takes time with the square of their number. Where
there are many, runs of keys that stand once in either sequence anchor the alignment, and only what lies between two
anchors is aligned that way.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

Key = tuple[int, ...]

_ANCHOR = 3  # Keys of a run; fewer may well be alike by chance.
_FEW_EDITS = 300
_MOST_EDITS = 1000  # A stretch without anchors that has more differences is not aligned; it bounds the work.


def aligned(keys: Sequence[Key], wanted: Sequence[Key]) -> np.ndarray:
    """Align ``keys`` with ``wanted``.

    Between two aligned pairs, equally many left over on both sides belong together, although they differ.

    Returns:
        Shape (len(keys),), the index into ``wanted`` for each key, -1 for none; ascending.
    """
    pairs = _common(keys, wanted, _FEW_EDITS) or _anchored(keys, wanted)
    place = np.full(len(keys), -1, dtype=np.int64)
    last_i, last_j = -1, -1
    for i, j in [*pairs, (len(keys), len(wanted))]:
        if i - last_i == j - last_j:
            place[last_i + 1 : i] = np.arange(last_j + 1, j)
        place[i : i + 1] = j
        last_i, last_j = i, j
    return place


def _anchored(a: Sequence[Key], b: Sequence[Key]) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    i, j = 0, 0
    for end_i, end_j in [*_anchors(a, b), (len(a), len(b))]:
        pairs += [(i + x, j + y) for x, y in _common(a[i:end_i], b[j:end_j], _MOST_EDITS)]
        pairs.append((end_i, end_j))
        i, j = end_i + 1, end_j + 1
    return pairs[:-1]


def runs(keys: Sequence[Key], size: int) -> list[tuple[Key, ...]]:
    """Return every run of ``size`` consecutive keys."""
    return list(zip(*(keys[i:] for i in range(size)), strict=False))


def places(keys: Sequence[Key], size: int) -> dict[tuple[Key, ...], list[int]]:
    """Return where each run of ``size`` consecutive keys starts."""
    found = defaultdict(list)
    for i, run in enumerate(runs(keys, size)):
        found[run].append(i)
    return found


def _anchors(a: Sequence[Key], b: Sequence[Key]) -> list[tuple[int, int]]:
    """Return the longest ascending list of places where a run stands that both sequences hold once."""
    there = places(b, _ANCHOR)
    pairs = [
        (i[0], there[run][0]) for run, i in places(a, _ANCHOR).items() if len(i) == 1 and len(there.get(run, ())) == 1
    ]
    ends: list[int] = []  # smallest last j of an ascending list of each length
    last: list[int] = []  # and the pair it belongs to
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [number]
    chosen = []
    number = last[-1] if last else -1
    while number >= 0:
        chosen.append(pairs[number])
        number = before[number]
    return chosen[::-1]


def _common(a: Sequence[Key], b: Sequence[Key], most_edits: int) -> list[tuple[int, int]]:
    """Return the index pairs of a longest common subsequence, none when it takes more than ``most_edits`` skips.

    Diagonal d holds the pairs (i, i - d); ``furthest[d]`` is the largest i reached there with the skips so far.
    """
    if not a or not b:
        return []
    furthest = {1: 0}
    history: list[array] = []
    for edits in range(min(len(a) + len(b), most_edits) + 1):
        history.append(array("i", [furthest.get(d, -1) for d in range(-edits - 1, edits + 2)]))
        for diagonal in range(-edits, edits + 1, 2):
            before = _came_from(history[-1], edits, diagonal)
            i = furthest[before] + (before < diagonal)
            j = i - diagonal
            while i < len(a) and j < len(b) and a[i] == b[j]:
                i, j = i + 1, j + 1
            furthest[diagonal] = i
            if i >= len(a) and j >= len(b):
                return _walked_back(history, len(a), len(b))
    return []


def _came_from(furthest: array, edits: int, diagonal: int) -> int:
    """Return the neighbouring diagonal from which ``diagonal`` is entered with its last skip."""
    left, right = furthest[diagonal + edits], furthest[diagonal + edits + 2]
    return diagonal + 1 if diagonal == -edits or (diagonal != edits and left < right) else diagonal - 1


def _walked_back(history: list[array], i: int, j: int) -> list[tuple[int, int]]:
    pairs = []
    for edits in range(len(history) - 1, -1, -1):
        before = _came_from(history[edits], edits, i - j)
        start_i = history[edits][before + edits + 1] if edits else 0
        start_j = start_i - before if edits else 0
        while i > start_i and j > start_j:
            i, j = i - 1, j - 1
            pairs.append((i, j))
        i, j = start_i, start_j
    return pairs[::-1]
