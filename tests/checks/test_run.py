"""Notices about a run, on tables made by hand."""

import polars as pl

from specdash.checks import run as run_check
from specdash.schema import COUNTS, RESPONSES, Granularity, Run


def made(copies=(0, 1), tokens=(20, 30), config=None):
    n = len(copies)
    responses = pl.DataFrame(
        {
            "response": range(n),
            "request": [str(i) for i in range(n)],
            "dataset": ["d"] * n,
            "prompt": ["p"] * n,
            "copy": copies,
            "output_tokens": tokens,
        },
        schema=RESPONSES,
    )
    counts = pl.DataFrame(
        {"response": range(n), "drafted": [7] * n, "accepted": [3] * n, "steps": [5] * n}, schema=COUNTS
    )
    return Run("r", Granularity.STEP, 7, config=config or {}, responses=responses, counts=counts)


def codes(run):
    return [warning.code for warning in run_check.notices(run)]


def test_a_run_without_oddities_has_no_notices():
    assert codes(made()) == []
    assert codes(made(config={"k": 7})) == []
    assert codes(made(tokens=(None, None))) == []


def test_a_configured_k_below_the_longest_draft_is_told():
    assert codes(made(config={"k": 3})) == ["k_disagrees"]
    assert codes(made(config={"k": 9})) == []  # drafts may all have been shorter


def test_output_tokens_of_some_responses_only_are_told():
    run = made(tokens=(20, None))
    assert codes(run) == ["output_tokens_incomplete"]
    assert "1 of 2 responses" in run_check.notices(run)[0].message


def test_copies_of_the_same_number_are_told():
    assert codes(made(copies=(0, 0))) == ["copies_repeat"]
