"""Whole numbers behind rounded ratios: what is recovered from figures rounded here has to be there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdash.formats import recover


@given(st.data(), st.integers(1, 5000), st.integers(1, 8), st.sampled_from([2, 3, 4]))
def test_what_was_rounded_is_in_reach(data, steps, k, decimals):
    hits = sorted((data.draw(st.integers(0, steps)) for _ in range(k)), reverse=True)
    rates = [round(n / steps, decimals) for n in hits]
    found = recover.hits(rates, decimals, steps, sum(hits))
    assert found is not None and sum(found.counts) == sum(hits)
    assert list(found.counts) == sorted(found.counts, reverse=True)
    assert max(abs(a - b) for a, b in zip(found.counts, hits, strict=True)) <= found.doubt


@given(st.integers(1, 5000), st.integers(0, 30_000))
def test_the_steps_of_a_mean_are_in_reach(steps, accepted):
    assert steps in recover.steps(round(1 + accepted / steps, 2), 2, accepted, 40_000)


@pytest.mark.parametrize(
    ("rates", "decimals", "steps", "accepted", "counts"),
    [
        ([0.8, 0.45, 0.25], None, 100, 150, (80, 45, 25)),
        ([0.3297, 0.0752], 4, 14542, 5889, None),  # two positions, one or two possible counts each
        ([0.837, 0.669, 0.524], 3, 166, 337, (139, 111, 87)),
    ],
)
def test_examples(rates, decimals, steps, accepted, counts):
    found = recover.hits(rates, decimals, steps, accepted)
    assert sum(found.counts) == accepted
    assert counts is None or (found.counts, found.doubt) == (counts, 0)


def test_rates_that_cannot_be():
    assert recover.hits([0.5, 0.25], None, 100, 80) is None
    assert recover.hits([0.333], None, 100, 33) is None
    assert list(recover.steps(0.5, 2, 10, 100)) == []
