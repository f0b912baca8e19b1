"""The constant-α model against a root finder and against distributions written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from specdash.metrics import geometric, run_rows
from specdash.schema import MAX_DRAFTED
from tests.helpers import log_run, response

many = settings(max_examples=80, deadline=None)

mixtures = st.dictionaries(st.integers(1, MAX_DRAFTED), st.integers(1, 10**6), min_size=1, max_size=6)
"""Steps by K_s."""


def exposed_share(mixture):
    total = sum(mixture.values())
    return np.array([sum(n for k, n in mixture.items() if k > i) / total for i in range(max(mixture))])


def model_tau(mixture, alpha):
    """Σ_K w_K · (1 + α + … + α^K)."""
    return sum(n * (alpha ** np.arange(k + 1)).sum() for k, n in mixture.items()) / sum(mixture.values())


def root(mixture, tau):
    return optimize.brentq(lambda alpha: model_tau(mixture, alpha) - tau, 0, 1, xtol=1e-15, rtol=1e-14)


@many
@given(mixtures, st.floats(0.001, 0.999))
def test_implied_alpha_against_brentq(mixture, height):
    tau = 1 + height * sum(k * n for k, n in mixture.items()) / sum(mixture.values())
    assert geometric.implied_alpha(tau, exposed_share(mixture)) == pytest.approx(root(mixture, tau), abs=1e-12, rel=0)


@many
@given(mixtures, st.floats(0, 1))
def test_implied_alpha_finds_the_alpha_that_made_tau(mixture, alpha):
    tau = model_tau(mixture, alpha)
    assert geometric.tau_of_alpha(alpha, exposed_share(mixture)) == pytest.approx(tau, rel=1e-12)
    assert geometric.implied_alpha(tau, exposed_share(mixture)) == pytest.approx(alpha, abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 7, 16, 64])
@pytest.mark.parametrize("tau", [1.0000001, 1.001, 1.2, 1.5, 1.9, 1.9999999])
def test_implied_alpha_of_one_block_length(k, tau):
    share = np.ones(k)
    assert geometric.implied_alpha(tau, share) == pytest.approx(root({k: 1}, tau), abs=1e-12, rel=0)
    alpha = geometric.implied_alpha(tau, share)
    assert (1 - alpha ** (k + 1)) / (1 - alpha) == pytest.approx(tau, abs=1e-8)


@pytest.mark.parametrize("k", [1, 2, 7, 16, 64])
def test_implied_alpha_at_its_ends(k):
    assert geometric.implied_alpha(1.0, np.ones(k)) == 0
    assert geometric.implied_alpha(k + 1.0, np.ones(k)) == pytest.approx(1, abs=1e-12)


def test_implied_alpha_of_two_positions_solves_the_quadratic():
    # 1 + α + α² = 2.5
    assert geometric.implied_alpha(2.5, np.ones(2)) == pytest.approx((np.sqrt(7) - 1) / 2, abs=1e-14)
    # Half the steps draft one token: 1 + α + α²/2 = 2
    assert geometric.implied_alpha(2.0, np.array([1, 0.5])) == pytest.approx(np.sqrt(3) - 1, abs=1e-14)


@pytest.mark.parametrize("tau", [0.99, 8.001, 100])
def test_no_alpha_gives_an_impossible_tau(tau):
    with pytest.raises(ValueError, match="not within 1 and 8"):
        geometric.implied_alpha(tau, np.ones(7))


def test_outcomes_of_a_mixture_of_blocks():
    # A third of the steps draft 1 token: 1 − α, α. The rest draft 3: 1 − α, (1 − α)α, (1 − α)α², α³.
    found = geometric.outcome(0.5, np.array([0, 1 / 3, 0, 2 / 3]))
    one, three = np.array([0.5, 0.5, 0, 0]), np.array([0.5, 0.25, 0.125, 0.125])
    assert found == pytest.approx(one / 3 + three * 2 / 3)


@pytest.mark.parametrize(("alpha", "at"), [(0.0, 0), (1.0, 3)])
def test_outcomes_at_the_ends_of_alpha(alpha, at):
    assert geometric.outcome(alpha, np.array([0, 0, 0, 1.0])).tolist() == np.eye(4)[at].tolist()


long_step = st.sampled_from([(k, a) for k in (1, 3, 7, 16, 40, 64) for a in range(k + 1)])


@settings(max_examples=40, deadline=None)
@given(st.lists(long_step, min_size=1, max_size=20))
def test_implied_alpha_of_a_log_against_brentq(steps):
    (row, _), _ = run_rows(log_run([response(*steps)]), {}.get)
    accepted, drafted = sum(a for _, a in steps), sum(k for k, _ in steps)
    if accepted in (0, drafted):
        assert row["implied_alpha"] == pytest.approx(accepted / drafted, abs=1e-12)
    else:
        mixture = {k: sum(k == drafted for drafted, _ in steps) for k, _ in steps}
        assert row["implied_alpha"] == pytest.approx(root(mixture, 1 + accepted / len(steps)), abs=1e-12)
