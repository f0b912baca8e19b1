"""The lap model against values computed elsewhere, and what holds for every pipeline."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdash.schema import InputError
from specdash.speed import bound
from specdash.speed.lap import best_k, lap_seconds, speedup, tokens_per_second
from specdash.speed.pipeline import LATENCY_ONLY, Drafter, Pipeline
from tests.helpers import golden, report_table
from tests.speed.cases import logged_taus, pipelines, printed_p, quick, tau_at_k, up_to

EVERY_COST = Pipeline(rtt_ms=50, bandwidth_mbit_s=1000, stage_ms=4, stage_per_token_ms=0.2, draft_ms=3)
DEARER = {
    "rtt_ms": 1.0,
    "stage_ms": 0.1,
    "stage_per_token_ms": 0.1,
    "overhead_ms": 0.1,
    "return_hop": True,
    "stages": 1,
    "hidden_size": 1,
    "bytes_per_value": 1.0,
    "residual_streams": 1,
    "return_bytes": 1.0,
}


@pytest.mark.parametrize("dataset", printed_p())
def test_every_cost_at_once(dataset):
    rates = tokens_per_second(EVERY_COST, tau_at_k(dataset))
    assert rates == pytest.approx(golden("golden_wan.json")["full"][dataset], rel=1e-12)


@pytest.mark.parametrize(
    ("residual_streams", "bandwidth", "lap7", "lap0", "rate7", "best", "best_rate", "gain7"),
    [
        (1, None, 0.125, 0.125, 39.75, 7, 39.75, 4.97),
        (1, 1000, 0.133258, 0.126032, 37.289, 7, 37.289, 4.700),
        (1, 100, 0.207578, 0.135322, 23.938, 6, 24.020, 3.239),
        (4, 1000, 0.158030, 0.129129, 31.443, 7, 31.443, 4.060),
        (4, 100, 0.455304, 0.166288, 10.914, 4, 11.918, 1.815),
    ],
)
def test_gsm8k_over_ten_stages(residual_streams, bandwidth, lap7, lap0, rate7, best, best_rate, gain7):
    pipeline = Pipeline(rtt_ms=25, residual_streams=residual_streams, bandwidth_mbit_s=bandwidth)
    tau = tau_at_k("gsm8k")
    rates = tokens_per_second(pipeline, tau)
    total = lap_seconds(pipeline, 7).total
    assert (total[7], total[0]) == pytest.approx((lap7, lap0), abs=6e-7)
    assert rates[7] == pytest.approx(rate7, abs=0.006 if bandwidth is None else 6e-4)
    assert best_k(rates) == best
    assert rates.max() == pytest.approx(best_rate, abs=0.006 if bandwidth is None else 6e-4)
    assert speedup(pipeline, tau)[7] == pytest.approx(gain7, abs=0.0012)


def test_alpaca_drafts_less_over_slow_links():
    rates = tokens_per_second(Pipeline(rtt_ms=25, bandwidth_mbit_s=100), tau_at_k("alpaca"))
    assert best_k(rates) == 4
    assert (rates[4], rates[7]) == pytest.approx((14.97, 13.68), abs=0.005)


def test_costs_of_a_lap_by_hand():
    found = lap_seconds(replace(EVERY_COST, overhead_ms=1, stages=3, hidden_size=1000), 2)
    bits = 8 * (2 * 2000 + 4)
    assert found.latency == pytest.approx([0.075] * 3)
    assert found.transfer == pytest.approx([bits / 1e9, 2 * bits / 1e9, 3 * bits / 1e9])
    assert found.compute == pytest.approx([3 * 0.0042, 3 * 0.0044, 3 * 0.0046])
    assert found.draft == pytest.approx([0, 0.003, 0.003])
    assert found.overhead == pytest.approx([0.001] * 3)
    assert found.total == pytest.approx(sum(found))


def test_an_autoregressive_drafter_costs_per_token():
    found = lap_seconds(Pipeline(drafter=Drafter.AUTOREGRESSIVE, draft_ms=2), 4)
    assert found.draft == pytest.approx([0, 0.002, 0.004, 0.006, 0.008])


def test_without_the_return_hop_nothing_goes_back():
    found = lap_seconds(Pipeline(stages=10, rtt_ms=20, return_hop=False, bandwidth_mbit_s=8, return_bytes=1000), 0)
    assert found.latency[0] == pytest.approx(9 * 0.010)
    assert found.transfer[0] == pytest.approx(9 * 14_336 * 8 / 8e6)


def test_only_the_sum_of_uneven_hops_matters():
    uneven = Pipeline(stages=4, one_way_ms=(10, 100, 40, 20))
    assert uneven.latency_s == pytest.approx(0.170)
    assert tokens_per_second(uneven, tau_at_k("gsm8k"))[7] == pytest.approx(29.23, abs=0.005)


@pytest.mark.parametrize(("latency", "best"), [(0.01, 7), (0.03, 9), (0.1, 12), (0.3, 16), (1, 20), (3, 25), (10, 30)])
def test_best_block_grows_with_the_logarithm_of_the_delay(latency, best):
    pipeline = Pipeline(stages=1, rtt_ms=2000 * latency, stage_ms=20, stage_per_token_ms=2)
    tau = 1 + np.cumsum(0.8 ** np.arange(1, 65))
    assert lap_seconds(pipeline, 9).total[9] == pytest.approx(latency + 0.022 + 0.002 * 9)
    assert best_k(tokens_per_second(pipeline, tau)) == best


def test_the_reports_table():
    rows = report_table("table7_tok_s_10_stages")
    for rtt in bound.REPORT_RTTS_MS:
        rates = tokens_per_second(replace(LATENCY_ONLY, rtt_ms=rtt), tau_at_k("gsm8k"))
        assert rates[7] == pytest.approx(float(rows["gsm8k"][f"rtt{rtt}"]), abs=0.06)
        assert rates[0] == pytest.approx(float(rows["no speculation"][f"rtt{rtt}"]), abs=0.051)


@given(logged_taus(), st.integers(1, 64), st.integers(1, 500))
@quick
def test_latency_alone_is_the_bound(tau, stages, rtt_ms):
    rates = tokens_per_second(Pipeline(stages=stages, rtt_ms=rtt_ms), tau)
    assert list(rates) == [bound.tokens_per_second(t, rtt_ms, stages) for t in (1, *tau)]
    assert speedup(Pipeline(stages=stages, rtt_ms=rtt_ms), tau) == pytest.approx([1, *tau])


@given(logged_taus(), pipelines(return_hop=True))
@quick
def test_the_bound_is_never_exceeded(tau, pipeline):
    above = [bound.tokens_per_second(t, pipeline.rtt_ms, pipeline.stages) for t in (1, *tau)]
    assert np.all(tokens_per_second(pipeline, tau) <= np.array(above) * (1 + 1e-12))


@given(pipelines(return_hop=False), st.sampled_from(sorted(DEARER)), st.integers(0, 12))
@quick
def test_no_cost_makes_a_lap_shorter(pipeline, name, k):
    pipeline = replace(pipeline, stages=min(pipeline.stages, 63), residual_streams=1)
    before = getattr(pipeline, name)
    dearer = replace(pipeline, **{name: True if name == "return_hop" else before + DEARER[name]})
    assert np.all(lap_seconds(dearer, k).total >= lap_seconds(pipeline, k).total * (1 - 1e-12))
    if name in ("stage_ms", "stage_per_token_ms", "overhead_ms", "stages", "return_hop"):
        assert np.all(lap_seconds(dearer, k).total > lap_seconds(pipeline, k).total)


@given(pipelines(), st.integers(1, 12), up_to(5))
@quick
def test_drafting_and_narrow_links_cost_time(pipeline, k, more):
    dearer = lap_seconds(replace(pipeline, draft_ms=pipeline.draft_ms + more + 0.1), k).total
    total = lap_seconds(pipeline, k).total
    assert dearer[0] == total[0] and np.all(dearer[1:] > total[1:])
    narrow = lap_seconds(replace(pipeline, bandwidth_mbit_s=0.5), k).total
    assert np.all(narrow > total) if pipeline.forward_hops else np.all(narrow >= total)
    assert np.all(np.diff(total) >= 0)


@given(st.lists(logged_taus(7).map(lambda tau: tau[:7]), min_size=1, max_size=4), pipelines())
@quick
def test_many_datasets_at_once_are_each_alone(taus, pipeline):
    together = tokens_per_second(pipeline, taus)
    assert together.shape == (len(taus), 8)
    for row, gain, tau in zip(together, speedup(pipeline, taus), taus, strict=True):
        assert np.array_equal(row, tokens_per_second(pipeline, tau))
        assert np.array_equal(gain, speedup(pipeline, tau))


def test_unknown_tau_is_never_the_best():
    rates = tokens_per_second(LATENCY_ONLY, [1.5, None, 1.2])
    assert np.isnan(rates[2]) and best_k(rates) == 1


def test_a_lap_that_takes_no_time_has_no_bound():
    free = Pipeline(stages=1, return_hop=False)
    assert list(tokens_per_second(free, [1.5])) == [np.inf, np.inf]
    assert np.all(np.isnan(speedup(free, [1.5])))


def test_equal_rates_take_the_shorter_block():
    assert best_k([1.0, 2.0, 2.0]) == 1


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"stages": 0}, "stages is out of range; found 0; expected a whole number from 1 to 64"),
        ({"stages": 65}, "stages is out of range"),
        ({"stages": 2.5}, "a whole number from 1 to 64"),
        ({"rtt_ms": -1}, "rtt_ms is out of range; found -1; expected a number from 0 to 1000000"),
        ({"rtt_ms": float("nan")}, "rtt_ms is out of range"),
        ({"overhead_ms": "soon"}, "overhead_ms is out of range; found soon"),
        ({"bandwidth_mbit_s": 0}, "bandwidth_mbit_s is out of range; found 0; expected a number from 0.001"),
        ({"drafter": "oracle"}, "no such drafter; found oracle; expected block or autoregressive"),
        ({"stages": 3, "one_way_ms": (1, 2)}, "one_way_ms needs one latency a traversal; found 2; expected 3"),
        ({"stages": 2, "one_way_ms": (1, -2)}, "one_way_ms is out of range; found -2"),
    ],
)
def test_what_a_pipeline_refuses(fields, message):
    with pytest.raises(InputError, match=message):
        Pipeline(**fields)


def test_what_the_functions_refuse():
    with pytest.raises(ValueError, match="cannot draft"):
        lap_seconds(LATENCY_ONLY, -1)
    with pytest.raises(ValueError, match="a list"):
        tokens_per_second(LATENCY_ONLY, 4.9)
