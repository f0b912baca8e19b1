"""Events out of bytes, however the bytes are cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdash.live import sse
from specdash.live.sse import Events, TooLarge

STREAM = (
    b": comment\ndata: one\n\nevent: x\r\ndata:two\r\ndata:  three\r\n\r\nid: 4\rdata: \xce\xb1\r\rdata\n\ndata: last"
)
WHOLE = ["one", "two\n three", "α", "last"]


def events(parts):
    found = Events()
    return [event for part in parts for event in found.feed(part)] + list(found.end())


def test_one_piece():
    assert events([STREAM]) == WHOLE


def test_byte_by_byte():
    assert events([STREAM[i : i + 1] for i in range(len(STREAM))]) == WHOLE


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_cut_anywhere(cuts):
    edges = [0, *sorted(cuts), len(STREAM)]
    assert events([STREAM[a:b] for a, b in pairwise(edges)]) == WHOLE


@given(st.binary(max_size=300))
def test_any_bytes_are_taken(content):
    assert all(isinstance(event, str) for event in events([content]))


def test_limits(monkeypatch):
    monkeypatch.setattr(sse, "_MOST_PENDING", 100)
    with pytest.raises(TooLarge):
        events([b"x" * 101])
    with pytest.raises(TooLarge):
        events([b"data: " + b"x" * 60 + b"\n"] * 2)
    monkeypatch.setattr(sse, "MOST_BYTES", 50)
    with pytest.raises(TooLarge):
        events([b"data: x\n\n"] * 10)
