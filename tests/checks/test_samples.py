"""What the checks say of files that real servers wrote (tests/data/samples): the right ones trip, the others do not.

Expected figures are counted in the files by hand or with a few lines over their JSON, not by the code under test.
"""

import json
from pathlib import Path

import pytest

from specdash import ingest
from specdash.verdict import Outcome

SAMPLES = Path(__file__).parents[1] / "data" / "samples"

SOUND_COUNTERS = {
    "outcome_sums", "tau_identity", "p_falls", "accepted_within_drafted", "positions_sum", "tau_above_one",
}  # fmt: skip
SOUND_ANSWERS = SOUND_COUNTERS - {"positions_sum"} | {
    "zero_step_responses", "equal_copies", "numbered_copies", "distinct_copies", "zero_tails", "output_tokens_known",
    "several_prompts", "balanced_pool", "order_drift", "order_recorded", "read_whole", "original_log",
}  # fmt: skip


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """The findings of every run of a sample, by run and check."""
    found = {}

    def of(name):
        if name not in found:
            evaluation = ingest.read(SAMPLES / name, tmp_path_factory.mktemp("work"))
            found[name] = {run.name: {f.check: f for f in run.checks} for run in evaluation.runs}
        return found[name]

    return of


def told(findings):
    """The checks that do not pass, of those that apply."""
    return {key for key, finding in findings.items() if finding.outcome in (Outcome.WARN, Outcome.FAIL)}


def passing(findings):
    return {key for key, finding in findings.items() if finding.outcome is Outcome.PASS}


@pytest.mark.parametrize("load", ["load_t0_c1", "load_t0_c4"])
def test_answers_and_counters_of_an_n_gram_drafter(verdicts, load):
    found = verdicts("vllm-ngram")
    # Drafts differ in length, steps without a match are not logged, ends are counted whole, and a weak model repeats
    # itself: that is what these files are known for, and all that is told.
    # The load asks some of its prompts again under other ids, too.
    trips = {"constant_block", "overshoot", "missing_rows", "repetition_loops", "enough_prompts", "distinct_prompts"}
    answers, counters = (found[f"{load}/{name}"] for name in ("responses", "metrics"))
    assert told(answers) - {"read_whole"} == trips
    assert passing(answers) >= SOUND_ANSWERS - {"read_whole"}
    assert told(counters) - {"read_whole"} == {"constant_block"}
    assert passing(counters) >= SOUND_COUNTERS
    assert all(f.outcome is not Outcome.FAIL for findings in found.values() for f in findings.values())


def test_prompts_that_are_asked_twice(verdicts):
    """The requests hold the prompts as they were sent: of 24, those of two were sent again under another id."""
    finding = verdicts("vllm-ngram")["load_t0_c1/responses"]["distinct_prompts"]
    assert finding.figure.startswith("2 of 20 responses of 20 or more steps repeat the same steps of another prompt's")


def test_tokens_past_the_end_of_vllms_answers(verdicts):
    """Counted before the cut at max_tokens: 1 + steps + accepted may exceed the completion tokens."""
    path = SAMPLES / "vllm-ngram" / "load_t0_c4" / "responses.jsonl"
    answers = [json.loads(line)["response"] for line in path.read_text("utf-8").splitlines()]
    over = []
    for answer in answers:
        spec = answer["metrics"]["speculative_decoding"]
        emitted = 1 + spec["num_spec_steps"] + spec["num_accepted_draft_tokens"]
        over.append(emitted - answer["usage"]["completion_tokens"])
    past = [n for n in over if n > 0]
    finding = verdicts("vllm-ngram")["load_t0_c4/responses"]["overshoot"]
    assert finding.outcome is Outcome.WARN
    mean = sum(past) / len(past)
    assert finding.figure.startswith(f"{len(past)} of 72 responses end {mean:.1f} tokens on average before their steps")
    assert "(T0)" in finding.figure


def test_two_engines(verdicts):
    """By hand, from metrics_after less metrics_before: 737 and 773 drafts, 1466 and 1396 accepted tokens."""
    found = verdicts("vllm-dp2")
    finding = found["metrics"]["engines"]
    assert finding.outcome is Outcome.WARN
    together, first, second = (1 + a / n for a, n in ((2862, 1510), (1466, 737), (1396, 773)))
    assert finding.figure == (
        f"2 engines, added up: τ = {together:.3f}; alone {first:.3f} of engine 0, {second:.3f} of engine 1"
    )
    assert told(found["metrics"]) == {"constant_block", "engines"}
    assert passing(found["metrics"]) >= SOUND_COUNTERS
    assert verdicts("vllm-ngram")["load_t0_c4/metrics"]["engines"].outcome is Outcome.NOT_APPLICABLE


def test_rates_of_one_of_two_engines(tmp_path):
    """What reading only engine 0's positions beside all drafts gives: rates too small by about two, τ as it is."""
    p = [round(n / 1510, 3) for n in (546, 487, 433)]
    table = ("| dataset | accept_len | #propose | accept_rate@0 | accept_rate@1 | accept_rate@2 |\n"
             f"| dp2 | {1 + 2862 / 1510:.3f} | 3+1 | {p[0]} | {p[1]} | {p[2]} |\n")  # fmt: skip
    for name in ("eval", "work"):
        (tmp_path / name).mkdir()
    (tmp_path / "eval" / "results_table.txt").write_text(table)
    (run,) = ingest.read(tmp_path / "eval", tmp_path / "work").runs
    (finding,) = [f for f in run.checks if f.check == "tau_identity"]
    assert finding.outcome is Outcome.FAIL
    assert finding.figure.startswith("dp2: τ = 2.90, 1 + Σ p = 1.97, a factor of 2")


def test_answers_of_two_engines(verdicts):
    answers = verdicts("vllm-dp2")["responses"]
    trips = {"constant_block", "overshoot", "missing_rows", "repetition_loops", "enough_prompts", "distinct_prompts"}
    assert told(answers) == trips
    assert passing(answers) >= SOUND_ANSWERS


def test_bench_results_with_a_fixed_block_are_sound(verdicts):
    for findings in verdicts("vllm-bench-k").values():
        assert told(findings) == set()
        assert passing(findings) >= SOUND_COUNTERS | {"stored_ratios", "constant_block", "read_whole"}


def test_a_sampler_that_accepts_nothing(verdicts):
    found = verdicts("aiperf")
    for part in ("records", "server"):
        findings = found[f"ngram_chat_stream_c4_t1_cancel/{part}"]
        assert findings["tau_above_one"].outcome is Outcome.FAIL
        assert "8 requests were cancelled" in findings["read_whole"].figure or part == "server"
    sound = found["ngram_chat_stream_c4_t0/records"]
    trips = {"constant_block", "overshoot", "missing_rows", "repetition_loops", "distinct_prompts"}
    assert told(sound) - {"read_whole"} == trips


def test_a_server_that_clips_its_drafts_has_no_tokens_past_the_end(verdicts):
    found = verdicts("llamacpp-draft")
    assert all(findings["overshoot"].outcome is not Outcome.WARN for findings in found.values())
    assert told(found["load_t0_c4/metrics"]) == {"constant_block"}
    assert passing(found["load_t0_c4/metrics"]) >= SOUND_COUNTERS
