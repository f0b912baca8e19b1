"""TensorRT-LLM's metrics of a request. STATS is a hand count: 8 + 6 + 6 steps, 6·2 + 6·3 accepted of 20·3 drafted."""

import json

import pytest

from specdash import metrics
from specdash.schema import End, Granularity, InputError, NothingToRead
from tests.formats.producers.reading import codes, counts, only, read, read_files, recognised, sample, with_samples

PERF = {"acceptance_rate": 0.5, "total_accepted_draft_tokens": 30, "total_draft_tokens": 60}
STATS = PERF | {"num_spec_steps": 20, "acceptance_histogram": [8, 0, 6, 6], "num_spec_tokens": 3}
ZEROS = {"acceptance_rate": 0.0, "total_accepted_draft_tokens": 0, "total_draft_tokens": 0}


def answer(stats, mean=2.5, tokens=50):
    choice = {"index": 0, "text": "…", "avg_decoded_tokens_per_iter": mean, "speculative_decoding": stats}
    return {
        "id": "a",
        "object": "text_completion",
        "model": "m",
        "choices": [choice],
        "usage": {"completion_tokens": tokens},
    }


def perf(stats, request="7"):
    times = {"arrival_time": 1.0, "first_token_time": 1.2}
    return {"request_id": request, "perf_metrics": {"timing_metrics": times, "speculative_decoding": stats}}


def lines(*objects):
    return "".join(json.dumps(found) + "\n" for found in objects)


def pooled(run):
    return metrics.run_rows(run, {}.get)[0][-1]


@pytest.mark.parametrize("content", [answer(STATS), [answer(STATS)], answer(STATS)["choices"][0], perf(STATS)])
def test_a_histogram(tmp_path, content):
    run = only(read_files(tmp_path, {"a": json.dumps(content)}))
    assert (run.k, counts(run)) == (3, {(0, 3, 0): 8, (0, 3, 2): 6, (0, 3, 3): 6})
    assert (pooled(run)["tau"], pooled(run)["acceptance_ratio"], codes(run)) == (2.5, 0.5, [])


def test_counts_without_steps_give_a_ratio(tmp_path):
    run = only(read_files(tmp_path, {"perf.json": json.dumps([perf(PERF), perf(PERF, "8")])}))
    assert run.sums.rows() == [(0, None, 60, 30), (1, None, 60, 30)]
    assert (run.granularity, run.responses["request"].to_list()) == (Granularity.RESPONSE, ["7", "8"])
    assert (pooled(run)["tau"], pooled(run)["acceptance_ratio"], pooled(run)["accepted"]) == (None, 0.5, 60)


def test_zeros_are_not_reported(tmp_path):
    run = only(read_files(tmp_path, {"perf.jsonl": lines(perf(PERF), perf(ZEROS, "8"))}))
    assert (run.responses.height, codes(run)) == (1, ["responses_without_metrics"])
    with pytest.raises(NothingToRead, match="no answer reports its drafting; found 1 answers without"):
        read_files(tmp_path / "b", {"perf.json": json.dumps([perf(ZEROS)])})


@pytest.mark.parametrize("stats", [ZEROS, None])
def test_tokens_over_iterations_where_there_is_nothing_else(tmp_path, stats):
    run = only(read_files(tmp_path, {"a.json": json.dumps(answer(stats))}))
    assert run.sums.rows() == [(0, 20, None, 30)]  # 50 tokens, 2.5 an iteration
    assert (pooled(run)["tau"], run.semantics.end, codes(run)) == (2.5, End.TOKENS, ["accepted_from_tokens"])
    with pytest.raises(NothingToRead, match="is 1 everywhere"):
        read_files(tmp_path / "b", {"a.json": json.dumps(answer(stats, 1.0))})
    with pytest.raises(NothingToRead):  # 50 tokens are no whole number of iterations at 2.3
        read_files(tmp_path / "c", {"a.json": json.dumps(answer(stats, 2.3))})


def test_a_stored_rate_that_differs_is_told(tmp_path):
    run = only(read_files(tmp_path, {"a.json": json.dumps(answer(STATS | {"acceptance_rate": 0.75}))}))
    assert codes(run) == ["ratio_disagrees"]


def test_recognised(tmp_path):
    assert recognised(tmp_path, json.dumps(answer(STATS))) == ["trtllm-answer"]
    assert recognised(tmp_path, lines(perf(PERF), perf(PERF))) == ["trtllm-answers"]


@pytest.mark.parametrize(
    "change", [{"num_spec_steps": 21}, {"total_accepted_draft_tokens": 31}, {"total_draft_tokens": 20}]
)
def test_refused(tmp_path, change):
    with pytest.raises(InputError):
        read_files(tmp_path, {"a.json": json.dumps(answer(STATS | change))})


@with_samples
def test_samples(tmp_path):
    run = only(read(sample("trtllm-response-aiperf1433"), tmp_path))
    assert (run.k, counts(run)) == (3, {(0, 3, 0): 8, (0, 3, 2): 6, (0, 3, 3): 6})


EXAMPLES = {
    "trtllm-answer": json.dumps(answer(STATS)),
    "trtllm-answers": lines(answer(STATS), perf(STATS)),
}
