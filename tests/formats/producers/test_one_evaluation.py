"""Files of several tools in one evaluation: a run each, and what is not recognised is told."""

import json
import zipfile

import polars as pl
import pytest

from specdash import ingest
from specdash.formats.producers import PRODUCERS
from specdash.report import meaning
from specdash.schema import Granularity, InputError
from specdash.store import Store
from tests.formats.files import Stored
from tests.formats.producers.reading import SAMPLES, TRIMMED, codes, read, read_files, row, sample, with_samples
from tests.formats.producers.test_vllm_answers import RECORD, answer, lines
from tests.formats.producers.test_vllm_metrics import ONE, TWO


def zipped(folder, path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder))
    return path


def test_a_zip_with_files_of_several_formats(tmp_path):
    runs = read(zipped(TRIMMED, tmp_path / "lab.zip"), tmp_path / "work")
    assert {name: str(run.granularity) for name, run in runs.items()} == {
        "aiperf/baseline_chat_stream_c4_t0": "latencies",
        "aiperf/ngram_chat_stream_c4_t0/records": "step",
        "aiperf/ngram_chat_stream_c4_t0/server": "aggregate",
        "aiperf/ngram_chat_stream_c4_t1_cancel/records": "step",
        "aiperf/ngram_chat_stream_c4_t1_cancel/server": "aggregate",
        "aiperf/speed_bench_ngram": "rates",
        "llamacpp-draft/load_t0_c4/metrics": "aggregate",
        "llamacpp-draft/load_t0_c4/responses": "response",
        "llamacpp-draft/load_t0_c4/server": "response",
        "llamacpp-draft/responses": "response",
        "vllm-bench/baseline_c1_t0": "latencies",
        "vllm-bench/baseline_c4_t0": "latencies",
        "vllm-bench/ngram_c1_t0": "aggregate",
        "vllm-bench/ngram_c4_t0": "aggregate",
        "vllm-bench/ngram_c4_t0.stdout": "aggregate",
        "vllm-bench/spec_bench_appended": "aggregate",
        "vllm-bench-k/draft_k2_c1_t0": "aggregate",
        "vllm-bench-k/draft_k4_c1_t0": "aggregate",
        "vllm-bench-k/draft_k8_c1_t0": "aggregate",
        "vllm-dp2/metrics": "aggregate",
        "vllm-dp2/responses": "step",
        "vllm-ngram": "aggregate",
        "vllm-ngram/load_t0_c1/metrics": "aggregate",
        "vllm-ngram/load_t0_c1/responses": "step",
        "vllm-ngram/load_t0_c4/metrics": "aggregate",
        "vllm-ngram/load_t0_c4/responses": "step",
        "vllm-ngram/responses": "step",
    }
    (unread,) = [w.message for w in runs["vllm-dp2/metrics"].warnings if w.code == "unread_files"]
    assert "README.md" not in unread and "20_error_prompt_too_long_400.response.json" in unread
    assert "prometheus/query_instant_vllm_spec_decode_num_drafts_total.json: the counters lack the accepted" in unread
    assert all(run.semantics is not None for run in runs.values())


@pytest.mark.parametrize(
    ("load", "steps"), [("vllm-ngram/load_t0_c1", 591), ("vllm-ngram/load_t0_c4", 1807), ("vllm-dp2", 1510)]
)
def test_requests_and_counters_of_one_load_agree(tmp_path, load, steps):
    runs = read(TRIMMED / load, tmp_path)
    counts, counted = runs["responses"].counts, row(runs["metrics"])
    assert counts["steps"].sum() == counted["steps"] == steps
    for name in ("drafted", "accepted"):
        assert (counts["steps"] * counts[name]).sum() == counted[name], name
    hits = [counts.filter(counts["accepted"] > i)["steps"].sum() for i in range(runs["metrics"].k)]
    assert hits == counted["per_position"]


def test_steps_are_counted_before_an_answer_is_cut(tmp_path):
    """So an answer may have fewer tokens than its steps emitted (or more, by steps without a draft): no error."""
    path = TRIMMED / "vllm-ngram" / "load_t0_c4"
    answers = [json.loads(line)["response"] for line in (path / "responses.jsonl").read_text("utf-8").splitlines()]
    specs = [(found["metrics"]["speculative_decoding"], found["usage"]["completion_tokens"]) for found in answers]
    emitted = [1 + spec["num_spec_steps"] + spec["num_accepted_draft_tokens"] - tokens for spec, tokens in specs]
    assert (sum(n > 0 for n in emitted), sum(n < 0 for n in emitted)) == (16, 48)
    run = read(path, tmp_path)["responses"]
    sums = run.counts.group_by("response", maintain_order=True).agg(pl.col("steps").sum())
    assert sums["steps"].to_list() == [spec["num_spec_steps"] for spec, _ in specs]
    assert run.responses["output_tokens"].to_list() == [tokens for _, tokens in specs]


def test_single_answers_count_in_the_server_and_not_here(tmp_path):
    run = read(TRIMMED / "vllm-ngram" / "responses", tmp_path)["responses"]
    # Two choices, a stop string, and an error beside them; one token without any step has no length.
    assert codes(run) == ["responses_without_metrics", "unread_files"]
    assert run.responses["output_tokens"].to_list() == [64, 48, 1, 2]
    assert run.counts["response"].unique().sort().to_list() == [0, 1, 3]


def test_a_configuration_beside_a_tools_file(tmp_path):
    files = {"config.json": json.dumps({"temperature": 0.6}), "a/metrics": ONE, "b/metrics": TWO, "b/args.json": "{}"}
    runs = read_files(tmp_path, files)
    assert runs["a"].config == {"temperature": 0.6, "model": "m"} and runs["b"].config == {"model": "m"}
    assert all(codes(run) == [] for run in runs.values())


def test_a_tools_file_beside_a_log(tmp_path):
    runs = read_files(tmp_path, {"spec_log.csv": "0,7,3\n", "metrics": ONE})
    assert {name: run.granularity for name, run in runs.items()} == {
        "eval": Granularity.STEP, "metrics": Granularity.AGGREGATE,
    }  # fmt: skip


def test_a_file_that_holds_nothing_is_told_beside_others(tmp_path):
    run = read_files(
        tmp_path, {"a.jsonl": lines(answer(RECORD), answer(RECORD, "b")), "b.json": json.dumps(answer(None))}
    )
    (said,) = [w.message for w in run["eval"].warnings]
    assert said.startswith("not read, as not recognised or not needed: b.json: no answer reports its drafting")


def test_a_damaged_file_refuses_the_whole(tmp_path):
    with pytest.raises(InputError, match=r"b/metrics, line 6: not a Prometheus sample"):
        read_files(tmp_path, {"a/metrics": ONE, "b/metrics": ONE.replace("} 100.0", "} x")})


def test_options_make_another_evaluation():
    one, other = ingest.Options.of({"bonus": "in"}), ingest.Options.of({"bonus": "out"})
    assert len({ingest.evaluation_id("ab" * 32, options) for options in (one, other, ingest.Options())}) == 3
    assert ingest.Options.of(one.as_dict()) == one


def test_what_was_read_goes_out_and_comes_in(tmp_path):
    added = ingest.add(zipped(TRIMMED, tmp_path / "lab.zip"), Store(tmp_path / "one"))
    path = Store(tmp_path / "one").export(added.id, tmp_path / "out.zip")
    found = ingest.add(path, Store(tmp_path / "other"))
    for a, b in zip(added.runs, found.runs, strict=True):
        assert (a.name, a.granularity, a.k, a.semantics, a.warnings, a.printed) == (
            b.name, b.granularity, b.k, b.semantics, b.warnings, b.printed,
        )  # fmt: skip
        for name in ("responses", "counts", "sums", "counters", "rates", "latencies"):
            table, again = getattr(a, name), getattr(b, name)
            assert (table is None) == (again is None) and (table is None or table.equals(again)), (a.name, name)


def test_producers_are_declared_once_and_say_what_they_mean():
    keys = [producer.key for producer in PRODUCERS]
    assert len(set(keys)) == len(keys)
    for producer in PRODUCERS:
        assert producer.tool and producer.what and meaning.facts(producer.semantics)


def _files(root):
    return [Stored(str(path.relative_to(root)), path) for path in sorted(root.rglob("*")) if path.is_file()]


def test_no_two_producers_claim_a_file():
    for file in _files(TRIMMED):
        claims = [producer.key for producer in PRODUCERS if not producer.last and producer.looks(file)]
        assert len(claims) <= 1, (file.path, claims)


@with_samples
def test_no_two_producers_claim_a_sample():
    for file in _files(sample(".")):
        claims = [producer.key for producer in PRODUCERS if not producer.last and producer.looks(file)]
        assert len(claims) <= 1, (file.path, claims)


@with_samples
def test_the_trimmed_samples_give_what_the_whole_ones_do(tmp_path):
    for trimmed, whole in (("vllm-ngram", "own-vllm-ngram"), ("vllm-dp2", "own-vllm-dp2")):
        few, all_ = read(TRIMMED / trimmed, tmp_path / trimmed), read(sample(whole), tmp_path / whole)
        for name in few.keys() - {"responses", "server", trimmed}:
            for table in ("counts", "counters"):
                a, b = getattr(few[name], table), getattr(all_[name], table)
                assert a is b is None or a.drop("dataset", strict=False).equals(b.drop("dataset", strict=False)), name
    assert SAMPLES
