"""The metrics of the golden logs against values that another implementation computed."""

import numpy as np
import pytest
from scipy import stats

from specdash.metrics import run_rows
from tests.helpers import edge, golden, log_a, log_run

FAMILIES = {"mathlike": "math", "chatlike": "chat"}
GROUPS = ("mathlike", "chatlike", "pooled")

KEY_OF = {
    "Q": "prompts",
    "S": "steps",
    "tau": "tau",
    "sigma": "step_std",
    "ratio": "acceptance_ratio",
    "verify_rate": "verify_rate",
    "p": "p",
    "c": "c",
    "P": "outcome",
    "tauK": "tau_at_k",
    "alpha_tau": "implied_alpha",
    "alpha_mle": "alpha_mle",
    "sigma_geo": "geometric_std",
    "tau_resp": "response_mean",
    "resp_sd0": "response_std",
    "corr_tokens": "corr_tau_tokens",
    "corr_steps": "corr_tau_steps",
    "mean_max": "copy_max",
    "mean_min": "copy_min",
    "mean_sd1": "copy_std",
}

EDGE_KEY_OF = {
    "S_drafted": "steps",
    "drafted": "drafted",
    "accepted": "accepted",
    "tau_drafts": "tau",
    "tau_all": "tau_all",
    "ratio": "acceptance_ratio",
    "verify_rate": "verify_rate",
    "p_unc": "p",
    "p_exposed(DeepSpec)": "p_exposed",
    "c_risk": "c",
    "p_KM": "p_km",
    "tau_KM": "tau_at_k_km",
    "tau_cap": "tau_at_k",
    "sigma": "step_std",
    "alpha_tau": "implied_alpha",
    "alpha_mle": "alpha_mle",
}


def close(value):
    return pytest.approx(value, abs=1e-6, rel=0)


@pytest.fixture(scope="module")
def rows():
    by_dataset, _ = run_rows(log_run(log_a()), FAMILIES.get)
    return {row["dataset"]: row for row in by_dataset}


@pytest.fixture(scope="module")
def expected():
    return golden("golden.json")


@pytest.fixture(scope="module")
def edge_row():
    (row, pooled), _ = run_rows(log_run(edge()), {}.get)
    assert pooled == row | {"dataset": "pooled", "family": None}
    return row


def lengths(group):
    """Step counts and tokens Σ(1 + a) by response, as exact whole numbers, and τ_r."""
    chosen = [r for r in log_a() if group in (r.dataset, "pooled")]
    steps = np.array([len(r.steps) for r in chosen])
    tokens = np.array([sum(1 + a for _, a in r.steps) for r in chosen])
    return steps, tokens, tokens / steps


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("name", KEY_OF)
def test_log_a_has_the_golden_value(rows, expected, group, name):
    assert rows[group][KEY_OF[name]] == close(expected[group][name])


@pytest.mark.parametrize("group", GROUPS)
def test_log_a_has_the_golden_percentiles(rows, expected, group):
    found = [rows[group][f"response_p{percent}"] for percent in (10, 50, 90)]
    assert found == close(expected[group]["pct_type7"])
    assert found != close(expected[group]["pct_nearest"])


@pytest.mark.parametrize("group", GROUPS)
def test_log_a_has_the_golden_variance_shares(rows, expected, group):
    anova = expected[group]["anova"]
    assert rows[group]["within_share"] == close(anova["within_share_pop"])
    assert rows[group]["within_share_corrected"] == close(anova["within_share_anova"])
    assert rows[group]["within_share_corrected"] == close(1 - anova["icc"])


@pytest.mark.parametrize("group", GROUPS)
def test_range_over_copies_is_max_minus_min(rows, expected, group):
    assert rows[group]["copy_range"] == close(expected[group]["mean_max"] - expected[group]["mean_min"])


@pytest.mark.parametrize("group", GROUPS)
def test_gap_between_tau_and_its_mean_over_responses(rows, expected, group):
    assert rows[group]["tau"] - rows[group]["response_mean"] == close(expected[group]["identity_gap"])


@pytest.mark.parametrize("group", GROUPS)
def test_responses_and_tokens_of_log_a(rows, group):
    steps, tokens, _ = lengths(group)
    row = rows[group]
    assert row["responses"] == len(steps) == {"mathlike": 96, "chatlike": 64, "pooled": 160}[group]
    assert row["steps"] == steps.sum()
    assert row["steps_without_draft"] == 0
    assert row["drafted"] == 7 * steps.sum()
    assert row["accepted"] == (tokens - steps).sum()


@pytest.mark.parametrize("group", GROUPS)
def test_correlations_of_log_a_against_scipy(rows, group):
    steps, tokens, tau = lengths(group)
    assert rows[group]["corr_tau_tokens"] == pytest.approx(stats.pearsonr(tau, tokens).statistic, abs=1e-9)
    assert rows[group]["corr_tau_steps"] == pytest.approx(stats.pearsonr(tau, steps).statistic, abs=1e-9)


@pytest.mark.parametrize("group", GROUPS)
def test_rank_correlation_of_log_a(rows, expected, group):
    _, tokens, tau = lengths(group)
    found = rows[group]["corr_tau_tokens_spearman"]
    assert found == pytest.approx(stats.spearmanr(tau, tokens).statistic, abs=1e-9)
    # The golden value ranks the float lengths S_r · τ_r. Responses of equally many tokens tie there only until
    # rounding: 100 and 99.99999999999999 get different ranks, so it is a little off what the counts give.
    assert found == pytest.approx(expected[group]["spearman_tokens"], abs=2e-3)


def test_families_of_log_a_equal_their_only_dataset(rows):
    _, by_family = run_rows(log_run(log_a()), FAMILIES.get)
    assert [row["dataset"] for row in by_family] == ["math", "chat"]
    for row, dataset in zip(by_family, ("mathlike", "chatlike"), strict=True):
        assert row == rows[dataset] | {"dataset": row["family"]}


@pytest.mark.parametrize("name", EDGE_KEY_OF)
def test_edge_has_the_golden_value(edge_row, name):
    assert edge_row[EDGE_KEY_OF[name]] == close(golden("golden_e2.json")["edge"][name])


def test_edge_counts_behind_the_conditional_rates(edge_row):
    counts = golden("golden_e2.json")["edge"]
    assert edge_row["c"] == close([hit / risk for hit, risk in zip(counts["hit"], counts["risk"], strict=True)])
    # The naive ratio p_i / p_(i-1) takes steps for rejected whose draft was too short.
    assert edge_row["c"] != close(counts["c_naive_ratio"])


def test_edge_verify_rate_leaves_out_the_undrafted_step(edge_row):
    counts = golden("golden_e2.json")["edge"]
    assert edge_row["steps"] + edge_row["steps_without_draft"] == counts["S_all"]
    assert edge_row["verify_rate"] != close(counts["verify_rate_all_rows"])


def test_edge_by_response(edge_row):
    # τ_r on drafted steps: 1 + 15/3, 1 + 3/2, 1 + 2, 1 + 14/3; the fifth response has no rows in the log.
    taus = [6, 2.5, 3, 17 / 3]
    assert edge_row["responses"] == 4
    assert edge_row["prompts"] == 3
    assert edge_row["response_mean"] == pytest.approx(np.mean(taus))
    assert edge_row["response_std"] == pytest.approx(np.std(taus))
    # p0 alone has copies: within ((6 - 4.25)² + (2.5 - 4.25)²) of the variance of all four.
    assert edge_row["within_share"] == pytest.approx(2 * 1.75**2 / (4 * np.var(taus)))
    assert edge_row["within_share_corrected"] is None
    assert [edge_row[f"copy_{what}"] for what in ("min", "max", "range")] == [2.5, 6, 3.5]
    assert edge_row["copy_std"] == pytest.approx(3.5 / np.sqrt(2))


def test_edge_length_is_the_logged_output_tokens(edge_row):
    taus, tokens, steps = [6, 2.5, 3, 17 / 3], [21, 7, 4, 16], [3, 2, 1, 3]
    assert edge_row["corr_tau_tokens"] == pytest.approx(stats.pearsonr(taus, tokens).statistic)
    assert edge_row["corr_tau_tokens_spearman"] == pytest.approx(stats.spearmanr(taus, tokens).statistic)
    assert edge_row["corr_tau_steps"] == pytest.approx(stats.pearsonr(taus, steps).statistic)
