"""Time of a response: printed values and simulated responses."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdash.speed.response_time import lap_sd_seconds, response_time, share_reaching, window_sd
from tests.speed.cases import printed_p, quick, step_std, tau_at_k

TAU = float(tau_at_k("gsm8k")[-1])
SIGMA = step_std("gsm8k")
LAP, LAP_SD, TOKENS = 0.25, 0.03, 200
RESPONSES, STEPS = 20_000, 90


def accepted(size, seed):
    """Accepted tokens of independent gsm8k steps."""
    p = printed_p()["gsm8k"]
    return np.random.default_rng(seed).choice(8, size=size, p=-np.diff([1, *p, 0]))


def steps_needed(tokens):
    """Steps until ``tokens`` are emitted, for rows of accepted tokens."""
    emitted = np.cumsum(1 + tokens, axis=1)
    assert emitted[:, -1].min() >= TOKENS
    return (emitted < TOKENS).sum(axis=1) + 1


@cache
def simulated():
    """Steps and seconds of simulated responses of 200 tokens."""
    steps = steps_needed(accepted((RESPONSES, STEPS), seed=1))
    return steps, np.random.default_rng(2).normal(LAP * steps, LAP_SD * np.sqrt(steps))


def test_gsm8k_against_the_printed_values():
    found = response_time(TOKENS, TAU, SIGMA, LAP, lap_sd_s=LAP_SD)
    assert pytest.approx(2.374, abs=6e-4) == SIGMA
    assert found.steps == pytest.approx(40.763, abs=6e-4)
    assert found.mean_s == pytest.approx(10.190, abs=1e-3)
    assert found.sd_s == pytest.approx(0.781, abs=6e-4)
    assert found.tok_s_quantiles() == pytest.approx([17.4, 19.7, 22.3], abs=0.05)
    assert found.discreteness_s == pytest.approx(LAP * (40.763 - TOKENS / TAU), abs=1e-3)


def test_gsm8k_against_simulated_responses():
    found = response_time(TOKENS, TAU, SIGMA, LAP, lap_sd_s=LAP_SD)
    steps, seconds = simulated()
    assert found.steps == pytest.approx(steps.mean(), abs=5 * steps.std() / RESPONSES**0.5)
    assert found.mean_s == pytest.approx(seconds.mean(), abs=5 * seconds.std() / RESPONSES**0.5)
    assert found.sd_s == pytest.approx(seconds.std(), rel=0.02)
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    assert found.tok_s_quantiles(levels) == pytest.approx(np.quantile(TOKENS / seconds, levels), rel=0.01)


def test_steps_that_repeat_double_the_variance():
    # Every outcome comes twice, the pairs starting at a random phase: ρ_1 = 1/2, so κ = 2.
    pairs = np.repeat(accepted((RESPONSES, STEPS // 2 + 1), seed=3), 2, axis=1)
    phase = np.random.default_rng(4).integers(0, 2, RESPONSES)
    rows = np.where(phase[:, None] == 0, pairs[:, :-1], pairs[:, 1:])
    found = response_time(TOKENS, TAU, SIGMA, LAP, kappa=2.0)
    assert found.sd_s == pytest.approx((LAP * steps_needed(rows)).std(), rel=0.03)


def test_throughput_is_tau_over_the_mean_lap():
    laps = np.random.default_rng(5).normal(LAP, 0.04, 200_000)
    tokens = TAU * laps.size
    assert tokens / laps.sum() == pytest.approx(TAU / LAP, rel=1e-3)
    assert np.mean(TAU / laps) > 1.02 * TAU / LAP


@given(st.integers(1, 4000), st.floats(1e-4, 10))
@quick
def test_one_token_a_step_has_no_jitter(tokens, lap):
    found = response_time(tokens, 1.0, 0.0, lap)
    assert found.mean_s == pytest.approx(tokens * lap)
    assert found.sd_s == 0 and found.discreteness_s == 0
    assert found.tok_s_quantiles() == pytest.approx([1 / lap] * 3)


@given(st.floats(1, 8), st.floats(0, 3), st.floats(1e-3, 2), st.floats(0, 1), st.floats(0, 4))
@quick
def test_a_longer_response_takes_longer_at_a_steadier_speed(tau, sigma, lap, lap_cv, kappa):
    found = response_time([50, 200, 800], tau, sigma, lap, lap_sd_s=lap_cv * lap, kappa=kappa)
    assert np.all(np.diff(found.mean_s) > 0)
    quantiles = found.tok_s_quantiles()
    assert quantiles.shape == (3, 3)
    assert np.all(np.diff(quantiles, axis=0) >= 0)
    assert np.all(np.diff(found.sd_s / found.mean_s) <= 1e-12)


def test_jitter_of_hops_averages_out():
    assert lap_sd_seconds(10, 0.5 * 12.5) / 0.125 == pytest.approx(0.158, abs=5e-4)


def test_speed_over_a_window():
    assert window_sd(2, SIGMA, LAP) == pytest.approx(3.36, abs=5e-3)
    windows = accepted((RESPONSES, 8), seed=6).sum(axis=1) / 2
    assert window_sd([2, 8], SIGMA, LAP)[0] == pytest.approx(windows.std(), rel=0.02)
    assert window_sd(8, SIGMA, LAP, kappa=4) == pytest.approx(window_sd(2, SIGMA, LAP))


def test_share_of_responses_that_reach_a_speed():
    tau = [2.0, None, 3.0, 4.0, 4.0]
    assert share_reaching(tau, 0.125, [0, 16, 16.1, 24, 32, 32.1]).tolist() == [1, 1, 0.75, 0.75, 0.5, 0]
    assert share_reaching(tau, 0.125, 24) == 0.75
    assert share_reaching([None], 0.125, 24) is None


@given(st.lists(st.floats(1, 8), min_size=1, max_size=30), st.floats(0.01, 1), st.floats(0, 100))
@quick
def test_share_is_a_count(tau, lap, speed):
    assert share_reaching(tau, lap, speed) == pytest.approx(sum(t / lap >= speed for t in tau) / len(tau))
