"""Intervals that counters borrow: against the log that they were made of, and when there is nothing to borrow."""

import numpy as np
import pytest

from specdash.metrics import ALONE, INTERVAL_KEYS, Background, run_rows
from specdash.metrics.borrowing import borrow
from specdash.schema import Evaluation, Granularity
from tests.helpers import Response, counter_run, counters_of, log_run
from tests.metrics.test_coverage import K, drawn, outcomes

KEYS = ["tau", "steps", *INTERVAL_KEYS]


def simulated(seed, prompts, copies):
    """Responses of one dataset, ``copies`` to each prompt."""
    rng = np.random.default_rng(seed)
    rate, steps = drawn(rng, (prompts, copies))
    counts = rng.multinomial(steps, outcomes(rate))
    return [
        Response(tuple((K, a) for a, n in enumerate(counts[q, copy]) for _ in range(n)), "d", f"q{q:03d}", copy)
        for q in range(prompts)
        for copy in range(copies)
    ]


def counted(log, name="counted", dataset="d", block=K):
    return counter_run(counters_of([s for r in log for s in r.steps], dataset, block=block), name=name)


def evaluation(*runs):
    return Evaluation("0" * 12, "title", "source", "0" * 64, runs)


def row_of(run, *others):
    found, _ = run_rows(run, {}.get, KEYS, Background.of(evaluation(run, *others), run))
    return found[0]


def test_a_borrowed_error_is_the_one_that_the_log_itself_would_have_had():
    """Ten copies lend to one: over 30 simulations the borrowed error is that of the log of one copy, within a few %."""
    ratios = []
    for seed in range(30):
        log = simulated(seed, 60, 10)
        once = [r for r in log if r.copy == 0]
        own = run_rows(log_run(once), {}.get, KEYS)[0][0]
        borrowed = row_of(counted(once), log_run(log, name="log"))
        assert borrowed["tau"] == own["tau"]
        ratios.append(borrowed["tau_se"] / own["tau_se"])
    assert np.mean(ratios) == pytest.approx(1, abs=0.05)
    assert np.std(ratios) < 0.2


def test_what_is_borrowed_is_labelled():
    log = simulated(1, 30, 3)
    row = row_of(counted(log), log_run(log, name="log"))
    assert row["interval_from"] == "log"
    assert row["interval_note"] == (
        "the interval of τ is borrowed from the run log, whose prompts are taken to be alike; other numbers have none"
    )
    lender = run_rows(log_run(log), {}.get, KEYS)[0][0]
    # As many steps of as many copies: the same relative interval, here of the same τ.
    assert row["tau_ci"] == pytest.approx(lender["tau_ci"])
    assert row["tau_se"] == pytest.approx(lender["tau_se"])
    assert row["p_ci"] is row["design_effect"] is row["effective_steps"] is None
    assert lender["interval_from"] is None


def test_without_copies_the_whole_variance_is_scaled():
    log = simulated(2, 40, 1)
    lender = run_rows(log_run(log), {}.get, KEYS)[0][0]
    half = row_of(counted(log[::2]), log_run(log, name="log"))
    wider = (lender["steps"] / half["steps"]) ** 0.5
    assert half["tau_se"] / half["tau"] == pytest.approx(wider * lender["tau_se"] / lender["tau"])
    # More steps than the lender has make no narrower interval: the prompts are no more than its own.
    more = row_of(counted(log * 3), log_run(log, name="log"))
    assert more["tau_se"] == pytest.approx(lender["tau_se"])


LOG = simulated(3, 20, 2)


@pytest.mark.parametrize(
    ("run", "other"),
    [
        (counted(LOG), counted(LOG, name="other counters")),
        (counted(LOG), log_run([Response(r.steps, "another", r.prompt) for r in LOG], name="log")),
        (counted(LOG), log_run([Response(r.steps, "d", None) for r in LOG], name="log")),
        (counted(LOG), log_run([Response(r.steps, "d", "q") for r in LOG], name="log")),  # one prompt
        (counted(LOG), log_run([Response(tuple((9, a) for _, a in r.steps), "d", r.prompt) for r in LOG], name="log")),
    ],
)
def test_nothing_to_borrow(run, other):
    row = row_of(run, other)
    assert row["interval_note"] == "no interval: counters do not tell prompts apart"
    assert row["interval_from"] is row["tau_ci"] is row["tau_se"] is None


def test_logs_borrow_nothing():
    few = log_run(LOG[:4], name="few")
    row = row_of(few, log_run(LOG, name="log"))
    assert row["interval_note"] == "no interval: 2 prompts, 5 are needed"
    assert few.granularity is Granularity.STEP


def test_pooled_and_family_rows_borrow_only_where_the_datasets_are_the_same():
    log = [*LOG, *(Response(r.steps, "e", r.prompt) for r in simulated(4, 20, 2))]
    both = counter_run(*(counters_of([s for r in log if r.dataset == d for s in r.steps], d, block=K) for d in "de"))
    by_dataset, families = run_rows(
        both, {"d": "math", "e": "math"}.get, KEYS, Background("", log_run(log, name="log"))
    )
    assert all(row["tau_ci"] for row in (*by_dataset, *families))
    by_dataset, families = run_rows(
        both, {"d": "math", "e": "math"}.get, KEYS, Background("", log_run(LOG, name="log"))
    )
    assert [bool(row["tau_ci"]) for row in by_dataset] == [True, False, False]
    assert [row["tau_ci"] for row in families] == [None]


def test_a_borrowed_interval_stays_within_what_can_be():
    lent = {"dataset": "d", "family": "x", "steps": 10, "tau": 2.0, "tau_ci": [1.2, 3.3], "tau_se": 0.5}
    row = {"dataset": "d", "family": "x", "steps": 10, "tau": 1.1, "tau_ci": None}
    how = {"lender": "log", "whole": True}
    (found,) = borrow([row], [lent | {"tau_se_copies": None}], k=4, **how)
    assert found["tau_ci"][0] == 1
    (found,) = borrow([row | {"tau": 4.9}], [lent | {"tau_se_copies": None}], k=4, **how)
    assert found["tau_ci"][1] == 5
    assert "tau_se" not in found  # it was not asked for


def test_a_run_alone_borrows_nothing():
    assert Background("", None) == ALONE
    assert Background.of(evaluation(log_run(LOG)), log_run(LOG)).lender is None
