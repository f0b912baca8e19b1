"""Break-even points: printed values, and both sides of every point evaluated."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdash.speed.breakeven import Pays, bandwidth_mbit_s, margin, network_seconds, rtt_ms
from specdash.speed.lap import best_k, tokens_per_second
from specdash.speed.pipeline import LATENCY_ONLY, Drafter, Pipeline
from tests.speed.cases import logged_taus, measured_taus, pipelines, quick, tau_at_k

PER_TOKEN = Pipeline(stage_ms=4, stage_per_token_ms=3, draft_ms=4, bandwidth_mbit_s=1000)


@pytest.mark.parametrize(
    ("dataset", "k1", "k2", "expected"),
    [("alpaca", 0, 7, 9.84), ("alpaca", 5, 7, 320.6), ("math500", 5, 7, 39.9), ("math500", 6, 7, 59.8)],
)
def test_round_trip_from_which_the_longer_block_pays(dataset, k1, k2, expected):
    found = rtt_ms(PER_TOKEN, tau_at_k(dataset), k1, k2)
    assert found.value == pytest.approx(expected, abs=0.05 if expected > 10 else 0.005)
    assert found.pays == Pays.ABOVE


def test_math500_always_pays():
    found = rtt_ms(PER_TOKEN, tau_at_k("math500"), 0, 7)
    assert found.value < 0 and found.pays == Pays.ALWAYS


@pytest.mark.parametrize(("dataset", "best"), [("alpaca", 3), ("math500", 5)])
def test_best_block_with_those_costs(dataset, best):
    assert best_k(tokens_per_second(PER_TOKEN, tau_at_k(dataset))) == best


@pytest.mark.parametrize(
    ("pipeline", "dataset", "k1", "k2"),
    [
        (PER_TOKEN, "alpaca", 0, 7),
        (PER_TOKEN, "math500", 0, 7),
        (LATENCY_ONLY, "gsm8k", 6, 7),
        (LATENCY_ONLY, "alpaca", 4, 7),
        (replace(LATENCY_ONLY, residual_streams=4), "gsm8k", 4, 7),
    ],
)
def test_bandwidth_by_scanning(pipeline, dataset, k1, k2):
    tau = tau_at_k(dataset)
    found = bandwidth_mbit_s(pipeline, tau, k1, k2)
    scan = np.geomspace(1, 1e5, 2001)
    faster = []
    for bandwidth in scan:
        rates = tokens_per_second(replace(pipeline, bandwidth_mbit_s=bandwidth), tau)
        faster.append(rates[k2] > rates[k1])
    first = faster.index(True)
    assert not any(faster[:first]) and all(faster[first:])
    assert scan[first - 1] <= found.value <= scan[first]
    assert found.pays == Pays.ABOVE


def faster_at(pipeline, tau, k1, k2):
    """Whether K2 beats K1, None when they are equal up to rounding."""
    rates = tokens_per_second(pipeline, tau)
    return None if rates[k2] == pytest.approx(rates[k1], rel=1e-12) else bool(rates[k2] > rates[k1])


def agrees(found, value, faster):
    return faster is None or found.at(value) == faster


@st.composite
def comparisons(draw, taus):
    tau = draw(taus)
    k2 = draw(st.integers(1, tau.size))
    return tau, draw(st.integers(0, k2 - 1)), k2


@given(comparisons(logged_taus() | measured_taus), pipelines(), st.floats(0.01, 1000))
@quick
def test_round_trip_separates_slower_from_faster(comparison, pipeline, anywhere):
    tau, k1, k2 = comparison
    found = rtt_ms(pipeline, tau, k1, k2)
    assert found.pays != Pays.BELOW and (found.value is None) == (found.pays == Pays.NEVER)
    around = [found.value * 0.999, found.value * 1.001] if found.pays == Pays.ABOVE and found.value < 9e5 else []
    for value in (anywhere, *around):
        if pipeline.traversals:
            assert agrees(found, value, faster_at(replace(pipeline, rtt_ms=value), tau, k1, k2))


@given(comparisons(logged_taus() | measured_taus), pipelines(), st.floats(0.01, 10_000))
@quick
def test_bandwidth_separates_slower_from_faster(comparison, pipeline, anywhere):
    tau, k1, k2 = comparison
    found = bandwidth_mbit_s(pipeline, tau, k1, k2)
    separates = found.pays in (Pays.ABOVE, Pays.BELOW) and 0.01 < found.value < 9e8
    for value in (anywhere, *([found.value * 0.999, found.value * 1.001] if separates else [])):
        changed = replace(pipeline, bandwidth_mbit_s=value)
        assert agrees(found, value, faster_at(changed, tau, k1, k2))


@given(comparisons(logged_taus()), pipelines())
@quick
def test_more_bandwidth_never_argues_against_a_logged_longer_block(comparison, pipeline):
    found = bandwidth_mbit_s(pipeline, *comparison)
    assert found.pays != Pays.BELOW or found.value < 1e-6  # a difference that only rounding makes


def test_a_measured_longer_block_can_pay_only_on_slow_links():
    found = bandwidth_mbit_s(Pipeline(stage_per_token_ms=100), [1.1, 3.0], 1, 2)
    assert found.pays == Pays.ALWAYS
    costly = Pipeline(rtt_ms=0, drafter=Drafter.AUTOREGRESSIVE, draft_ms=1000)
    found = bandwidth_mbit_s(costly, [1.1, 1.9], 1, 2)
    assert found.pays == Pays.BELOW
    for factor, faster in ((0.99, True), (1.01, False)):
        value = found.value * factor
        assert faster_at(replace(costly, bandwidth_mbit_s=value), [1.1, 1.9], 1, 2) is faster is found.at(value)


def test_a_longer_block_that_emits_no_more_never_pays():
    for find in (network_seconds, rtt_ms, bandwidth_mbit_s):
        found = find(PER_TOKEN, [1.5, 1.5, 1.4], 1, 3)
        assert found == (None, Pays.NEVER) and not found.at(1e9)


def test_latency_alone_always_pays():
    assert network_seconds(LATENCY_ONLY, [1.5, 1.8], 0, 2) == (0, Pays.ALWAYS)


@pytest.mark.parametrize(("per_token", "pays"), [(0.1, Pays.ALWAYS), (100.0, Pays.NEVER)])
def test_one_stage_without_a_way_back_has_no_network(per_token, pays):
    alone = Pipeline(stages=1, return_hop=False, stage_ms=4, stage_per_token_ms=per_token)
    assert rtt_ms(alone, [1.5], 0, 1).pays == pays
    assert faster_at(alone, [1.5], 0, 1) is (pays == Pays.ALWAYS)


def test_network_time_is_the_sum_over_the_traversals():
    seconds = network_seconds(PER_TOKEN, tau_at_k("alpaca"), 0, 7).value
    assert rtt_ms(PER_TOKEN, tau_at_k("alpaca"), 0, 7).value == pytest.approx(2 * seconds / 10 * 1000)
    uneven = replace(PER_TOKEN, one_way_ms=(seconds * 1000, *[0] * 9))
    rates = tokens_per_second(uneven, tau_at_k("alpaca"))
    assert rates[7] == pytest.approx(rates[0])


@pytest.mark.parametrize(("k1", "k2"), [(-1, 2), (2, 2), (3, 2), (0, 4)])
def test_blocks_that_cannot_be_compared(k1, k2):
    with pytest.raises(ValueError, match="cannot compare"):
        rtt_ms(LATENCY_ONLY, [1.5, 1.8, 1.9], k1, k2)


def test_unknown_tau_has_no_break_even():
    with pytest.raises(ValueError, match="not known"):
        rtt_ms(LATENCY_ONLY, [1.5, None], 0, 2)
    with pytest.raises(ValueError, match="one dataset"):
        rtt_ms(LATENCY_ONLY, [[1.5, 1.6]], 0, 2)


@given(logged_taus(), pipelines())
@quick
def test_deepening_while_the_margin_pays_ends_at_the_best_block(tau, pipeline):
    rates = tokens_per_second(pipeline, tau)
    gain, cost = margin(pipeline, tau)
    k = 1
    while k < tau.size and gain[k] > cost[k]:
        k += 1
    assert rates[k] == pytest.approx(rates[1:].max(), rel=1e-9)
    assert gain == pytest.approx(np.diff(tau, prepend=1) / [1, *tau[:-1]])


def test_the_margin_of_a_free_lap_has_no_cost():
    assert np.isnan(margin(Pipeline(stages=1, return_hop=False), [1.5]).cost).all()
