"""The order of requests."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdash.live.plan import AGAIN, BASELINE, SPEC, blocks

ARMS = (BASELINE, SPEC)


def order(*args, **kwargs):
    return [(block.arm[0], *block.prompts) for block in blocks(*args, **kwargs)]


def test_one_in_flight_takes_turns_that_turn_around():
    assert order(4, ARMS, 1) == [("b", 0), ("s", 0), ("s", 1), ("b", 1), ("b", 2), ("s", 2), ("s", 3), ("b", 3)]


def test_more_in_flight_go_in_blocks():
    assert order(5, ARMS, 2) == [("b", 0, 1, 2, 3), ("s", 0, 1, 2, 3), ("s", 4), ("b", 4)]


def test_not_interleaved():
    assert order(3, ARMS, 1, interleaved=False) == [("b", 0, 1, 2), ("s", 0, 1, 2)]


def test_an_arm_alone_and_three():
    assert order(2, [SPEC], 1) == [("s", 0), ("s", 1)]
    assert [block.arm for block in blocks(2, [BASELINE, SPEC, AGAIN], 1)] == [
        BASELINE, SPEC, AGAIN, AGAIN, SPEC, BASELINE,
    ]  # fmt: skip


@given(st.integers(0, 40), st.integers(1, 9), st.booleans())
def test_every_arm_gets_every_prompt_once_in_order(prompts, concurrency, interleaved):
    seen = {arm: [] for arm in ARMS}
    for block in blocks(prompts, ARMS, concurrency, interleaved=interleaved):
        seen[block.arm] += block.prompts
    assert seen == {arm: list(range(prompts)) for arm in ARMS}


@pytest.mark.parametrize("concurrency", [1, 4])
def test_each_arm_goes_first_as_often(concurrency):
    firsts = Counter()
    for nth, block in enumerate(blocks(64, ARMS, concurrency)):
        if nth % 2 == 0:
            firsts[block.arm] += 1
    assert firsts[BASELINE] == firsts[SPEC]
