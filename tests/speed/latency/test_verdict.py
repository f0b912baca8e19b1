"""The cases in words, and what else a reader is told."""

import numpy as np
import pytest

from specdash.speed.latency import E2E, PER_TOKEN, TPOT, Case, Settings, compare, judge
from tests.speed.latency.timings import arm, prompts, timing, unlabelled

NOISE = np.exp(np.random.default_rng(11).normal(0, 0.05, (3, 40)))
BASE = np.geomspace(1, 4, 40)


def verdict(base, spec, measure=E2E, again=None, **settings):
    return judge(compare(base, spec, measure, Settings(**settings), again))


def codes(found):
    return [note.code for note in found.notes]


def message(found, code):
    return next(note.message for note in found.notes if note.code == code)


def arms(speedup, noise=NOISE):
    return prompts("base", BASE * noise[0]), prompts("spec", BASE * noise[1] / speedup)


def test_faster():
    found = verdict(*arms(1.25))
    assert found.case is Case.FASTER
    assert found.headline.startswith("Faster: a speed-up of 1.2")
    assert "40 prompts paired, t " in found.headline
    assert "It takes 80." in found.headline or "It takes 79." in found.headline
    assert found.notes == ()


def test_slower():
    found = verdict(*arms(0.8))
    assert found.case is Case.SLOWER
    assert found.headline.startswith("Slower: a speed-up below 1, 0.7")


def test_no_difference_is_an_interval_and_no_effect_is_never_said():
    found = verdict(*arms(1.0, NOISE**4), margin=0.02)
    assert found.case is Case.UNDECIDED
    assert found.headline.startswith("No difference established: the speed-up in end-to-end latency lies between ")
    assert "it does not show that there is none" in found.headline


def test_equivalent():
    found = verdict(*arms(1.0), margin=0.05)
    assert found.case is Case.EQUIVALENT
    assert found.headline.startswith("Equivalent within 5 %: the speed-up in end-to-end latency lies between 0.9")
    assert verdict(*arms(1.0), margin=0.001).case is Case.UNDECIDED


@pytest.mark.parametrize("n", [0, 1, 2, 4])
def test_below_five_there_is_no_badge(n):
    found = verdict(prompts("base", BASE[:n]), prompts("spec", BASE[:n] / 2))
    assert (found.case, found.has_badge) == (Case.TOO_FEW, False)
    assert found.headline.startswith(f"Too few to judge: {n} prompt")
    apart = verdict(unlabelled("base", BASE[:n]), unlabelled("spec", BASE))
    assert apart.headline.startswith(f"Too few to judge: {n} and 40 requests with end-to-end latency")


def test_five_are_enough():
    assert verdict(prompts("base", BASE[:5]), prompts("spec", BASE[:5] / 2 * NOISE[0, :5])).case is Case.FASTER


def test_welch_on_request_and_where_prompts_are_not_known():
    asked = verdict(*arms(1.6), paired=False)
    assert "(95 % interval" in asked.headline and "; Welch, 40 and 40 requests, t " in asked.headline
    assert codes(asked) == ["welch"]
    bare = verdict(unlabelled("base", BASE), unlabelled("spec", BASE / 2))
    assert bare.case is Case.FASTER
    assert "Welch" in bare.headline and codes(bare) == ["unpaired"]


def test_values_that_never_vary_cannot_be_tested():
    found = verdict(unlabelled("base", [1.0] * 9), unlabelled("spec", [0.5] * 9))
    assert found.case is Case.TOO_FEW
    assert found.headline.startswith("Nothing to judge: the values of end-to-end latency do not vary")


def test_what_the_machine_shows_against_itself_is_no_speed_up():
    base, spec = arms(1.04)
    assert verdict(base, spec).case is Case.FASTER
    again = prompts("base again", BASE * NOISE[2] / 1.05)
    found = verdict(base, spec, again=again)
    assert found.case is Case.WITHIN_FLOOR
    assert "the same server differs from itself by a factor of up to 1.0" in found.headline
    assert verdict(*arms(1.5), again=again).case is Case.FASTER
    assert compare(base, spec, E2E, again=prompts("few", BASE[:3])).floor is None


def test_a_mean_win_with_a_loss_in_the_tail():
    base = np.full(300, 1.0) * np.exp(np.random.default_rng(1).normal(0, 0.05, 300))
    spec = base / 1.5
    spec[:9] = 3.0
    found = verdict(prompts("base", base), prompts("spec", spec))
    assert found.case is Case.FASTER
    assert codes(found)[0] == "tail_loss"
    assert message(found, "tail_loss").startswith("The mean is faster, the tail is slower: p99 is 3,000 ms with ")
    assert "p95" not in message(found, "tail_loss")


def test_a_tail_that_few_requests_cannot_show():
    seconds = np.exp(np.random.default_rng(3).normal(0, 0.05, 32))
    spec = seconds / 1.5
    spec[0] = 1.6
    found = verdict(prompts("base", seconds), prompts("spec", spec))
    told = message(found, "tail_unsure")
    assert told.startswith("The tail may be slower: p99 is ")
    assert told.endswith("It takes 100 requests to have one beyond it; here it is nearly the largest.")


def test_a_slower_verdict_needs_no_word_on_the_tail():
    assert codes(verdict(*arms(0.7))) == []


def test_failures_are_told():
    base = arm("base", *(timing(s, prompt=str(i)) for i, s in enumerate(BASE)))
    rows = [timing(s / 2, prompt=str(i)) for i, s in enumerate(BASE)]
    rows[3] |= {"error": "HTTP 500", "e2e_s": None}
    found = verdict(base, arm("spec", *rows))
    assert message(found, "failures") == (
        "Requests failed: 0 of 40 in base and 1 of 40 in spec. They have no latency and are left out."
    )
    assert message(found, "left_out").startswith(
        "1 and 0 requests are left out: the other arm has no end-to-end latency"
    )


def test_output_lengths_that_differ_are_told():
    base = prompts("base", BASE, tokens=100)
    spec = arm("spec", *(timing(s / 2, prompt=str(i), tokens=80 if i < 10 else 100) for i, s in enumerate(BASE)))
    found = verdict(base, spec)
    told = next(note for note in found.notes if note.code == "lengths_differ")
    assert told.warns
    assert told.message.startswith("Output lengths differ for 10 of 40 prompts (100.0 and 95.0 tokens in the mean).")
    assert "End-to-end times compare unequal work" in told.message
    assert not next(note for note in verdict(base, spec, TPOT).notes if note.code == "lengths_differ").warns


def test_lengths_that_nobody_counted_are_told_end_to_end_only():
    unknown = [prompts(name, BASE, tokens=None) for name in ("base", "spec")]
    assert codes(verdict(*unknown)) == ["no_lengths"]


def test_other_prompts_are_told():
    base = arm("base", *(timing(s, prompt=str(i), input_tokens=50) for i, s in enumerate(BASE)))
    spec = arm("spec", *(timing(s / 2, prompt=str(i), input_tokens=50 + (i == 7)) for i, s in enumerate(BASE)))
    assert message(verdict(base, spec), "other_prompts").startswith("The input lengths of 1 of 40 prompts differ")


def test_answers_that_came_whole_have_no_pace():
    base = arm("base", *(timing(s, prompt=str(i), ttft=0.97 * s) for i, s in enumerate(BASE)))
    spec = prompts("spec", BASE / 2)
    found = verdict(base, spec, TPOT)
    assert message(found, "bunched").startswith("40 of 40 answers in base arrived nearly whole with their first chunk")
    assert (found.case, found.has_badge) == (Case.BUFFERED, False)
    assert found.headline.startswith("Not to be judged by time per output token: ")
    per_token = verdict(base, spec, PER_TOKEN)
    assert per_token.case is Case.FASTER and "bunched" not in codes(per_token)


def test_how_the_arms_were_run_is_told():
    base, spec = (arm(n, *(timing(s, prompt=str(i)) for i, s in enumerate(BASE)), concurrency=4) for n in "ab")
    assert codes(verdict(base, spec)) == ["not_independent"]
    assert codes(verdict(base, prompts("spec", BASE))) == ["concurrency_differs"]


def test_gaps_are_between_chunks():
    base = arm("base", *(timing(s, prompt=str(i), tokens=9, gaps_s=[0.1] * 8) for i, s in enumerate(BASE)))
    spec = arm("spec", *(timing(s, prompt=str(i), tokens=9, gaps_s=[0.3] * 2) for i, s in enumerate(BASE)))
    assert message(verdict(base, spec), "chunks") == (
        "A chunk holds 1.00 tokens without speculation, 3.00 with it: "
        "gaps between chunks are not per token and are not compared."
    )


def test_every_number_goes_into_json():
    found = compare(*arms(1.25), E2E).as_dict()
    assert (found["measure"], found["unit"], found["n"], found["prompts"]) == ("e2e", "s", [40, 40], 40)
    assert found["paired"]["speedup"] == pytest.approx(1.25, rel=0.03)
    assert set(found["welch"]) >= {"t", "df", "p", "delta", "change", "mean", "sd"}
    assert [p["level"] for p in found["bootstrap"]["percentiles"]] == [0.5, 0.95, 0.99]
