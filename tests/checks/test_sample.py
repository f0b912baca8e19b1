"""What a run is a sample of."""

import random

import pytest

from specdash.verdict import Outcome
from tests.checks.finding import found
from tests.helpers import Response, counter_run, counters, log_a, log_run, rates_run, response


def prompts(**by_dataset):
    return log_run(response((7, 3), dataset=d, prompt=str(p)) for d, n in by_dataset.items() for p in range(n))


def test_one_prompt_only():
    finding = found("several_prompts", prompts(a=1, b=25))
    assert (finding.outcome, finding.figure) == (Outcome.WARN, "one prompt in a")
    finding = found("several_prompts", prompts(a=2, b=25))
    assert (finding.outcome, finding.figure) == (Outcome.PASS, "27 prompts in 2 datasets")


def test_few_prompts():
    finding = found("enough_prompts", prompts(a=19, b=25, c=4))
    assert (finding.outcome, finding.figure) == (Outcome.WARN, "a: 19; c: 4")
    finding = found("enough_prompts", prompts(a=20, b=25))
    assert (finding.outcome, finding.figure) == (Outcome.PASS, "20 or more in every dataset")


def test_few_prompts_that_have_most_of_the_steps():
    """One of 500 steps and 29 of 10: (500 + 290)² / (500² + 29 · 10²) = 2.47 prompts of equal length."""
    log = [response(*[(2, 1)] * (500 if q == 0 else 10), prompt=str(q)) for q in range(30)]
    finding = found("enough_prompts", log_run(log))
    assert (finding.outcome, finding.figure) == (Outcome.WARN, "d: 30 that weigh like 2.5 of equal length")
    even = [response(*[(2, 1)] * (20 if q % 2 else 10), prompt=str(q)) for q in range(30)]
    assert found("enough_prompts", log_run(even)).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        ((100,), Outcome.NOT_APPLICABLE),
        ((60, 40), Outcome.PASS),
        ((70, 30), Outcome.WARN),
        ((50, 25, 25), Outcome.PASS),
        ((51, 25, 24), Outcome.WARN),
        ((20,) * 5, Outcome.PASS),
    ],
)
def test_a_dataset_that_dominates(steps, outcome):
    run = counter_run(*(counters(s, str(i), accepted=s) for i, s in enumerate(steps)))
    assert found("balanced_pool", run).outcome is outcome


def test_the_largest_dataset_is_named():
    run = counter_run(counters(700, "big", accepted=9), counters(300, "small", accepted=9))
    assert found("balanced_pool", run).figure == "big has 70.0% of the steps of 2 datasets"


def drawn(seed, steps, rate):
    rng = random.Random(seed)
    made = []
    for _ in range(steps):
        accepted = 0
        while accepted < 7 and rng.random() < rate:
            accepted += 1
        made.append((7, accepted))
    return tuple(made)


def over_time(seed, rate_of, *, datasets=1, prompts=40, passes=4):
    """Responses in the order of requests: all prompts, again and again; prompts differ, and time may matter."""
    rng = random.Random(seed)
    ease = [rng.gauss(0, 0.08) for _ in range(prompts)]
    return [
        Response(
            drawn(f"{seed} {d} {c} {p}", 30, min(0.95, max(0.05, rate_of(d, (c + p / prompts) / passes) + ease[p]))),
            dataset=str(d),
            prompt=str(p),
            copy=c,
        )
        for d in range(datasets)
        for c in range(passes)
        for p in range(prompts)
    ]


@pytest.mark.parametrize("seed", range(8))
def test_no_drift(seed):
    finding = found("order_drift", log_run(over_time(seed, lambda d, t: 0.6)))
    assert finding.outcome is Outcome.PASS


def test_datasets_that_follow_each_other_are_no_drift():
    log = over_time(1, lambda d, t: (0.8, 0.6, 0.4)[d], datasets=3)
    assert found("order_drift", log_run(log)).outcome is Outcome.PASS


def test_a_drift_over_the_requests():
    """A cache that fills: acceptance rises from 0.4 to 0.8 a token, τ from 1.7 to 4.2 and so on."""
    finding = found("order_drift", log_run(over_time(2, lambda d, t: 0.4 + 0.4 * t)))
    assert finding.outcome is Outcome.WARN
    assert finding.figure.startswith("τ_r changes by +2.")
    falling = found("order_drift", log_run(over_time(2, lambda d, t: 0.8 - 0.4 * t)))
    assert falling.figure.startswith("τ_r changes by −2.")


def test_the_order_of_requests_is_needed():
    run = log_run(over_time(2, lambda d, t: 0.4 + 0.4 * t))
    assert found("order_drift", run, order_recorded=False).outcome is Outcome.NOT_APPLICABLE
    few = log_run(over_time(2, lambda d, t: 0.4 + 0.4 * t, prompts=19))
    assert found("order_drift", few).figure == "needs 20 prompts"


def test_the_golden_log_does_not_drift():
    assert found("order_drift", log_run(log_a())).outcome is Outcome.PASS


def test_an_order_that_is_invented():
    run = log_run([response((7, 3))])
    assert found("order_recorded", run).outcome is Outcome.PASS
    finding = found("order_recorded", run, order_recorded=False)
    assert (finding.outcome, finding.figure) == (Outcome.WARN, "invented")
    assert found("order_recorded", counter_run(counters(9, accepted=3))).outcome is Outcome.NOT_APPLICABLE


def test_a_reconstruction_is_no_log():
    for run in (log_run([response((7, 3))]), counter_run(counters(9, accepted=3)), rates_run()):
        assert found("original_log", run).outcome is Outcome.PASS
        assert found("original_log", run, reconstruction=True).outcome is Outcome.WARN
