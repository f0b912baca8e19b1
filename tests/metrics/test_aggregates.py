"""Runs without responses: counters with more or less in them, and printed ratios."""

from math import sqrt

import pytest

from specdash.metrics import KEYS, all_metrics, run_rows
from specdash.metrics.tally import Tally, tallies_by_dataset
from specdash.schema import Granularity
from tests.helpers import counter_run, counters, counters_of, log_run, rates_run, response

RESPONSE_KEYS = {metric.key for metric in all_metrics() if metric.needs == Granularity.RESPONSE}
MIX_KEYS = {"c", "p_exposed", "p_km", "tau_at_k_km", "implied_alpha", "alpha_mle", "geometric_outcome", "geometric_std"}
"""What needs to know how many steps drafted how far."""
POSITION_KEYS = {"p", "outcome", "step_std", "tau_at_k"}


def only_row(row, k=None):
    (found, pooled), _ = run_rows(counter_run(row, k=k), {}.get)
    assert pooled == found | {"dataset": "pooled", "family": None}
    return found


def known(row):
    return {key for key in KEYS if row[key] is not None}


def test_counters_without_positions():
    row = only_row(counters(10, drafted=40, accepted=20))
    assert known(row) == {"steps", "drafted", "accepted", "tau", "verify_rate", "acceptance_ratio"}
    assert (row["tau"], row["verify_rate"], row["acceptance_ratio"]) == (3, 0.6, 0.5)


def test_counters_without_positions_but_with_a_block():
    assert known(only_row(counters(10, drafted=40, accepted=20, block=4))) == known(
        only_row(counters(10, drafted=40, accepted=20))
    )


def test_counters_without_drafted_tokens():
    row = only_row(counters(10, accepted=20))
    assert known(row) == {"steps", "accepted", "tau"}


def test_counters_of_an_unknown_mix_of_block_lengths():
    row = only_row(counters(10, drafted=25, per_position=[8, 5, 2]))
    assert known(row) == {
        *("steps", "drafted", "accepted", "tau", "verify_rate", "acceptance_ratio"),
        *POSITION_KEYS,
    }
    assert row["p"] == [0.8, 0.5, 0.2]
    assert row["outcome"] == [0.2, 0.3, 0.3, 0.2]
    assert row["tau_at_k"] == pytest.approx([1.8, 2.3, 2.5])
    assert row["step_std"] == pytest.approx(sqrt(3.3 - 1.5**2))  # Σa² = 3·1 + 3·4 + 2·9
    assert (row["tau"], row["acceptance_ratio"]) == (2.5, 0.6)


def test_counters_of_one_block_length():
    row = only_row(counters(10, drafted=30, per_position=[8, 4, 2], block=3))
    assert known(row) == set(KEYS) - RESPONSE_KEYS - {"steps_without_draft", "tau_all"}
    assert row["c"] == [*row["p"][:1], 0.5, 0.5]
    assert row["p"] == row["p_exposed"] == [0.8, 0.4, 0.2]
    assert row["p_km"] == pytest.approx(row["p"])
    assert row["alpha_mle"] == 14 / (14 + 8)


def test_counters_of_nothing():
    row = only_row(counters(0, drafted=0, per_position=[0, 0], block=2))
    assert (row["steps"], row["drafted"], row["accepted"]) == (0, 0, 0)
    assert row["outcome"] == [None] * 3
    lists = ("p", "p_exposed", "p_km", "c", "tau_at_k", "tau_at_k_km")
    assert [row[key] for key in lists] == [[None, None]] * 6
    assert known(row) == {"steps", "drafted", "accepted", "outcome", *lists}


def test_a_dataset_of_shorter_blocks_counts_as_in_a_log():
    short, long = [(2, 2), (2, 1)], [(4, 4), (4, 0)]
    run = counter_run(counters_of(short, "short", block=2), counters_of(long, "long", block=4))
    logged = log_run([response(*short, dataset="short"), response(*long, dataset="long")])
    for found, expected in zip(run_rows(run, {}.get)[0], run_rows(logged, {}.get)[0], strict=True):
        kept = set(KEYS) - RESPONSE_KEYS - {"steps_without_draft", "tau_all"}
        assert {key: found[key] for key in kept} == {key: expected[key] for key in kept}


def test_what_one_dataset_does_not_know_the_pooled_row_does_not_either():
    run = counter_run(
        counters(10, "all", drafted=20, per_position=[8, 4], block=2),
        counters(10, "mixed", drafted=15, per_position=[6, 2]),
        counters(10, "bare", accepted=9),
    )
    (full, mixed, bare, pooled), families = run_rows(run, {"all": "f", "mixed": "f"}.get)
    assert known(full) >= MIX_KEYS
    assert known(mixed) == known(full) - MIX_KEYS
    assert known(bare) == known(pooled) == {"steps", "accepted", "tau"}
    assert pooled["tau"] == 1 + (12 + 8 + 9) / 30
    assert known(families[0]) == known(mixed)
    assert families[0]["p"] == [14 / 20, 6 / 20]


def test_responses_that_counters_report_are_in_no_metric():
    assert only_row(counters(10, accepted=9, responses=5))["responses"] is None


def test_a_tally_of_counters_is_padded_to_the_positions_of_the_run():
    run = counter_run(counters(4, "a", drafted=8, per_position=[3, 1], block=2), k=5)
    tally = tallies_by_dataset(run)["a"]
    assert tally.hits.tolist() == [3, 1, 0, 0, 0]
    assert tally.exposed.tolist() == [4, 4, 0, 0, 0]
    assert tally.risk.tolist() == [4, 3, 0, 0, 0]
    assert tally.full == 1
    assert tally.outcomes.tolist() == [1, 2, 1, 0, 0, 0]
    assert tally.blocks.tolist() == [0, 0, 4, 0, 0, 0]


def test_a_tally_of_steps():
    run = log_run([response((0, 0), (3, 1), (3, 3), (1, 1), (2, 0))])
    assert vars_of(tallies_by_dataset(run)["d"]) == {
        "k": 3,
        "steps": 4,
        "undrafted": 1,
        "drafted": 9,
        "accepted": 5,
        "hits": [3, 1, 1],
        "exposed": [4, 3, 2],
        "risk": [4, 2, 1],
        "full": 2,
    }


def vars_of(tally: Tally):
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in vars(tally).items()}


def test_printed_ratios_are_shown_as_printed():
    run = rates_run(
        {"dataset": "gsm8k", "tau": 4.97, "verify_rate": 0.62, "mean_drafted": 6.98, "p_exposed": [0.912, None]},
        {"dataset": "x", "tau": None, "verify_rate": None, "mean_drafted": None, "p_exposed": None},
    )
    by_dataset, by_family = run_rows(run, {"gsm8k": "math"}.get)
    assert by_family == []
    first, second = by_dataset  # ratios cannot be pooled
    assert list(first) == list(second) == ["dataset", "family", *KEYS]
    assert (first["dataset"], first["family"]) == ("gsm8k", "math")
    assert (second["dataset"], second["family"]) == ("x", "other")
    assert known(first) == {"tau", "verify_rate", "p_exposed"}
    assert (first["tau"], first["verify_rate"], first["p_exposed"]) == (4.97, 0.62, [0.912, None])
    assert known(second) == set()


def test_printed_ratios_cannot_be_tallied():
    run = rates_run({"dataset": "x", "tau": 2.0, "verify_rate": None, "mean_drafted": None, "p_exposed": None})
    with pytest.raises(ValueError, match="no counts"):
        tallies_by_dataset(run)
