"""vLLM's answers with metrics. The numbers of ANSWER are a hand count: its steps are (3,3) (2,1) (2,0) (3,3) (3,1)."""

import json

import polars as pl
import pytest

from specdash import metrics
from specdash.schema import Bonus, End, Granularity, InputError, NothingToRead, Undrafted
from tests.formats.producers.reading import codes, counts, only, read, read_files, recognised, sample, with_samples

RECORD = {
    "mean_acceptance_length": 2.6,
    "draft_acceptance_rate": 8 / 13,
    "acceptance_histogram": [1, 2, 0, 2],
    "acceptance_histogram_by_draft_length": {"2": [1, 1, 0], "3": [0, 1, 0, 2]},
    "num_spec_steps": 5,
    "num_accepted_draft_tokens": 8,
    "num_draft_tokens": 13,
    "num_spec_tokens": 3,
    "per_step_accepted": [3, 1, 0, 3, 1],
    "per_step_drafted": [3, 2, 2, 3, 3],
}
STEPS = [(3, 3), (2, 1), (2, 0), (3, 3), (3, 1)]
OUTCOMES = {(0, 3, 3): 2, (0, 2, 1): 1, (0, 2, 0): 1, (0, 3, 1): 1}
UNKNOWN = {(0, None, 0): 1, (0, None, 1): 2, (0, None, 3): 2}
BY_LENGTH = {key: value for key, value in RECORD.items() if not key.startswith("per_step")}
SUMMARY = {key: value for key, value in BY_LENGTH.items() if not key.endswith("_by_draft_length")}


def answer(record, id_="cmpl-1", tokens=14, **fields):
    choices = [{"index": 0, "text": "x", "finish_reason": "stop"}]
    usage = {"prompt_tokens": 12, "completion_tokens": tokens}
    metrics = {"time_to_first_token_ms": None, "speculative_decoding": record}
    return {
        "id": id_,
        "object": "text_completion",
        "model": "m",
        "choices": choices,
        "usage": usage,
        "metrics": metrics,
    } | fields


def lines(*objects):
    return "".join(json.dumps(found) + "\n" for found in objects)


def tau(run):
    return metrics.run_rows(run, {}.get)[0][-1]["tau"]


@pytest.mark.parametrize(
    ("record", "outcomes", "granularity"),
    [
        (RECORD, OUTCOMES, Granularity.STEP),
        (BY_LENGTH, OUTCOMES, Granularity.RESPONSE),
        (SUMMARY, UNKNOWN, Granularity.RESPONSE),
        (SUMMARY | {"per_step_accepted": None, "per_step_drafted": None}, UNKNOWN, Granularity.RESPONSE),
    ],
    ids=["detailed", "by draft length", "summary", "summary with nulls"],
)
def test_levels_of_detail(tmp_path, record, outcomes, granularity):
    run = only(read_files(tmp_path, {"r.json": json.dumps(answer(record))}))
    assert (run.granularity, run.k, counts(run)) == (granularity, 3, outcomes)
    assert run.responses.row(0, named=True) | {"dataset": ""} == {
        "response": 0, "request": "cmpl-1", "dataset": "", "prompt": None, "copy": None, "output_tokens": 14,
    }  # fmt: skip
    (row, pooled), _ = metrics.run_rows(run, {}.get)
    assert (pooled["tau"], pooled["drafted"], pooled["acceptance_ratio"]) == (2.6, 13, 8 / 13)
    assert pooled["p"] == [4 / 5, 2 / 5, 2 / 5]
    # At risk at position 1 are the steps that drafted two and accepted one; all three of length 3 or 2 that got there.
    assert (pooled["c"] is None) == (outcomes is UNKNOWN)
    assert row["response_mean"] == 2.6
    assert pooled["tau_all"] is None  # steps without a draft are not counted
    assert codes(run) == []


def test_ordered_steps(tmp_path):
    run = only(read_files(tmp_path, {"r.json": json.dumps(answer(RECORD))}))
    assert pl.read_parquet(run.steps).rows() == [("cmpl-1", *step) for step in STEPS]


def test_semantics(tmp_path):
    said = only(read_files(tmp_path, {"r.json": json.dumps(answer(SUMMARY))})).semantics
    assert (said.bonus, said.end, said.undrafted, said.position_base) == (Bonus.IN, End.RAW, Undrafted.OMITTED, 0)


def test_a_histogram_of_drafts_that_must_all_be_of_one_length(tmp_path):
    record = SUMMARY | {"num_draft_tokens": 15, "draft_acceptance_rate": 8 / 15}  # 5 steps, none longer than 3
    run = only(read_files(tmp_path, {"r.json": json.dumps(answer(record))}))
    assert counts(run) == {(0, 3, 0): 1, (0, 3, 1): 2, (0, 3, 3): 2}
    assert run.sums is None


def wrapped(found, **around):
    return {"question_id": "q7", "category": "coding", "status": 200, "response": found} | around


def batch(found):
    return {"id": "b", "custom_id": "q7", "response": {"status_code": 200, "body": found}, "error": None}


def streamed(record, last=True):
    chunk = {"id": "cmpl-1", "object": "chat.completion.chunk", "model": "m", "choices": [{"delta": {"content": "x"}}]}
    end = {"choices": [], "usage": {"completion_tokens": 14}, "metrics": {"speculative_decoding": record}}
    events = [chunk, chunk, chunk | end] if last else [chunk, chunk]
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(answer(RECORD)),
        json.dumps(answer(RECORD), indent=1),
        "\ufeff" + json.dumps(answer(RECORD)),
        json.dumps([answer(RECORD)]),
        lines(answer(RECORD)),
        json.dumps(wrapped(answer(RECORD))),
        json.dumps(batch(answer(RECORD))),
        json.dumps(answer({}, metrics={"speculative_decoding": RECORD, "mean_itl_ms": 3.5})),
        json.dumps({"id": "cmpl-1", "model": "m", "usage": {"completion_tokens": 14}, "choices": [
            {"index": 0, "speculative_decoding_stats": RECORD | {"acceptance_histogram": {"0": 1, "3": 2, "1": 2}}},
        ]}),
        json.dumps({"id": "cmpl-1", "model": "m", "usage": {"completion_tokens": 14}, "speculative_decoding": RECORD}),
        json.dumps(RECORD | {"id": "cmpl-1", "model": "m", "usage": {"completion_tokens": 14}}),
        streamed(RECORD),
    ],
)  # fmt: skip
def test_shapes_of_answers(tmp_path, content):
    run = only(read_files(tmp_path, {"a.txt": content}))
    assert counts(run) == OUTCOMES
    assert run.responses["output_tokens"].to_list() == [14]
    assert run.config == {"model": "m"}


def test_dataset_and_prompt_by_what_is_around(tmp_path):
    copies = [wrapped(answer(RECORD, "a")), wrapped(answer(RECORD, "b")), wrapped(answer(SUMMARY, "c"), category="qa")]
    run = only(read_files(tmp_path, {"a.jsonl": lines(*copies)}))
    assert run.responses.select("request", "dataset", "prompt", "copy").rows() == [
        ("a", "coding", "q7", 0), ("b", "coding", "q7", 1), ("c", "qa", "q7", 0),
    ]  # fmt: skip
    assert run.granularity is Granularity.RESPONSE  # one answer's steps are not known
    rows, _ = metrics.run_rows(run, {}.get)
    assert [(row["dataset"], row["steps"], row["c"] is None) for row in rows] == [
        ("coding", 10, False), ("qa", 5, True), ("pooled", 15, True),
    ]  # fmt: skip


def test_answers_in_single_files_are_one_run_and_lines_another(tmp_path):
    files = {
        "1.json": json.dumps(answer(RECORD, "a")),
        "2.sse": streamed(RECORD),
        "x.jsonl": lines(answer(RECORD, "a"), answer(RECORD, "b")),
    }
    runs = read_files(tmp_path, files)
    assert {name: run.responses["request"].to_list() for name, run in runs.items()} == {
        "answers": ["a", "cmpl-1"], "x": ["a", "b"],
    }  # fmt: skip


def test_shards_are_one_run(tmp_path):
    files = {f"out-0000{i}-of-00002.jsonl": lines(answer(RECORD, f"{i}a"), answer(RECORD, f"{i}b")) for i in (1, 2)}
    run = read_files(tmp_path, files)["eval"]
    assert run.responses["request"].to_list() == ["1a", "1b", "2a", "2b"]


def test_answers_without_metrics_are_told(tmp_path):
    found = lines(answer(RECORD), answer(None, "n"), answer({}, "m", metrics=None), {"error": {"code": 400}})
    run = only(read_files(tmp_path, {"a.jsonl": found}))
    assert run.responses.height == 1
    first, second = run.warnings
    assert first.message.startswith("2 of 3 answers report no drafting (metrics.speculative_decoding is null without")
    assert second.message == "1 requests failed and are in no number"


def test_an_answer_without_steps_has_no_length(tmp_path):
    nothing = {
        "mean_acceptance_length": 1.0,
        "draft_acceptance_rate": 0.0,
        "acceptance_histogram": [0, 0, 0, 0],
        **dict.fromkeys(("num_spec_steps", "num_accepted_draft_tokens", "num_draft_tokens"), 0),
        "num_spec_tokens": 3,
    }
    run = only(read_files(tmp_path, {"a.jsonl": lines(answer(RECORD), answer(nothing, "n", tokens=1))}))
    (row, pooled), _ = metrics.run_rows(run, {}.get)
    assert (pooled["tau"], pooled["responses"], row["response_mean"]) == (2.6, 2, 2.6)
    alone = only(read_files(tmp_path / "b", {"a.jsonl": lines(answer(nothing, "n", tokens=1))}))
    assert tau(alone) is None


@pytest.mark.parametrize("content", [json.dumps(answer(None)), json.dumps(answer({}, metrics=None))])
def test_nothing_at_all(tmp_path, content):
    with pytest.raises(NothingToRead, match="no answer reports its drafting; found 1 answers without, 0 errors"):
        read_files(tmp_path, {"a.json": content})


def test_a_stream_without_usage_is_not_recognised(tmp_path):
    assert recognised(tmp_path, streamed(RECORD, last=False)) == []


def test_a_long_answer_before_its_metrics(tmp_path):
    long = answer(RECORD)
    long["choices"][0]["text"] = "long " * 30_000
    assert recognised(tmp_path, lines(long, long)) == ["vllm-answers"]
    assert recognised(tmp_path, json.dumps(long)) == ["vllm-answer"]


def test_a_last_line_that_is_cut_off_is_told(tmp_path):
    run = only(read_files(tmp_path, {"a.jsonl": lines(answer(RECORD), answer(RECORD, "b"))[:-40]}))
    assert run.responses["request"].to_list() == ["cmpl-1"]
    assert codes(run) == ["cut_off"]


def test_stored_ratios_that_differ_are_told(tmp_path):
    run = only(read_files(tmp_path, {"a.json": json.dumps(answer(RECORD | {"mean_acceptance_length": 1.6}))}))
    assert tau(run) == 2.6
    assert run.warnings[0].message == (
        "stored ratios differ from the counts: cmpl-1: mean_acceptance_length 1.6 is 2.6000 by the counts"
    )


def test_a_request_that_is_there_twice_counts_twice(tmp_path):
    run = only(read_files(tmp_path, {"a.jsonl": lines(answer(RECORD), answer(RECORD), answer(RECORD, "b"))}))
    assert run.responses["request"].to_list() == ["cmpl-1", "cmpl-1 (2)", "b"]
    assert codes(run) == ["requests_repeat"]
    assert pl.read_parquet(run.steps)["request"].unique(maintain_order=True).to_list() == ["cmpl-1", "cmpl-1 (2)", "b"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_spec_steps": 6}, "num_spec_steps is not what the histogram gives; found 6, by the histogram 5"),
        ({"num_accepted_draft_tokens": 9}, "num_accepted_draft_tokens is not what the histogram gives"),
        ({"num_draft_tokens": 14}, "num_draft_tokens is not what the steps gives"),
        ({"acceptance_histogram": [1, -2]}, "acceptance_histogram is not a count; found -2"),
        ({"acceptance_histogram": "x"}, "acceptance_histogram is no histogram; found x"),
        ({"acceptance_histogram": {"a": 1}}, "acceptance_histogram has an impossible bin; found a"),
        ({"acceptance_histogram": {"65": 1}}, "acceptance_histogram has an impossible bin; found 65"),
        ({"per_step_drafted": [3, 2, 2, 3]}, "per_step lists are not of one length; found 5 and 4"),
        ({"per_step_drafted": [3, 2, 2, 3, True]}, "per_step_drafted is not a count; found True"),
        ({"per_step_drafted": [3, 0, 4, 3, 3]}, "an outcome cannot be; found 1 steps that drafted 0 and accepted 1"),
        ({"acceptance_histogram": None, "num_spec_steps": None}, "no acceptance_histogram and no counts"),
    ],
)
def test_refused(tmp_path, change, message):
    with pytest.raises(InputError, match=message) as error:
        read_files(tmp_path, {"a.jsonl": lines(answer(RECORD, "0"), answer(RECORD | change))})
    assert (error.value.file, error.value.line) == ("a.jsonl", 2)


@with_samples
def test_samples(tmp_path):
    pr = only(read(sample("vllm-per-request-pr48915"), tmp_path / "pr"))
    assert (pr.k, pr.counts["steps"].sum(), round(tau(pr), 5)) == (3, 43, 1.23256)
    runs = read(sample("own-vllm-ngram"), tmp_path / "own")
    load = runs["load_t0_c4/responses"]
    assert (load.granularity, load.responses.height, load.counts["steps"].sum()) == (Granularity.STEP, 72, 1807)


EXAMPLES = {
    "vllm-answer": json.dumps(answer(RECORD)),
    "vllm-answers": lines(answer(RECORD), answer(SUMMARY, "b")),
}
