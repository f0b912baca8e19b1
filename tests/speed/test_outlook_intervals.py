"""Speeds are multiples of τ(K′), and so are the ends of their intervals."""

import pytest

from specdash.speed.answers import filled
from specdash.speed.outlook import at_block
from specdash.speed.pipeline import Pipeline

ROW = {
    "dataset": "d",
    "family": None,
    "tau": 4.0,
    "tau_ci": [3.5, 4.6],
    "tau_at_k": [1.9, 4.0],
    "tau_at_k_ci": [[1.8, 2.0], [3.5, 4.6]],
}


def test_latency_alone():
    """10 hops of 12.5 ms: 125 ms a lap, so 8 tokens per second for each token of τ."""
    pipeline = Pipeline(stages=10, rtt_ms=25)
    (row,) = at_block([ROW], pipeline, 2, 2)
    assert row["tau_block_ci"] == [3.5, 4.6]
    assert row["tok_s_ci"] == pytest.approx([28, 36.8])
    assert row["bound_tok_s_ci"] == pytest.approx([28, 36.8])
    assert row["speedup_ci"] == pytest.approx([3.5, 4.6])
    assert row["tok_s_at_k_ci"] == [None, pytest.approx([14.4, 16]), pytest.approx([28, 36.8])]
    (shorter,) = at_block([ROW], pipeline, 2, 1)
    assert shorter["tok_s_ci"] == pytest.approx([14.4, 16])
    (none,) = at_block([ROW], pipeline, 2, 0)
    assert none["tok_s_ci"] is none["tau_block_ci"] is none["speedup_ci"] is None


def test_rows_without_intervals():
    bare = {key: value for key, value in ROW.items() if not key.endswith("_ci")}
    (row,) = at_block([bare], Pipeline(stages=10, rtt_ms=25), 2, 2)
    assert row["tok_s_ci"] is row["bound_tok_s_ci"] is None
    (row,) = at_block([ROW | {"tau_at_k": None, "tau_at_k_ci": None}], Pipeline(stages=10, rtt_ms=25), 2, 2)
    assert row["tok_s_ci"] == pytest.approx([28, 36.8])


def test_a_lap_that_takes_no_time_has_no_speed_and_no_interval():
    (row,) = at_block([ROW], Pipeline(stages=10, rtt_ms=0), 2, 2)
    assert row["tok_s"] is row["tok_s_ci"] is row["speedup_ci"] is row["bound_tok_s_ci"] is None
    assert row["tau_block_ci"] == [3.5, 4.6]


def test_counters_that_borrow_the_interval_of_the_whole_block():
    borrowed = ROW | {"tau_at_k_ci": None}
    (row,) = at_block([borrowed], Pipeline(stages=10, rtt_ms=25), 2, 2)
    assert row["tok_s_ci"] == pytest.approx([28, 36.8]) and row["speedup_ci"] == pytest.approx([3.5, 4.6])
    assert row["tok_s_at_k_ci"] == [None, None, pytest.approx([28, 36.8])]
    (shorter,) = at_block([borrowed], Pipeline(stages=10, rtt_ms=25), 2, 1)
    assert shorter["tok_s_ci"] is shorter["tau_block_ci"] is None


def test_many_streams():
    """Eight streams, a lap of 125 ms without compute: 64 τ tokens per second together, never busy."""
    (row,) = filled([ROW], Pipeline(stages=10, rtt_ms=25, streams=8), 2, 2)
    assert row["aggregate_ci"] == pytest.approx([64 * 3.5, 64 * 4.6])
    assert row["per_stream_ci"] == pytest.approx([28, 36.8])
    assert row["cap_ci"] is None
    (plain,) = filled([ROW], Pipeline(stages=10, rtt_ms=25, streams=8), 2, 0)
    assert plain["aggregate"] == pytest.approx(64) and plain["aggregate_ci"] is None
