"""Errors and intervals of the golden log against values that another implementation computed."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from specdash.metrics import ERROR_KEYS, INTERVAL_KEYS, Background, acceptance, run_rows
from specdash.metrics.clusters import Clusters, Sampling
from specdash.metrics.components import Components
from specdash.metrics.group import groups
from specdash.metrics.variance import jackknife, linearised
from tests.helpers import golden, log_a, log_run

ONE = ("mathlike", "chatlike")
GROUPS = (*ONE, "pooled")
DATASETS = {"mathlike": ["mathlike"], "chatlike": ["chatlike"], "pooled": list(ONE)}


def close(value):
    return pytest.approx(value, abs=1e-9, rel=0)


@pytest.fixture(scope="module")
def expected():
    return golden("golden.json")


@pytest.fixture(scope="module")
def rows():
    by_dataset, _ = run_rows(log_run(log_a()), {}.get, [*INTERVAL_KEYS, *ERROR_KEYS], Background("golden"))
    return {row["dataset"]: row for row in by_dataset}


@pytest.fixture(scope="module")
def prompts():
    return Sampling(log_run(log_a())).prompts


def unstratified(clusters):
    """The same clusters as if they were of one dataset: the golden pooled values but ``se_strat`` ignore strata."""
    return replace(clusters, units=clusters.units.with_columns(dataset=pl.lit("all")))


@pytest.mark.parametrize("group", GROUPS)
def test_standard_errors_of_tau(prompts, expected, group):
    clusters = unstratified(prompts.only(DATASETS[group]))
    found = linearised(clusters.tally.accepted, clusters.tally.steps, clusters)
    assert found.se == close(expected[group]["se_prompt_CR1"])
    assert jackknife(acceptance.tau, clusters).se == close(expected[group]["se_prompt_jack"])
    assert found.df == len(clusters.units) - 1 == expected[group]["Q"] - 1


@pytest.mark.parametrize("group", GROUPS)
def test_standard_errors_by_position(prompts, expected, group):
    clusters = unstratified(prompts.only(DATASETS[group]))
    tally = clusters.tally
    assert linearised(tally.hits, tally.steps[:, None], clusters).se == close(expected[group]["p_se"])
    assert linearised(tally.hits, tally.risk, clusters).se == close(expected[group]["c_se"])


def test_the_pooled_row_is_stratified(rows, prompts, expected):
    found = linearised(prompts.tally.accepted, prompts.tally.steps, prompts)
    assert found.se == close(expected["pooled"]["se_strat"])
    assert rows["pooled"]["tau_se_linear"] == close(expected["pooled"]["se_strat"])
    # Satterthwaite's degrees of freedom lie between those of a stratum and those of both.
    assert 16 - 1 < found.df < 40 - 2


@pytest.mark.parametrize("group", GROUPS)
def test_standard_errors_by_response(expected, group):
    log = [r for r in log_a() if r.dataset in DATASETS[group]]
    alone = [replace(r, dataset="all", prompt=str(i)) for i, r in enumerate(log)]
    clusters = Sampling(log_run(alone)).prompts
    found = linearised(clusters.tally.accepted, clusters.tally.steps, clusters)
    assert found.se == close(expected[group]["se_request_CR1"])


@pytest.mark.parametrize("group", ONE)
def test_errors_of_a_dataset(rows, expected, group):
    row, values = rows[group], expected[group]
    assert row["tau_se"] == close(values["se_prompt_jack"])
    assert row["tau_se_linear"] == close(values["se_prompt_CR1"])
    assert row["tau_se_naive"] == close(values["se_naive"])
    assert row["design_effect"] == close(values["deff_prompt"])
    assert row["effective_steps"] == close(values["S"] / values["deff_prompt"])


def test_design_effects_as_printed(rows, prompts, expected):
    assert [round(rows[group]["design_effect"], 1) for group in ONE] == [12.3, 74.1]
    whole = unstratified(prompts)
    clustered = linearised(whole.tally.accepted, whole.tally.steps, whole).se
    assert round(float((clustered / rows["pooled"]["tau_se_naive"]) ** 2), 1) == 57.4
    # The row keeps datasets as strata: .20942 instead of .23385.
    assert rows["pooled"]["design_effect"] == close(
        (expected["pooled"]["se_strat"] / expected["pooled"]["se_naive"]) ** 2
    )


@pytest.mark.parametrize("group", ONE)
def test_intervals_of_a_dataset(rows, expected, group):
    assert rows[group]["tau_ci"] == close(expected[group]["ci_log_jack"])
    assert rows[group]["c_ci"][6] == close(expected[group]["c6_logit_jack_t"])


def test_intervals_that_ignore_strata(expected):
    merged = [replace(r, dataset="all", prompt=f"{r.dataset} {r.prompt}") for r in log_a()]
    (row, _), _ = run_rows(log_run(merged), {}.get, INTERVAL_KEYS)
    assert row["tau_ci"] == close(expected["pooled"]["ci_log_jack"])
    assert row["c_ci"][6] == close(expected["pooled"]["c6_logit_jack_t"])
    assert row["design_effect"] == close(expected["pooled"]["deff_prompt"])


@pytest.mark.parametrize("group", ONE)
def test_bootstrap(rows, expected, group):
    # The random streams differ; 2,000 samples leave 1.6 % of chance.
    assert rows[group]["tau_se_bootstrap"] == pytest.approx(expected[group]["boot_se"], rel=0.03)


def test_bootstrap_that_ignores_strata(expected):
    merged = [replace(r, dataset="all", prompt=f"{r.dataset} {r.prompt}") for r in log_a()]
    (row, _), _ = run_rows(log_run(merged), {}.get, ["tau_se_bootstrap"], Background("golden"))
    assert row["tau_se_bootstrap"] == pytest.approx(expected["pooled"]["boot_se"], rel=0.03)


@pytest.mark.parametrize("group", GROUPS)
def test_variance_components(rows, expected, group):
    by_dataset, _ = groups(log_run(log_a()), {}.get)
    found = Components.of(next(g for g in by_dataset if g.name == group).prompts)
    anova = expected[group]["anova"]
    assert found.between_square == close(anova["MSB"])
    assert found.within == found.within_square == close(anova["MSW"]) == close(anova["sig_w2"])
    assert found.copies == close(anova["n0"])
    assert found.between == close(anova["sig_b2"])
    assert found.icc == close(anova["icc"])
    assert found.icc_interval(0.95) == close(tuple(anova["icc_ci"]))
    assert rows[group]["within_share_corrected_ci"] == close([1 - end for end in anova["icc_ci"][::-1]])


def test_error_for_these_prompts_by_hand():
    """Σ_q n/(n − 1) Σ_r (e_r − ē_q)² / S², step by step."""
    log = [r for r in log_a() if r.dataset == "chatlike"]
    steps = sum(len(r.steps) for r in log)
    tau = 1 + sum(a for r in log for _, a in r.steps) / steps
    residuals = {}
    for r in log:
        residuals.setdefault(r.prompt, []).append(sum(1 + a - tau for _, a in r.steps))
    variance = sum(len(e) * np.var(e, ddof=1) for e in residuals.values()) / steps**2
    (row, _), _ = run_rows(log_run(log), {}.get, ["tau_se_copies"])
    assert row["tau_se_copies"] == close(math.sqrt(variance))


def test_clusters_are_the_counts_of_their_prompts(prompts):
    assert isinstance(prompts, Clusters)
    log = log_a()
    for i, (dataset, prompt) in enumerate(prompts.units.iter_rows()):
        steps = [s for r in log if (r.dataset, r.prompt) == (dataset, prompt) for s in r.steps]
        accepted = np.array([a for _, a in steps])
        assert prompts.tally.steps[i] == len(steps)
        assert prompts.tally.accepted[i] == accepted.sum()
        assert prompts.tally.hits[i].tolist() == [(accepted > j).sum() for j in range(7)]
        assert prompts.tally.risk[i].tolist() == [(accepted >= j).sum() for j in range(7)]
