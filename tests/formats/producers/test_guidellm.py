"""GuideLLM's benchmarks.json, a small one by hand in the shape of version 0.8.1."""

import json

import pytest

from specdash.schema import Granularity, InputError, NothingToRead
from tests.formats.producers.reading import codes, counts, only, read_files

SPEC = {
    "acceptance_histogram": [1, 0, 2, 1], "num_spec_steps": 4, "num_accepted_draft_tokens": 7, "num_draft_tokens": 12,
    "num_spec_tokens": 3, "mean_acceptance_length": 2.75, "draft_acceptance_rate": 7 / 12,
}  # fmt: skip


def request(id_, spec=SPEC, start=100.0):
    return {
        "request_id": id_, "response_id": f"cmpl-{id_}", "request_start_time": start, "request_latency": 2.0,
        "time_to_first_token_ms": 250.0, "prompt_tokens": 7, "output_tokens": 12, "output_tokens_per_iteration": 4.56,
        "response_metrics": None if spec is None else {"time_to_first_token_ms": None, "speculative_decoding": spec},
    }  # fmt: skip


def report(*benchmarks):
    found = [
        {"config": {"strategy": {"type_": "concurrent", "streams": n}}, "requests": requests}
        for n, requests in enumerate(benchmarks, start=1)
    ]
    return json.dumps({"metadata": {"version": 2, "guidellm_version": "0.8.1"}, "config": {}, "benchmarks": found})


def test_a_benchmark(tmp_path):
    requests = {
        "successful": [request("b", start=101.0), request("a")],
        "errored": [],
        "incomplete": [request("c", None)],
    }
    run = only(read_files(tmp_path, {"x.json": report(requests)}))
    assert counts(run) == {(r, 3, a): n for r in (0, 1) for a, n in ((0, 1), (2, 2), (3, 1))}
    assert run.responses.select("request", "output_tokens").rows() == [("cmpl-a", 12), ("cmpl-b", 12)]
    times = run.latencies.select("response", "start_s", "ttft_s", "e2e_s", "error").rows()
    assert sorted(times, key=str) == sorted(
        [(0, 0.0, 0.25, 2.0, None), (None, 0.0, None, None, "failed or not finished"), (1, 1.0, 0.25, 2.0, None)],
        key=str,
    )
    assert run.config == {"type_": "concurrent", "streams": 1}


def test_each_benchmark_is_a_run(tmp_path):
    one = {"successful": [request("a")]}
    assert list(read_files(tmp_path, {"b.json": report(one, one)})) == ["b/0_concurrent_1", "b/1_concurrent_2"]


def test_a_baseline_and_answers_without_metrics(tmp_path):
    run = only(read_files(tmp_path, {"x.json": report({"successful": [request("a", None)]})}))
    assert (run.granularity, run.latencies.height) == (Granularity.LATENCIES, 1)
    mixed = only(read_files(tmp_path / "b", {"x.json": report({"successful": [request("a"), request("b", None)]})}))
    assert (mixed.responses.height, codes(mixed)) == (1, ["responses_without_metrics"])


def test_nothing_and_refused(tmp_path):
    with pytest.raises(NothingToRead):
        read_files(tmp_path, {"x.json": report({"successful": []})})
    with pytest.raises(InputError, match="successful requests are no list of objects"):
        read_files(tmp_path / "b", {"x.json": report({"successful": {"a": 1}})})
    with pytest.raises(InputError, match="benchmarks are no list of objects"):
        read_files(tmp_path / "c", {"x.json": json.dumps({"metadata": {"guidellm_version": "1"}, "benchmarks": 5})})


EXAMPLES = {
    "guidellm": report({"successful": [request("a")], "errored": [], "incomplete": [request("c", None)]}),
}
