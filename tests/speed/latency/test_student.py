"""Tests on means: the benchmarking page's worked example, small cases by hand, coverage."""

import math

import numpy as np
import pytest

from specdash.speed.latency import paired_by_prompt, welch, welch_from_summary

LN2 = math.log(2)


def test_the_worked_example():
    """Baseline 1420 ± 180 ms and speculation 1180 ± 150 ms, 32 each; made with another program."""
    found = welch_from_summary(1420, 180, 32, 1180, 150, 32)
    assert found.t == pytest.approx(5.794288, abs=5e-7)
    assert found.df == pytest.approx(60.0474, abs=5e-5)
    assert found.p == pytest.approx(2.6969e-7, rel=2e-5)
    assert found.p > 2.3e-7 * 1.1  # what the page prints
    assert (found.delta, found.change) == (-240, pytest.approx(-0.169, abs=5e-4))
    assert (found.delta_low, found.delta_high) == pytest.approx((-322.9, -157.1), abs=0.05)
    assert found.speedup == pytest.approx(1.203, abs=5e-4)
    assert (found.low, found.high) == pytest.approx((1.129, 1.282), abs=5e-4)
    assert found.cohens_d == pytest.approx(1.45, abs=5e-3)


def test_fieller_agrees_on_the_worked_example():
    """Fieller's interval of the ratio of means, from its quadratic equation."""
    from scipy import stats

    t = stats.t.ppf(0.975, 60.0474)
    va, vb = 180**2 / 32, 150**2 / 32
    a, b, c = 1180**2 - t**2 * vb, -2 * 1420 * 1180, 1420**2 - t**2 * va
    root = math.sqrt(b * b - 4 * a * c)
    found = welch_from_summary(1420, 180, 32, 1180, 150, 32)
    assert (found.low, found.high) == pytest.approx(((-b - root) / (2 * a), (-b + root) / (2 * a)), abs=1e-3)


def test_a_p_that_nobody_can_get():
    """p = 2.3e-7 needs t = 5.836 at these degrees of freedom; with df 62 it is 2.47e-7."""
    from scipy import stats

    assert 2 * stats.t.sf(5.836, 60.0474) == pytest.approx(2.3e-7, rel=0.01)
    assert 2 * stats.t.sf(5.794288, 62) == pytest.approx(2.47e-7, rel=0.005)


def test_samples_give_what_their_summary_gives():
    base, spec = [1.0, 2.0, 4.0, 5.0], [1.0, 1.5, 2.0]
    found = welch(base, spec)
    assert found.mean == (3.0, 1.5)
    assert found.sd == pytest.approx((math.sqrt(10 / 3), 0.5))  # ddof 1
    assert found == welch_from_summary(*found.mean[:1], found.sd[0], 4, found.mean[1], found.sd[1], 3)
    assert found.t == pytest.approx(1.5 / math.sqrt(10 / 3 / 4 + 0.25 / 3))


@pytest.mark.parametrize(("base", "spec"), [([], []), ([1.0], [2.0, 3.0]), ([0.1] * 7, [0.3] * 7)])
def test_nothing_to_test(base, spec):
    assert welch(base, spec) is None


def test_paired_by_hand():
    """Ratios 2, 2, 8: logs ln 2 · (1, 1, 3) with mean 5/3 and standard error 2/3, so t = 2.5."""
    found = paired_by_prompt(np.log([2.0, 6.0, 8.0]), np.log([1.0, 3.0, 1.0]))
    assert (found.prompts, found.df) == (3, 2)
    assert found.speedup == pytest.approx(32 ** (1 / 3))
    assert found.t == pytest.approx(2.5)
    assert found.p == pytest.approx(1 - 2.5 / math.sqrt(2.5**2 + 2))  # Student's t with 2 degrees of freedom
    half = 4.302653 * 2 / 3 * LN2
    assert (found.low, found.high) == pytest.approx((32 ** (1 / 3) / math.exp(half), 32 ** (1 / 3) * math.exp(half)))
    assert math.log(found.high90) - math.log(found.speedup) == pytest.approx(2.919986 * 2 / 3 * LN2)
    assert math.log(found.mde) == pytest.approx((4.302653 + 1.060660) * 2 / 3 * LN2)


def test_pairing_sees_through_what_prompts_have_in_common():
    """The same gain on prompts that differ a hundredfold: nothing for Welch, plain for pairs."""
    base = np.array([0.1, 0.3, 1.0, 3.0, 10.0, 10.5])
    spec = base / np.array([1.20, 1.21, 1.19, 1.20, 1.22, 1.18])
    paired, unpaired = paired_by_prompt(np.log(base), np.log(spec)), welch(base, spec)
    assert paired.low > 1.18
    assert unpaired.low < 1
    assert paired.correlation > 0.999


def test_prompts_that_are_all_alike_have_no_t():
    found = paired_by_prompt(np.log([2.0, 4.0, 6.0]), np.log([1.0, 2.0, 3.0]))
    assert (found.t, found.p) == (None, None)
    assert (found.speedup, found.low, found.high) == pytest.approx((2, 2, 2))
    assert paired_by_prompt([0.0, 0.0], [0.0, 1.0]).correlation is None
    assert paired_by_prompt([0.0], [0.0]) is None


def test_coverage_and_power():
    """1,000 log-normal measurements of 24 prompts: 95 % intervals, 80 % found of the smallest detectable effect."""
    rng = np.random.default_rng(20261201)
    prompts = rng.normal(0, 0.6, (1000, 24))
    spread = 0.12
    noise = rng.normal(0, spread / math.sqrt(2), (2, 1000, 24))
    # The planned size: (t.975 + t.80) · spread / √n, here as a true effect.
    effect = (2.068658 + 0.857700) * spread / math.sqrt(24)
    found = [paired_by_prompt(p + a, p + b - effect) for p, a, b in zip(prompts, *noise, strict=True)]
    covered = np.mean([f.low <= math.exp(effect) <= f.high for f in found])
    detected = np.mean([f.low > 1 for f in found])
    assert 0.935 <= covered <= 0.965
    assert 0.76 <= detected <= 0.84
