"""``vllm bench serve``: JSON and console. Counts are chosen by hand; ratios follow from them."""

import json

import pytest

from specdash.schema import Granularity, InputError, NothingToRead
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

SPEC = {
    "spec_decode_acceptance_rate": 50.0,
    "spec_decode_acceptance_length": 2.5,
    "spec_decode_num_drafts": 100,
    "spec_decode_draft_tokens": 300,
    "spec_decode_accepted_tokens": 150,
    "spec_decode_per_position_acceptance_rates": [0.8, 0.45, 0.25],
}
BASE = {
    "date": "20260701-010203", "backend": "vllm", "model_id": "m", "completed": 2, "duration": 2.0,
    "output_throughput": 100.0, "request_rate": "inf", "mean_ttft_ms": 3.5,
}  # fmt: skip
DETAILED = {
    "input_lens": [7, 8], "output_lens": [4, 4], "ttfts": [0.25, 0.5], "latencies": [1.0, 1.25],
    "itls": [[0.25, 0.5], [0.75]], "start_times": [10.0, 10.5], "errors": ["", ""],
}  # fmt: skip


def test_a_run(tmp_path):
    run = only(read_files(tmp_path, {"x.json": json.dumps(BASE | SPEC)}))
    assert row(run) == {
        "dataset": "eval", "responses": 2, "steps": 100, "drafted": 300, "accepted": 150,
        "per_position": [80, 45, 25], "block": 3, "exposed": None,
    }  # fmt: skip
    assert run.config == {"date": "20260701-010203", "backend": "vllm", "model": "m", "completed": 2, "duration": 2.0,
                          "output_throughput": 100.0, "request_rate": "inf"}  # fmt: skip
    assert (run.latencies, codes(run)) == (None, [])
    (printed,) = run.printed
    assert (printed["tau"], printed["acceptance_ratio"], printed["p"]) == (2.5, 0.5, [0.8, 0.45, 0.25])


@pytest.mark.parametrize("rate", [50.0, 0.5])
def test_an_acceptance_rate_in_percent_or_not(tmp_path, rate):
    run = only(read_files(tmp_path, {"x.json": json.dumps(BASE | SPEC | {"spec_decode_acceptance_rate": rate})}))
    assert run.printed[0]["acceptance_ratio"] == 0.5


def stored_ratios(run):
    from specdash.checks import Subject, findings

    return next(f for f in findings(Subject(run)) if f.check == "stored_ratios")


def test_stored_ratios_are_held_against_the_counts(tmp_path):
    run = only(read_files(tmp_path, {"x.json": json.dumps(BASE | SPEC)}))
    assert stored_ratios(run).outcome == "pass"
    other = only(
        read_files(tmp_path / "b", {"x.json": json.dumps(BASE | SPEC | {"spec_decode_acceptance_length": 1.5})})
    )
    assert "without the bonus token" in stored_ratios(other).figure


def test_latencies(tmp_path):
    run = only(read_files(tmp_path, {"x.json": json.dumps(BASE | SPEC | DETAILED)}))
    assert run.latencies.rows() == [
        ("eval", "0", None, None, 0.0, 0.25, 1.0, 7, 4, [0.25, 0.5], None),
        ("eval", "1", None, None, 0.5, 0.5, 1.25, 8, 4, [0.75], None),
    ]


def test_a_request_that_failed(tmp_path):
    failed = {"errors": ["", "boom"], "ttfts": [0.25, 0.0], "itls": [[0.25], []], "output_lens": [4, 0]}
    run = only(read_files(tmp_path, {"x.json": json.dumps(BASE | SPEC | DETAILED | failed)}))
    assert run.latencies.select("ttft_s", "e2e_s", "output_tokens", "gaps_s", "error").row(1) == (
        None, None, None, None, "boom",
    )  # fmt: skip


def test_without_end_to_end_times_they_are_sums(tmp_path):
    detailed = {key: value for key, value in DETAILED.items() if key not in ("latencies", "start_times")}
    run = only(read_files(tmp_path, {"x.json": json.dumps(BASE | detailed)}))
    assert run.latencies["e2e_s"].to_list() == [1.0, 1.25]


def test_a_baseline_is_a_run_of_latencies(tmp_path):
    run = only(read_files(tmp_path, {"x.json": json.dumps(BASE | DETAILED)}))
    assert (run.granularity, run.counters, run.k) == (Granularity.LATENCIES, None, None)
    with pytest.raises(NothingToRead, match="neither acceptance nor latencies"):
        read_files(tmp_path / "b", {"x.json": json.dumps(BASE)})


def test_appended_runs(tmp_path):
    lines = "".join(json.dumps(BASE | SPEC | {"label": f"k{k}", "seed": k}) + "\n" for k in (2, 4))
    assert list(read_files(tmp_path, {"x.json": lines})) == ["x/k2", "x/k4"]
    same = "".join(json.dumps(BASE | SPEC) + "\n" for _ in range(2))
    assert list(read_files(tmp_path / "b", {"x.json": same})) == ["x/1", "x/2"]


def test_appended_categories_are_datasets_of_one_run(tmp_path):
    lines = "".join(json.dumps(BASE | SPEC | {"category": name, "duration": 1.0}) + "\n" for name in ("math", "coding"))
    run = only(read_files(tmp_path, {"x.json": lines}))
    assert run.counters.select("dataset", "steps").rows() == [("math", 100), ("coding", 100)]
    assert "category" not in run.config and run.config["model"] == "m"


def test_rates_that_do_not_fit_are_told(tmp_path):
    odd = SPEC | {"spec_decode_per_position_acceptance_rates": [0.81, 0.45, 0.25]}
    run = only(read_files(tmp_path, {"x.json": json.dumps(BASE | odd)}))
    assert (row(run)["per_position"], codes(run)) == (None, ["positions_unknown"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"spec_decode_num_drafts": -1}, "spec_decode_num_drafts is not a count"),
        ({"spec_decode_accepted_tokens": 301}, "more tokens accepted than drafted"),
        ({"spec_decode_per_position_acceptance_rates": "x"}, "rates by position is not a list of numbers"),
        (DETAILED | {"ttfts": [0.1]}, "lists by request are not of one length"),
        (DETAILED | {"itls": [[0.1], "x"]}, "itls is not a list of numbers"),
        (DETAILED | {"output_lens": [4, 4.5]}, "output_lens is not a count; found 4.5"),
    ],
)
def test_refused(tmp_path, change, message):
    with pytest.raises(InputError) as error:
        read_files(tmp_path, {"x.json": json.dumps(BASE | SPEC | change)})
    assert message in str(error.value)


CONSOLE = """tip: install
============ Serving Benchmark Result ============
Successful requests:                     80
---------------Speculative Decoding---------------
Acceptance rate (%):                     50.00
Acceptance length:                       2.50
Drafts:                                  100
Draft tokens:                            300
Accepted tokens:                         150
Per-position acceptance (%):
  Position 0:                            80.00
  Position 1:                            45.00
  Position 2:                            25.00
==================================================
"""


def test_the_console(tmp_path):
    run = only(read_files(tmp_path, {"x": CONSOLE}))
    assert (row(run)["per_position"], row(run)["responses"], codes(run)) == ([80, 45, 25], 80, [])
    assert stored_ratios(run).outcome == "pass"


def test_several_blocks_are_several_runs(tmp_path):
    assert list(read_files(tmp_path, {"x": CONSOLE * 2})) == ["x/1", "x/2"]


def test_positions_of_many_drafts_are_as_near_as_the_console_tells(tmp_path):
    hits = [65943, 15037, 2001]  # of 200,000 steps: two decimals of a percent are 20 of them
    many = CONSOLE.replace("     100\n", "     200000\n").replace("     300\n", "     600000\n")
    many = many.replace("     150\n", f"     {sum(hits)}\n")
    for printed, n in zip(("80.00", "45.00", "25.00"), hits, strict=True):
        many = many.replace(printed, f"{100 * n / 200_000:.2f}")
    run = only(read_files(tmp_path, {"x": many}))
    assert sum(row(run)["per_position"]) == sum(hits)
    assert all(abs(a - b) <= 20 for a, b in zip(row(run)["per_position"], hits, strict=True))
    assert codes(run) == ["positions_recovered"]


def test_a_console_without_speculation_is_not_recognised(tmp_path):
    assert recognised(tmp_path, CONSOLE.replace("Speculative Decoding-", "-")) == []


def test_a_block_that_is_cut_off(tmp_path):
    with pytest.raises(InputError, match="the block lacks its accepted"):
        read_files(tmp_path, {"x": CONSOLE[: CONSOLE.index("Accepted tokens")]})


def test_json_and_console_of_one_run(tmp_path):
    runs = read(TRIMMED / "vllm-bench", tmp_path / "own")
    assert row(runs["ngram_c4_t0"]) == row(runs["ngram_c4_t0.stdout"])
    assert (row(runs["ngram_c4_t0"])["steps"], row(runs["ngram_c4_t0"])["accepted"]) == (1240, 3135)
    # A chunk holds several tokens: 1240 drafts and 48 first tokens make the chunks of 4608 tokens, gaps lack the first.
    gaps = runs["ngram_c4_t0"].latencies["gaps_s"].list.len().sum()
    assert gaps + 48 < runs["ngram_c4_t0"].latencies["output_tokens"].sum() == 4608
    assert runs["baseline_c4_t0"].granularity is Granularity.LATENCIES
    assert runs["spec_bench_appended"].counters["dataset"].to_list() == ["coding", "math", "summarization"]


@pytest.mark.parametrize(("k", "tau"), [(2, 1.993), (4, 2.391), (8, 2.775)])
def test_three_block_lengths(tmp_path, k, tau):
    """The acceptance lengths that are documented beside the samples."""
    run = read(TRIMMED / "vllm-bench-k", tmp_path)[f"draft_k{k}_c1_t0"]
    assert (run.k, round(1 + row(run)["accepted"] / row(run)["steps"], 3)) == (k, tau)


@with_samples
def test_samples(tmp_path):
    runs = read(sample("own-vllm-bench"), tmp_path / "own")
    assert row(runs["ngram_c1_t0"])["steps"] == 1240  # at temperature 0 concurrency does not change the counts
    assert runs["baseline_c4_t0"].latencies["gaps_s"].list.len().sum() + 48 == 4608  # without it, a chunk a token
    console = read(sample("vllm-bench-console-dishantghai/c2_n2_bench.log"), tmp_path / "console")
    assert row(only(console))["steps"] == 14542


def test_a_rate_of_hundreds_of_digits_is_refused(tmp_path):
    odd = {"spec_decode_per_position_acceptance_rates": [int("9" * 400), 0.45, 0.25]}
    with pytest.raises(InputError, match="rates by position is not a number"):
        read_files(tmp_path, {"x.json": json.dumps(BASE | SPEC | odd)})


EXAMPLES = {
    "vllm-bench": json.dumps(BASE | SPEC | DETAILED),
    "vllm-bench-console": CONSOLE,
}
