"""AIPerf's files; the small ones by hand, the rest as the tool wrote them."""

import json

import pytest

from specdash import metrics
from specdash.schema import Granularity, InputError, NothingToRead
from tests.formats.producers.reading import (
    TRIMMED,
    codes,
    counts,
    only,
    outcome,
    read,
    read_files,
    recognised,
    row,
    sample,
    with_samples,
)

RECORD = {
    "metadata": {"x_request_id": "r1", "conversation_id": "s1", "turn_index": 0, "request_start_ns": 5_000_000_000,
                 "benchmark_phase": "profiling", "was_cancelled": False, "source_kind": "coding"},
    "metrics": {"request_latency": {"value": 250.0, "unit": "ms"}, "time_to_first_token": {"value": 125.0},
                "usage_completion_tokens": {"value": 12, "unit": "tokens"}, "input_sequence_length": {"value": 7},
                "inter_chunk_latency": {"value": [62.5, 62.5], "unit": "ms"}},
    "error": None,
    "spec_decode_acceptance": {
        "engine": "vllm", "mean_acceptance_length": 2.75, "draft_acceptance_rate": 7 / 12,
        "acceptance_histogram": {"0": 1, "2": 2, "3": 1}, "num_accepted_draft_tokens": 7, "num_draft_tokens": 12,
        "num_spec_steps": 4, "num_spec_tokens": 3, "completion_tokens": 12, "per_step_accepted": None,
        "per_step_drafted": None,
    },
}  # fmt: skip
CANCELLED = {
    "metadata": RECORD["metadata"] | {"x_request_id": "r2", "conversation_id": "s2", "was_cancelled": True},
    "metrics": {}, "error": {"code": 499, "message": "cancelled 0.8 s after being sent"},
}  # fmt: skip


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def server(**totals):
    """Counters of a server by name; a list is by position."""
    found = {}
    for name, total in totals.items():
        by_position = (
            [({"position": str(i)}, n) for i, n in enumerate(total)] if isinstance(total, list) else [({}, total)]
        )
        series = [
            {"endpoint_url": "u", "labels": {"engine": "0"} | own, "stats": {"total": float(n)}}
            for own, n in by_position
        ]
        found[f"vllm:spec_decode_num_{name}"] = {"type": "counter", "series": series}
    return json.dumps(
        {"schema_version": "1.1", "aiperf_version": "0.13.0", "metrics_phase": "profiling", "metrics": found}
    )


SERVER = server(drafts=4, draft_tokens=12, accepted_tokens=7, accepted_tokens_per_pos=[3, 3, 1])


def test_records(tmp_path):
    run = only(read_files(tmp_path, {"profile_export.jsonl": lines(RECORD)}))
    assert (run.granularity, run.k) == (Granularity.RESPONSE, 3)
    assert counts(run) == {(0, 3, 0): 1, (0, 3, 2): 2, (0, 3, 3): 1}  # 12 drafted in 4 steps of at most 3
    assert run.responses.select("request", "dataset", "prompt", "output_tokens").rows() == [("r1", "coding", "s1", 12)]
    assert run.latencies.rows() == [("coding", "s1", None, 0, 0.0, 0.125, 0.25, 7, 12, [0.0625, 0.0625], None)]


def test_cancelled_requests_are_told_and_timed(tmp_path):
    run = only(read_files(tmp_path, {"p.jsonl": lines(RECORD, CANCELLED)}))
    assert (run.responses.height, codes(run)) == (1, ["failed_requests"])
    assert run.latencies["error"].to_list() == [None, "cancelled 0.8 s after being sent"]
    assert run.latencies["response"].to_list() == [0, None]


def test_warm_up_is_left_out(tmp_path):
    warm = RECORD | {"metadata": RECORD["metadata"] | {"benchmark_phase": "warmup", "x_request_id": "w"}}
    assert only(read_files(tmp_path, {"p.jsonl": lines(warm, RECORD)})).responses["request"].to_list() == ["r1"]


def test_a_baseline_is_a_run_of_latencies(tmp_path):
    plain = {key: value for key, value in RECORD.items() if key != "spec_decode_acceptance"}
    run = only(read_files(tmp_path, {"p.jsonl": lines(plain)}))
    assert (run.granularity, run.latencies.height) == (Granularity.LATENCIES, 1)


def test_counters_of_the_server_are_a_run_beside_the_records(tmp_path):
    runs = read_files(tmp_path, {"p.jsonl": lines(RECORD), "s.json": SERVER})
    assert list(runs) == ["records", "server"]
    assert row(runs["server"])["per_position"] == [3, 3, 1]
    assert all(codes(run) == [] for run in runs.values())


def test_counters_that_differ_are_told(tmp_path):
    more = server(drafts=6, draft_tokens=18, accepted_tokens=8, accepted_tokens_per_pos=[4, 3, 1])
    runs = read_files(tmp_path, {"p.jsonl": lines(RECORD), "s.json": more})
    for run in runs.values():
        assert run.warnings[0].message.startswith(
            "steps 4 by the records, 6 by the server's counters; "
            "drafted 12 by the records, 18 by the server's counters; "
            "accepted 7 by the records, 8 by the server's counters"
        )


SUMMARY = {
    "aiperf_version": "0.13.0", "request_latency": {"avg": 1.0}, "request_count": {"avg": 1.0},
    "total_spec_decode_steps": {"avg": 4.0}, "total_draft_tokens": {"avg": 12.0},
    "total_accepted_draft_tokens": {"avg": 7.0}, "spec_decode_acceptance_length": {"avg": 3.1},
    "spec_decode_token_weighted_acceptance_length": {"avg": 2.75},
    "pooled_spec_decode_acceptance_histogram": {"0": 1, "2": 2, "3": 1},
}  # fmt: skip


def test_the_summary_alone(tmp_path):
    run = only(read_files(tmp_path, {"x.json": json.dumps(SUMMARY)}))
    assert (row(run)["steps"], row(run)["per_position"], row(run)["responses"]) == (4, [3, 3, 1], 1)
    assert metrics.run_rows(run, {}.get)[0][-1]["tau"] == 2.75  # and not the mean over requests
    assert row(run)["block"] is None  # a deeper position may have been drafted and never accepted


def test_records_outdo_the_summary(tmp_path):
    assert list(read_files(tmp_path, {"p.jsonl": lines(RECORD), "x.json": json.dumps(SUMMARY)})) == ["eval"]


def test_nothing(tmp_path):
    with pytest.raises(NothingToRead):
        read_files(tmp_path, {"s.json": server(other=1)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metadata": None}, "not read"),
        ({"metrics": [1]}, "a record has no metrics"),
        ({"spec_decode_acceptance": {"num_spec_steps": -1}}, "num_spec_steps is not a count"),
    ],
)
def test_refused(tmp_path, change, message):
    with pytest.raises(InputError) as error:
        read_files(tmp_path, {"p.jsonl": lines(RECORD, RECORD | change)})
    assert message in str(error.value) or "a record has no metadata" in str(error.value)
    assert error.value.line == 2


TABLE = (
    "Metric,avg,min,max,sum,p1,p50,std\nAcceptance Length (ratio),4.91,3.10,5.33,176.75,3.22,5.33,0.64\n\n"
    "Metric,Value\nRequest Count,1.00\nOverall Draft Acceptance Rate (%),58.33\n"
    "Token-Weighted Acceptance Length (ratio),2.75\nTotal Accepted Draft Tokens (tokens),7.00\n"
    "Total Draft Tokens (tokens),12.00\nTotal Spec Decode Steps,4.00\n"
)


def test_the_table_where_there_is_nothing_else(tmp_path):
    assert recognised(tmp_path, TABLE, "x.csv") == ["aiperf"]
    run = only(read_files(tmp_path, {"profile_export_aiperf.csv": TABLE}))
    assert (row(run)["steps"], row(run)["drafted"], row(run)["accepted"], row(run)["responses"]) == (4, 12, 7, 1)
    assert (row(run)["per_position"], outcome(run, "stored_ratios")) == (None, "pass")
    assert list(read_files(tmp_path / "b", {"x.json": json.dumps(SUMMARY), "x.csv": TABLE})) == ["eval"]
    with pytest.raises(NothingToRead):
        read_files(tmp_path / "c", {"x.csv": TABLE.split("\n\n")[0] + "\n"})
    with pytest.raises(InputError, match=r"Total Draft Tokens is not a count; found 12\.50"):
        read_files(tmp_path / "d", {"x.csv": TABLE.replace("12.00", "12.50")})


REPORT = "Model,coding,math,Overall\nm,4.71,4.14,4.43\nn,5.01,,5.01\n"


def test_the_speed_bench_report(tmp_path):
    assert recognised(tmp_path, REPORT) == ["aiperf-report"]
    runs = read_files(tmp_path, {"speed_bench_report.csv": REPORT})
    assert list(runs) == ["report/m", "report/n"]
    assert runs["report/m"].rates.select("dataset", "tau").rows() == [("coding", 4.71), ("math", 4.14)]
    assert runs["report/n"].rates["tau"].to_list() == [5.01, None]


def test_the_reports_of_one_run(tmp_path):
    run = only(read(TRIMMED / "aiperf" / "speed_bench_ngram", tmp_path))
    rows = {found["dataset"]: (found["tau"], found["acceptance_ratio"]) for found in run.rates.iter_rows(named=True)}
    assert rows["coding"] == (4.71, 0.80) and rows["math"] == (4.14, 0.66) and len(rows) == 6


def test_records_and_counters_of_one_run_agree(tmp_path):
    runs = read(TRIMMED / "aiperf" / "ngram_chat_stream_c4_t0", tmp_path)
    pooled = {name: metrics.run_rows(run, {}.get)[0][-1] for name, run in runs.items()}
    for key in ("steps", "drafted", "accepted", "tau", "p"):
        assert pooled["records"][key] == pooled["server"][key], key
    # AIPerf's own figures of this run: 711 steps, 3291 and 2715 tokens; token-weighted, and the mean of requests.
    assert (pooled["records"]["steps"], pooled["records"]["drafted"], pooled["records"]["accepted"]) == (
        711,
        3291,
        2715,
    )
    assert pooled["records"]["tau"] == pytest.approx(4.818565400843882, abs=1e-12)
    assert pooled["records"]["response_mean"] == pytest.approx(4.909826177579801, abs=1e-12)


def test_records_and_counters_of_a_run_with_cancelled_requests_differ(tmp_path):
    runs = read(TRIMMED / "aiperf" / "ngram_chat_stream_c4_t1_cancel", tmp_path)
    assert runs["records"].counts["steps"].sum() == 847 and row(runs["server"])["steps"] == 980
    assert "server_disagrees" in codes(runs["records"]) and "failed_requests" in codes(runs["records"])
    assert runs["records"].responses.height == 28 and runs["records"].latencies.height == 36


@with_samples
def test_samples(tmp_path):
    runs = read(sample("own-aiperf"), tmp_path / "own")
    report = {found["dataset"]: found["tau"] for found in runs["speed_bench_ngram"].rates.iter_rows(named=True)}
    for category in ("coding", "math"):
        records = runs[f"speed_bench_ngram/run_{category}/records"]
        assert round(metrics.run_rows(records, {}.get)[0][-1]["tau"], 2) == report[category]


EXAMPLES = {
    "aiperf": lines(RECORD, CANCELLED),
    "aiperf-report": REPORT,
}
