"""Responses that repeat themselves up to the length limit."""

import random

import pytest

from specdash.verdict import Outcome
from tests.checks.finding import found
from tests.helpers import Response, log_a, log_run


def looping(copy, tail=60):
    """Ten steps of all kinds, then everything is accepted: 1 + 10·4.5 + 60·8 tokens."""
    steps = (*((7, a % 8) for a in range(10)), *((7, 7),) * tail)
    return Response(steps, copy=copy, output_tokens=1 + sum(1 + a for _, a in steps))


def plain(copy, steps=200):
    made = tuple((7, (3 * a + copy) % 8) for a in range(steps))
    return Response(made, copy=copy, output_tokens=1 + sum(1 + a for _, a in made))


def ordered(log):
    return [(i, *step) for i, r in enumerate(log) for step in r.steps]


def test_repetition_loops():
    """By hand: τ of the plain ones is 4.5; 4·200·4.5 of them and 2·(38 + 60·8 ) tokens of loops over 940 steps."""
    log = [plain(c) for c in range(4)] + [looping(c) for c in range(2)]
    cap = looping(0).output_tokens
    finding = found("repetition_loops", log_run(log, config={"max_tokens": cap}), steps=ordered(log))
    assert finding.outcome is Outcome.WARN
    tau = (4 * 200 * 4.5 + 2 * (cap - 1)) / 940
    assert finding.figure == (
        f"2 of 6 responses accept everything up to {cap} tokens: τ = {tau:.3f}, without them 4.500"
    )


def short(copy, tail):
    """A response to 96 tokens of blocks of five: some steps of all kinds, then ``tail`` that accept everything."""
    steps = (*((5, a % 5) for a in range(copy, copy + 2)), *((5, 5),) * tail)
    steps = (*steps, (5, 0)) if not tail else steps
    return Response(steps, copy=copy, output_tokens=96)


def test_a_limit_that_allows_for_few_steps():
    """No response of 96 tokens has 20 steps that accept five: 16 of them are all there is."""
    varied = [Response(tuple((5, (a + c) % 6) for a in range(27)), copy=c, output_tokens=96) for c in range(6)]
    log = [*varied, *(short(c, tail=15) for c in range(6, 10))]
    finding = found("repetition_loops", log_run(log), steps=ordered(log))
    assert finding.outcome is Outcome.WARN
    assert finding.figure.startswith("4 of 10 responses accept everything up to 96 tokens")
    finding = found("repetition_loops", log_run(log))  # without the order: 15 of 17 are less than 0.98^5 of them
    assert finding.outcome is Outcome.PASS


def test_stretches_that_chance_gives():
    varied = [Response(tuple((5, (a + c) % 6) for a in range(27)), copy=c, output_tokens=96) for c in range(6)]
    log = [*varied, *(short(c, tail=7) for c in range(6, 10))]
    assert found("repetition_loops", log_run(log), steps=ordered(log)).outcome is Outcome.PASS


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("k", [1, 3, 7])
def test_easy_prompts_are_no_loops(k, in_order):
    """Prompts from hard to easy, each token accepted at its prompt's rate; every response ends at the limit."""
    rng, log = random.Random(k), []
    for prompt in range(60):
        rate = 0.3 + 0.6 * prompt / 59
        for copy in range(4):
            steps, tokens = [], 1
            while tokens < 512:
                accepted = next((a for a in range(k) if rng.random() > rate), k)
                steps.append((k, accepted))
                tokens += 1 + accepted
            log.append(Response(tuple(steps), prompt=str(prompt), copy=copy, output_tokens=512))
    steps = ordered(log) if in_order else None
    finding = found("repetition_loops", log_run(log, config={"max_tokens": 512}), steps=steps)
    assert finding.outcome is Outcome.PASS
    assert finding.figure == "none among the responses of 512 tokens or more"


def test_loops_that_stop_before_the_limit_are_none():
    log = [plain(c) for c in range(4)] + [looping(c) for c in range(2)]
    run = log_run(log, config={"max_tokens": 2048})
    assert found("repetition_loops", run, steps=ordered(log)).outcome is Outcome.PASS


def test_the_limit_is_where_several_responses_end():
    log = [plain(c, 10) for c in range(4)] + [looping(c) for c in range(2)]
    assert found("repetition_loops", log_run(log), steps=ordered(log)).outcome is Outcome.WARN
    alone = [plain(c, 10) for c in range(4)] + [looping(0)]
    finding = found("repetition_loops", log_run(alone), steps=ordered(alone))
    assert (finding.outcome, finding.figure) == (Outcome.NOT_APPLICABLE, "no length limit is known")


def test_without_the_order_a_loop_is_a_response_that_accepts_nearly_everything():
    log = [plain(c) for c in range(4)] + [looping(c, tail=190) for c in range(2)]
    run = log_run(log, config={"max_tokens": looping(0, tail=190).output_tokens})
    assert found("repetition_loops", run).outcome is Outcome.WARN
    half = [plain(c) for c in range(4)] + [looping(c, tail=30) for c in range(2)]
    run = log_run(half, config={"max_tokens": looping(0, tail=30).output_tokens})
    assert found("repetition_loops", run).outcome is Outcome.PASS


def test_a_good_drafter_does_not_loop():
    """Nine of ten steps accept everything, in no long stretch at the end."""
    steps = tuple((7, 0 if i % 10 == 9 else 7) for i in range(200))
    log = [Response(steps, copy=c, output_tokens=1 + sum(1 + a for _, a in steps)) for c in range(3)]
    assert found("repetition_loops", log_run(log), steps=ordered(log)).outcome is Outcome.PASS


def test_the_golden_log_has_no_loops():
    log = log_a()
    assert found("repetition_loops", log_run(log), steps=ordered(log)).outcome in (
        Outcome.PASS,
        Outcome.NOT_APPLICABLE,
    )
