"""The log against output tokens."""

import pytest

from specdash.schema import End, Semantics, Undrafted
from specdash.verdict import Outcome
from tests.checks.finding import found
from tests.helpers import Response, edge, log_run, response


def ending(*overshoots, steps=((7, 3), (7, 4)), **fields):
    """Responses that emit 1 + 4 + 5 = 10 tokens, so many of them past their end."""
    return [Response(steps, output_tokens=10 - over, **fields) for over in overshoots]


def test_steps_that_end_with_their_responses():
    finding = found("overshoot", log_run(ending(0, 0, 0)))
    assert finding.outcome is Outcome.PASS
    assert finding.figure.startswith("none in 3 responses")


def test_tokens_past_the_end():
    """By hand: 3 of 4 end 2 tokens early on average; τ = 1 + 28/8 by steps, less 6/8 without these tokens."""
    finding = found("overshoot", log_run(ending(0, 1, 2, 3)))
    assert finding.outcome is Outcome.WARN
    assert finding.figure == (
        "3 of 4 responses end 2.0 tokens on average before their steps do (T0): "
        "τ is 4.500 by steps, 3.750 without these tokens"
    )


def test_the_dataset_that_it_moves_most_is_named():
    short = ending(2, dataset="short")
    long = [Response(((7, 3), (7, 4)) * 100, output_tokens=1 + 900 - 2, dataset="long")]
    figure = found("overshoot", log_run([*long, *short])).figure
    assert figure.endswith("τ is 4.500 by steps, 3.500 without these tokens, in short, where it is most")


def test_tokens_past_the_end_that_do_not_show():
    """2 tokens in 1,000 steps move τ by 0.002."""
    log = [Response(((7, 3), (7, 4)) * 500, output_tokens=1 + 4500 - 2)]
    assert found("overshoot", log_run(log)).outcome is Outcome.PASS


def test_more_past_the_end_than_a_step_can_emit():
    finding = found("overshoot", log_run(ending(0, 8)))
    assert finding.outcome is Outcome.FAIL
    assert finding.figure.startswith("1 of 2 responses with more tokens past the end than a step can emit (up to 8)")
    assert found("overshoot", log_run(ending(0, 7))).outcome is Outcome.WARN


def test_missing_rows():
    """By hand: two responses of 10 logged tokens lack 2 and 4: 6 of 36."""
    finding = found("missing_rows", log_run(ending(0, -2, -4)))
    assert finding.outcome is Outcome.WARN
    assert finding.figure == "2 of 3 responses lack 6 tokens, 16.7% of the output"
    assert found("overshoot", log_run(ending(0, -2, -4))).outcome is Outcome.PASS


def test_missing_rows_that_no_step_without_a_draft_explains():
    log = [*ending(0), *ending(-2, steps=((7, 3), (0, 0), (7, 3)))]
    finding = found("missing_rows", log_run(log))
    assert finding.outcome is Outcome.FAIL
    assert finding.figure.endswith("; the log has steps without a draft, so rows are missing")


def test_steps_that_a_source_leaves_out_are_no_missing_rows():
    """By hand: 6 tokens lacking in 3 responses of 2 steps each: τ = 1 + 21/6 = 4.5, over all steps 1 + 21/12."""
    of_vllm = Semantics("vLLM", undrafted=Undrafted.OMITTED, end=End.RAW)
    finding = found("missing_rows", log_run(ending(0, -2, -4), semantics=of_vllm))
    assert finding.outcome is Outcome.WARN
    assert finding.figure == (
        "2 of 3 responses lack 6 tokens, 16.7% of the output: steps without a draft, which these files leave out; "
        "over all steps τ is 2.750"
    )
    counted = Semantics("another", undrafted=Undrafted.COUNTED)
    assert found("missing_rows", log_run(ending(0, -2), semantics=counted)).outcome is Outcome.FAIL
    assert found("overshoot", log_run(ending(0, 0), semantics=of_vllm)).figure.endswith("(T0, as this source counts)")


def test_one_token_may_be_how_a_tool_counts_the_end():
    assert found("missing_rows", log_run(ending(0, -1, 0))).outcome is Outcome.PASS


@pytest.mark.parametrize(("off", "said"), [(1, "leave out"), (-1, "count")])
def test_one_token_off_everywhere_is_the_tools_convention(off, said):
    run = log_run(ending(*[off] * 20))
    for key in ("overshoot", "missing_rows"):
        finding = found(key, run)
        assert finding.outcome is Outcome.PASS
        assert f"output tokens {said} one token a response more than the steps do" in finding.figure


def test_the_golden_edge_log():
    """golden_e2.json: overshoot per request -2 (rows missing), 0, 0, +2, 0; its log has a step without a draft."""
    run = log_run(edge())
    assert found("missing_rows", run).outcome is Outcome.FAIL
    assert found("missing_rows", run).figure.startswith("1 of 4 responses lack 2 tokens")
    overshoot = found("overshoot", run)
    assert overshoot.outcome is Outcome.WARN
    assert overshoot.figure.startswith("1 of 4 responses end 2.0 tokens on average before their steps do")


@pytest.mark.parametrize("key", ["overshoot", "missing_rows", "output_tokens_known"])
def test_without_output_tokens_nothing_is_said(key):
    assert found(key, log_run([response((7, 3))])).outcome is Outcome.NOT_APPLICABLE


def test_output_tokens_of_some_responses_only():
    run = log_run([*ending(0, 0), response((7, 3))])
    assert found("output_tokens_known", log_run(ending(0))).outcome is Outcome.PASS
    finding = found("output_tokens_known", run)
    assert finding.outcome is Outcome.WARN
    assert finding.figure.startswith("1 of 3 responses have no output tokens")
    assert found("overshoot", run).outcome is Outcome.PASS
