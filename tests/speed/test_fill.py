"""Several streams in one pipeline."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from specdash.speed.fill import fill
from specdash.speed.lap import tokens_per_second
from specdash.speed.pipeline import LATENCY_ONLY, Pipeline
from tests.speed.cases import logged_taus, pipelines, quick, tau_at_k


def test_ten_stages_of_ten_milliseconds():
    filled = fill(Pipeline(stage_ms=10, streams=8), tau_at_k("gsm8k"))
    assert filled.saturation[7] == pytest.approx(22.5)
    assert filled.aggregate[7] == pytest.approx(176.7, abs=0.05)
    assert filled.cap[7] == pytest.approx(497, abs=0.5)
    assert filled.per_stream[7] == pytest.approx(176.7 / 8, abs=0.01)


def test_the_busiest_device_by_hand():
    pipeline = Pipeline(stages=3, stage_ms=2, stage_per_token_ms=1, draft_ms=5, overhead_ms=90)
    assert fill(pipeline, [1.5]).cap == pytest.approx([1 / 0.003, 1.5 / 0.009])
    narrow = replace(pipeline, hidden_size=1000, bandwidth_mbit_s=1)
    assert fill(narrow, [1.5]).cap == pytest.approx([1 / 0.016, 1.5 / 0.032])


def test_one_stage_sends_only_what_goes_back():
    assert fill(Pipeline(stages=1, bandwidth_mbit_s=1), [1.5]).cap == pytest.approx([1 / 32e-6, 1.5 / 64e-6])


def test_latency_alone_is_never_full():
    filled = fill(replace(LATENCY_ONLY, streams=1000), [1.5])
    assert np.all(np.isinf(filled.saturation)) and np.all(np.isinf(filled.cap))
    assert filled.aggregate == pytest.approx(1000 * tokens_per_second(LATENCY_ONLY, [1.5]))


@given(logged_taus(), pipelines())
@quick
def test_streams_do_not_slow_each_other_down_before_saturation(tau, pipeline):
    alone = tokens_per_second(pipeline, tau)
    filled = fill(pipeline, tau)
    below = pipeline.streams <= filled.saturation
    assert filled.per_stream[below] == pytest.approx(alone[below])
    assert filled.aggregate[~below] == pytest.approx(filled.cap[~below])
    assert np.all(filled.aggregate <= np.minimum(pipeline.streams * alone, filled.cap) * (1 + 1e-12))
    assert np.all(filled.saturation >= 1 - 1e-9)
