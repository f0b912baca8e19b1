"""Copies of prompts and prompts themselves: all there, once, each with an answer of its own."""

import random

import pytest

from specdash.verdict import Outcome
from tests.checks.finding import found
from tests.helpers import Response, counter_run, counters, edge, log_a, log_run, response


def copies(*numbers, dataset="d"):
    return [
        response((7, c % 7), prompt=str(p), copy=c, dataset=dataset) for p, n in enumerate(numbers) for c in range(n)
    ]


def test_equal_copies():
    assert found("equal_copies", log_run(copies(4, 4, 4))).figure == "4 each"
    both = log_run([*copies(4, 4), *copies(10, 10, dataset="e")])
    assert (found("equal_copies", both).outcome, found("equal_copies", both).figure) == (Outcome.PASS, "4 or 10 each")


def test_unequal_copies():
    finding = found("equal_copies", log_run([*copies(4, 4, 3), *copies(2, 2, dataset="e")]))
    assert (finding.outcome, finding.figure) == (Outcome.WARN, "1 of 5 prompts, such as 3 instead of 4 in d")


def test_copies_of_the_same_number():
    assert found("numbered_copies", log_run(copies(2, 2))).outcome is Outcome.PASS
    twice = log_run([*copies(2), *copies(1)])
    finding = found("numbered_copies", twice)
    assert finding.outcome is Outcome.WARN
    assert finding.figure == "2 responses share dataset, prompt and copy number with another one"


@pytest.mark.parametrize(
    "key", ["equal_copies", "numbered_copies", "distinct_copies", "several_prompts", "enough_prompts"]
)
def test_without_prompts_nothing_is_said_of_them(key):
    assert found(key, log_run([response((7, 3), prompt=None)])).outcome is Outcome.NOT_APPLICABLE
    assert found(key, counter_run(counters(10, accepted=14))).outcome is Outcome.NOT_APPLICABLE


def drawn(seed, steps, weights=(3, 2, 2, 1, 1, 1, 1, 2)):
    rng = random.Random(seed)
    return tuple((7, a) for a in rng.choices(range(8), weights, k=steps))


def ordered(log):
    return [(i, *step) for i, r in enumerate(log) for step in r.steps]


def answers(steps, prompts, number, *, seeds=None, weights=(3, 2, 2, 1, 1, 1, 1, 2)):
    """Copies of prompts; with ``seeds`` of them different, else all."""
    return [
        Response(drawn(f"{p} {c % (seeds or number)}", steps, weights), prompt=str(p), copy=c)
        for p in range(prompts)
        for c in range(number)
    ]


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize(("steps", "prompts"), [(200, 20), (20, 100), (5, 100)])
def test_copies_that_differ(in_order, steps, prompts):
    log = answers(steps, prompts, 4)
    finding = found("distinct_copies", log_run(log), steps=ordered(log) if in_order else None)
    assert finding.outcome is Outcome.PASS


@pytest.mark.parametrize("in_order", [False, True])
def test_copies_of_one_seed(in_order):
    """Each prompt has four copies of two seeds: half of the copies repeat another one."""
    log = answers(60, 10, 4, seeds=2)
    finding = found("distinct_copies", log_run(log), steps=ordered(log) if in_order else None)
    assert finding.outcome is Outcome.WARN
    how = "the same steps" if in_order else "the same outcomes"
    assert finding.figure.startswith(f"20 of 40 responses of 20 or more steps repeat {how} of another copy (")
    assert finding.figure.endswith(" pairs by chance, 20 found)")


def test_two_copies_alike_are_told_by_their_order_not_by_their_counts():
    """25 steps: that two copies have the same counts may be chance, that they have the same steps is not."""
    log = [Response(drawn("x", 25), prompt="p", copy=c) for c in range(2)]
    assert found("distinct_copies", log_run(log), steps=ordered(log)).outcome is Outcome.WARN
    assert found("distinct_copies", log_run(log)).outcome is Outcome.PASS


@pytest.mark.parametrize("in_order", [False, True])
def test_copies_that_accept_everything_are_alike_without_being_one(in_order):
    log = [Response(((7, 7),) * 100, prompt=str(p), copy=c) for p in range(10) for c in range(4)]
    assert found("distinct_copies", log_run(log), steps=ordered(log) if in_order else None).outcome is Outcome.PASS


def test_the_same_answer_to_two_prompts_is_no_copy():
    log = [Response(drawn("x", 60), prompt=p, copy=0) for p in "ab"]
    assert found("distinct_copies", log_run(log), steps=ordered(log)).outcome is Outcome.PASS


def test_golden_logs_have_no_twins():
    for log in (log_a(), edge()):
        assert found("distinct_copies", log_run(log), steps=ordered(log)).outcome is Outcome.PASS
        assert found("distinct_copies", log_run(log)).outcome is Outcome.PASS


@pytest.mark.parametrize("in_order", [False, True])
def test_a_file_that_was_read_twice_under_new_prompts(in_order):
    log = answers(60, 10, 1)
    again = [Response(r.steps, prompt=f"again {r.prompt}", copy=0) for r in log]
    finding = found("distinct_prompts", log_run([*log, *again]), steps=ordered([*log, *again]) if in_order else None)
    assert finding.outcome is Outcome.WARN
    how = "the same steps" if in_order else "the same outcomes"
    assert finding.figure.startswith(f"10 of 20 responses of 20 or more steps repeat {how} of another prompt's resp")
    assert finding.figure.endswith(" pairs by chance, 10 found)")


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize(("steps", "prompts"), [(200, 50), (20, 300), (5, 300)])
def test_prompts_that_differ(in_order, steps, prompts):
    log = answers(steps, prompts, 2)
    finding = found("distinct_prompts", log_run(log), steps=ordered(log) if in_order else None)
    assert finding.outcome is Outcome.PASS


def test_copies_of_one_seed_are_no_other_prompts():
    log = answers(60, 10, 4, seeds=2)
    assert found("distinct_prompts", log_run(log), steps=ordered(log)).outcome is Outcome.PASS


def test_the_same_answer_in_two_datasets_is_told_of_neither():
    """An evaluation may hold a dataset and a part of it."""
    log = [Response(r.steps, dataset=d, prompt=r.prompt, copy=0) for d in "xy" for r in answers(60, 10, 1)]
    assert found("distinct_prompts", log_run(log), steps=ordered(log)).outcome is Outcome.PASS


@pytest.mark.parametrize("in_order", [False, True])
def test_prompts_that_accept_everything_are_alike_without_being_one(in_order):
    log = [Response(((7, 7),) * 100, prompt=str(p)) for p in range(10)]
    assert found("distinct_prompts", log_run(log), steps=ordered(log) if in_order else None).outcome is Outcome.PASS


def test_golden_logs_have_no_prompts_that_share_responses():
    for log in (log_a(), edge()):
        assert found("distinct_prompts", log_run(log), steps=ordered(log)).outcome is Outcome.PASS
        assert found("distinct_prompts", log_run(log)).outcome is Outcome.PASS
