"""The calculator's tables: what stands in their cells, in words and as numbers."""

import pytest

from specdash.report import speed_tables
from specdash.speed.breakeven import BreakEven, Pays
from specdash.speed.pipeline import LATENCY_ONLY, Pipeline
from tests.speed.test_outlook import rows

GOLDEN = Pipeline(bandwidth_mbit_s=1000, stage_ms=4, stage_per_token_ms=3, draft_ms=4)
"""Ten stages of 4 ms and 3 ms a token, a draft of 4 ms, 1 Gbit/s."""


def cells(pipeline, compared, *names):
    """The words and the numbers of the break-even table, by dataset."""
    table = speed_tables.break_even(compared)
    found = speed_tables.with_break_even(rows(*names), pipeline, 7, compared)
    return {row["dataset"]: {column.key: column.value(row) for column in table.columns} for row in found}


def test_break_even_round_trips():
    found = cells(GOLDEN, [(7, 0), (7, 5)], "alpaca", "math500")
    assert found["alpaca"]["RTT_0_7_ms"] == pytest.approx(9.84, abs=0.005)
    assert found["alpaca"]["RTT_0_7_pays"] == "above 9.84 ms"
    assert found["alpaca"]["RTT_5_7_ms"] == pytest.approx(320.6, abs=0.05)
    assert found["alpaca"]["RTT_5_7_pays"] == "above 321 ms"
    assert found["math500"]["RTT_0_7_pays"] == "always"
    assert found["math500"]["RTT_0_7_ms"] is None
    assert found["math500"]["RTT_5_7_ms"] == pytest.approx(39.9, abs=0.05)


def test_break_even_bandwidths_by_hand():
    # τ(7) C(0) > C(7): latency only, so both laps take .125 s beside the transfer of 8 and 1 tokens.
    (row,) = rows("gsm8k")
    token = 8 * (9 * 14_336 + 4) / 1e6
    tau = row["tau"]
    wanted = (8 - tau) * token / (0.125 * (tau - 1))
    found = cells(LATENCY_ONLY, [(7, 0)], "gsm8k")["gsm8k"]
    assert found["bandwidth_0_7_mbit_s"] == pytest.approx(wanted, rel=1e-12)
    assert found["bandwidth_0_7_pays"] == f"above {wanted:.2f} Mbit/s"


def test_block_lengths_that_are_compared():
    assert speed_tables.pairs(7, 5) == [(7, 0), (7, 5)]
    assert speed_tables.pairs(5, 7) == [(5, 0), (7, 5)]
    assert speed_tables.pairs(7, 7) == speed_tables.pairs(7, 0) == [(7, 0)]
    assert speed_tables.pairs(0, 5) == [(5, 0)]
    assert speed_tables.pairs(0, 0) == []


@pytest.mark.parametrize(
    ("point", "words"),
    [
        (BreakEven(None, Pays.NEVER), "never"),
        (BreakEven(-3.0, Pays.ALWAYS), "always"),
        (BreakEven(9.8412, Pays.ABOVE), "above 9.84 ms"),
        (BreakEven(1234.5, Pays.BELOW), "below 1,234 ms"),
        (BreakEven(0.001234, Pays.ABOVE), "above 0.00123 ms"),
    ],
)
def test_where_it_pays_in_words(point, words):
    assert speed_tables.in_words(point, "ms") == words


def test_what_is_not_known_has_no_break_even():
    printed = {"dataset": "d", "family": "math", "tau": 4.97, "tau_at_k": None}
    (row,) = speed_tables.with_break_even([printed], LATENCY_ONLY, 7, [(7, 0), (7, 5)])
    assert row["RTT_0_7_pays"] == "always" and "RTT_5_7_pays" not in row


def test_without_speculation_a_lap_yields_one_token():
    row = speed_tables.no_speculation(Pipeline(bandwidth_mbit_s=100))
    assert row["tau_block"] == row["speedup"] == 1
    assert row["tok_s"] == pytest.approx(1 / 0.135322, rel=1e-5)
    assert row["best_block"] is None


def test_hidden_columns_stand_in_exports_only():
    table = speed_tables.break_even([(7, 0)])
    assert [column.key for column in table.columns if column.hidden] == ["RTT_0_7_ms", "bandwidth_0_7_mbit_s"]
    assert all(column.text != column.hidden for column in table.columns)
