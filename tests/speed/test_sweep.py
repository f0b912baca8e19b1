"""Sweeps: every point is the pipeline with that value set."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdash.schema import InputError
from specdash.speed.fill import fill
from specdash.speed.lap import best_k, tokens_per_second
from specdash.speed.pipeline import LATENCY_ONLY, Pipeline
from specdash.speed.sweep import over_bandwidth, over_rtt, over_stages, over_streams
from tests.speed.cases import logged_taus, pipelines, quick, tau_at_k

BY_VALUE = {
    "rtt_ms": (over_rtt, (0.5, 10, 25, 200)),
    "bandwidth_mbit_s": (over_bandwidth, (1, 100, 1e4)),
    "stages": (lambda *args: over_stages(*args, split_model=False), (1, 2, 64)),
}


@pytest.mark.parametrize("name", BY_VALUE)
@given(logged_taus(), pipelines())
@quick
def test_a_point_is_the_pipeline_with_that_value(name, tau, pipeline):
    sweep, values = BY_VALUE[name]
    found = sweep(pipeline, [tau, tau], values)
    assert found.tok_s.shape == (2, tau.size + 1, len(values))
    for i, value in enumerate(values):
        alone = tokens_per_second(replace(pipeline, **{name: value}), tau)
        assert found.tok_s[1, :, i] == pytest.approx(alone, rel=1e-12)
        assert found.tok_s[1, found.best_k[1, i], i] == pytest.approx(alone.max(), rel=1e-12)


@given(logged_taus(), pipelines())
@quick
def test_streams_are_those_of_the_fill(tau, pipeline):
    found = over_streams(pipeline, tau, [1, 7, 1000])
    for i, streams in enumerate((1, 7, 1000)):
        filled = fill(replace(pipeline, streams=streams), tau).aggregate
        assert found.tok_s[:, i] == pytest.approx(filled, rel=1e-12)
    assert np.all(np.diff(found.tok_s, axis=-1) >= -1e-9)


@given(logged_taus(), st.integers(1, 64))
@quick
def test_latency_alone_wants_the_longest_block(tau, stages):
    assert np.all(over_rtt(Pipeline(stages=stages), tau, [1, 25, 200]).best_k == tau.size)


@given(logged_taus(), pipelines())
@quick
def test_a_slower_network_never_wants_a_shorter_block(tau, pipeline):
    # τ2 / (L + X2) > τ1 / (L + X1) is linear in L with slope τ2 − τ1: once the longer block leads, it keeps leading.
    found = over_rtt(pipeline, tau, np.linspace(1, 1000, 40))
    best = np.take_along_axis(found.tok_s, found.best_k[None, :], axis=0)[0]
    for i in range(39):
        kept = found.tok_s[found.best_k[i], i + 1]
        assert found.best_k[i + 1] >= found.best_k[i] or kept == pytest.approx(best[i + 1], rel=1e-9)


def test_gsm8k_at_infinite_bandwidth_is_latency_only():
    found = over_bandwidth(LATENCY_ONLY, tau_at_k("gsm8k"), [100, np.inf])
    assert found.tok_s[7] == pytest.approx([23.938, 39.752], abs=6e-4)
    assert list(found.best_k) == [6, 7]


def test_hops_of_their_own_are_put_aside():
    uneven = Pipeline(stages=2, one_way_ms=(90, 20))
    assert over_rtt(uneven, [2.0], [50]).tok_s[1] == pytest.approx([2 / 0.05])
    assert over_stages(uneven, [2.0], [4], split_model=True).tok_s[1] == pytest.approx([2 / 0.05])


def test_more_stages_share_one_model_or_make_it_larger():
    pipeline = Pipeline(stages=10, rtt_ms=0, stage_ms=4, stage_per_token_ms=1)
    shared = over_stages(pipeline, [2.0], [5, 10, 20], split_model=True).tok_s
    larger = over_stages(pipeline, [2.0], [5, 10, 20], split_model=False).tok_s
    assert shared[0] == pytest.approx([1 / 0.05] * 3)
    assert larger[0] == pytest.approx([1 / 0.025, 1 / 0.05, 1 / 0.1])


@pytest.mark.parametrize("number", [0, 65])
def test_numbers_of_stages_are_checked(number):
    with pytest.raises(InputError, match="stages is out of range"):
        over_stages(LATENCY_ONLY, [2.0], [number], split_model=True)


def test_best_block_of_every_network_in_a_grid():
    taus = np.array([tau_at_k("gsm8k"), tau_at_k("alpaca")])
    found = over_rtt(Pipeline(bandwidth_mbit_s=100), taus, [25])
    assert found.best_k.tolist() == [[6], [4]]
    assert np.array_equal(found.best_k, best_k(found.tok_s, axis=-2))
