"""A drafter at the client, and the cost model of the DSD paper."""

import pytest

from specdash.speed.lap import tokens_per_second
from specdash.speed.pipeline import Pipeline
from specdash.speed.placement import client_drafter_rtt_limit_s, decentralized_time
from tests.speed.cases import tau_at_k


def test_a_drafter_at_the_client_needs_a_short_way():
    tau = tau_at_k("pooled")
    limit = client_drafter_rtt_limit_s(tau[-1], 0.030, 0.004)
    assert limit == pytest.approx(0.0810, abs=6e-5)
    # One stage whose only traversal takes a whole round trip.
    for factor, faster in ((0.99, True), (1.01, False)):
        client = Pipeline(stages=1, one_way_ms=(1000 * limit * factor,), stage_ms=30, draft_ms=4)
        assert bool(tokens_per_second(client, tau)[7] > 1 / 0.030) is faster


def test_printed_example_of_the_decentralized_model():
    found = decentralized_time(4.97, 10, 0.010, 0.0125)
    assert found == pytest.approx((0.6088, 0.1622, 3.754, 0.7336), abs=6e-5, rel=2e-4)


def test_its_laps_differ_by_the_return_hop():
    ours = Pipeline(stages=10, rtt_ms=25, return_hop=False)
    assert ours.latency_s == pytest.approx(decentralized_time(4.97, 10, 0.0, 0.0125).speculative_s)
    assert Pipeline(stages=10, rtt_ms=25).latency_s == pytest.approx(ours.latency_s * 10 / 9)
