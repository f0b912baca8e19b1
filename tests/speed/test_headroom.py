"""What fixing one draft position would bring."""

import numpy as np
import pytest
from hypothesis import given

from specdash.speed.headroom import headroom, sensitivity
from tests.helpers import golden
from tests.speed.cases import logged_taus, quick, tau_at_k


@pytest.mark.parametrize("dataset", ["gsm8k", "alpaca", "arena-hard-v2", "pooled"])
def test_golden(dataset):
    expected = golden("golden_wan.json")
    assert headroom(tau_at_k(dataset)) == pytest.approx(expected[f"headroom_{dataset}"], abs=1e-9)
    assert sensitivity(tau_at_k(dataset)) == pytest.approx(expected[f"sens_{dataset}"], abs=1e-9)


@pytest.mark.parametrize(("dataset", "expected"), [("alpaca", 0.723), ("arena-hard-v2", 0.736), ("gsm8k", 0.383)])
def test_the_first_position(dataset, expected):
    assert headroom(tau_at_k(dataset))[0] == pytest.approx(expected, abs=6e-4)


def chained(c):
    return 1 + np.cumprod(c).sum()


@given(logged_taus())
@quick
def test_against_the_chain_of_conditional_rates(tau):
    p = np.diff(tau, prepend=1)
    c = p / [1, *p[:-1]]
    for i, (gain, slope) in enumerate(zip(headroom(tau), sensitivity(tau), strict=True)):
        fixed = np.where(np.arange(c.size) == i, 1.0, c)
        assert gain == pytest.approx(chained(fixed) - chained(c), abs=1e-9)
        assert slope * (1 - c[i]) == pytest.approx(gain, abs=1e-9)


def test_nothing_is_known_behind_a_position_that_never_accepts():
    assert np.isnan(headroom([1.5, 1.5, 1.5])).tolist() == [False, True, True]
    assert headroom([[1.5, 1.8], [1.2, 1.3]]).shape == (2, 2)
