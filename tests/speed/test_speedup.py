"""Speed-up forms against the printed table of k = 5, c = 0.15, break-even points, and what must hold everywhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdash.speed.breakeven import Pays
from specdash.speed.speedup import (
    AUTOREGRESSIVE,
    BLOCK,
    DOCUMENTED,
    FORMS,
    IID,
    IID_BLOCK,
    Alpha,
    autoregressive,
    block,
    cost_limit,
    efficiency,
    tokens_of_iid,
    tokens_of_ratio,
)

# α: 1 + kα, E_α, documented, Leviathan, measured τ, block draft; made with another program at k 5, c 0.15.
TABLE = {
    0.0: (1.000, 1.000, 0.100, 0.571, 0.571, 0.870),
    0.2: (2.000, 1.250, 1.100, 0.714, 1.143, 1.739),
    0.4: (3.000, 1.660, 2.100, 0.948, 1.714, 2.609),
    0.6: (4.000, 2.383, 3.100, 1.362, 2.286, 3.478),
    0.8: (5.000, 3.689, 4.100, 2.108, 2.857, 4.348),
    1.0: (6.000, 6.000, 5.100, 3.429, 3.429, 5.217),
}


@pytest.mark.parametrize("alpha", TABLE)
def test_table(alpha):
    tokens, iid, *speeds = TABLE[alpha]
    assert tokens_of_ratio(alpha, 5) == pytest.approx(tokens, abs=5e-4)
    assert tokens_of_iid(alpha, 5) == pytest.approx(iid, abs=5.01e-4)
    found = [form.value(alpha, 5, 0.15) for form in (DOCUMENTED, IID, AUTOREGRESSIVE, BLOCK)]
    assert found == pytest.approx(speeds, abs=5.01e-4)


def test_what_is_documented_goes_below_zero():
    assert DOCUMENTED.value(0.0, 10, 0.15) == pytest.approx(-0.65)
    assert not DOCUMENTED.is_speedup
    assert all(form.is_speedup for form in FORMS if form is not DOCUMENTED)


@pytest.mark.parametrize(
    ("form", "k", "alpha"),
    [
        (DOCUMENTED, 5, 0.18),
        (AUTOREGRESSIVE, 1, 0.15),
        (AUTOREGRESSIVE, 5, 0.15),
        (AUTOREGRESSIVE, 64, 0.15),
        (BLOCK, 5, 0.03),
        (IID, 1, 0.15),
        (IID, 3, 0.317),
        (IID, 5, 0.432),
        (IID, 7, 0.515),
    ],
)
def test_break_even(form, k, alpha):
    found = form.break_even(k, 0.15)
    assert found.value == pytest.approx(alpha, abs=5e-4)
    assert found.pays is Pays.ABOVE
    assert form.value(found.value, k, 0.15) == pytest.approx(1)


def test_a_drafter_as_slow_as_the_target_never_pays():
    for form in (DOCUMENTED, AUTOREGRESSIVE, IID):
        assert form.break_even(4, 1.25) == (None, Pays.NEVER)
    assert BLOCK.break_even(4, 1.25).value == pytest.approx(1.25 / 4)
    assert BLOCK.break_even(4, 4.5) == IID_BLOCK.break_even(4, 4.5) == (None, Pays.NEVER)


def test_a_free_drafter_always_pays():
    for form in FORMS:
        assert form.break_even(5, 0.0) == (0.0, Pays.ALWAYS)


def test_forms_of_one_alpha_each():
    assert {form.key: form.takes for form in FORMS} == {
        "documented": Alpha.RATIO,
        "autoregressive": Alpha.RATIO,
        "block": Alpha.RATIO,
        "iid": Alpha.IID,
        "iid_block": Alpha.IID,
    }


def test_the_three_alphas_of_one_run_are_not_one():
    """Pooled run of the acceptance report: ratio .405, implied α .772, K = 7, τ 3.835."""
    assert tokens_of_ratio(0.405, 7) == pytest.approx(3.835)
    assert tokens_of_iid(0.772, 7) == pytest.approx(3.835, abs=0.005)
    assert tokens_of_iid(0.405, 7) == pytest.approx(1.68, abs=0.005)  # a ratio where an α belongs
    assert tokens_of_ratio(0.772, 7) == pytest.approx(6.40, abs=0.01)  # an α where a ratio belongs


def test_a_perfect_run_is_not_at_seventy_percent():
    """At a ratio of .8 the documented value is 4.10, what an AR draft can give 2.857."""
    right = float(AUTOREGRESSIVE.value(0.8, 5, 0.15))
    assert efficiency(right, right) == 1
    assert efficiency(right, float(DOCUMENTED.value(0.8, 5, 0.15))) == pytest.approx(0.697, abs=5e-4)


@pytest.mark.parametrize(("one_pass", "limit"), [(False, (3.835 - 1) / 7), (True, 2.835)])
def test_cost_limit(one_pass, limit):
    found = cost_limit(3.835, 7, one_pass=one_pass)
    assert found == pytest.approx(limit)
    speed = block(3.835, found) if one_pass else autoregressive(3.835, 7, found)
    assert speed == pytest.approx(1)


alphas = st.floats(0, 1)
blocks = st.integers(1, 64)
costs = st.floats(0, 2)


@given(alphas, blocks)
def test_the_ratio_read_as_tokens_is_never_below_the_model(alpha, k):
    """Union bound, equal for k = 1 and at the ends."""
    ratio, iid = tokens_of_ratio(alpha, k), tokens_of_iid(alpha, k)
    assert ratio >= iid - 1e-9
    if k == 1 or alpha in (0, 1):
        assert ratio == pytest.approx(iid)


@given(alphas, st.floats(0, 0.999))
def test_some_block_helps_when_alpha_exceeds_the_cost(alpha, c):
    """Leviathan et al. 2023, corollary 3.9: at k = 1 the speed-up is (1 + α) / (1 + c)."""
    assert IID.value(alpha, 1, c) == pytest.approx((1 + alpha) / (1 + c))


@given(blocks, costs)
def test_speeds_are_positive_and_rise_with_alpha(k, c):
    grid = np.linspace(0, 1, 51)
    for form in FORMS:
        values = form.value(grid, k, c)
        assert (np.diff(values) > 0).all()
        assert not form.is_speedup or (values > 0).all()


@given(st.sampled_from(FORMS), blocks, costs)
def test_break_even_splits_the_alphas(form, k, c):
    point = form.break_even(k, c)
    values = form.value(np.array([0.0, 1.0]), k, c)
    if point.pays is Pays.NEVER:
        assert values[1] <= 1 + 1e-9
    elif point.pays is Pays.ALWAYS:
        assert values[0] >= 1 - 1e-9
    else:
        assert float(form.value(point.value, k, c)) == pytest.approx(1, abs=1e-6)
