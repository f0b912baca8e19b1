"""SGLang's bench_serving. Expected values are those written here."""

import json

import pytest

from specdash.schema import Bonus, Granularity, InputError, NothingToRead, Span
from tests.formats.producers.reading import codes, only, read_files, recognised, row


def result(length=2.77, **fields):
    return {
        "tag": None, "backend": "sglang", "dataset_name": "sharegpt", "request_rate": 4.0, "max_concurrency": 8,
        "duration": 2.5, "completed": 2, "total_output_tokens": 30, "output_throughput": 12.0,
        "mean_e2e_latency_ms": 900.0, "mean_ttft_ms": 75.0, "concurrency": 3.1, "accept_length": length,
    } | fields  # fmt: skip


DETAILS = {
    "input_lens": [5, 6, 7],
    "output_lens": [10, 20, 0],
    "ttfts": [0.1, 0.2, 0.0],
    "itls": [[0.3, 0.4], [0.5], []],
    "generated_texts": ["a", "b", ""],
    "errors": ["", "", "timeout"],
}


def lines(*objects):
    return "".join(json.dumps(found) + "\n" for found in objects)


def test_the_length_is_the_server_s(tmp_path):
    run = only(read_files(tmp_path, {"bench.jsonl": lines(result())}))
    assert (run.granularity, row(run)["dataset"], row(run)["tau"]) == (Granularity.RATES, "sharegpt", 2.77)
    assert (run.semantics.bonus, run.semantics.span, codes(run)) == (Bonus.IN, Span.SINCE_START, ["server_lifetime"])
    assert run.config["request_rate"] == 4.0 and "mean_ttft_ms" not in run.config


def test_benchmarks_a_line(tmp_path):
    runs = read_files(tmp_path, {"bench.jsonl": lines(result(2.5), result(3.5, tag="c8"))})
    assert {name: row(run)["tau"] for name, run in runs.items()} == {"bench/1": 2.5, "bench/c8": 3.5}


def test_latencies_in_detail(tmp_path):
    run = only(read_files(tmp_path, {"bench.jsonl": lines(result(**DETAILS))}))
    found = run.latencies.select("prompt", "ttft_s", "e2e_s", "output_tokens", "error").rows()
    assert found == [
        ("0", 0.1, 0.1 + (0.3 + 0.4), 10, None),
        ("1", 0.2, 0.7, 20, None),
        ("2", None, None, None, "timeout"),
    ]


def test_a_baseline_has_latencies_alone(tmp_path):
    run = only(read_files(tmp_path, {"bench.jsonl": lines(result(None, **DETAILS))}))
    assert (run.granularity, run.latencies.height, run.rates) == (Granularity.LATENCIES, 3, None)
    with pytest.raises(NothingToRead):
        read_files(tmp_path / "b", {"bench.jsonl": lines(result(None))})


def test_the_console(tmp_path):
    printed = (
        "============ Serving Benchmark Result ============\nBackend:     sglang\nAccept length:       2.77\n====\n"
    )
    run = only(read_files(tmp_path, {"out.txt": printed}))
    assert (row(run)["tau"], codes(run)) == (2.77, ["server_lifetime"])
    assert recognised(tmp_path, printed) == ["sglang-bench-console"]
    assert recognised(tmp_path, lines(result())) == ["sglang-bench"]


@pytest.mark.parametrize("length", [0.4, 66.0, "x"])
def test_refused(tmp_path, length):
    with pytest.raises(InputError):
        read_files(tmp_path, {"bench.jsonl": lines(result(length))})


EXAMPLES = {
    "sglang-bench": lines(result(**DETAILS)),
    "sglang-bench-console": "== Serving Benchmark Result ==\nBackend:     sglang\nAccept length:       2.77\n====\n",
}
