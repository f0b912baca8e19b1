"""Answers to a bench's questions: Spec-Bench, EAGLE, Medusa, HASS. Hand counts stand beside the files."""

import json

import polars as pl
import pytest

from specdash.schema import Bonus, End, Granularity, InputError, PerPosition
from tests.formats.producers.reading import (
    codes,
    counts,
    only,
    pooled,
    read,
    read_files,
    recognised,
    row,
    sample,
    with_samples,
)

# Two turns of 3 and 2 steps: 3 + 1 + 3 = 7 tokens, then 2 + 2 = 4. τ = 11 / 5.
SPEC_BENCH = {
    "question_id": 81,
    "category": "writing",
    "answer_id": "a1",
    "model_id": "m",
    "choices": [
        {
            "index": 0,
            "turns": ["t1", "t2"],
            "decoding_steps": [3, 2],
            "new_tokens": [7, 4],
            "wall_time": [0.1, 0.08],
            "accept_lengths": [3, 1, 3, 2, 2],
        }
    ],
    "tstamp": 1.0,
}
OUTCOMES = {(0, 4, 2): 2, (0, 4, 0): 1, (1, 4, 1): 2}


def answer(question, lengths, *, base=SPEC_BENCH, turns=None, **fields):
    """An answer of one turn."""
    steps, tokens = turns or ([len(lengths)], [sum(lengths)])
    choice = {"decoding_steps": steps, "new_tokens": tokens, "wall_time": [0.5] * len(steps), "accept_lengths": lengths}
    choices = [base["choices"][0] | choice | {"turns": ["x"] * len(steps)}]
    return base | {"question_id": question, "answer_id": f"a{question}", "choices": choices} | fields


def lines(*rows):
    return "".join(json.dumps(found) + "\n" for found in rows)


# ---- Spec-Bench


def test_steps_of_two_turns(tmp_path):
    run = only(read_files(tmp_path, {"x.jsonl": lines(SPEC_BENCH)}, config={"k": 4}))
    assert (run.granularity, run.k, counts(run)) == (Granularity.STEP, 4, OUTCOMES)
    found = run.responses.select("request", "dataset", "prompt", "copy", "output_tokens").rows()
    assert found == [("81 turn 1", "mt_bench", "81 turn 1", 0, 7), ("81 turn 2", "mt_bench", "81 turn 2", 0, 4)]
    assert pooled(run)["tau"] == 11 / 5
    assert run.latencies.select("response", "e2e_s", "output_tokens").rows() == [(0, 0.1, 7), (1, 0.08, 4)]
    assert (run.semantics.bonus, run.config) == (Bonus.IN, {"model": "m"})


def test_without_k_there_are_no_positions(tmp_path):
    run = only(read_files(tmp_path, {"x.jsonl": lines(SPEC_BENCH)}))
    assert (run.granularity, run.k, codes(run)) == (Granularity.RESPONSE, None, ["k_unknown"])
    assert counts(run) == {(r, None, a): n for (r, _, a), n in OUTCOMES.items()}
    assert (pooled(run)["tau"], pooled(run)["p"]) == (11 / 5, None)


def test_a_length_above_k_cannot_be(tmp_path):
    said = r"line 1: an accepted length cannot be; found 3; expected 1 to 2: 1 drafted and the bonus token"
    with pytest.raises(InputError, match=said):
        read_files(tmp_path, {"x.jsonl": lines(SPEC_BENCH)}, config={"k": 1})


def test_categories_of_one_bench_and_others(tmp_path):
    rows = [answer(81, [2], category="stem"), answer(9, [3], category="rag"), answer(10, [1, 2], category=None)]
    run = only(read_files(tmp_path, {"mt/model_answer/x.jsonl": lines(*rows)}, config={"k": 4}))
    assert run.responses["dataset"].to_list() == ["mt_bench", "rag", "mt"]


def test_a_baseline_is_set_apart(tmp_path):
    spec, plain = lines(answer(1, [2, 3])), lines(answer(1, [1] * 5, model_id="vanilla"))
    runs = read_files(tmp_path, {"eagle.jsonl": spec, "vanilla.jsonl": plain}, config={"k": 4})
    assert (runs["eagle"].granularity, runs["vanilla"].granularity) == (Granularity.STEP, Granularity.LATENCIES)
    assert codes(runs["vanilla"]) == ["baseline"]
    assert runs["vanilla"].latencies.select("prompt", "e2e_s", "output_tokens").rows() == [("1", 0.5, 5)]
    assert runs["eagle"].latencies.select("prompt", "e2e_s", "output_tokens").rows() == [("1", 0.5, 5)]


def test_models_in_one_file_are_runs(tmp_path):
    rows = [answer(1, [2, 3]), answer(1, [1] * 5, model_id="vanilla"), answer(2, [4])]
    runs = read_files(tmp_path, {"x.jsonl": lines(*rows)}, config={"k": 4})
    assert sorted(runs) == ["m", "vanilla"]
    assert pooled(runs["m"])["tau"] == 9 / 3


def test_a_row_twice_counts_once_and_a_run_again_is_a_copy(tmp_path):
    again = answer(1, [2, 2], answer_id="b1", tstamp=2.0)
    content = lines(answer(1, [3, 1]), answer(1, [3, 1]), again, answer(2, [4]))
    run = only(read_files(tmp_path, {"x.jsonl": content}, config={"k": 4}))
    assert codes(run) == ["answered_again", "rows_twice"]
    assert run.responses.select("request", "prompt", "copy").rows() == [
        ("1", "1", 0),
        ("1 again 1", "1", 1),
        ("2", "2", 0),
    ]
    assert pooled(run)["tau"] == (4 + 4 + 4) / 5


@pytest.mark.parametrize("end", ['{"question_id": 2, "cho', '{"question_id": 2, "choices": [' + "\x00" * 99, "   "])
def test_a_last_line_that_is_cut_off(tmp_path, end):
    run = only(read_files(tmp_path, {"x.jsonl": lines(SPEC_BENCH) + end}, config={"k": 4}))
    assert counts(run) == OUTCOMES
    assert codes(run) == (["cut_off"] if end.strip() else [])


def test_a_line_that_is_cut_off_in_between_is_an_error(tmp_path):
    with pytest.raises(InputError, match="line 1: not valid JSON"):
        read_files(tmp_path, {"x.jsonl": lines(SPEC_BENCH)[:-5] + "\n" + lines(SPEC_BENCH)})


def test_answers_without_lengths(tmp_path):
    empty = answer(2, [], turns=([0], [0]))
    silent = answer(3, [], turns=([5], [9]))
    run = only(read_files(tmp_path, {"x.jsonl": lines(SPEC_BENCH, empty, silent)}, config={"k": 4}))
    assert codes(run) == ["answers_without_steps"]
    assert run.responses["request"].to_list() == ["81 turn 1", "81 turn 2", "2"]
    assert pooled(run)["tau"] == 11 / 5


def test_single_values_instead_of_lists(tmp_path):
    choice = {"turns": "x", "decoding_steps": 2, "new_tokens": 5, "wall_time": 0.5, "accept_lengths": [2, 3]}
    content = lines({"article_idx": 7, "model_id": "m", "choices": [choice]})
    run = only(read_files(tmp_path, {"cnn/x.jsonl": content}, config={"k": 4}))
    assert counts(run) == {(0, 4, 1): 1, (0, 4, 2): 1}
    assert run.responses.select("request", "dataset", "output_tokens").rows() == [("7", "cnn", 5)]


def test_turns_that_cannot_be_told_apart_are_one(tmp_path):
    run = only(read_files(tmp_path, {"x.jsonl": lines(answer(1, [2, 3, 1], turns=([1, 1], [2, 4])))}, config={"k": 4}))
    assert run.responses.select("request", "output_tokens").rows() == [("1", 6)]
    assert pooled(run)["tau"] == 2.0


def test_several_choices_are_copies(tmp_path):
    one, two = answer(1, [2, 2])["choices"][0], answer(1, [4])["choices"][0] | {"index": 1}
    run = only(read_files(tmp_path, {"x.jsonl": lines(answer(1, [1]) | {"choices": [one, two]})}, config={"k": 4}))
    assert run.responses.select("request", "prompt", "copy").rows() == [("1 choice 0", "1", 0), ("1 choice 1", "1", 1)]


# ---- EAGLE and Medusa: two turns, whose last steps are 2 and 0, so 3 + 1 steps that gave 7 + 2 tokens

EAGLE = {
    "question_id": 81,
    "answer_id": "a",
    "model_id": "medusa",
    "choices": [{"index": 0, "turns": ["a", "b"], "idxs": [2, 0], "new_tokens": [7, 2], "wall_time": [0.3, 0.1]}],
    "tstamp": 1.0,
}


def test_an_index_is_one_less_than_the_steps(tmp_path):
    run = only(read_files(tmp_path, {"x.jsonl": lines(EAGLE)}))
    assert run.granularity is Granularity.RESPONSE and run.counts is None
    assert run.sums.rows() == [(0, 3, None, 4), (1, 1, None, 1)]
    assert (pooled(run)["tau"], codes(run), run.semantics.end) == (9 / 4, [], End.TOKENS)
    assert run.latencies["e2e_s"].to_list() == [0.3, 0.1]


def test_fewer_tokens_than_steps(tmp_path):
    wrong = EAGLE | {"choices": [EAGLE["choices"][0] | {"idxs": [7, 0]}]}
    with pytest.raises(InputError, match="line 1: fewer tokens than steps; found 7 tokens in 8 steps"):
        read_files(tmp_path, {"x.jsonl": lines(wrong)})


@pytest.mark.parametrize("alpha", [([3, 1], [4, 3]), ([[2, 0], [1, 1]], [[3, 2], [1, 1]])])
def test_alpha_is_conditional(tmp_path, alpha):
    accepted, tried = alpha
    content = lines(EAGLE | {"choices": [EAGLE["choices"][0] | {"alpha": accepted, "alpha_num": tried}]})
    runs = read_files(tmp_path, {"x.jsonl": content})
    assert sorted(runs) == ["alpha by depth", "answers"]
    assert pooled(runs["answers"])["tau"] == 9 / 4
    assert row(runs["alpha by depth"])["c"] == [3 / 4, 1 / 3]
    assert runs["alpha by depth"].semantics.per_position is PerPosition.CONDITIONAL


# ---- HASS: the same as SPEC_BENCH, without the bonus token


@pytest.mark.parametrize("accepted", [[2, 0, 2, 1, 1], [[2, 0, 2], [1, 1]]])
def test_lengths_without_the_bonus_token(tmp_path, accepted):
    choice = {"turns": ["a", "b"], "idxs": [2, 1], "new_tokens": [7, 4], "wall_time": [1, 1], "accept_length": accepted}
    run = only(read_files(tmp_path, {"x.jsonl": lines(EAGLE | {"choices": [choice]})}, config={"k": 4}))
    assert counts(run) == OUTCOMES
    assert (pooled(run)["tau"], run.semantics.bonus) == (11 / 5, Bonus.OUT)


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({}, "eagle-answers"),
        ({"accept_lengths": [1]}, "spec-bench"),
        ({"alpha": [1], "alpha_num": [1]}, "eagle-alpha"),
        ({"accept_length": [1]}, "hass-answers"),
    ],
)
def test_each_is_told_from_the_others(tmp_path, fields, key):
    found = EAGLE | {"choices": [EAGLE["choices"][0] | fields]}
    assert recognised(tmp_path, lines(found)) == [key]
    long = found | {"choices": [{"turns": ["x" * 70_000]} | found["choices"][0] | {"turns": ["x" * 70_000]}]}
    assert recognised(tmp_path, lines(long)) == [key]


# ---- public files: τ as counted from them by another script, and Medusa's 7B as formats of the field record it


@with_samples
def test_samples(tmp_path):
    runs = read(sample("specbench-bnukhkadiev-spec_bench"), tmp_path / "spec")
    by_name = {name.split("-")[3]: run for name, run in runs.items()}
    assert by_name["vanilla"].granularity is Granularity.LATENCIES
    assert (pooled(by_name["sps"])["steps"], pooled(by_name["sps"])["tau"]) == (40632, pytest.approx(92564 / 40632))
    assert (pooled(by_name["eagle"])["steps"], pooled(by_name["eagle"])["tau"]) == (12143, pytest.approx(45657 / 12143))
    assert codes(by_name["eagle"])[0] == "cut_off"
    medusa = only(read(sample("medusa-mtbench"), tmp_path / "medusa"))
    assert round(pooled(medusa)["tau"], 3) == 2.565
    assert isinstance(medusa.responses, pl.DataFrame) and medusa.responses.height == 160


def answered(**fields):
    """A line of EAGLE with further fields."""
    return lines(EAGLE | {"choices": [EAGLE["choices"][0] | fields]})


EXAMPLES = {
    "eagle-alpha": answered(alpha=[3, 1], alpha_num=[4, 3]),
    "eagle-answers": answered(),
    "hass-answers": answered(accept_length=[[2, 0, 2], [1]]),
    "spec-bench": lines(SPEC_BENCH),
}
