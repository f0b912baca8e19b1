"""Requests against their samples, copies against each other."""

import pytest

from specdash.schema import Mapping, RunWarning
from specdash.verdict import Outcome
from tests.checks.finding import found
from tests.helpers import log_run, response

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


def test_what_the_reader_said():
    assert found("read_whole", log_run(ONE)).outcome is Outcome.PASS
    said = (
        RunWarning("unread_files", "not read: notes.txt"),
        RunWarning("absent_requests", "told by another check"),
        RunWarning("dataset_renamed", "renamed"),
    )
    finding = found("read_whole", log_run(ONE, warnings=said))
    assert (finding.outcome, finding.figure) == (Outcome.WARN, "not read: notes.txt; renamed")
