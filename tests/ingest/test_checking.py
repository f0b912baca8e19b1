"""Logs as people have them, each tripping one check and nothing else; the sound one trips none."""

import json

import pytest

import specdash
from specdash.schema import InputError
from tests.evaluations import logged, sampled
from tests.helpers import Response

K = 4


def steps_of(prompt, copy, count=30):
    """Steps that accept 0 to K in no pattern, others for each prompt and copy."""
    state, made = 7 * prompt + 31 * copy + 1, []
    for _ in range(count):
        state = (1103515245 * state + 12345) % 2**31
        made.append((K, (state >> 16) % (K + 1)))
    return tuple(made)


def answer(dataset, prompt, copy, steps=None, over=0):
    steps = steps_of(prompt + 100 * (dataset == "b"), copy) if steps is None else steps
    return Response(steps, dataset, str(prompt), copy, 1 + sum(1 + a for _, a in steps) - over)


def sound(**odd):
    """Twenty prompts of two datasets with two copies each."""
    return [answer(d, p, c, **odd) for d in "ab" for p in range(20) for c in range(2)]


def files(responses, **config):
    return {
        "spec_log.csv": logged(responses),
        "samples.jsonl": sampled(responses),
        "config.json": json.dumps({"k": K, "max_tokens": 4096} | config),
    }


def told(folder, content):
    """The checks that do not pass, with their outcome, of an evaluation of these files."""
    run = folder / "run"
    run.mkdir()
    for name, text in content.items():
        (run / name).write_text(text)
    (found,) = specdash.load(run).document["runs"]
    return {check["check"]: check["outcome"] for check in found["checks"] if check["outcome"] in ("warn", "fail")}


def test_a_sound_log(tmp_path):
    assert told(tmp_path, files(sound())) == {}


def test_sound_counters(tmp_path):
    counters = {"a": {"drafts": 10, "draft_tokens": 30, "per_pos": [8, 4, 2], "acceptance_length": 2.4}}
    assert told(tmp_path, {"counters.json": json.dumps(counters)}) == {}


def test_tokens_past_the_end(tmp_path):
    responses = [answer(d, p, c, over=(p + c) % (K + 1)) for d in "ab" for p in range(20) for c in range(2)]
    assert told(tmp_path, files(responses)) == {"overshoot": "warn"}


def test_rows_that_are_missing(tmp_path):
    responses = sound()
    content = files(responses)
    cut = content["spec_log.csv"].splitlines(keepends=True)
    del cut[4:7]  # three steps of the first request
    assert told(tmp_path, content | {"spec_log.csv": "".join(cut)}) == {"mapping": "warn", "missing_rows": "warn"}


def test_requests_that_are_absent(tmp_path):
    responses = sound()
    lines = logged(responses).splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith("79,")]
    content = files(responses) | {"spec_log.csv": "".join(kept)}
    assert told(tmp_path, content) == {"absent_requests": "warn", "equal_copies": "warn"}


def test_a_seed_that_repeats(tmp_path):
    responses = [answer(d, p, c, steps_of(p + 100 * (d == "b"), 0)) for d in "ab" for p in range(20) for c in range(2)]
    assert told(tmp_path, files(responses)) == {"distinct_copies": "warn"}


def test_a_loop_up_to_the_limit(tmp_path):
    loops = [answer("a", p, c, (*steps_of(p, c, 10), *((K, K),) * 60)) for p in range(3) for c in range(2)]
    cap = min(r.output_tokens for r in loops)
    responses = [*loops, *(answer("a", p, c) for p in range(3, 30) for c in range(2))]
    assert told(tmp_path, files(responses, max_tokens=cap)) == {"repetition_loops": "warn"}


def test_a_drafter_that_is_switched_off(tmp_path):
    late = [answer("a", p, c, (*steps_of(p, c), *((K, 0),) * 40)) for p in range(3) for c in range(2)]
    responses = [*late, *(answer("a", p, c) for p in range(3, 30) for c in range(2))]
    assert told(tmp_path, files(responses)) == {"zero_tails": "warn"}


def test_a_drafter_that_is_not_there(tmp_path):
    responses = [answer(d, p, c, ((K, 0),) * (30 + p)) for d in "ab" for p in range(20) for c in range(2)]
    assert told(tmp_path, files(responses)) == {"tau_above_one": "fail"}


def test_periods_without_speculation(tmp_path):
    idle = [answer("a", p, c, (*steps_of(p, c), *((0, 0),) * 30)) for p in range(30) for c in range(2)]
    assert told(tmp_path, files(idle)) == {"undrafted_steps": "warn"}


def test_drafts_of_different_lengths(tmp_path):
    """Every third draft is short, and the configuration's K is that of the long ones."""
    made = [
        answer(d, p, c, tuple((K, a) if i % 3 else (2, min(2, a)) for i, (_, a) in enumerate(steps_of(p, c))))
        for d in "ab"
        for p in range(20)
        for c in range(2)
    ]
    assert told(tmp_path, files(made)) == {"constant_block": "warn"}


@pytest.mark.parametrize(
    ("config", "wanted"), [({"k": 3}, "configured_k"), ({"dspark_block_size": 3}, "trained_block")]
)
def test_a_configuration_that_does_not_fit(tmp_path, config, wanted):
    assert told(tmp_path, files(sound(), **config)) == {wanted: "warn"}


def test_one_prompt(tmp_path):
    responses = [answer("a", 0, c) for c in range(4)]
    assert told(tmp_path, files(responses)) == {"several_prompts": "warn", "enough_prompts": "warn"}


def test_a_dataset_that_dominates(tmp_path):
    long = [answer("b", p, c, steps_of(p + 100, c, 90)) for p in range(20) for c in range(2)]
    assert told(tmp_path, files([*sound()[:40], *long])) == {"balanced_pool": "warn"}


def test_a_drift(tmp_path):
    def eased(p, c):
        return tuple((K, min(K, a + (c == 1) * 2)) for _, a in steps_of(p, c))

    responses = [answer("a", p, c, eased(p, c)) for c in range(2) for p in range(40)]
    assert told(tmp_path, files(responses)) == {"order_drift": "warn"}


def test_an_order_that_is_invented(tmp_path):
    content = files(sound()) | {"evaluation.json": json.dumps({"order": "invented", "reconstruction": True})}
    assert told(tmp_path, content) == {"order_recorded": "warn", "original_log": "warn"}


def test_a_table_of_another_run(tmp_path):
    table = "| dataset | alen_mean | ratio_mean |\n| a | 4.90 | 0.975 |\n| b | 4.90 | 0.975 |\n"
    assert told(tmp_path, files(sound()) | {"results_table.txt": table}) == {"stored_ratios": "fail"}


def test_stored_rates_of_one_of_two_engines(tmp_path):
    counters = {
        "a": {"drafts": 10, "draft_tokens": 30, "per_pos": [8, 4, 2], "accept_rates_by_position": [0.4, 0.2, 0.1]}
    }
    assert told(tmp_path, {"counters.json": json.dumps(counters)}) == {"stored_ratios": "warn"}


def printed(rates, length="4.97", proposed="7.00+1"):
    head = " | ".join(f"accept_rate@{i}" for i in range(len(rates)))
    return (
        f"| dataset | #propose | accept_len | verify_rate | {head} |\n"
        f"| gsm8k | {proposed} | {length} | 0.62 | {' | '.join(rates)} |\n"
    )


RATES = ["0.912", "0.804", "0.685", "0.565", "0.452", "0.346", "0.204"]  # they sum to 3.968


def test_printed_rates_that_are_sound(tmp_path):
    assert told(tmp_path, {"results_table.txt": printed(RATES)}) == {}


def test_printed_rates_of_one_of_two_engines(tmp_path):
    halves = [f"{float(rate) / 2:.3f}" for rate in RATES]
    assert told(tmp_path, {"results_table.txt": printed(halves)}) == {"tau_identity": "fail"}


def test_printed_rates_that_are_conditional(tmp_path):
    conditional = ["0.912", "0.882", "0.852", "0.825", "0.800", "0.765", "0.590"]
    found = told(tmp_path, {"results_table.txt": printed(conditional)})
    assert found == {"tau_identity": "fail"}
    (tmp_path / "again").mkdir()
    rising = told(tmp_path / "again", {"results_table.txt": printed(["0.70", "0.75", "0.80"], "3.25", "3.00+1")})
    assert rising == {"p_falls": "fail"}


def test_files_that_are_not_read(tmp_path):
    assert told(tmp_path, files(sound()) | {"notes.txt": "hello"}) == {"read_whole": "warn"}


def test_steps_that_cannot_be_read_are_told(tmp_path):
    from specdash import ingest
    from specdash.store import Store

    run = tmp_path / "run"
    run.mkdir()
    for name, text in files(sound()).items():
        (run / name).write_text(text)
    store = Store(tmp_path / "home")
    added = ingest.add(run, store)
    added.runs[0].steps.write_bytes(b"PAR1 not")
    with pytest.raises(InputError, match="run: the ordered steps cannot be read"):
        ingest.checked(ingest.unchecked(store.open(added.id)))


def answered(accepted, drafted, tokens):
    """An answer of vLLM with its detailed metrics: steps without a draft are not among them."""
    spec = {
        "mean_acceptance_length": 1 + sum(accepted) / len(accepted),
        "acceptance_histogram": [accepted.count(j) for j in range(K + 1)],
        "num_spec_steps": len(accepted),
        "num_accepted_draft_tokens": sum(accepted),
        "num_draft_tokens": sum(drafted),
        "num_spec_tokens": K,
        "per_step_accepted": accepted,
        "per_step_drafted": drafted,
    }
    return {
        "id": f"cmpl-{tokens}-{sum(accepted)}",
        "object": "text_completion",
        "choices": [{"index": 0, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": tokens},
        "metrics": {"speculative_decoding": spec},
    }


def test_answers_of_vllm_are_counted_past_their_end(tmp_path):
    """By hand: max_tokens = 2 ends the first within its only step, 1 + 1 + 4 tokens; the second is 10 tokens short."""
    lines = [answered([4], [4], 2), answered([4, 0, 2], [4, 4, 4], 1 + 3 + 6 + 10)]
    found = told(tmp_path, {"responses.jsonl": "".join(json.dumps(line) + "\n" for line in lines)})
    assert (found["overshoot"], found["missing_rows"]) == ("warn", "warn")
    sound = [answered([3, 0, 2], [4, 4, 4], 1 + 3 + 5), answered([4, 0, 2], [4, 4, 4], 1 + 3 + 6)]
    (tmp_path / "sound").mkdir()
    found = told(tmp_path / "sound", {"responses.jsonl": "".join(json.dumps(line) + "\n" for line in sound)})
    assert not {"overshoot", "missing_rows"} & set(found)
