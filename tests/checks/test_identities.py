"""Broken identities, each on a table that breaks it and on one that does not."""

from dataclasses import replace

import polars as pl
import pytest

from specdash.schema import SUMS, Granularity
from specdash.verdict import Outcome
from tests.checks.finding import found
from tests.helpers import counter_run, counters, counters_of, edge, log_a, log_run, rates_run, response

SOUND = counters(10, drafted=30, per_position=[8, 4, 2], block=3)
KEYS = ("outcome_sums", "tau_identity", "p_falls", "accepted_within_drafted", "positions_sum")


def rates(dataset="d", *, tau=None, mean_drafted=None, p_exposed=None):
    return {
        "dataset": dataset, "tau": tau, "verify_rate": None, "mean_drafted": mean_drafted, "p_exposed": p_exposed,
    }  # fmt: skip


def printed(decimals=2):
    return ({"dataset": "d", "decimals": {"tau": decimals, "p_exposed": decimals}},)


@pytest.mark.parametrize("key", KEYS)
def test_sound_runs_pass(key):
    for run in (counter_run(SOUND), log_run(log_a()), log_run(edge())):
        outcome = found(key, run).outcome
        idle = key == "positions_sum" and run.counters is None
        assert outcome is (Outcome.NOT_APPLICABLE if idle else Outcome.PASS)


@pytest.mark.parametrize("key", KEYS)
def test_counters_without_positions_or_drafted_tokens_cannot_tell(key):
    assert found(key, counter_run(counters(10, accepted=14))).outcome is Outcome.NOT_APPLICABLE


def test_outcomes_below_zero():
    finding = found("outcome_sums", counter_run(counters(5, drafted=30, per_position=[8, 4, 2])))
    assert (finding.outcome, finding.figure) == (Outcome.FAIL, "d: -3 steps that accepted 0")


def test_steps_of_no_response():
    run = log_run([response((3, 1), (3, 2)), response((3, 3))])
    finding = found("outcome_sums", replace(run, responses=run.responses[:1]))
    assert (finding.outcome, finding.figure) == (Outcome.FAIL, "1 of 3 steps belong to no response")


def test_the_ordered_log_has_the_counted_rows():
    run = log_run([response((3, 1), (3, 2))])
    assert found("outcome_sums", run, steps=[(0, 3, 1), (0, 3, 2)]).outcome is Outcome.PASS
    finding = found("outcome_sums", run, steps=[(0, 3, 1)])
    assert (finding.outcome, finding.figure) == (Outcome.FAIL, "the ordered log has 1 rows, 2 are counted")


def test_counters_of_one_of_two_engines():
    """By hand: τ = 1 + 28/10, positions of one engine sum to 14, so 1 + Σ p = 2.4."""
    run = counter_run(counters(10, drafted=60, per_position=[8, 4, 2], accepted=28))
    finding = found("tau_identity", run)
    assert finding.outcome is Outcome.FAIL
    assert finding.figure.startswith("d: τ = 3.800, 1 + Σ p = 2.400, a factor of 2: p counts one of 2 engines")
    sums = found("positions_sum", run)
    assert (sums.outcome, sums.figure) == (Outcome.FAIL, "d: 14 by position, 28 accepted")


@pytest.mark.parametrize(("accepted", "factor"), [(42, 3), (43, None), (7, 2), (20, None)])
def test_only_a_whole_factor_is_taken_for_engines(accepted, factor):
    """By hand: 14 tokens by position; 43/14 is 2% of 3 off and more, 20/14 is no whole number, 7/14 the reverse."""
    run = counter_run(counters(100, drafted=300, per_position=[8, 4, 2], accepted=accepted))
    figure = found("tau_identity", run).figure
    assert ("a factor of" in figure) == (factor is not None)
    assert factor is None or f"a factor of {factor}: " in figure
    assert ("τ counts one of 2" in figure) == (accepted == 7)


def test_printed_rates_of_two_engines():
    """τ − 1 = 3.97 beside rates that sum to 1.985."""
    halves = [0.456, 0.402, 0.343, 0.283, 0.226, 0.173, 0.102]
    whole = [2 * p for p in halves]
    for rate, outcome in ((halves, Outcome.FAIL), (whole, Outcome.PASS)):
        run = rates_run(rates(tau=4.97, mean_drafted=7.0, p_exposed=rate), printed=printed(3))
        finding = found("tau_identity", run)
        assert finding.outcome is outcome
        assert ("a factor of 2" in finding.figure) == (outcome is Outcome.FAIL)


@pytest.mark.parametrize(
    ("tau", "mean_drafted", "outcome"),
    [
        (2.20, 2.0, Outcome.PASS),  # 1 + 0.8 + 0.4
        (2.21, 2.0, Outcome.PASS),  # each of the three may be 0.005 off
        (2.22, 2.0, Outcome.FAIL),
        (2.00, 2.0, Outcome.FAIL),
        (2.00, 1.5, Outcome.PASS),  # half of the steps drafted one token: 1 + 0.8 + 0.5·0.4
        (1.97, 1.5, Outcome.FAIL),
        (2.00, None, Outcome.PASS),  # drafts may have been short
        (2.30, None, Outcome.FAIL),
    ],
)
def test_printed_rates_are_compared_as_far_as_they_are_printed(tau, mean_drafted, outcome):
    run = rates_run(rates(tau=tau, mean_drafted=mean_drafted, p_exposed=[0.8, 0.4]), printed=printed())
    assert found("tau_identity", run).outcome is outcome


def test_printed_rates_with_gaps_cannot_tell():
    run = rates_run(rates(tau=2.0, p_exposed=[0.8, None]))
    assert found("tau_identity", run).outcome is Outcome.NOT_APPLICABLE


def test_counts_that_rise_with_the_position():
    finding = found("p_falls", counter_run(counters(10, drafted=30, per_position=[8, 2, 4])))
    assert (finding.outcome, finding.figure) == (Outcome.FAIL, "d: 4 after 2 at position 2")
    assert found("p_falls", counter_run(counters(7, drafted=30, per_position=[8, 2, 2]))).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("p", "mean_drafted", "outcome"),
    [
        ([0.9, 0.8, 0.8], 3.0, Outcome.PASS),
        ([0.9, 0.80, 0.81], 3.0, Outcome.PASS),  # 0.8050 and 0.8051, rounded
        ([0.9, 0.80, 0.83], 3.0, Outcome.FAIL),  # conditional rates
        ([0.9, 0.80, 0.83], 2.5, Outcome.WARN),  # over the steps that drafted the position
        ([0.9, 0.80, 0.83], None, Outcome.WARN),
        ([0.9], 1.0, Outcome.NOT_APPLICABLE),
    ],
)
def test_printed_rates_that_rise(p, mean_drafted, outcome):
    assert found("p_falls", rates_run(rates(p_exposed=p, mean_drafted=mean_drafted))).outcome is outcome


def test_more_accepted_than_drafted():
    finding = found("accepted_within_drafted", log_run([response((3, 4), (3, 3))], k=4))
    assert (finding.outcome, finding.figure) == (Outcome.FAIL, "1 steps, such as 4 accepted of 3")
    finding = found("accepted_within_drafted", counter_run(counters(10, drafted=13, accepted=14)))
    assert (finding.outcome, finding.figure) == (Outcome.FAIL, "d: 14 accepted of 13")
    lengths = rates_run(rates(tau=4.1, mean_drafted=3.0))
    assert found("accepted_within_drafted", lengths).outcome is Outcome.FAIL
    assert found("accepted_within_drafted", rates_run(rates(tau=4.0, mean_drafted=3.0))).outcome is Outcome.PASS
    assert found("accepted_within_drafted", rates_run(rates(tau=4.0))).outcome is Outcome.NOT_APPLICABLE


def test_the_share_is_said():
    """27 of 30, by hand."""
    steps = [(3, 3)] * 9 + [(3, 0)]
    figure = "27 accepted of 30 drafted, 90.0%"
    assert found("accepted_within_drafted", log_run([response(*steps)])).figure == figure
    assert found("accepted_within_drafted", counter_run(counters_of(steps, block=3))).figure == figure


def test_histograms_that_do_not_sum_to_the_steps():
    """One response says 3 steps beside a histogram of 2."""
    run = log_run([response((3, 1), (3, 2)), response((3, 3))], granularity=Granularity.RESPONSE)
    sums = pl.DataFrame([(0, 3, 9, 3), (1, 1, 3, 3)], schema=SUMS, orient="row")
    unknown = run.counts.with_columns(drafted=pl.lit(None, pl.Int16))
    finding = found("outcome_sums", replace(run, counts=unknown, sums=sums))
    assert finding.outcome is Outcome.FAIL
    assert finding.figure == "1 response whose outcomes do not sum to the steps, such as 2 of 3"
    sound = sums.with_columns(steps=pl.Series([2, 1], dtype=pl.Int64))
    assert found("outcome_sums", replace(run, counts=unknown, sums=sound)).outcome is Outcome.PASS
