"""Rows of a run with the speeds a pipeline makes of them, against printed tables and golden values."""

import numpy as np
import pytest

from specdash.speed import bound, outlook
from specdash.speed.pipeline import LATENCY_ONLY, Pipeline
from tests.helpers import golden, report_table
from tests.speed.cases import printed_p, tau_at_k
from tests.speed.test_lap import EVERY_COST


def rows(*names):
    return [
        {"dataset": name, "family": "math", "tau": float(tau_at_k(name)[-1]), "tau_at_k": tau_at_k(name).tolist()}
        for name in names
    ]


def test_every_dataset_at_every_block():
    printed = list(printed_p())
    for block in range(8):
        for row in outlook.at_block(rows(*printed), EVERY_COST, 7, block):
            wanted = golden("golden_wan.json")["full"][row["dataset"]]
            assert row["tok_s_at_k"] == pytest.approx(wanted, rel=1e-12)
            assert row["tok_s"] == row["tok_s_at_k"][block]
            assert row["plain_tok_s"] == pytest.approx(wanted[0], rel=1e-12)
            assert row["speedup"] == pytest.approx(wanted[block] / wanted[0], rel=1e-12)
            assert row["best_block"] == int(np.argmax(wanted))
            assert row["best_tok_s"] == pytest.approx(max(wanted), rel=1e-12)


def test_the_ceiling_is_the_reports_bound_whatever_is_drafted():
    printed = report_table("table7_tok_s_10_stages")
    for block in (0, 3, 7):
        for row in outlook.at_block(rows("gsm8k", "alpaca"), Pipeline(bandwidth_mbit_s=100), 7, block):
            assert row["bound_tok_s"] == pytest.approx(float(printed[row["dataset"]]["rtt25"]), abs=0.06)
            assert row["bound_share"] == row["tok_s"] / row["bound_tok_s"] < 1


def test_gsm8k_by_the_link():
    (free,) = outlook.at_block(rows("gsm8k"), LATENCY_ONLY, 7, 7)
    assert free["tok_s"] == pytest.approx(39.8, abs=0.05)
    assert free["bound_share"] == pytest.approx(1)
    (cut,) = outlook.at_block(rows("gsm8k"), LATENCY_ONLY, 7, 5)
    assert cut["tau_block"] == pytest.approx(4.40, abs=0.005)
    (narrow,) = outlook.at_block(rows("gsm8k"), Pipeline(bandwidth_mbit_s=100), 7, 7)
    assert 23.93 <= narrow["tok_s"] <= 23.96
    assert narrow["best_block"] == 6


def test_a_row_without_counts_by_position_knows_its_own_block_only():
    printed = {"dataset": "d", "family": "math", "tau": 4.97, "tau_at_k": None}
    known, between = (outlook.at_block([printed], LATENCY_ONLY, 7, block)[0] for block in (7, 5))
    assert known["tok_s"] == pytest.approx(39.76)
    assert known["best_block"] is None and known["best_tok_s"] is None
    assert between["tok_s"] is between["tau_block"] is between["speedup"] is between["bound_share"] is None
    assert between["bound_tok_s"] == known["bound_tok_s"] == bound.tokens_per_second(4.97, 25, 10)


def test_nothing_known_is_nothing_said():
    (row,) = outlook.at_block([{"dataset": "d", "family": None, "tau": None}], LATENCY_ONLY, 2, 2)
    assert row["tok_s"] is row["bound_tok_s"] is row["best_block"] is None
    assert row["tok_s_at_k"] == [8.0, None, None]
    assert outlook.at_block([], LATENCY_ONLY, 2, 2) == []


def test_a_lap_that_takes_no_time_has_no_speed():
    free = Pipeline(stages=1, return_hop=False)
    (row,) = outlook.at_block(rows("gsm8k"), free, 7, 7)
    assert row["tok_s"] is row["speedup"] is row["bound_tok_s"] is row["best_block"] is None


def test_without_the_return_hop_the_ceiling_counts_what_the_lap_does():
    assert outlook.bound(Pipeline(return_hop=False), 4.5) == pytest.approx(4.5 / (9 * 0.0125))
    assert outlook.bound(Pipeline(stages=4, one_way_ms=(10, 100, 40, 20)), 4.969) == pytest.approx(29.23, abs=0.005)
