"""What has an interval, what has none and why, and what follows from the seed."""

import math

import pytest
from scipy import stats

from specdash.metrics import CI_KEYS, ERROR_KEYS, FEW, FEWEST, INTERVAL_KEYS, KEYS, Background, get, run_rows
from specdash.schema import LEVEL, Granularity
from tests.helpers import Response, counter_run, counters_of, log_a, log_run, rates_run, response

ERRORS = ["tau_se", "design_effect", "effective_steps", *ERROR_KEYS]
SURE = [*INTERVAL_KEYS, *ERROR_KEYS]


def of(responses, keys=SURE, **fields):
    """The first row: of the first dataset."""
    return run_rows(log_run(responses, **fields), {}.get, keys)[0][0]


def varied(prompts, copies=2, dataset="d"):
    """Prompts that accept different shares of two drafted tokens."""
    return [
        response(
            *[(2, 0)] * (1 + q % 3), *[(2, 1)] * (2 + copy), *[(2, 2)] * (1 + q % 4), dataset=dataset, prompt=f"q{q}"
        )
        for q in range(prompts)
        for copy in range(copies)
    ]


def test_what_has_an_interval():
    assert set(CI_KEYS) == {
        f"{key}_ci"
        for key in """
        tau tau_all verify_rate acceptance_ratio p p_exposed p_km c outcome step_std implied_alpha alpha_mle
        tau_at_k tau_at_k_km within_share_corrected
        """.split()
    }
    for key in KEYS:
        declared = get(key)
        assert (declared.interval is not None) == (f"{key}_ci" in CI_KEYS)
        if declared.interval:
            assert declared.interval.how.startswith("95%")


def test_an_interval_has_the_shape_of_its_number():
    run = log_run(varied(25))
    (numbers, _), _ = run_rows(run, {}.get)
    (row, _), _ = run_rows(run, {}.get, INTERVAL_KEYS)
    for key in CI_KEYS:
        value, ends = numbers[key.removesuffix("_ci")], row[key]
        pairs = zip(value, ends, strict=True) if isinstance(value, list) else [(value, ends)]
        for number, (low, high) in pairs:
            assert low < number < high, key
            assert type(low) is type(high) is float


@pytest.mark.parametrize(
    ("run", "note"),
    [
        (log_run(varied(1)), "no interval: one prompt, 5 are needed"),
        (log_run(varied(3)), "no interval: 3 prompts, 5 are needed"),
        (log_run(varied(FEWEST - 1)), "no interval: 4 prompts, 5 are needed"),
        (log_run([response((2, 1), prompt=None)] * 9), "no interval: no samples say which prompt a response answers"),
        (
            log_run([*varied(30), response((2, 1), prompt=None)]),
            "no interval: the prompt of 1 of 61 responses is not known",
        ),
        (log_run([response((0, 0))] * 3), "no interval: no step drafted any token"),
        (counter_run(counters_of([(2, 1)] * 9, block=2)), "no interval: counters do not tell prompts apart"),
        (
            rates_run({"dataset": "d", "tau": 3.0, "verify_rate": None, "mean_drafted": None, "p_exposed": None}),
            "no interval: printed ratios have no counts",
        ),
    ],
)
def test_no_interval_says_why(run, note):
    row = run_rows(run, {}.get, SURE)[0][0]
    assert row["interval_note"] == note
    assert row["level"] == LEVEL
    assert all(row[key] is None for key in (*CI_KEYS, *ERRORS))


def test_few_prompts_are_warned_of():
    assert of(varied(FEWEST))["interval_note"] == "only 5 prompts, so the interval is rough"
    assert of(varied(FEW - 1))["interval_note"] == "only 19 prompts, so the interval is rough"
    assert of(varied(FEW))["interval_note"] is None
    assert of(varied(FEWEST))["tau_ci"] is not None


def test_prompts_that_have_most_of_the_steps_are_warned_of():
    """One of 500 steps and 29 of 10: (500 + 290)² / (500² + 29 · 10²) = 2.47 prompts of equal length."""
    log = [response(*[(2, i % 3) for i in range(500 if q == 0 else 10)], prompt=str(q)) for q in range(30)]
    assert of(log)["interval_note"] == (
        "the 30 prompts weigh as few as 2.5 of equal length would, so the interval is rough"
    )
    assert of(log)["tau_ci"] is not None


@pytest.mark.parametrize("prompts", [8, 40])
def test_prompts_that_are_all_alike_are_told(prompts):
    row = of([response((2, 0), (2, 1), (2, 2), prompt=str(q)) for q in range(prompts)])
    assert row["interval_note"] == f"all {prompts} prompts have the same τ, so it has no interval"
    assert row["tau_ci"] is row["tau_se"] is None


def test_responses_without_a_drafted_step_need_no_prompt():
    assert of([*varied(30), response((0, 0), prompt=None)])["interval_note"] is None


@pytest.mark.parametrize("prompts", [5, 60])
def test_one_outcome_alone_gets_the_rule_of_three(prompts):
    """Position 0 is always accepted, position 2 never."""
    log = [response((3, 1), (3, 2), *[(3, 2)] * (q % 3), prompt=str(q)) for q in range(prompts)]
    row = of(log)
    reach = 1 - 0.05 ** (1 / prompts)
    # What is seen in none of n independent prompts has a rate of at most u with (1 − u)^n = 5 %: scipy's exact bound.
    exact = stats.binomtest(0, prompts, alternative="less").proportion_ci(LEVEL).high
    assert reach == pytest.approx(exact)
    assert row["p_ci"][0] == pytest.approx([1 - reach, 1])
    assert row["p_ci"][2] == row["c_ci"][2] == pytest.approx([0, reach])
    assert row["c_ci"][0] == pytest.approx([1 - reach, 1])
    assert row["outcome_ci"][0] == pytest.approx([0, reach])
    assert row["tau_at_k_ci"][0] == pytest.approx([2 - reach, 2])
    assert 0 < row["p_ci"][1][0] < row["p_ci"][1][1] < 1


def test_nothing_accepted():
    row = of([response((4, 0), (4, 0), prompt=str(q)) for q in range(10)])
    reach = 1 - 0.05**0.1
    assert row["tau_ci"] == pytest.approx([1, 1 + 4 * reach])
    assert row["p_ci"] == [pytest.approx([0, reach])] * 4
    assert row["c_ci"] == [pytest.approx([0, reach]), None, None, None]  # no step is at risk beyond the first
    assert row["implied_alpha_ci"] == row["alpha_mle_ci"] == pytest.approx([0, reach])
    assert row["step_std_ci"] is None
    assert row["tau_se"] is row["tau_se_naive"] is row["design_effect"] is row["effective_steps"] is None


def test_everything_accepted():
    row = of([response((4, 4), prompt=str(q)) for q in range(10)])
    reach = 1 - 0.05**0.1
    assert row["tau_ci"] == pytest.approx([5 - 4 * reach, 5])
    assert row["verify_rate_ci"] == row["alpha_mle_ci"] == pytest.approx([1 - reach, 1])


def test_prompts_that_do_not_differ_tell_no_error():
    row = of([response((2, 0), (2, 1), (2, 2), prompt=str(q)) for q in range(30)])
    assert all(row[key] is None for key in ("tau_ci", "tau_se", "tau_se_copies", "implied_alpha_ci", "step_std_ci"))
    assert row["p_ci"] == [None, None]


def test_a_position_that_few_prompts_reach_has_no_interval():
    log = varied(30)
    log += [response((9, 8), (9, 4), prompt=f"q{q}") for q in range(4)]
    row = of(log)
    assert row["c_ci"][3] is None and row["c_ci"][4] is None  # four prompts get there
    assert row["c_ci"][1] is not None
    assert row["p_ci"][3] is not None  # all 30 prompts say that it is rare


def test_a_dataset_of_one_prompt_is_held_against_the_whole():
    log = [*varied(30, dataset="many"), response((2, 2), (2, 2), dataset="lone", prompt="q")]
    *_, pooled = run_rows(log_run(log), {}.get, INTERVAL_KEYS)[0]
    assert pooled["tau_ci"][0] < pooled["tau_ci"][1]
    # X_lone − Z_lone · τ over Z, squared, is what the lone prompt brings: not nothing.
    (alone, *_), _ = run_rows(log_run(log), {}.get, INTERVAL_KEYS)
    assert pooled["tau_se"] > alone["tau_se"] * 0.95


def test_intervals_stay_within_what_can_be():
    log = [response(*[(1, 1)] * 40, *([(1, 0)] if q == 3 else []), prompt=str(q)) for q in range(6)]
    row = of(log)
    assert row["tau_ci"][1] == row["tau_at_k_ci"][0][1] == 2
    assert row["p_ci"][0][1] < 1
    log = [response(*[(1, 0)] * 40, *([(1, 1)] if q == 3 else []), prompt=str(q)) for q in range(6)]
    assert of(log)["tau_ci"][0] == 1


def test_copies_are_needed_for_the_error_of_these_prompts():
    assert of(varied(30, copies=1))["tau_se_copies"] is None
    assert of(varied(30, copies=1))["tau_se"] is not None
    assert of(varied(30, copies=2))["tau_se_copies"] > 0


def test_within_share_of_identical_copies_has_no_interval():
    log = [r for r in varied(30, copies=1) for _ in range(2)]
    assert of(log)["within_share_corrected_ci"] is None


# Seeds


def bootstraps(log, seed):
    by_dataset, by_family = run_rows(
        log_run(log), {"x": "math", "y": "math"}.get, ["tau_se_bootstrap"], Background(seed)
    )
    return {row["dataset"]: row["tau_se_bootstrap"] for row in (*by_dataset, *by_family)}


def test_a_seed_gives_the_same_figure_always():
    x, y = varied(25, dataset="x"), varied(12, dataset="y")
    found = bootstraps(x + y, "4c6ca3729fdb/run")
    assert bootstraps(y[::-1] + x[::-1], "4c6ca3729fdb/run") == pytest.approx(found, rel=1e-12)
    assert bootstraps(x, "4c6ca3729fdb/run")["x"] == found["x"]  # the same alone
    assert bootstraps(x + y, "another/run")["x"] != found["x"]
    assert found["pooled"] == found["math"]  # both hold x and y
    assert found["x"] == pytest.approx(bootstraps(x + y, "another/run")["x"], rel=0.1)


def test_the_bootstrap_agrees_with_the_jackknife_on_a_golden_log():
    (row, *_), _ = run_rows(log_run(log_a()), {}.get, ["tau_se", "tau_se_bootstrap"])
    # Drawing with replacement gives (Q − 1)/Q of the variance.
    assert row["tau_se_bootstrap"] == pytest.approx(row["tau_se"] * math.sqrt(23 / 24), rel=0.06)


def test_granularity_response_is_enough():
    log = [Response(r.steps, r.dataset, r.prompt) for r in varied(25)]
    steps, sums = (of(log, granularity=g) for g in (Granularity.STEP, Granularity.RESPONSE))
    assert steps == sums
