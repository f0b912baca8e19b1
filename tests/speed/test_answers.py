"""Shares of responses, times of answers and many streams, against golden values and hand counts."""

import numpy as np
import pytest

from specdash.speed import answers, outlook
from specdash.speed.pipeline import Pipeline
from tests.speed.cases import printed_p, step_std, tau_at_k


def row(dataset, **more):
    p = printed_p()[dataset]
    outcome = -np.diff([1.0, *p, 0.0])
    return {"dataset": dataset, "family": "math", "tau": float(1 + p.sum()), "outcome": outcome.tolist()} | more


def test_shares_by_hand():
    # A lap of half a second: the responses make 2, 4, 6 and 8 tok/s.
    (found,) = answers.reaching([{"dataset": "d"}], [[4.0, 1.0, 3.0, 2.0]], 0.5, 6.0, [0, 2, 2.1, 8, 9])
    assert found["reach"] == 0.5
    assert found["reach_over"] == [1, 1, 0.75, 0.25, 0]
    assert found["timed"] == 4
    # Type 7: the 10th percentile of 2, 4, 6, 8 lies at 0.3 of the way from 2 to 4.
    assert (found["tok_s_p10"], found["tok_s_p50"], found["tok_s_p90"]) == pytest.approx((2.6, 5, 7.4))


def test_no_response_reaches_nothing():
    (found,) = answers.reaching([{"dataset": "d"}], [[]], 0.5, 6.0, [1])
    assert found["timed"] == 0
    assert found["reach"] is found["reach_over"] is found["tok_s_p50"] is None


@pytest.mark.parametrize("dataset", ["gsm8k", "alpaca", "pooled"])
def test_the_spread_over_steps(dataset):
    assert answers.step_std(row(dataset), 7) == pytest.approx(step_std(dataset), rel=1e-12)
    assert answers.step_std(row(dataset), 0) == 0
    # One position: accepted or not.
    p0 = printed_p()[dataset][0]
    assert answers.step_std(row(dataset), 1) == pytest.approx((p0 * (1 - p0)) ** 0.5)
    assert answers.step_std({"outcome": None}, 3) is None
    assert answers.step_std({"outcome": [0.5, None]}, 1) is None


def test_an_answer_of_two_hundred_tokens():
    """gsm8k over a lap of .25 s whose sd is .03 s: 20 traversals of 6.708 ms."""
    pipeline = Pipeline(stages=20, rtt_ms=25)
    (given,) = outlook.at_block([row("gsm8k", tau_at_k=tau_at_k("gsm8k").tolist())], pipeline, 7, 7)
    (found,) = answers.answer_times([given], pipeline, 7, 200, 30 / 20**0.5)
    assert found["time_s"] == pytest.approx(10.190, abs=0.001)
    assert found["time_sd_s"] == pytest.approx(0.781, abs=0.001)
    speeds = (found["answer_p5"], found["answer_p50"], found["answer_p95"])
    assert speeds == pytest.approx((17.4, 19.7, 22.3), abs=0.06)
    times = (found["time_p95_s"], found["time_p50_s"], found["time_p5_s"])
    assert times == pytest.approx([200 / v for v in speeds])


def test_without_speculation_every_lap_yields_one_token():
    pipeline = Pipeline(stages=20, rtt_ms=25)
    (given,) = outlook.at_block([row("gsm8k", tau_at_k=tau_at_k("gsm8k").tolist())], pipeline, 7, 0)
    (found,) = answers.answer_times([given], pipeline, 0, 200, 0)
    assert (found["time_s"], found["time_sd_s"]) == pytest.approx((50, 0))


def test_an_answer_whose_spread_is_not_known_has_no_time():
    given = {"dataset": "d", "tau_block": 4.97, "outcome": None}
    assert answers.answer_times([given], Pipeline(), 7, 200, 0)[0]["time_s"] is None
    nothing = {"dataset": "d", "tau_block": None, "outcome": [0.5, 0.5]}
    assert answers.answer_times([nothing], Pipeline(), 1, 200, 0)[0]["time_p95_s"] is None


def test_many_streams():
    """A lap of .225 s, 10 ms at the busiest stage: M* = 22.5; eight streams of gsm8k make 176.7 tok/s, at most 497."""
    pipeline = Pipeline(stages=10, rtt_ms=25, stage_ms=10, streams=8)
    given = row("gsm8k", tau_at_k=tau_at_k("gsm8k").tolist())
    (found,) = answers.filled([given], pipeline, 7, 7)
    assert found["saturation"] == pytest.approx(22.5)
    assert found["aggregate"] == pytest.approx(176.7, abs=0.1)
    assert found["per_stream"] == pytest.approx(found["aggregate"] / 8)
    assert found["cap"] == pytest.approx(497, abs=0.5)
    cells = answers.over_streams(given, pipeline, 7, 7, [1, 8, 100])
    assert cells[1] == found
    assert cells[2]["aggregate"] == pytest.approx(cells[2]["cap"])


def test_nothing_busy_is_no_limit():
    (found,) = answers.filled([row("gsm8k", tau_at_k=tau_at_k("gsm8k").tolist())], Pipeline(streams=4), 7, 7)
    assert found["cap"] is found["saturation"] is None
    assert found["aggregate"] == pytest.approx(4 * 39.75, abs=0.01)
