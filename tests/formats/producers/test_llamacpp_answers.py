"""llama.cpp's timings. Expected values are hand counts of the numbers here and of what a real server counted itself."""

import json

import pytest

from specdash import metrics
from specdash.schema import End, Granularity, InputError, NothingToRead
from tests.formats.producers.reading import (
    TRIMMED,
    codes,
    only,
    read,
    read_files,
    recognised,
    row,
    sample,
    with_samples,
)

TIMINGS = {
    "prompt_n": 1,
    "predicted_n": 11,
    "predicted_ms": 80.5,
    "predicted_per_second": 136.6,
    "draft_n": 20,
    "draft_n_accepted": 5,
}
PLAIN = {name: value for name, value in TIMINGS.items() if not name.startswith("draft")}


def native(timings=TIMINGS, **fields):
    return {"index": 0, "content": "…", "stop": True, "model": "m", "timings": timings} | fields


def chat(timings=TIMINGS, choices=1, **fields):
    return {
        "id": "c", "object": "chat.completion", "model": "m", "timings": timings, "usage": {"completion_tokens": 11},
        "choices": [{"index": i, "message": {"content": "…"}} for i in range(choices)],
    } | fields  # fmt: skip


def lines(*objects):
    return "".join(json.dumps(found) + "\n" for found in objects)


def events(*objects):
    return "".join(f"data: {json.dumps(found)}\n\n" for found in objects)


def pooled(run):
    return metrics.run_rows(run, {}.get)[0][-1]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(native()),
        json.dumps(chat(), indent=1),
        json.dumps(TIMINGS),
        json.dumps([native()]),
        json.dumps({"request": {"prompt": "p"}, "response": chat()}),
        events({"content": "a", "stop": False}, {"content": "b", "stop": False}, native(content="")),
        events(chat(PLAIN | {"predicted_n": 1}), chat(TIMINGS | {"predicted_n": 6, "draft_n": 8}), chat()),
    ],
)  # fmt: skip
def test_shapes(tmp_path, content):
    run = only(read_files(tmp_path, {"a.txt": content}))
    assert (run.granularity, run.sums.rows(), run.counts) == (Granularity.RESPONSE, [(0, None, 20, 5)], None)
    assert run.responses["output_tokens"].to_list() == [11]
    assert (run.semantics.end, run.semantics.bonus) == (End.RAW, None)


def test_a_ratio_and_an_estimate_with_its_name(tmp_path):
    run = only(read_files(tmp_path, {"a.json": json.dumps(native())}))
    assert (pooled(run)["tau"], pooled(run)["acceptance_ratio"], pooled(run)["p"]) == (None, 0.25, None)
    (warning,) = run.warnings
    # 11 tokens, the first from the prompt: 10 from 10 - 5 passes of the target
    assert warning.code == "steps_unknown"
    assert warning.message == (
        "verify steps are not counted, so τ is not known; tokens a target pass, an estimate by output and accepted "
        "tokens: 2.00 (passes without a draft are in it and lower it, accepted tokens cut off at the end raise it)"
    )


def test_streams_one_behind_the_other(tmp_path):
    first, second = native(content=""), native({**TIMINGS, "draft_n_accepted": 7}, content="")
    run = only(
        read_files(
            tmp_path, {"a.sse": events({"content": "a", "stop": False}, first, {"content": "b", "stop": False}, second)}
        )
    )
    assert run.sums["accepted"].to_list() == [5, 7]
    ids = only(read_files(tmp_path / "b", {"a.sse": events(chat(id="1"), chat(id="1"), chat(id="2"))}))
    assert ids.responses["request"].to_list() == ["1", "2"]


def test_an_answer_without_drafts_made_none(tmp_path):
    run = only(read_files(tmp_path, {"a.jsonl": lines(chat(id="1"), chat(PLAIN, id="2"))}))
    assert run.responses["request"].to_list() == ["1", "2"]
    assert (pooled(run)["drafted"], pooled(run)["accepted"]) == (20, 5)
    with pytest.raises(NothingToRead, match="no answer has drafts"):
        read_files(tmp_path / "b", {"a.jsonl": lines(chat(PLAIN))})


def test_rows_of_a_benchmark(tmp_path):
    drafted = {"id": "q1", "category": "math", "tps": 20.1} | TIMINGS
    baseline = {"id": "q2", "category": "math", "draft_n_accepted": None} | PLAIN | {"draft_n": None}
    run = only(read_files(tmp_path, {"a.jsonl": lines(drafted, baseline)}))
    assert run.responses.select("request", "dataset").rows() == [("q1", "math")]
    assert codes(run) == ["responses_without_metrics", "steps_unknown"]


def test_several_choices_have_the_timings_of_one(tmp_path):
    run = only(read_files(tmp_path, {"a.json": json.dumps(chat(choices=2))}))
    assert codes(run) == ["timings_of_one_choice", "steps_unknown"]


def test_recognised(tmp_path):
    long = chat()
    long["choices"][0]["message"]["content"] = "long " * 30_000
    long["timings"] = long.pop("timings")
    assert recognised(tmp_path, json.dumps(long)) == ["llamacpp-answer"]
    assert recognised(tmp_path, lines(chat(), chat())) == ["llamacpp-answers"]


@pytest.mark.parametrize("change", [{"draft_n_accepted": 21}, {"draft_n": -1}, {"predicted_n": "x"}, {"draft_n": 2.5}])
def test_refused(tmp_path, change):
    with pytest.raises(InputError) as error:
        read_files(tmp_path, {"a.jsonl": lines(chat(id="1"), chat(TIMINGS | change))})
    assert error.value.line == 2


def test_a_load_agrees_with_its_counters_and_its_log(tmp_path):
    runs = read(TRIMMED / "llamacpp-draft" / "load_t0_c4", tmp_path)
    answers, counters, log = runs["responses"], runs["metrics"], runs["server"]
    assert answers.responses.height == log.responses.height == 48
    # differences of the counters: 11881 - 4500, 4355 - 1680, 3017 - 1148
    assert (row(counters)["drafted"], row(counters)["accepted"], row(counters)["steps"]) == (7381, 2675, 1869)
    for run in (answers, log):
        assert (pooled(run)["drafted"], pooled(run)["accepted"]) == (7381, 2675)
    assert (pooled(answers)["tau"], pooled(counters)["tau"]) == (None, 1 + 2675 / 1869)
    # 4608 tokens of 48 answers: 4560 behind the prompts from 4560 - 2675 passes, 16 of them without a draft
    assert "accepted tokens: 2.42 " in answers.warnings[0].message
    assert 4608 - 48 - 2675 == 1869 + 16
    assert answers.responses["dataset"].n_unique() > 1


def test_captured_answers(tmp_path):
    run = only(read(TRIMMED / "llamacpp-draft" / "responses", tmp_path))
    tokens = run.responses["output_tokens"]
    assert sorted(zip(tokens, run.sums["drafted"], run.sums["accepted"], strict=True)) == [
        (16, 12, 12), (48, 110, 17), (48, 154, 6), (64, 150, 24),
    ]  # fmt: skip


@with_samples
def test_samples(tmp_path):
    runs = read(sample("own-llamacpp-draft"), tmp_path / "own")
    assert {name for name, run in runs.items() if run.sums is not None} == {
        "load_t0_c4/responses",
        "responses",
        "own-llamacpp-draft",
    }
    pull = read(sample("llamacpp-server-logs"), tmp_path / "pull")["answers"]
    assert pooled(pull)["acceptance_ratio"] == 65 / 347


EXAMPLES = {
    "llamacpp-answer": json.dumps(native()),
    "llamacpp-answers": lines(native(), chat(), native()),
}
