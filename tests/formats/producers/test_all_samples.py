"""Every file of a folder of samples (SPECDASH_SAMPLES): each reads with the right number, or says why it does not.

The numbers stand in the files themselves and were added up apart from this project: counters, fields of results,
sums over the records of requests or over the lines of a log. Public files are not part of this project; its own
small ones carry the other tests.
"""

import pytest

from specdash import ingest
from specdash.formats import producers
from specdash.schema import Granularity, InputError, NothingToRead, Unsaid
from tests.formats.files import Stored
from tests.formats.producers.reading import SAMPLES, only, read, sample

if not SAMPLES:
    pytest.skip("SPECDASH_SAMPLES names no folder of sample files", allow_module_level=True)

ANY = None

# By file: the verify steps and the accepted tokens; ANY where the file does not count the one or the other.
COUNTED = {
    "dflash-tpu-aaronzhfeng/raw_gsm8k.json": (304, 1729 - 304),
    "dflash-tpu-aaronzhfeng/replay_gsm8k.json": (304, 1729 - 304),
    "dflash-tpu-aaronzhfeng/standalone_aime25.json": (280, 1815 - 280),
    "dflash-tpu-aaronzhfeng/standalone_gsm8k.json": (338, 1746 - 338),
    "dflash-tpu-aaronzhfeng/standalone_math500.json": (196, 1710 - 196),
    "dflash-tpu-aaronzhfeng/standalone_per_sample.csv": (338 + 196 + 290 + 280, 1746 + 1710 + 1832 + 1815 - 1104),
    "dflash-tpu-aaronzhfeng/v5_acceptance_gsm8k.json": (742, 4392 - 742),
    "dflash-tpu-aaronzhfeng/v5p-pr-benchmark.log": (195 + 283 + 297 + 317 + 253 + 540 + 407 + 470, ANY),
    "dflash-tpu-aaronzhfeng/vllm_pipeline_acceptance.csv": (1968, 6845),
    "llamacpp-server-logs/timings_pr12603.json": (ANY, ANY),
    "medusa-mtbench/*.jsonl": (17058, ANY),
    "mlx-vlm-pr1788/timings_part.json": (30, 81),
    "own-aiperf/ngram_chat_stream_c4_t0/profile_export.jsonl": (711, 2715),
    "own-aiperf/ngram_chat_stream_c4_t0/profile_export_aiperf.csv": (711, 2715),
    "own-aiperf/ngram_chat_stream_c4_t0/profile_export_aiperf.json": (711, 2715),
    "own-aiperf/ngram_chat_stream_c4_t0/server_metrics_export.json": (711, 2715),
    "own-aiperf/ngram_chat_stream_c4_t1_cancel/profile_export.jsonl": (847, 0),
    "own-aiperf/ngram_chat_stream_c4_t1_cancel/profile_export_aiperf.csv": (847, 0),
    "own-aiperf/ngram_chat_stream_c4_t1_cancel/profile_export_aiperf.json": (847, 0),
    "own-aiperf/ngram_chat_stream_c4_t1_cancel/server_metrics_export.json": (980, 0),  # cancelled ones count there
    "own-aiperf/speed_bench_ngram/run_coding/profile_export.jsonl": (242, 899),
    "own-aiperf/speed_bench_ngram/run_coding/profile_export_aiperf.json": (242, 899),
    "own-aiperf/speed_bench_ngram/run_coding/server_metrics_export.json": (242, 899),
    "own-aiperf/speed_bench_ngram/run_math/profile_export.jsonl": (271, 852),
    "own-aiperf/speed_bench_ngram/run_math/profile_export_aiperf.json": (271, 852),
    "own-aiperf/speed_bench_ngram/run_math/server_metrics_export.json": (271, 852),
    "own-llamacpp-draft/load_t0_c4/metrics_after.prom": (3017, 4355),
    "own-llamacpp-draft/load_t0_c4/metrics_before.prom": (1148, 1680),
    "own-llamacpp-draft/load_t0_c4/responses.jsonl": (ANY, 2675),
    "own-llamacpp-draft/responses/01_completion_t0.response.json": (ANY, 24),
    "own-llamacpp-draft/responses/03_v1_completions_t0.response.json": (ANY, 24),
    "own-llamacpp-draft/responses/05_v1_chat_n2_t1.response.json": (ANY, 6),
    "own-llamacpp-draft/responses/06_completion_stream_t0.response.sse": (ANY, 17),
    "own-llamacpp-draft/responses/07_v1_chat_stream_usage_t0.response.sse": (ANY, 37),
    "own-llamacpp-draft/responses/08_v1_chat_stream_timings_per_token.response.sse": (ANY, ANY),
    "own-llamacpp-draft/server.log": (ANY, 10536),
    "own-vllm-bench/ngram_c1_t0.json": (1240, 3135),
    "own-vllm-bench/ngram_c4_t0.json": (1240, 3135),
    "own-vllm-bench/ngram_c4_t0.stdout.txt": (1240, 3135),
    "own-vllm-bench/spec_bench_appended.json": (182 + 211 + 156, 589 + 552 + 636),
    "own-vllm-bench-k/draft_k2_c1_t0.json": (2312, 2296),
    "own-vllm-bench-k/draft_k4_c1_t0.json": (1947, 2708),
    "own-vllm-bench-k/draft_k8_c1_t0.json": (1707, 3030),
    "own-vllm-dp2/metrics_after.prom": (1510, 2862),
    "own-vllm-dp2/responses.jsonl": (1510, 2862),
    "own-vllm-ngram/load_t0_c1/metrics_after.prom": (880, 2494),
    "own-vllm-ngram/load_t0_c1/metrics_before.prom": (289, 901),
    "own-vllm-ngram/load_t0_c1/responses.jsonl": (591, 1593),
    "own-vllm-ngram/load_t0_c4/metrics_after.prom": (2687, 7306),
    "own-vllm-ngram/load_t0_c4/metrics_before.prom": (880, 2494),
    "own-vllm-ngram/load_t0_c4/responses.jsonl": (1807, 4812),
    "own-vllm-ngram/responses/01_completions_t0.response.json": (13, 53),
    "own-vllm-ngram/responses/03_chat_t0.response.json": (13, 53),
    "own-vllm-ngram/responses/09_completions_stream_include_usage_t0.response.sse": (10, 38),
    "own-vllm-ngram/responses/10_chat_stream_include_usage_t0.response.sse": (10, 38),
    "own-vllm-ngram/responses/12_completions_max_tokens_1.response.json": (0, 0),
    "own-vllm-ngram/responses/13_completions_max_tokens_2.response.json": (1, 0),
    "own-vllm-ngram/responses/15_chat_json_schema_t0.response.json": (14, 63),
    "own-vllm-ngram/server.log": (ANY, 30926),
    "sglang-spec-details-pr33518/spec_tokens_details.json": (43, 63),
    "specbench-bnukhkadiev-spec_bench/vicuna-7b-v1.3-eagle-float16-temperature-0.0.jsonl": (12143, 45657 - 12143),
    "specbench-bnukhkadiev-spec_bench/vicuna-7b-v1.3-sps-68m-float16-temp-0.0.jsonl": (40632, 92564 - 40632),
    "trtllm-response-aiperf1433/choice.json": (20, 30),
    "vllm-bench-console-dishantghai/c2_n1_bench.log": (15309, 5109),
    "vllm-bench-console-dishantghai/c2_n2_bench.log": (14542, 5889),
    "vllm-bench-console-dishantghai/c2_n3_bench.log": (14509, 5893),
    "vllm-bench-console-dishantghai/c2_n4_bench.log": (14439, 5970),
    "vllm-bench-console-dishantghai/c2_n4_server.log": (14439, 5970),  # and its bench, as it should be
    "vllm-per-request-pr48915/metrics_speculative_decoding.json": (43, 10),
    "vllm-prometheus-dspark-miaai/dspark-metrics.txt": (105, 149),
    "vllm-server-logs-manoj/server_20260707_081401.log": (113695 // 5, 37965),
}

# By file: the acceptance lengths as they are printed, a dataset or a run each; the first of many.
PRINTED = {
    "dflash-tpu-aaronzhfeng/standalone_acceptance_per_pos.csv": [5.17, 8.72, 6.32, 6.48],
    "inferencex-golden-al/dsv4-pro-0813-dspark.yaml": [1.84, 2.51, 3.01, 3.36, 3.61, 3.77, 3.73, 3.47],
    "inferencex-golden-al/dsv4_mtp.yaml": [1.92, 2.61, 2.97, 3.0],
    "own-aiperf/speed_bench_ngram/speed_bench_report_accept_length.csv": [4.71, 4.14, 4.92, 4.54, 3.75, 4.94],
    "own-aiperf/speed_bench_ngram/speed_bench_report_accept_rate.csv": [ANY, ANY],
    "sglang-log-lines/decode_lines.log": [2.4, 2.4, 2.77, 2.77],
    "sglang-log-lines/gauges.prom": [1.55],
    "atom-mtp-log/line.log": [2.79],
    "specforge-specbundle/data.json": [ANY],
}

BASELINES = {
    "own-aiperf/baseline_chat_stream_c1_t0/profile_export.jsonl",
    "own-aiperf/baseline_chat_stream_c4_t0/profile_export.jsonl",
    "own-vllm-bench/baseline_c1_t0.json",
    "own-vllm-bench/baseline_c4_t0.json",
    "specbench-bnukhkadiev-spec_bench/vicuna-7b-v1.3-vanilla-float16-temp-0.0.jsonl",
}

# Files that hold nothing on acceptance: of a baseline, an answer without metrics, one counter of several.
NOTHING = {
    "own-aiperf/baseline_chat_stream_c1_t0/profile_export_aiperf.csv",
    "own-aiperf/baseline_chat_stream_c1_t0/profile_export_aiperf.json",
    "own-aiperf/baseline_chat_stream_c1_t0/server_metrics_export.json",
    "own-aiperf/baseline_chat_stream_c4_t0/profile_export_aiperf.csv",
    "own-aiperf/baseline_chat_stream_c4_t0/profile_export_aiperf.json",
    "own-aiperf/baseline_chat_stream_c4_t0/server_metrics_export.json",
    "own-aiperf/speed_bench_ngram/speed_bench_report_throughput.csv",
    "own-prometheus/query_instant_vllm_spec_decode_num_drafts_total.json",
    "own-prometheus/query_range_vllm_spec_decode_num_accepted_tokens_total.json",
    "own-vllm-dp2/metrics_before.prom",
    "own-vllm-ngram/responses/05_completions_n2_t1.response.json",
    "own-vllm-ngram/responses/06_chat_n2_t1.response.json",
    "own-vllm-ngram/responses/14_completions_stop_string_t0.response.json",
    "vllm-prometheus-dp8-pr24049/drafts_by_engine.prom",
    "vllm-prometheus-dspark-miaai/smoke-text-only.json",
}

# Several runs in a file, tested where their formats are; and what is no format of ours: notes, errors, baselines' logs.
ELSEWHERE = {"llamacpp-server-logs/server_lines.log", "vllm-log-v0-issues/v0_and_early_v1_lines.log"}
FOREIGN = {
    "aiperf-speedbench-console/numbers_only_not_the_layout.txt",
    "own-vllm-bench/baseline_c4_t0.stdout.txt",
    "own-vllm-ngram/cmd.txt",
    "own-vllm-ngram/responses/20_error_prompt_too_long_400.response.json",
    "own-vllm-ngram/responses/22_stream_client_disconnect.response.sse",
    "vllm-bench-console-dishantghai/c1_bench.log",
}


def totals(run):
    """The verify steps and accepted tokens of a run, None where they are not known."""
    if run.counters is not None:
        return tuple(None if run.counters[c].null_count() else run.counters[c].sum() for c in ("steps", "accepted"))
    found = []
    for what in ("steps", "accepted"):
        known = 0
        if run.sums is not None:
            known = None if run.sums[what].null_count() else run.sums[what].sum()
        if known is not None and run.counts is not None:
            whole = run.counts if run.sums is None else run.counts.filter(run.counts["drafted"].is_not_null())
            known += (whole["steps"] * (1 if what == "steps" else whole["accepted"])).sum()
        found.append(known)
    return tuple(found)


def at(name):
    """The file of a name in which a star may stand."""
    (found,) = sample(".").glob(name)
    return found


def test_every_file_is_known():
    root = sample(".")
    notes = ("SOURCE.txt", "README.txt")
    files = {str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and p.name not in notes}
    named = {
        str(at(name).relative_to(root)) for name in (*COUNTED, *PRINTED, *BASELINES, *NOTHING, *ELSEWHERE, *FOREIGN)
    }
    assert files == named


@pytest.mark.parametrize("name", COUNTED)
def test_counts(tmp_path, name):
    run = only(read(at(name), tmp_path))
    steps, accepted = totals(run)
    wanted = COUNTED[name]
    assert (steps if wanted[0] is not ANY else ANY, accepted if wanted[1] is not ANY else ANY) == wanted


@pytest.mark.parametrize("name", PRINTED)
def test_ratios(tmp_path, name):
    runs = read(at(name), tmp_path)
    found = [tau for run in runs.values() for tau in run.rates["tau"].to_list()]
    assert all(run.granularity is Granularity.RATES for run in runs.values())
    assert [tau for tau, wanted in zip(found, PRINTED[name], strict=False) if wanted is not ANY] == [
        wanted for wanted in PRINTED[name] if wanted is not ANY
    ]


@pytest.mark.parametrize("name", sorted(BASELINES))
def test_baselines(tmp_path, name):
    assert only(read(at(name), tmp_path)).granularity is Granularity.LATENCIES


@pytest.mark.parametrize("name", sorted(NOTHING))
def test_files_without_anything(tmp_path, name):
    with pytest.raises(NothingToRead):
        read(at(name), tmp_path)


@pytest.mark.parametrize("name", sorted(FOREIGN))
def test_other_files(tmp_path, name):
    assert producers.recognise(Stored(name, at(name))) is None
    with pytest.raises((InputError, Unsaid)):
        read(at(name), tmp_path)


def test_all_of_it_as_one_evaluation(tmp_path):
    evaluation = ingest.read(sample("."), tmp_path)
    names = [run.name for run in evaluation.runs]
    assert len(set(names)) == len(names) > 60
    assert SAMPLES
