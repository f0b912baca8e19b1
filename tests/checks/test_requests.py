"""Requests against their samples, copies against each other."""

import random

import pytest

from specdash.schema import Mapping, RunWarning
from specdash.verdict import Outcome
from tests.checks.finding import found
from tests.helpers import Response, counter_run, counters, edge, log_a, log_run, response

ONE = [response((7, 3), (7, 4), prompt="p", copy=0)]


def mapped(matched, total, absent, *warnings):
    said = tuple(RunWarning(code, message) for code, message in warnings)
    return log_run(ONE, mapping=Mapping(matched, total, absent), warnings=said)


@pytest.mark.parametrize(
    ("run", "outcome", "figure"),
    [
        (mapped(100, 100, 0), Outcome.PASS, "100 of 100 match"),
        (mapped(99, 100, 0, ("mapping_incomplete", "1 of 100 requests")), Outcome.WARN, "1 of 100 requests"),
        (mapped(40, 100, 0, ("mapping_refused", "only 40 of 100")), Outcome.FAIL, "only 40 of 100"),
        (mapped(9, 9, 0, ("counts_unchecked", "assigned by id")), Outcome.WARN, "assigned by id"),
        (log_run(ONE), Outcome.NOT_APPLICABLE, "no samples stand beside the log"),
    ],
)
def test_mapping(run, outcome, figure):
    finding = found("mapping", run)
    assert (finding.outcome, finding.figure) == (outcome, figure)


@pytest.mark.parametrize(
    ("matched", "absent", "outcome", "figure"),
    [
        (30_300, 0, Outcome.PASS, "30,300 of 30,300 responses"),
        (30_296, 4, Outcome.WARN, "4 of 30,300 responses, 0.01%"),
        (96, 4, Outcome.WARN, "4 of 100 responses, 4.0%"),
        (95, 5, Outcome.FAIL, "5 of 100 responses, 5.0%"),
    ],
)
def test_absent_requests(matched, absent, outcome, figure):
    finding = found("absent_requests", mapped(matched, matched, absent))
    assert (finding.outcome, finding.figure) == (outcome, figure)


@pytest.mark.parametrize(("empty", "outcome"), [(0, Outcome.PASS), (1, Outcome.PASS), (2, Outcome.WARN)])
def test_responses_without_a_drafted_step(empty, outcome):
    """Of a hundred; one in a hundred ends with its first token now and then."""
    log = [response((0, 0))] * empty + [response((7, 3))] * (100 - empty)
    finding = found("zero_step_responses", log_run(log))
    assert (finding.outcome, finding.figure) == (outcome, f"{empty} of 100 without one")


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


def test_what_the_reader_said():
    assert found("read_whole", log_run(ONE)).outcome is Outcome.PASS
    said = (
        RunWarning("unread_files", "not read: notes.txt"),
        RunWarning("absent_requests", "told by another check"),
        RunWarning("dataset_renamed", "renamed"),
    )
    finding = found("read_whole", log_run(ONE, warnings=said))
    assert (finding.outcome, finding.figure) == (Outcome.WARN, "not read: notes.txt; renamed")
