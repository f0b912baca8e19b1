"""The declarations of the metrics, and what a row holds."""

import subprocess
import sys

import pytest

from specdash import metrics
from specdash.metrics import CI_KEYS, ERROR_KEYS, INTERVAL_KEYS, KEYS, METRIC_KEYS, Shape, all_metrics, get, run_rows
from specdash.metrics.registry import metric
from specdash.schema import Granularity
from tests.helpers import edge, log_a, log_run

CONTRACT = """
dataset family prompts responses steps steps_without_draft drafted accepted tau tau_all verify_rate acceptance_ratio
p p_exposed p_km c outcome step_std implied_alpha alpha_mle geometric_outcome geometric_std tau_at_k tau_at_k_km
response_mean response_p10 response_p50 response_p90 response_std within_share within_share_corrected copy_std
copy_range copy_max copy_min corr_tau_tokens corr_tau_steps corr_tau_tokens_spearman
""".split()


ERRORS = "tau_se design_effect effective_steps tau_se_linear tau_se_bootstrap tau_se_copies tau_se_naive".split()
INTERVALS = """
level interval_note interval_from tau_se design_effect effective_steps
tau_ci tau_all_ci verify_rate_ci acceptance_ratio_ci p_ci p_exposed_ci p_km_ci c_ci outcome_ci step_std_ci
implied_alpha_ci alpha_mle_ci tau_at_k_ci tau_at_k_km_ci within_share_corrected_ci
""".split()


def test_every_key_is_declared_and_every_declared_metric_is_a_key():
    assert {declared.key for declared in all_metrics()} == {*KEYS, *ERRORS}
    assert len(KEYS) + len(ERRORS) == len({*KEYS, *ERRORS}) == len(all_metrics())


def test_what_says_how_sure_numbers_are():
    assert INTERVAL_KEYS == INTERVALS
    assert INTERVALS[-len(CI_KEYS) :] == CI_KEYS
    assert [*KEYS, *ERRORS] == METRIC_KEYS
    assert ERRORS[3:] == ERROR_KEYS


def test_importing_the_package_declares_all_metrics():
    program = "from specdash import metrics; print(*sorted(m.key for m in metrics.all_metrics()))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.split() == sorted([*KEYS, *ERRORS])


@pytest.mark.parametrize("key", [*KEYS, *ERRORS])
@pytest.mark.parametrize("field", ["label", "formula", "definition", "source", "estimator"])
def test_every_metric_says_what_it_is(key, field):
    text = getattr(get(key), field)
    assert isinstance(text, str)
    assert text.strip() == text != ""


@pytest.mark.parametrize("key", [*KEYS, *ERRORS])
def test_every_metric_is_declared_in_full(key):
    declared = get(key)
    assert declared.key == key
    assert declared.definition.endswith(".")
    assert isinstance(declared.unit, str)
    assert declared.decimals in range(5)
    assert isinstance(declared.needs, Granularity)
    assert isinstance(declared.shape, Shape)
    assert isinstance(declared.percent, bool)
    assert not (declared.percent and declared.unit)


def test_labels_differ():
    labels = [declared.label for declared in all_metrics()]
    assert len(labels) == len(set(labels))


@pytest.mark.parametrize("log", [log_a, edge])
def test_rows_have_the_keys_of_the_contract_in_its_order(log):
    by_dataset, by_family = run_rows(log_run(log()), {"mathlike": "math", "e": "math"}.get)
    assert by_family
    assert [list(row) for row in (*by_dataset, *by_family)] == [CONTRACT] * len((*by_dataset, *by_family))
    assert ["dataset", "family", *metrics.KEYS] == CONTRACT


@pytest.mark.parametrize("key", KEYS)
def test_lists_are_as_long_as_their_shape_says(key):
    run = log_run(edge())
    (row, _), _ = run_rows(run, {}.get)
    length = {Shape.POSITION: run.k, Shape.OUTCOME: run.k + 1, Shape.BLOCK: run.k}
    shape = get(key).shape
    if shape is Shape.SCALAR:
        assert not isinstance(row[key], list)
    else:
        assert len(row[key]) == length[shape]


def test_an_unknown_metric_names_those_there_are():
    with pytest.raises(KeyError, match=r"no metric 'taux'; there are: .*acceptance_ratio"):
        get("taux")


def test_a_key_is_declared_once():
    with pytest.raises(ValueError, match="tau is declared twice"):
        metric("tau", label="again")(lambda group: None)
