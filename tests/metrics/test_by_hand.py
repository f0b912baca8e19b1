"""Edge cases with values counted by hand."""

from dataclasses import replace
from math import sqrt

import polars as pl
import pytest
from hypothesis import given
from scipy import optimize

from specdash.metrics import KEYS, restricted, run_rows
from specdash.schema import COUNTS, RESPONSES, Granularity, Run
from tests.helpers import log_run, response, taking
from tests.metrics.logs import FAMILIES, fewer, variable_logs

COPY_KEYS = ["within_share", "within_share_corrected", "copy_std", "copy_range", "copy_max", "copy_min"]
CORRELATIONS = ["corr_tau_tokens", "corr_tau_steps", "corr_tau_tokens_spearman"]


def only_row(*responses, k=None):
    """The row of a log of one dataset; the pooled row has to say the same."""
    (row, pooled), families = run_rows(log_run(responses, k), {}.get)
    assert families == []
    assert pooled == row | {"dataset": "pooled", "family": None}
    return row


def steps(*steps, k=None):
    return only_row(response(*steps), k=k)


def having(row, **expected):
    for key, value in expected.items():
        if isinstance(value, list):
            assert [v is None for v in row[key]] == [v is None for v in value], key
            known = [v for v in value if v is not None]
            assert [v for v in row[key] if v is not None] == pytest.approx(known, abs=1e-12), key
        else:
            assert row[key] == (None if value is None else pytest.approx(value, abs=1e-12)), key


# Steps


def test_one_draft_token():
    row = steps((1, 1), (1, 1), (1, 0), (1, 1))
    having(row, steps=4, drafted=4, accepted=3, tau=1.75, tau_all=1.75, verify_rate=7 / 8, acceptance_ratio=0.75)
    having(row, p=[0.75], p_exposed=[0.75], p_km=[0.75], c=[0.75], outcome=[0.25, 0.75])
    having(row, implied_alpha=0.75, alpha_mle=0.75, geometric_outcome=[0.25, 0.75])
    having(row, step_std=sqrt(3) / 4, geometric_std=sqrt(3) / 4, tau_at_k=[1.75], tau_at_k_km=[1.75])


@pytest.mark.parametrize("k", [16, 64])
def test_many_draft_tokens_each_count_of_accepted_once(k):
    row = steps(*((k, a) for a in range(k + 1)))
    positions = range(k)
    having(row, steps=k + 1, drafted=k * (k + 1), accepted=k * (k + 1) // 2, tau=1 + k / 2, acceptance_ratio=0.5)
    having(row, p=[(k - i) / (k + 1) for i in positions], c=[(k - i) / (k + 1 - i) for i in positions])
    having(row, outcome=[1 / (k + 1)] * (k + 1), step_std=sqrt(((k + 1) ** 2 - 1) / 12))
    having(row, tau_at_k=[1 + sum(k - i for i in range(j)) / (k + 1) for j in range(1, k + 1)])
    having(row, alpha_mle=(k + 1) / (k + 3))  # k(k + 1)/2 accepted, k steps stopped before the end
    alpha = optimize.brentq(lambda a: (1 - a ** (k + 1)) / (1 - a) - (1 + k / 2), 0.1, 0.999, xtol=1e-14)
    assert row["implied_alpha"] == pytest.approx(alpha, abs=1e-10)


@pytest.mark.parametrize("k", [1, 3, 7, 16])
def test_everything_accepted(k):
    row = steps((k, k), (k, k), (k, k))
    having(row, tau=k + 1, verify_rate=1, acceptance_ratio=1, p=[1] * k, c=[1] * k, p_km=[1] * k, step_std=0)
    having(row, outcome=[0] * k + [1], implied_alpha=1, alpha_mle=1, geometric_outcome=[0] * k + [1])
    assert row["geometric_std"] == pytest.approx(0, abs=1e-6)
    having(row, tau_at_k=list(range(2, k + 2)), tau_at_k_km=list(range(2, k + 2)))


def test_everything_accepted_of_drafts_of_every_length():
    row = steps((1, 1), (2, 2), (4, 4), (0, 0))
    having(row, tau=10 / 3, tau_all=11 / 4, implied_alpha=1, alpha_mle=1, p=[1, 2 / 3, 1 / 3, 1 / 3])
    having(row, p_exposed=[1] * 4, c=[1] * 4, p_km=[1] * 4, tau_at_k_km=[2, 3, 4, 5])
    having(row, outcome=[0, 1 / 3, 1 / 3, 0, 1 / 3], geometric_outcome=[0, 1 / 3, 1 / 3, 0, 1 / 3])


@pytest.mark.parametrize("k", [1, 3, 16])
def test_nothing_accepted(k):
    row = steps((k, 0), (k, 0))
    having(row, tau=1, verify_rate=1 / (k + 1), acceptance_ratio=0, p=[0] * k, p_exposed=[0] * k)
    having(row, c=[0] + [None] * (k - 1), p_km=[0] * k, outcome=[1] + [0] * k, step_std=0)
    having(row, implied_alpha=0, alpha_mle=0, geometric_outcome=[1] + [0] * k, geometric_std=0)
    having(row, tau_at_k=[1] * k, tau_at_k_km=[1] * k)


def test_no_step_at_risk_leaves_deeper_positions_undefined():
    # Two tokens are drafted once and the first is rejected: nobody knows what would follow an accepted one.
    row = steps((1, 1), (2, 0), (3, 0))
    having(row, p=[1 / 3, 0, 0], p_exposed=[1 / 3, 0, 0], c=[1 / 3, None, None], p_km=[1 / 3, None, None])
    having(row, tau_at_k=[4 / 3] * 3, tau_at_k_km=[4 / 3, None, None])


def test_the_undrafted_step_counts_in_tau_all_alone():
    row = steps((0, 0), (2, 1), (2, 2), (0, 0))
    having(row, steps=2, steps_without_draft=2, tau=2.5, tau_all=1.75, verify_rate=5 / 6, acceptance_ratio=0.75)
    having(row, p=[1, 0.5], c=[1, 0.5], outcome=[0, 0.5, 0.5], response_mean=2.5)


@pytest.mark.parametrize("k", [0, 1, 3])
def test_only_steps_without_a_draft(k):
    row = steps((0, 0), (0, 0), k=k)
    having(row, prompts=1, responses=1, steps=0, steps_without_draft=2, drafted=0, accepted=0, tau_all=1)
    positions = ["p", "p_exposed", "p_km", "c", "tau_at_k", "tau_at_k_km"]
    assert [row[key] for key in positions] == [[None] * k] * 6
    assert row["outcome"] == [None] * (k + 1)
    rest = set(KEYS) - {"prompts", "responses", "steps", "steps_without_draft", "drafted", "accepted", "tau_all"}
    assert {key for key in rest if row[key] is not None} == {*positions, "outcome"}


def test_a_run_without_responses_has_no_rows():
    assert run_rows(log_run([]), {}.get) == ([], [])


def test_a_dataset_of_shorter_drafts_than_the_run():
    log = [response((2, 2), (2, 1), dataset="short"), response((4, 4), (4, 0), dataset="long")]
    (short, long, pooled), _ = run_rows(log_run(log), {}.get)
    having(short, tau=2.5, verify_rate=5 / 6, p=[1, 0.5, 0, 0], p_exposed=[1, 0.5, None, None])
    having(short, c=[1, 0.5, None, None], p_km=[1, 0.5, None, None], outcome=[0, 0.5, 0.5, 0, 0])
    having(short, tau_at_k=[2, 2.5, 2.5, 2.5], tau_at_k_km=[2, 2.5, None, None], step_std=0.5, alpha_mle=0.75)
    alpha = (sqrt(7) - 1) / 2  # 1 + α + α² = 2.5
    having(short, implied_alpha=alpha, geometric_outcome=[1 - alpha, (1 - alpha) * alpha, alpha**2, 0, 0])
    having(long, tau=3, p=[0.5] * 4, p_km=[0.5] * 4, c=[0.5, 1, 1, 1], alpha_mle=0.8)
    having(pooled, tau=2.75, p=[0.75, 0.5, 0.25, 0.25], p_exposed=[0.75, 0.5, 0.5, 0.5], alpha_mle=7 / 9)
    having(pooled, c=[0.75, 2 / 3, 1, 1], p_km=[0.75, 0.5, 0.5, 0.5])
    having(pooled, tau_at_k=[1.75, 2.25, 2.5, 2.75], tau_at_k_km=[1.75, 2.25, 2.75, 3.25])


def test_pooled_conditional_rates_are_no_average():
    log = [response(*[(2, 2)] * 9, (2, 0), dataset="easy"), response(*[(2, 0)] * 9, (2, 1), dataset="hard")]
    (easy, hard, pooled), _ = run_rows(log_run(log), {}.get)
    having(easy, c=[0.9, 1])
    having(hard, c=[0.1, 0])
    having(pooled, c=[0.5, 0.9], tau=1.95)


# Responses


def test_one_response():
    row = only_row(response((4, 1), (4, 4), (4, 2)))
    tau = 10 / 3
    having(row, prompts=1, responses=1, response_mean=tau, response_std=0)
    having(row, response_p10=tau, response_p50=tau, response_p90=tau)
    assert [row[key] for key in [*COPY_KEYS, *CORRELATIONS]] == [None] * 9


def test_one_copy_a_prompt():
    row = only_row(*(taking(tau, prompt=f"q{tau}") for tau in (2, 3, 7)))
    having(row, prompts=3, responses=3, response_mean=4, response_std=sqrt(14 / 3))
    assert [row[key] for key in COPY_KEYS] == [None] * 6


def test_unknown_prompts():
    row = only_row(taking(2, prompt=None), taking(3, prompt=None), taking(5, prompt=None))
    having(row, prompts=None, responses=3, response_mean=10 / 3, response_p50=3)
    assert [row[key] for key in COPY_KEYS] == [None] * 6


def test_a_response_of_unknown_prompt_is_in_no_variance_share():
    known = [taking(2, prompt="a"), taking(4, prompt="a"), taking(6, prompt="b"), taking(8, prompt="b")]
    row = only_row(*known, taking(3, prompt=None))
    having(row, prompts=2, responses=5, response_mean=23 / 5, within_share=0.2, copy_range=2)


def test_unequal_copies():
    row = only_row(*(taking(t, prompt="a") for t in (2, 3)), *(taking(t, prompt="b") for t in (4, 5, 6)))
    # Around the prompts' means 2.5 and 5: 0.5 + 2. Around the mean of all, 4: 10.
    having(row, prompts=2, responses=5, response_mean=4, response_std=sqrt(2), within_share=0.25)
    # MSW = 2.5/3, MSB = 2·1.5² + 3·1² = 7.5, n0 = 5 − 13/5 = 2.4, σ_b² = (7.5 − 2.5/3)/2.4 = 25/9.
    having(row, within_share_corrected=(2.5 / 3) / (2.5 / 3 + 25 / 9))
    having(row, copy_std=(sqrt(0.5) + 1) / 2, copy_range=1.5, copy_max=4.5, copy_min=3)


def test_a_prompt_with_one_copy_is_between_prompts_only():
    row = only_row(taking(2, prompt="a"), taking(3, prompt="a"), taking(4, prompt="b"))
    having(row, within_share=0.25, within_share_corrected=None)
    having(row, copy_std=sqrt(0.5), copy_range=1, copy_max=3, copy_min=2)


def test_copies_that_differ_more_than_prompts():
    row = only_row(*(taking(t, prompt=q) for q in "ab" for t in (2, 6)))
    having(row, within_share=1, within_share_corrected=1, copy_std=sqrt(8))


def test_copies_that_agree():
    row = only_row(*(taking(t, prompt=q) for q, t in (("a", 2), ("a", 2), ("b", 5), ("b", 5))))
    having(row, within_share=0, within_share_corrected=0, copy_std=0, copy_range=0, copy_max=3.5, copy_min=3.5)


@pytest.mark.parametrize(("copies", "accepted", "out_of"), [(2, 1, 2), (3, 2, 3), (5, 5, 7), (6, 2, 3), (7, 2, 7)])
@pytest.mark.parametrize("prompts", ["a", "ab", "abc"])
def test_constant_tau_has_no_variance_to_share(copies, accepted, out_of, prompts):
    # In floats the mean of equal numbers is not always that number.
    same = [(1, 1)] * accepted + [(1, 0)] * (out_of - accepted)
    log = [response(*same * n, prompt=prompt) for prompt in prompts for n in range(1, copies + 1)]
    row = only_row(*log)
    having(row, copy_std=0, copy_range=0, response_std=0)
    assert [row[key] for key in ("within_share", "within_share_corrected", *CORRELATIONS)] == [None] * 5


def test_constant_length_has_no_correlation():
    row = only_row(response((3, 3), (3, 0)), response((3, 1), (3, 2)), response((0, 0), (3, 2), (0, 0)))
    assert row["corr_tau_tokens"] is None  # five tokens each
    assert row["corr_tau_tokens_spearman"] is None
    having(row, corr_tau_steps=-1)  # τ_r 2.5, 2.5 and 3 over 2, 2 and 1 drafted steps


def test_correlations_of_two_and_three_responses():
    two = only_row(taking(2), response((3, 2), (3, 3)))
    having(two, corr_tau_tokens=1, corr_tau_steps=1, corr_tau_tokens_spearman=1)
    # τ 2, 4, 3 and output tokens 10, 20, 1000.
    three = only_row(taking(2, output_tokens=10), taking(4, output_tokens=20), taking(3, output_tokens=1000))
    having(three, corr_tau_tokens_spearman=0.5, corr_tau_steps=None)
    assert three["corr_tau_tokens"] == pytest.approx(10 / sqrt(2 * (10**2 + 20**2 + 1000**2 - 1030**2 / 3)))


def test_output_tokens_count_only_when_all_responses_have_them():
    log = [taking(2, output_tokens=30), taking(3, output_tokens=20), taking(4, output_tokens=10)]
    having(only_row(*log), corr_tau_tokens=-1)
    having(only_row(*log[:2], replace(log[2], output_tokens=None)), corr_tau_tokens=1)


def test_a_response_without_a_drafted_step_has_no_tau():
    row = only_row(taking(2), taking(4), response((0, 0)))
    having(row, responses=3, prompts=1, response_mean=3, response_std=1, response_p50=3, copy_min=2, within_share=1)
    having(row, steps=2, steps_without_draft=1, tau=3, tau_all=7 / 3)


def test_a_response_without_rows_changes_no_metric_of_the_others():
    log = [taking(2), taking(4)]
    expected = only_row(*log)
    found = only_row(*log, response())
    assert found == expected | {"responses": 3}


@pytest.mark.parametrize("seen", [["d", "e"], ["e", "d"]])
def test_prompts_of_the_same_name_in_two_datasets_are_two(seen):
    taus = {"d": (2, 4), "e": (6, 8)}
    log = [taking(tau, dataset=name, prompt="0") for name in seen for tau in taus[name]]
    (*by_dataset, pooled), families = run_rows(log_run(log), lambda name: "both")
    assert [row["dataset"] for row in by_dataset] == seen
    for row in (pooled, *families):
        # Two prompts of two copies: 4 within, 20 in all.
        having(row, prompts=2, responses=4, within_share=0.2, copy_range=2, copy_max=6, copy_min=4)


def test_pooled_percentiles_are_over_all_responses():
    log = [taking(tau, dataset=name) for name, taus in (("a", (1, 2, 3)), ("b", (9,))) for tau in taus]
    (a, b, pooled), _ = run_rows(log_run(log), {}.get)
    having(a, response_p10=1.2, response_p50=2, response_p90=2.8)
    having(b, response_p10=9, response_p50=9, response_p90=9)
    # Of 1, 2, 3, 9: at 0.3, 1.5 and 2.7 on a scale from 0 to 3.
    having(pooled, response_mean=3.75, response_p10=1.3, response_p50=2.5, response_p90=3 + 0.7 * 6)


def test_percentiles_interpolate():
    row = only_row(*(taking(tau) for tau in (1, 2, 3, 4, 9)))
    having(row, response_p10=1.4, response_p50=3, response_p90=7)


def test_a_prompt_with_more_copies_than_32_bits_hold_squared():
    copies = 70_000
    tau = [2, 4] * (copies // 2) + [5, 7] * (copies // 2)
    table = pl.DataFrame({"response": range(2 * copies), "prompt": ["a"] * copies + ["b"] * copies}).select(
        pl.col("response").cast(pl.Int32),
        pl.col("response").cast(pl.String).alias("request"),
        pl.lit("d").alias("dataset"),
        "prompt",
        pl.lit(None, pl.Int32).alias("copy"),
        pl.lit(None, pl.Int64).alias("output_tokens"),
    )
    counts = pl.DataFrame({"response": table["response"], "drafted": 7, "accepted": tau, "steps": 1}).with_columns(
        accepted=pl.col("accepted") - 1
    )
    run = Run("run", Granularity.RESPONSE, 7, responses=table.cast(dict(RESPONSES)), counts=counts.cast(dict(COUNTS)))
    (row, _), _ = run_rows(run, {}.get)
    msw = 2 * copies / (2 * copies - 2)
    msb = 2 * copies * 1.5**2
    assert row["within_share"] == pytest.approx(1 / 3.25)
    assert row["within_share_corrected"] == pytest.approx(msw / (msw + (msb - msw) / copies))


# Families, and runs with only some of their datasets


def test_families_are_sums_and_the_unknown_have_none():
    log = [taking(2, dataset="a"), taking(6, dataset="b"), taking(3, dataset="c"), taking(4, dataset="c")]
    by_dataset, by_family = run_rows(log_run(log), {"a": "code", "c": "code"}.get)
    assert [(row["dataset"], row["family"]) for row in by_dataset] == [
        ("a", "code"),
        ("b", "other"),
        ("c", "code"),
        ("pooled", None),
    ]
    (code,) = by_family
    assert (code["dataset"], code["family"]) == ("code", "code")
    having(code, prompts=2, responses=3, steps=3, tau=3, response_p50=3, step_std=sqrt(2 / 3))


def test_rows_are_in_the_order_of_the_log():
    log = [taking(2, dataset=name) for name in ("z", "a", "m", "a", "b")]
    by_dataset, by_family = run_rows(log_run(log), {"z": "two", "a": "one", "m": "two", "b": "one"}.get)
    assert [row["dataset"] for row in by_dataset] == ["z", "a", "m", "b", "pooled"]
    assert [row["dataset"] for row in by_family] == ["two", "one"]


def test_step_granularity_says_no_more_than_response_granularity():
    log = [taking(2, dataset="a", prompt="q"), taking(6, dataset="b"), response((8, 3), (4, 4), dataset="b")]
    coarse = log_run(log, granularity=Granularity.RESPONSE)
    assert run_rows(coarse, {}.get) == run_rows(log_run(log), {}.get)


@fewer
@given(variable_logs)
def test_a_dataset_has_the_same_row_whatever_else_is_chosen(log):
    run = log_run(log)
    by_dataset, _ = run_rows(run, FAMILIES.get)
    for row in by_dataset[:-1]:
        (alone, pooled), _ = run_rows(restricted(run, [row["dataset"]]), FAMILIES.get)
        assert alone == row
        assert pooled == row | {"dataset": "pooled", "family": None}


def test_a_dataset_correlates_with_the_same_length_whatever_else_is_chosen():
    known = [taking(2, output_tokens=30), taking(3, output_tokens=20), taking(4, output_tokens=10)]
    run = log_run([*known, taking(5, dataset="e")])
    (row, _, _), _ = run_rows(run, {}.get)
    (alone, _), _ = run_rows(restricted(run, ["d"]), {}.get)
    assert alone["corr_tau_tokens"] == row["corr_tau_tokens"]
