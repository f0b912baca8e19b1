"""The reference evaluation against every cell of the report's printed tables."""

import csv
import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from specdash.cli import cli

DATA = Path(__file__).resolve().parents[1] / "data"
DATASETS = "gsm8k math500 aime25 humaneval mbpp livecodebench mt-bench alpaca arena-hard-v2".split()
FAMILIES = {"math": DATASETS[:3], "code": DATASETS[3:6], "chat": DATASETS[6:]}
KEYS = """
dataset family
prompts responses steps steps_without_draft drafted accepted tau tau_all verify_rate acceptance_ratio
p p_exposed p_km c outcome step_std implied_alpha alpha_mle geometric_outcome geometric_std tau_at_k tau_at_k_km
response_mean response_p10 response_p50 response_p90 response_std within_share within_share_corrected
copy_std copy_range copy_max copy_min corr_tau_tokens corr_tau_steps corr_tau_tokens_spearman
""".split()
INTERVAL_KEYS = """
level interval_note interval_from tau_se design_effect effective_steps
tau_ci tau_all_ci verify_rate_ci acceptance_ratio_ci p_ci p_exposed_ci p_km_ci c_ci outcome_ci step_std_ci
implied_alpha_ci alpha_mle_ci tau_at_k_ci tau_at_k_km_ci within_share_corrected_ci
tau_se_linear tau_se_bootstrap tau_se_copies tau_se_naive
""".split()
LOOSE = 0.035  # response and copy columns of a reconstruction


def printed(name):
    with (DATA / "reference_tables" / f"{name}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="session")
def document(tmp_path_factory):
    home = tmp_path_factory.mktemp("reference") / "home"
    result = CliRunner().invoke(
        cli, ["report", str(DATA / "reference.zip"), "--format", "json"], env={"SPECDASH_HOME": str(home)}
    )
    assert (result.exit_code, result.stderr) == (0, "")
    assert not home.exists()

    def refuse(constant):
        raise AssertionError(constant)

    return json.loads(result.stdout, parse_constant=refuse)


@pytest.fixture(scope="session")
def rows(document):
    """Rows of the runs A and B by dataset."""
    names = [run["name"] for run in document["runs"]]
    assert names == ["7_draft", "7_draft_best_of_10"]
    return [{row["dataset"]: row for row in run["datasets"]} for run in document["runs"]]


def assert_printed(cell, value):
    """Assert that a number, rounded as the cell is, is the cell."""
    decimals = len(cell.partition(".")[2])
    assert f"{value:.{decimals}f}" == cell


def cells_of(name):
    return [
        pytest.param(row["dataset"], column, row[column], id=f"{row['dataset']}-{column}")
        for row in printed(name)
        for column in row
        if column not in ("dataset", "family") and row[column]
    ]


@pytest.mark.parametrize(("dataset", "column", "cell"), cells_of("table1_acceptance_length"))
def test_table_1(rows, dataset, column, cell):
    run, key = {"tau_run_a": (0, "tau"), "tau_run_b": (1, "tau")}.get(column, (1, column))
    value = rows[run][dataset][key]
    if column.startswith("response_"):
        assert value == pytest.approx(float(cell), abs=LOOSE)
    else:
        assert_printed(cell, value)


@pytest.mark.parametrize(("dataset", "column", "cell"), cells_of("table2_unconditional_p"))
def test_table_2(rows, dataset, column, cell):
    assert_printed(cell, rows[1][dataset]["p"][int(column[1])])


@pytest.mark.parametrize(("dataset", "column", "cell"), cells_of("table3_conditional_c"))
def test_table_3(rows, dataset, column, cell):
    c = rows[1][dataset]["c"]
    assert_printed(cell, c[0] - c[6] if column == "c0_minus_c6" else c[int(column[1])])


@pytest.mark.parametrize(("dataset", "column", "cell"), cells_of("table4_outcome_percent"))
def test_table_4(rows, dataset, column, cell):
    assert_printed(cell, 100 * rows[1][dataset]["outcome"][int(column[1])])


@pytest.mark.parametrize(("dataset", "column", "cell"), cells_of("table5_tau_at_shorter_block"))
def test_table_5(rows, dataset, column, cell):
    tau = rows[1][dataset]["tau_at_k"]
    assert_printed(cell, tau[6] - tau[4] if column == "gain_5_to_7" else tau[int(column[1]) - 1])


@pytest.mark.parametrize(("dataset", "column", "cell"), cells_of("table6_variance"))
def test_table_6(rows, dataset, column, cell):
    row = rows[1][dataset]
    if column == "within_share_percent":
        assert 100 * row["within_share"] == pytest.approx(float(cell), abs=1.5)
    elif column == "corr_tau_length":
        assert row["corr_tau_tokens"] == pytest.approx(float(cell), abs=0.015)
    else:
        assert row[column.replace("mean_copy", "copy")] == pytest.approx(float(cell), abs=LOOSE)


@pytest.mark.parametrize(("dataset", "column", "cell"), cells_of("table7_tok_s_10_stages"))
def test_table_7(rows, dataset, column, cell):
    tau = 1 if dataset == "no speculation" else rows[1][dataset]["tau"]
    # a lap over 10 stages takes 10 times half a round trip
    assert_printed(cell, tau / (10 * int(column[3:]) / 2 / 1000) if column.startswith("rtt") else tau)


def test_mapping(document):
    assert [run["mapping"] for run in document["runs"]] == [None, {"matched": 30296, "total": 30296, "absent": 4}]


def test_sizes(rows, document):
    # 500, 500, 30, 164, 256, 500, 80, 500, 500 prompts of 10 copies, 4 responses of alpaca missing
    prompts = [500, 500, 30, 164, 256, 500, 80, 500, 500]
    responses = [10 * n - 4 * (name == "alpaca") for n, name in zip(prompts, DATASETS, strict=True)]
    for run in rows:
        assert list(run) == [*DATASETS, "pooled"]
    assert [rows[1][name]["prompts"] for name in [*DATASETS, "pooled"]] == [*prompts, 3030]
    assert [rows[1][name]["responses"] for name in [*DATASETS, "pooled"]] == [*responses, 30296]
    assert rows[1]["alpaca"]["responses"] == 4996
    assert rows[1]["pooled"]["steps"] == 4_344_265
    assert [run["k"] for run in document["runs"]] == [7, 7]
    assert [run["granularity"] for run in document["runs"]] == ["aggregate", "step"]


def test_pooled_row_is_the_sum_of_the_datasets(rows):
    for run in rows:
        for key in ("steps", "drafted", "accepted"):
            assert run["pooled"][key] == sum(run[name][key] for name in DATASETS)
        steps = [run[name]["steps"] for name in DATASETS]
        for key in ("tau", "verify_rate", "acceptance_ratio"):
            weighted = sum(s * run[name][key] for s, name in zip(steps, DATASETS, strict=True)) / sum(steps)
            assert run["pooled"][key] == pytest.approx(weighted, rel=1e-12)
        p = run["pooled"]["p"]
        assert run["pooled"]["c"] == pytest.approx([b / a for a, b in zip([1, *p], p, strict=False)], rel=1e-12)
    assert rows[1]["pooled"]["response_mean"] is not None  # printed as –, held all the same


def test_families(document):
    for run in document["runs"]:
        by_name = {row["dataset"]: row for row in run["datasets"]}
        assert [row["dataset"] for row in run["families"]] == list(FAMILIES)
        for row in run["families"]:
            members = [by_name[name] for name in FAMILIES[row["dataset"]]]
            assert row["family"] == row["dataset"]
            assert [member["family"] for member in members] == [row["dataset"]] * 3
            assert row["steps"] == sum(member["steps"] for member in members)
            accepted = sum(member["accepted"] for member in members)
            assert row["tau"] == pytest.approx(1 + accepted / row["steps"], rel=1e-12)
        assert by_name["pooled"]["family"] is None


def test_keys_in_order(document):
    assert list(document) == ["specdash", "evaluation", "runs"]
    assert list(document["evaluation"]) == "id title source sha256 note reconstruction order".split()
    for run in document["runs"]:
        keys = "name granularity k config semantics mapping datasets families latencies against_baseline"
        assert list(run) == [*keys.split(), "warnings", "verdict", "checks"]
        for row in run["datasets"] + run["families"]:
            assert list(row) == KEYS + INTERVAL_KEYS


def numbers_in(value):
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(inner)
    elif isinstance(value, float):
        yield value


def test_every_number_is_finite(document):
    assert all(map(math.isfinite, numbers_in(document)))
    for row in document["runs"][1]["datasets"]:
        undefined = [key for key in KEYS if row[key] is None]
        assert undefined == (["family"] if row["dataset"] == "pooled" else [])


def test_an_interval_on_every_number(document):
    for row in document["runs"][1]["datasets"]:
        assert [key for key in INTERVAL_KEYS if row[key] is None] == ["interval_note", "interval_from"]
        assert row["level"] == 0.95
        assert None not in [*row["p_ci"], *row["c_ci"], *row["tau_at_k_ci"], *row["outcome_ci"]]
        assert row["tau_ci"][0] < row["tau"] < row["tau_ci"][1]


def test_counters_borrow_the_interval_of_tau(document):
    """Run A answered every prompt once, run B ten times: A's error holds B's spread over prompts and more noise."""
    for of_a, of_b in zip(*(run["datasets"] for run in document["runs"]), strict=True):
        known = [key for key in INTERVAL_KEYS if of_a[key] is not None]
        assert known == ["level", "interval_note", "interval_from", "tau_se", "tau_ci"]
        assert of_a["interval_from"] == "7_draft_best_of_10"
        assert "borrowed from the run 7_draft_best_of_10" in of_a["interval_note"]
        assert of_a["tau_ci"][0] < of_a["tau"] < of_a["tau_ci"][1]
        noise = of_b["tau_se_copies"] ** 2
        noise_of_a = noise * of_b["steps"] / of_a["steps"]
        expected = of_b["tau_se"] ** 2 - noise + noise_of_a
        assert (of_a["tau_se"] / of_a["tau"]) ** 2 == pytest.approx(expected / of_b["tau"] ** 2)
        # Both runs answered the same prompts, so they differ by noise alone.
        assert abs(of_a["tau"] - of_b["tau"]) < 3 * math.sqrt(noise + noise_of_a)


def test_steps_of_a_prompt_are_not_independent(rows):
    """The clustered interval of mt-bench is at least ten times the one that takes its steps for independent."""
    row = rows[1]["mt-bench"]
    low, high = row["tau_ci"]
    naive = 2 * 1.959964 * row["step_std"] / math.sqrt(row["steps"])
    assert (high - low) / naive > 10
    assert row["design_effect"] > 100
    assert row["effective_steps"] < 80 * 10  # 800 responses


def test_the_error_over_prompts_follows_from_table_6(rows):
    """SE² ≈ σ_τ² / Q: printed spread of responses, corrected to that of prompts, over the square root of prompts."""
    for cells in printed("table6_variance"):
        row = rows[1].get(cells["dataset"])
        if row is None or cells["dataset"] == "pooled":
            continue
        # Longer answers weigh more, so this holds roughly where lengths do not vary with difficulty.
        over_prompts = row["response_std"] * math.sqrt(1 - row["within_share"]) / math.sqrt(row["prompts"])
        assert 0.5 < row["tau_se"] / over_prompts < 2


def test_what_the_evaluation_says_of_itself(document):
    evaluation = document["evaluation"]
    assert evaluation["reconstruction"] is True
    assert evaluation["order"] == "invented"
    assert "reconstruction" in evaluation["title"]
    assert evaluation["source"] == "reference.zip"
    codes = [[warning["code"] for warning in run["warnings"]] for run in document["runs"]]
    assert codes == [["reconstruction"], ["absent_requests", "reconstruction", "order_invented"]]


def test_it_is_sound_but_for_what_is_true_of_it(document):
    """30,300 lines of samples, four of alpaca without log rows; it agrees with its own table and stored ratios."""
    told = [
        {c["check"]: c["outcome"] for c in run["checks"] if c["outcome"] in ("warn", "fail")}
        for run in document["runs"]
    ]
    assert told == [
        {"original_log": "warn"},
        dict.fromkeys(("absent_requests", "equal_copies", "order_recorded", "original_log"), "warn"),
    ]
    assert [run["verdict"] for run in document["runs"]] == [
        {"outcome": "warn", "fail": 0, "warn": 1, "pass": 11, "not_applicable": 19},
        {"outcome": "warn", "fail": 0, "warn": 4, "pass": 22, "not_applicable": 5},
    ]
    figures = {check["check"]: check["figure"] for check in document["runs"][1]["checks"]}
    assert figures["mapping"] == "30,296 of 30,296 match"
    assert figures["absent_requests"].startswith("4 of 30,300 responses, 0.01%")
    assert figures["order_drift"] == figures["zero_tails"] == "not available: the order of steps is invented"


def test_configuration(document):
    config = document["runs"][1]["config"]
    assert (config["k"], config["model"], config["copies"], config["seed"]) == (7, "DeepSeek-V4-Pro", 10, 980406)
