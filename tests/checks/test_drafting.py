"""Whether and how far the drafter drafted."""

import random
from dataclasses import replace

import pytest

from specdash.checks.drafting import shortest_stretch
from specdash.verdict import Outcome
from tests.checks.finding import found
from tests.helpers import Response, counter_run, counters, edge, log_a, log_run, rates_run, response


def rates(dataset="d", **given):
    empty = dict.fromkeys(("tau", "verify_rate", "mean_drafted", "p_exposed"))
    return {"dataset": dataset} | empty | given


def ordered(log):
    return [(i, *step) for i, r in enumerate(log) for step in r.steps]


@pytest.mark.parametrize(
    ("run", "outcome", "figure"),
    [
        (log_run([response((7, 3), (7, 0), (0, 0))]), Outcome.PASS, "K = 7 in all 2 steps that drafted"),
        (
            log_run([response((7, 3), (7, 0), (7, 7), (3, 1))]),
            Outcome.WARN,
            "3 to 7 drafted, 6.00 on average: 7 in 75.0%; 3 in 25.0%",
        ),
        (
            log_run([response(*[(k, 0) for k in range(1, 7)], (5, 0))]),
            Outcome.WARN,
            "1 to 6 drafted, 3.71 on average: 5 in 28.6%; 1 in 14.3%; 2 in 14.3%; 3 in 14.3%; 2 other lengths",
        ),
        (
            counter_run(counters(10, drafted=30, per_position=[8, 4, 2], block=3)),
            Outcome.PASS,
            "K = 3 in all 10 steps that drafted",
        ),
        (
            counter_run(counters(10, drafted=25, per_position=[8, 4, 2])),
            Outcome.WARN,
            "2.50 of 3 drafted on average; which lengths is not known",
        ),
        (counter_run(counters(10, accepted=14)), Outcome.NOT_APPLICABLE, "no count of drafted tokens"),
    ],
)
def test_lengths_of_drafts(run, outcome, figure):
    finding = found("constant_block", run)
    assert (finding.outcome, finding.figure) == (outcome, figure)


def test_lengths_of_drafts_as_printed():
    run = replace(rates_run(rates(mean_drafted=6.98), rates("e", mean_drafted=6.95)), k=7)
    assert found("constant_block", run).figure == "6.95 to 6.98 of 7 on average"
    run = replace(rates_run(rates(mean_drafted=7.0)), k=7)
    assert found("constant_block", run).outcome is Outcome.PASS
    assert found("constant_block", rates_run(rates())).outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("config", "outcome"),
    [
        ({"k": 3}, Outcome.WARN),
        ({"k": 7}, Outcome.PASS),
        ({"k": 9}, Outcome.PASS),  # drafts may all have been shorter
        ({}, Outcome.NOT_APPLICABLE),
        ({"k": "many"}, Outcome.NOT_APPLICABLE),
    ],
)
def test_a_draft_longer_than_configured(config, outcome):
    assert found("configured_k", log_run([response((7, 3))], config=config)).outcome is outcome
    assert found("configured_k", counter_run(counters(9, accepted=3, block=7), config=config)).outcome is outcome


@pytest.mark.parametrize(
    ("config", "outcome"),
    [
        ({"dspark_block_size": 5}, Outcome.WARN),
        ({"drafter.block_size": 5}, Outcome.WARN),
        ({"speculative_config.draft-block-size": 5}, Outcome.WARN),
        ({"dspark_block_size": 7}, Outcome.PASS),
        ({"block_size": 5}, Outcome.NOT_APPLICABLE),  # of a KV cache
        ({"cache.block_size": 5}, Outcome.NOT_APPLICABLE),
        ({"dspark_block_size": "five"}, Outcome.NOT_APPLICABLE),
        ({}, Outcome.NOT_APPLICABLE),
    ],
)
def test_a_block_longer_than_trained(config, outcome):
    finding = found("trained_block", log_run([response((7, 3))], config=config))
    assert finding.outcome is outcome
    if outcome is Outcome.WARN:
        assert finding.figure == f"K = 7, {next(iter(config))} = 5: positions 5 to 6 beyond it"


def test_one_position_beyond_the_trained_block():
    finding = found("trained_block", log_run([response((6, 3))], config={"dspark_block_size": 5}))
    assert finding.figure == "K = 6, dspark_block_size = 5: position 5 beyond it"


@pytest.mark.parametrize(
    ("run", "outcome", "figure"),
    [
        (log_run([response((7, 0), (7, 0))]), Outcome.FAIL, "τ = 1 in every dataset"),
        (counter_run(counters(10, drafted=70, accepted=0)), Outcome.FAIL, "τ = 1 in every dataset"),
        (rates_run(rates(tau=1.0)), Outcome.FAIL, "τ = 1 in every dataset"),
        (
            log_run([response((7, 0), dataset="a"), response((7, 1), dataset="b")]),
            Outcome.WARN,
            "τ = 1 in a (1 steps)",
        ),
        (rates_run(rates(tau=1.0), rates("e", tau=2.0)), Outcome.WARN, "τ = 1 in d"),
        (log_run([response((7, 1))]), Outcome.PASS, "τ > 1 in every dataset"),
        (log_run([response((0, 0))]), Outcome.NOT_APPLICABLE, "no step drafted anything"),
        (rates_run(rates()), Outcome.NOT_APPLICABLE, "no step drafted anything"),
    ],
)
def test_nothing_accepted_at_all(run, outcome, figure):
    finding = found("tau_above_one", run)
    assert (finding.outcome, finding.figure) == (outcome, figure)


def test_steps_without_a_draft():
    """By hand: 1 of 10 drafted steps; τ = 1 + 34/9, over all steps 1 + 34/10 (golden_e2.json has the same)."""
    finding = found("undrafted_steps", log_run(edge()))
    assert finding.outcome is Outcome.WARN
    assert finding.figure == "1 of 10 steps without a draft, 10.0%: τ = 4.778, over all steps 4.400"


def test_periods_without_speculation():
    log = [response(*[(7, 3)] * 60, *[(0, 0)] * 40, *[(7, 3)] * 30, *[(0, 0)] * 25)]
    finding = found("undrafted_steps", log_run(log), steps=ordered(log))
    assert finding.outcome is Outcome.WARN
    assert finding.figure.endswith("; up to 40 in a row")


def test_a_step_without_a_draft_that_does_not_show():
    log = [response(*[(7, 3)] * 1000, (0, 0))]
    assert found("undrafted_steps", log_run(log)).outcome is Outcome.PASS
    assert found("undrafted_steps", log_run([response((7, 3))])).outcome is Outcome.PASS


def test_counters_do_not_count_steps_without_a_draft():
    assert found("undrafted_steps", counter_run(counters(10, accepted=14))).outcome is Outcome.NOT_APPLICABLE


def drawn(seed, steps, weights=(3, 2, 2, 1, 1, 1, 1, 2)):
    rng = random.Random(seed)
    return tuple((7, a) for a in rng.choices(range(8), weights, k=steps))


def test_a_drafter_that_is_off_past_a_length():
    """Two of ten responses accept nothing in their last 100 steps, from the 51st step on."""
    log = [Response(drawn(i, 100), prompt=str(i)) for i in range(8)]
    log += [Response((*((7, 3),) * 50, *((7, 0),) * 100), prompt=str(i)) for i in range(2)]
    finding = found("zero_tails", log_run(log), steps=ordered(log))
    assert finding.outcome is Outcome.WARN
    accepted = sum(a for r in log for _, a in r.steps)
    assert finding.figure.startswith(
        "2 of 10 responses end in 20 or more steps that accepted nothing, from output token"
    )
    # One token from prefill and 50 steps of 4.
    assert "from output token 201 on (median; the earliest 201)" in finding.figure
    assert finding.figure.endswith(f": τ = {1 + accepted / 1100:.3f}, without these steps {1 + accepted / 900:.3f}")


@pytest.mark.parametrize("seed", range(5))
def test_a_weak_drafter_is_not_off(seed):
    """Nine steps in ten accept nothing: stretches of twenty and more are what chance gives."""
    log = [Response(drawn(f"{seed} {i}", 200, (90, 5, 1, 1, 1, 1, 1, 0)), prompt=str(i)) for i in range(200)]
    finding = found("zero_tails", log_run(log), steps=ordered(log))
    assert finding.outcome is Outcome.PASS
    assert shortest_stretch(0.9, 200) == 182  # 200 · 0.9^182 < 1e-6, by hand: ln(5e-9) / ln 0.9 = 181.4


def test_golden_logs_are_drafted_to_their_end():
    log = log_a()
    assert found("zero_tails", log_run(log), steps=ordered(log)).outcome is Outcome.PASS


def test_the_order_is_needed_and_said():
    log = [response((7, 3))]
    assert found("zero_tails", log_run(log)).figure == "the ordered steps are not at hand"
    invented = found("zero_tails", log_run(log), steps=ordered(log), order_recorded=False)
    assert invented.figure == "not available: the order of steps is invented"
    assert found("zero_tails", counter_run(counters(10, accepted=14))).outcome is Outcome.NOT_APPLICABLE


def test_requests_that_alternate_in_the_log_are_told_apart():
    """The steps of a response need not stand together; ids may be text."""
    log = [response(*[(7, 3)] * 50, *[(7, 0)] * 60), response(*[(7, 3), (7, 0)] * 55)]
    steps = [("01"[i % 2], *log[i % 2].steps[i // 2]) for i in range(220)]
    finding = found("zero_tails", log_run(log), steps=steps)
    assert finding.figure.startswith("1 of 2 responses end in ")
    assert "from output token 201 on" in finding.figure
