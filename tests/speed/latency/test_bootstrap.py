"""Bootstrap: type 7 percentiles of weighted values, pairing, sizes of intervals, the same answer always."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdash.speed.latency import E2E, pair
from specdash.speed.latency.bootstrap import _statistics, bootstrap
from tests.speed.latency.timings import arm, prompts, timing, unlabelled

LEVELS = (0.0, 0.5, 0.95, 0.99, 1.0)


@given(st.lists(st.tuples(st.floats(0.001, 100), st.integers(0, 5)), min_size=1, max_size=30))
def test_counted_values_have_the_percentiles_of_the_values_themselves(pairs):
    pairs = sorted(pairs)
    if not any(count for _, count in pairs):
        return
    values, counts = (np.array(column) for column in zip(*pairs, strict=True))
    *percentiles, mean = _statistics(values, counts[None, :], LEVELS)[0]
    written_out = np.repeat(values, counts)
    assert percentiles == pytest.approx(np.quantile(written_out, LEVELS))
    assert mean == pytest.approx(written_out.mean())


def test_percentiles_are_of_type_seven():
    """Ten values 1..10 by hand: p50 is 5.5, p95 is 9 + 0.55."""
    found = bootstrap(pair(prompts("a", range(1, 11)), prompts("b", [x / 2 for x in range(1, 11)]), E2E))
    p50, p95, p99 = found.percentiles
    assert (p50.base.value, p50.spec.value, p50.speedup.value) == pytest.approx((5.5, 2.75, 2))
    assert p95.base.value == pytest.approx(9.55)
    assert p99.base.value == pytest.approx(9.91)
    assert [p.resolved for p in found.percentiles] == [True, False, False]
    assert found.mean_ratio.value == pytest.approx(2)


def test_pairs_are_drawn_together():
    """Every prompt gains the same, so the ratio has no spread though latencies differ a hundredfold."""
    seconds = np.geomspace(0.1, 10, 40)
    found = bootstrap(pair(prompts("a", seconds), prompts("b", seconds / 1.25), E2E))
    for ratio in (found.mean_ratio, *(p.speedup for p in found.percentiles)):
        assert (ratio.low, ratio.value, ratio.high) == pytest.approx((1.25, 1.25, 1.25))
    assert found.percentiles[0].base.high > 2 * found.percentiles[0].base.low
    apart = bootstrap(pair(unlabelled("a", seconds), unlabelled("b", seconds / 1.25), E2E))
    assert apart.mean_ratio.low < 1 < apart.mean_ratio.high


def test_the_interval_of_the_ratio_of_means_is_as_wide_as_the_delta_method_says():
    rng = np.random.default_rng(5)
    a, b = rng.gamma(20, 0.05, 200), rng.gamma(20, 0.04, 200)
    found = bootstrap(pair(prompts("a", a), prompts("b", b), E2E)).mean_ratio
    residual = a / a.mean() - b / b.mean()
    width = 2 * 1.96 * residual.std(ddof=1) / math.sqrt(200)
    assert math.log(found.high / found.low) == pytest.approx(width, rel=0.08)


def test_copies_go_with_their_prompt():
    """Two copies that are the same say no more than one: the interval is that of the prompts."""
    seconds = list(np.geomspace(0.5, 2, 30))
    once = bootstrap(pair(prompts("a", seconds), prompts("b", [1.0] * 30), E2E))
    rows = [timing(s, prompt=str(i), copy=copy) for i, s in enumerate(seconds) for copy in range(2)]
    twice = bootstrap(pair(arm("a", *rows), prompts("b", [1.0] * 30), E2E))
    widths = [math.log(found.mean_ratio.high / found.mean_ratio.low) for found in (once, twice)]
    assert widths[1] == pytest.approx(widths[0], rel=0.08)


def test_the_same_values_give_the_same_intervals():
    arms = prompts("a", [3.0, 1.0, 2.0, 5.0, 4.0]), prompts("b", [1.0, 1.0, 2.0, 3.0, 2.0])
    assert bootstrap(pair(*arms, E2E)) == bootstrap(pair(*arms, E2E))


def test_an_empty_arm_has_none():
    assert bootstrap(pair(prompts("a", [1.0]), prompts("b", []), E2E)) is None


def test_many_values_are_drawn_in_parts():
    seconds = np.linspace(1, 2, 3000)
    found = bootstrap(pair(prompts("a", seconds), prompts("b", seconds), E2E), replicates=1500)
    assert found.percentiles[0].base.low < 1.5 < found.percentiles[0].base.high
