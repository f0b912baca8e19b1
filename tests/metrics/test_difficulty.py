"""Prompts by difficulty: golden variance components, a hand count, and simulated prompts whose truth is known."""

import math
import random
from dataclasses import replace
from statistics import mean, variance

import numpy as np
import polars as pl
import pytest

from specdash.metrics import response_sums
from specdash.metrics.difficulty import SCHEMA, copies_of
from specdash.metrics.difficulty import difficulty as of_responses
from specdash.schema import SUMS, Granularity
from tests.helpers import Response, edge, golden, log_a, log_run, response

GOLDEN = golden("golden.json")


def difficulty(run):
    return of_responses(response_sums(run), run.counts)


def tau_of(steps):
    return 1 + mean(a for k, a in steps if k)


def by_prompt(frame, dataset):
    return {row["prompt"]: row for row in frame.filter(pl.col("dataset") == dataset).iter_rows(named=True)}


@pytest.mark.parametrize("dataset", ["mathlike", "chatlike"])
def test_prompts_are_drawn_to_the_mean_by_the_golden_components(dataset):
    """w = σ_b²/(σ_b² + σ_w²/4); the components are golden, the means are counted here."""
    between, within = (GOLDEN[dataset]["anova"][name] for name in ("sig_b2", "sig_w2"))
    centre = GOLDEN[dataset]["tau_resp"]
    log = [r for r in log_a() if r.dataset == dataset]
    found = by_prompt(difficulty(log_run(log_a())), dataset)
    assert set(found) == {r.prompt for r in log}
    for prompt, row in found.items():
        copies = [tau_of(r.steps) for r in log if r.prompt == prompt]
        w = between / (between + within / 4)
        assert (row["copies"], row["noise"]) == (4, "copies")
        assert row["mean"] == pytest.approx(mean(copies), rel=1e-12)
        assert (row["min"], row["max"]) == pytest.approx((min(copies), max(copies)), rel=1e-12)
        assert row["centre"] == pytest.approx(centre, rel=1e-12)
        assert row["weight"] == pytest.approx(w, rel=1e-9)
        assert row["shrunken"] == pytest.approx(w * mean(copies) + (1 - w) * centre, rel=1e-9)
        steps = [a for r in log if r.prompt == prompt for _, a in r.steps]
        assert (row["steps"], row["tau"]) == (len(steps), pytest.approx(1 + mean(steps), rel=1e-12))


def test_the_interval_by_hand():
    """±t with N − Q = 72 degrees of freedom (1.9935, from a table) times √(w·σ_w²/4 + (1 − w)²·(σ_b²/24 + σ_w²/96))."""
    between, within = (GOLDEN["mathlike"]["anova"][name] for name in ("sig_b2", "sig_w2"))
    w = between / (between + within / 4)
    error = math.sqrt(w * within / 4 + (1 - w) ** 2 * (between / 24 + within / 96))
    for row in by_prompt(difficulty(log_run(log_a())), "mathlike").values():
        assert row["high"] - row["shrunken"] == pytest.approx(1.9935 * error, rel=1e-4)
        assert row["shrunken"] - row["low"] == pytest.approx(1.9935 * error, rel=1e-4)


def test_the_hardest_comes_first():
    found = difficulty(log_run(log_a()))
    assert found.schema == SCHEMA
    assert found["shrunken"].is_sorted()
    assert found.height == 40


def test_one_copy_a_prompt_knows_the_noise_of_its_steps():
    """By hand over 6 prompts of 4 steps: s² is the mean of the sample variances of equally long responses."""
    rng = random.Random(3)
    log = [response(*[(7, min(7, p + rng.randrange(3))) for _ in range(4)], prompt=str(p)) for p in range(6)]
    found = by_prompt(difficulty(log_run(log)), "d")
    noise = mean(variance(a for _, a in r.steps) for r in log) / 4
    means = [tau_of(r.steps) for r in log]
    w = (variance(means) - noise) / variance(means)
    for r in log:
        row = found[r.prompt]
        assert row["noise"] == "steps"
        assert row["weight"] == pytest.approx(w, rel=1e-9)
        assert row["shrunken"] == pytest.approx(w * tau_of(r.steps) + (1 - w) * mean(means), rel=1e-9)


def test_prompts_that_do_not_differ_are_all_drawn_to_the_mean():
    log = [response((7, 0), (7, 7), prompt=str(p), copy=c) for p in range(8) for c in range(2)]
    rows = difficulty(log_run([*log, response((7, 7), (7, 7), prompt="8", copy=0)])).to_dicts()
    assert all(row["shrunken"] is None or row["weight"] < 1 for row in rows)
    noisy = [response((7, 7 * (c % 2)), prompt=str(p), copy=c) for p in range(8) for c in range(2)]
    for row in difficulty(log_run(noisy)).iter_rows(named=True):
        assert (row["weight"], row["shrunken"]) == (0.0, pytest.approx(4.5))


@pytest.mark.parametrize(
    "log",
    [
        [response((7, p), prompt=str(p), copy=c) for p in range(4) for c in range(3)],  # too few prompts
        [response((7, p % 8), prompt=str(p)) for p in range(9)],  # one step each: no spread of steps
        edge(),
    ],
)
def test_where_noise_cannot_be_told_from_difficulty_nothing_is_drawn(log):
    found = difficulty(log_run(log))
    assert found["shrunken"].null_count() == found["low"].null_count() == found.height
    assert found["mean"].is_sorted()


def test_what_has_no_prompt_or_no_step_is_left_out():
    log = [response((7, 1), prompt=None), response((0, 0), prompt="a"), response((7, 2), prompt="b")]
    assert difficulty(log_run(log))["prompt"].to_list() == ["b"]
    assert difficulty(log_run([response((7, 1), prompt=None)])).schema == SCHEMA


def test_sums_without_outcomes_know_their_means():
    sums = pl.DataFrame([(i, 4, 28, i) for i in range(6)], schema=SUMS, orient="row")
    run = log_run([response(prompt=str(i)) for i in range(6)], granularity=Granularity.RESPONSE)
    found = difficulty(replace(run, counts=None, sums=sums))
    assert found["mean"].to_list() == [1 + i / 4 for i in range(6)]
    assert found["shrunken"].null_count() == 6


def test_intervals_hold_what_prompts_are():
    """2,000 simulated prompts of 2 to 4 copies: 95% intervals hold between 93% and 97% of the truths."""
    rng = np.random.default_rng(980406)
    inside = shrunk = raw = 0.0
    for d in range(50):
        truth = 4 + rng.normal(0, 0.5, 40)
        log = []
        for p, level in enumerate(truth):
            for copy in range(2 + p % 3):
                # A response of 1,000 steps whose mean is the level plus copy noise, up to a step.
                target = round((level - 1 + rng.normal(0, 0.6)) * 1000)
                whole, extra = divmod(max(0, target), 1000)
                log.append(Response(((8, whole),) * (1000 - extra) + ((8, whole + 1),) * extra, str(d), str(p), copy))
        rows = by_prompt(difficulty(log_run(log)), str(d))
        for p, level in enumerate(truth):
            row = rows[str(p)]
            inside += row["low"] <= level <= row["high"]
            shrunk += (row["shrunken"] - level) ** 2
            raw += (row["mean"] - level) ** 2
    assert 0.93 < inside / 2000 < 0.97
    assert shrunk < 0.8 * raw  # drawn to the mean they are nearer to the truth than the raw means


def test_outcomes_of_copies():
    run = log_run([response((3, 1), (3, 3), (0, 0), prompt="a"), response((3, 0), prompt="b"), response((0, 0))])
    found = copies_of(run, response_sums(run))
    assert [row["outcome"] for row in found] == [[0, 0.5, 0, 0.5], [1, 0, 0, 0], None]
    assert [row["prompt"] for row in found] == ["a", "b", "q"]
    assert copies_of(run, response_sums(run)[1:2])[0]["outcome"] == [1, 0, 0, 0]
