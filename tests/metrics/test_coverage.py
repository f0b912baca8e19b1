"""Simulated evaluations whose truth is known: how often an interval holds it."""

from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy import stats

from specdash.metrics import acceptance, fit, positions
from specdash.metrics.clusters import Clusters
from specdash.metrics.intervals import Scale, Uncertain, ends
from specdash.metrics.tally import Tally, lifted
from specdash.metrics.variance import jackknife
from specdash.schema import LEVEL

K = 7
SIMULATIONS, COPIES = 2000, 4

ESTIMATES = {
    "tau": Uncertain(acceptance.tau, Scale.LOG, lambda t: t.steps, lambda k: (1, 1 + k)),
    "p": Uncertain(positions.p, Scale.LOGIT, lambda t: lifted(t.steps), None),
    "c": Uncertain(positions.c, Scale.LOGIT, lambda t: t.risk, None),
    "tau_at_k": Uncertain(positions.tau_at_k, Scale.LOG, lambda t: lifted(t.steps), None),
    "step_std": Uncertain(fit.step_std, Scale.LOG, lambda t: t.steps, None),
    "implied_alpha": Uncertain(fit.implied_alpha, Scale.LOGIT, lambda t: t.steps, None),
    "alpha_mle": Uncertain(fit.alpha_mle, Scale.LOGIT, lambda t: t.steps, None),
}


def drawn(rng, size, mean=1.1, difficulty=0.6, length=0.5):
    """Prompts with copies: acceptance rates and steps, both of shape ``size``, the last axis copies of a prompt.

    Difficulty is a property of the prompt, blurred a little from copy to copy; hard prompts get longer answers.
    """
    ease = difficulty * rng.normal(size=(*size[:-1], 1)) + 0.25 * rng.normal(size=size)
    rate = 1 / (1 + np.exp(-(mean + ease)))
    steps = np.exp(3.6 - 0.5 * ease + length * rng.normal(size=size))
    return rate, np.maximum(steps.astype(int), 1)


def outcomes(rate):
    """Probability of 0..K accepted tokens when each is accepted at ``rate``, shape (..., K + 1)."""
    powers = rate[..., None] ** np.arange(K + 1)
    return np.concatenate([powers[..., :-1] * (1 - rate[..., None]), powers[..., -1:]], axis=-1)


def tally_of(counts):
    """The tally of step counts by outcome, shape (..., K + 1), every step of K drafted tokens."""
    sets, accepted = np.indices(counts.shape).reshape(2, -1)
    return Tally.of_outcomes(sets, np.full(sets.size, K), accepted, counts.ravel(), count=len(counts), k=K)


def true_tally(rng, weights=(1,), **prompts):
    """What infinitely many prompts give, a dataset weighing as many prompts as it has."""
    total = np.zeros(K + 1)
    for i, weight in enumerate(weights):
        rate, steps = drawn(rng, (200_000, COPIES), **{name: value[i] for name, value in prompts.items()})
        total += weight * (steps[..., None] * outcomes(rate)).sum(axis=(0, 1))
    return tally_of(np.rint(total)[None].astype(np.int64)).mapped(lambda x: x[0])


@cache
def coverage():
    """Share of simulations whose interval holds the truth, by estimate; and the naive one's for τ."""
    rng = np.random.default_rng(20261201)
    truth = true_tally(rng)
    rate, steps = drawn(rng, (SIMULATIONS, 40, COPIES))
    counts = rng.multinomial(steps, outcomes(rate)).sum(axis=2)
    units = pl.DataFrame({"dataset": ["d"] * 40, "prompt": [f"{q:02d}" for q in range(40)]})
    held = {name: [] for name in (*ESTIMATES, "naive")}
    for simulated in counts:
        clusters = Clusters(units, tally_of(simulated))
        for name, uncertain in ESTIMATES.items():
            low, high = ends(uncertain, clusters)
            held[name].append((low <= uncertain.estimate(truth)) & (uncertain.estimate(truth) <= high))
        total = clusters.total
        half = stats.norm.ppf((1 + LEVEL) / 2) * fit.step_std(total) / np.sqrt(total.steps)
        held["naive"].append(abs(acceptance.tau(total) - acceptance.tau(truth)) <= half)
    return {name: np.mean(found, axis=0) for name, found in held.items()}


@pytest.mark.parametrize("name", ESTIMATES)
def test_intervals_hold_the_truth_as_often_as_they_say(name):
    # 2,000 simulations: a true 95 % shows as 94.0 to 96.0 %.
    assert (coverage()[name] >= 0.92).all(), coverage()[name]
    assert (coverage()[name] <= 0.97).all(), coverage()[name]


def test_the_naive_interval_does_not():
    assert coverage()["naive"] < 0.30


def test_degrees_of_freedom_of_lopsided_strata():
    """Five prompts of long answers make most of the error; 200 others hardly any."""
    rng = np.random.default_rng(7)
    sizes, longer, kinds = (5, 200), (40, 1), {"mean": (1.1, 1.1), "difficulty": (0.7, 0.1), "length": (0.3, 0.3)}
    truth = acceptance.tau(true_tally(rng, np.multiply(sizes, longer), **kinds))
    units = pl.DataFrame({"dataset": ["a"] * 5 + ["b"] * 200, "prompt": [f"{q:03d}" for q in range(205)]})
    held, usual = [], []
    for _ in range(1000):
        parts = []
        for i, size in enumerate(sizes):
            rate, steps = drawn(rng, (size, COPIES), **{name: value[i] for name, value in kinds.items()})
            parts.append(rng.multinomial(steps * longer[i], outcomes(rate)).sum(axis=1))
        clusters = Clusters(units, tally_of(np.concatenate(parts)))
        value, spread = acceptance.tau(clusters.total), jackknife(acceptance.tau, clusters)
        error = abs(np.log(value / truth)) * value / spread.se
        held.append(error <= stats.t.ppf((1 + LEVEL) / 2, spread.df))
        usual.append(error <= stats.t.ppf((1 + LEVEL) / 2, sum(sizes) - len(sizes)))
    assert 0.92 <= np.mean(held) <= 0.97
    assert np.mean(usual) < 0.90  # Σ (Q_d − 1) degrees of freedom
