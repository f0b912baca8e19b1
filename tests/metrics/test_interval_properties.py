"""What holds for the interval of every number of every log."""

import math
import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from specdash.metrics import CI_KEYS, ERROR_KEYS, INTERVAL_KEYS, KEYS, Background, run_rows
from tests.helpers import Response, log_run
from tests.metrics.logs import FAMILIES, fewer


def built(seed, prompts, copies, k, datasets):
    """A log of prompts that differ; drawn by a seed, for hypothesis takes long to draw hundreds of steps one by one."""
    rng = random.Random(seed)
    log = []
    for q in range(prompts):
        rate, dataset = rng.choice((0.0, 0.3, 0.6, 0.9, 1.0)), rng.choice(datasets)
        for _ in range(rng.randint(1, copies)):
            blocks = [rng.randint(0, k) for _ in range(rng.randint(1, 5))]
            steps = [(block, next((i for i in range(block) if rng.random() >= rate), block)) for block in blocks]
            log.append(Response(tuple(steps), dataset, f"q{q}"))
    return log


logs = st.builds(
    built, st.integers(0, 10**9), st.integers(1, 25), st.integers(1, 3), st.integers(1, 6), st.sampled_from(["x", "xy"])
)


SURE = [*INTERVAL_KEYS, *ERROR_KEYS]


def rows_of(log, keys=SURE, seed="", k=None):
    by_dataset, by_family = run_rows(log_run(log, k=k), FAMILIES.get, keys, Background(seed))
    return [*by_dataset, *by_family]


def pairs(numbers, row):
    """Every number with its interval, by key and index."""
    for key in CI_KEYS:
        value, ends = numbers[key.removesuffix("_ci")], row[key]
        if isinstance(value, list):
            for i, number in enumerate(value):
                yield key, i, number, None if ends is None else ends[i]
        else:
            yield key, 0, value, ends


@fewer
@given(logs)
def test_an_interval_holds_its_number_and_stays_within_what_can_be(log):
    k = log_run(log).k
    for numbers, row in zip(rows_of(log, KEYS), rows_of(log), strict=True):
        for key, i, number, ends in pairs(numbers, row):
            if ends is None:
                continue
            low, high = ends
            assert math.isfinite(low) and math.isfinite(high)
            assert number is not None, key
            assert low <= number <= high and low < high, key
            floor, ceiling = {
                "tau_ci": (1, 1 + k),
                "tau_all_ci": (1, 1 + k),
                "tau_at_k_ci": (1, 2 + i),
                "tau_at_k_km_ci": (1, 2 + i),
                "step_std_ci": (0, math.inf),
            }.get(key, (0, 1))
            assert floor <= low and high <= ceiling, key
        if row["interval_note"] and row["interval_note"].startswith("no interval"):
            assert all(row[key] is None for key in CI_KEYS)


def same(one, other):
    """Tell whether two values are the same up to rounding."""
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return isinstance(other, float) and math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
    return one == other


@fewer
@given(logs, st.randoms(use_true_random=False))
def test_the_order_of_prompts_and_copies_changes_nothing(log, chance):
    shuffled = chance.sample(log, len(log))
    found = {row["dataset"]: row for row in rows_of(shuffled, seed="s", k=log_run(log).k)}
    for row in rows_of(log, seed="s"):
        for key in SURE:
            assert same(row[key], found[row["dataset"]][key]), key


@fewer
@given(logs)
def test_names_of_prompts_change_no_interval(log):
    renamed = [replace(r, prompt=r.prompt and f"another {r.prompt}") for r in log]
    for row, other in zip(rows_of(log), rows_of(renamed), strict=True):
        assert all(same(row[key], other[key]) for key in SURE if key != "tau_se_bootstrap")


@fewer
@given(logs)
def test_longer_answers_of_the_same_prompts_make_no_narrower_interval(log):
    """Twice the steps of the same outcomes are no second sample of prompts."""
    doubled = [replace(r, steps=r.steps * 2) for r in log]
    for row, other in zip(rows_of(log), rows_of(doubled), strict=True):
        assert all(same(row[key], other[key]) for key in ("tau_ci", "p_ci", "c_ci", "tau_at_k_ci", "tau_se"))
        if row["design_effect"] is not None:
            assert same(other["design_effect"], row["design_effect"] * 2)
            assert same(other["effective_steps"], row["effective_steps"])


@fewer
@given(logs, st.integers(1, 10**9))
def test_every_figure_but_the_bootstrap_is_the_same_for_every_seed(log, seed):
    for row, other in zip(rows_of(log), rows_of(log, seed=str(seed)), strict=True):
        assert {key: row[key] for key in row if key != "tau_se_bootstrap"} == {
            key: other[key] for key in other if key != "tau_se_bootstrap"
        }
