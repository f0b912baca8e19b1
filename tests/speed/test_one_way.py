"""One-way latencies as a text lists them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdash.schema import InputError
from specdash.speed.pipeline import Pipeline, one_way_ms


@pytest.mark.parametrize("said", ["10,100,40,20", "10, 100; 40 20", " 10\t100\n40,,20. ", "1e1 100 4e1 20.0"])
def test_latencies_are_read(said):
    assert one_way_ms(said, 4) == (10, 100, 40, 20)
    assert Pipeline(stages=4, one_way_ms=one_way_ms(said, 4)).latency_s == pytest.approx(0.170)


@pytest.mark.parametrize("said", ["", "  ", ",;"])
def test_nothing_is_no_list(said):
    assert one_way_ms(said, 4) is None


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("10, 20", "not as many one-way latencies as traversals; found 2; expected 4, one for each traversal of a lap"),
        ("10 x 40 20", "one-way latency 2 is none; found x; expected a latency in ms from 0 to 1,000,000"),
        ("10 20 -40 20", "one-way latency 3 is none; found -40"),
        ("10 20 40 inf", "one-way latency 4 is none; found inf"),
        ("nan 20 40 5", "one-way latency 1 is none; found nan"),
    ],
)
def test_what_is_no_list_of_latencies_is_refused(said, message):
    with pytest.raises(InputError, match=message):
        one_way_ms(said, 4)


@given(st.text(), st.integers(0, 5))
def test_any_text_is_read_or_refused(said, traversals):
    try:
        found = one_way_ms(said, traversals)
    except InputError:
        return
    assert found is None or len(found) == traversals
