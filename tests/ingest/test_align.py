import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdash.ingest.align import aligned

KEYS = st.lists(st.integers(0, 4).map(lambda n: (n,)), max_size=12)


def longest_common(a, b):
    """Length of a longest common subsequence, by the textbook table."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@given(KEYS, KEYS)
def test_aligns_as_many_as_possible_in_order(a, b):
    place = aligned(a, b).tolist()
    used = [j for j in place if j >= 0]
    assert len(place) == len(a)
    assert used == sorted(set(used)) and all(j < len(b) for j in used)
    assert sum(j >= 0 and a[i] == b[j] for i, j in enumerate(place)) == longest_common(a, b)


@pytest.mark.parametrize(
    ("keys", "wanted", "place"),
    [
        ("abcd", "abcd", [0, 1, 2, 3]),
        ("acd", "abcd", [0, 2, 3]),  # one absent in the middle
        ("bcd", "abcd", [1, 2, 3]),  # at the start
        ("abc", "abcd", [0, 1, 2]),  # at the end
        ("xyabcd", "abcd", [-1, -1, 0, 1, 2, 3]),  # two too many at the start
        ("axcd", "abcd", [0, 1, 2, 3]),  # one that differs
        ("axyd", "abcd", [0, 1, 2, 3]),  # two that differ
        ("axd", "abcd", [0, -1, 2 + 1]),  # one of two: nobody knows which
        ("", "abcd", []),
        ("ab", "", [-1, -1]),
    ],
)
def test_by_hand(keys, wanted, place):
    assert aligned(list(keys), list(wanted)).tolist() == place


@pytest.mark.parametrize(("differing", "absent"), [(0, 5), (200, 0), (900, 30), (2000, 300)])
def test_many_differences(differing, absent):
    random_ = random.Random(differing)
    wanted = [(random_.randint(1, 300), random_.randint(1, 900)) for _ in range(10_000)]
    place = sorted(random_.sample(range(10_000), 10_000 - absent))
    keys = [wanted[j] for j in place]
    for i in random_.sample(range(len(keys)), differing):
        keys[i] = (-1, keys[i][1])
    found = aligned(keys, wanted).tolist()
    same = [i for i, key in enumerate(keys) if key[0] > 0]
    assert sum(found[i] == place[i] for i in same) >= len(same) - differing / 100
    if not absent:
        assert found == place


def test_nothing_in_common():
    assert set(aligned([(1,)] * 3000, [(2,)] * 2999).tolist()) == {-1}
