"""The declarations of the checks, and that none of them falls over anything."""

from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given

from specdash import checks
from specdash.checks import Subject, all_checks, get
from specdash.checks.registry import check
from specdash.schema import LATENCIES, SUMS, Granularity, Run
from specdash.verdict import Finding, Outcome, Verdict
from tests.checks.finding import found
from tests.helpers import counter_run, counters, log_a, log_run, rates_run, response
from tests.metrics.logs import fewer, variable_logs

KEYS = """
outcome_sums tau_identity p_falls accepted_within_drafted positions_sum engines stored_ratios
mapping absent_requests zero_step_responses read_whole
equal_copies numbered_copies distinct_copies distinct_prompts
constant_block configured_k trained_block tau_above_one undrafted_steps zero_tails
overshoot missing_rows output_tokens_known repetition_loops
several_prompts enough_prompts balanced_pool order_drift order_recorded original_log
""".split()


def test_what_is_checked():
    assert [declared.key for declared in all_checks()] == KEYS


@pytest.mark.parametrize("key", KEYS)
def test_every_check_says_what_it_is(key):
    declared = get(key)
    for text in (declared.meaning, declared.cause):
        assert text[0].isupper() or text[0] in "τ"
        assert text.endswith(".") and "  " not in text
    assert not declared.title.endswith(".")
    assert isinstance(declared.needs, Granularity)


def test_titles_differ():
    assert len({declared.title for declared in all_checks()}) == len(KEYS)


def test_an_unknown_check_names_those_there_are():
    with pytest.raises(KeyError, match=r"no check 'x'; there are: outcome_sums, .*original_log"):
        get("x")


def test_a_key_is_declared_once():
    with pytest.raises(ValueError, match="mapping is declared twice"):
        check("mapping", title="again")(lambda subject: (Outcome.PASS, ""))


def sums_run(steps):
    """Responses of which only sums are known."""
    sums = pl.DataFrame([(0, steps, 9, 4), (1, steps, None, 5)], schema=SUMS, orient="row")
    run = log_run(
        [response(prompt="a"), response(prompt="b", output_tokens=9)], k=None, granularity=Granularity.RESPONSE
    )
    return replace(run, counts=None, sums=sums, k=None)


def test_every_check_says_something_of_every_run():
    runs = (
        log_run(log_a()),
        log_run([response((0, 0))]),
        log_run([response((7, 0), prompt=None)]),
        counter_run(counters(0, accepted=0)),
        counter_run(counters(10, drafted=30, per_position=[8, 4, 2], block=3)),
        counter_run(counters(None, drafted=30, accepted=14)),
        sums_run(steps=None),
        sums_run(steps=3),
        Run("timed", Granularity.LATENCIES, None, latencies=pl.DataFrame(schema=LATENCIES)),
        rates_run({"dataset": "d", "tau": None, "verify_rate": None, "mean_drafted": None, "p_exposed": None}),
    )
    for run in runs:
        findings = checks.findings(Subject(run))
        assert [finding.check for finding in findings] == KEYS
        assert all(finding.figure and finding.figure.isprintable() for finding in findings)


def steps_of(log):
    return [(i, *step) for i, r in enumerate(log) for step in r.steps]


@fewer
@given(variable_logs)
def test_any_log_is_told_about_and_identities_hold(log):
    run, steps = log_run(log), steps_of(log)
    outcomes = {key: found(key, run, steps=steps).outcome for key in KEYS}
    assert all(outcomes[key] is not Outcome.FAIL for key in KEYS[:5])
    assert outcomes["positions_sum"] is Outcome.NOT_APPLICABLE


def finding(outcome):
    return Finding("mapping", outcome, "")


def test_a_verdict_is_the_worst_outcome():
    passed, warned, failed, idle = map(finding, (Outcome.PASS, Outcome.WARN, Outcome.FAIL, Outcome.NOT_APPLICABLE))
    assert Verdict.of([idle, passed, idle]).outcome is Outcome.PASS
    assert Verdict.of([passed, warned, idle]).outcome is Outcome.WARN
    assert Verdict.of([passed, failed, warned]).outcome is Outcome.FAIL
    assert Verdict.of([idle]).outcome is Verdict.of([]).outcome is Outcome.NOT_APPLICABLE


def test_a_verdict_in_words():
    passed, warned, failed, idle = map(finding, (Outcome.PASS, Outcome.WARN, Outcome.FAIL, Outcome.NOT_APPLICABLE))
    assert str(Verdict.of([passed, passed, idle])) == "2 passed, 1 not applicable"
    assert Verdict.of([passed, passed, idle]).short == "sound"
    assert Verdict.of([idle]).short == Verdict.of([]).short == "not checked"
    assert str(Verdict.of([warned, passed])) == "1 warning, 1 passed, 0 not applicable"
    assert Verdict.of([warned, warned, failed, passed]).short == "1 failed, 2 warnings"
