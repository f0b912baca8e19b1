"""The latency-only bound against the report's table 7."""

import pytest

from specdash.speed.bound import REPORT_RTTS_MS, REPORT_STAGES, lap_seconds, tokens_per_second
from tests.helpers import report_table

TABLE = report_table("table7_tok_s_10_stages")


def test_examples_of_the_report():
    assert tokens_per_second(4.97, rtt_ms=25, stages=10) == pytest.approx(39.76)
    assert f"{tokens_per_second(4.97, rtt_ms=25, stages=10):.1f}" == "39.8"
    assert f"{tokens_per_second(1, rtt_ms=25, stages=10):.1f}" == "8.0"


def test_a_lap_is_half_a_round_trip_a_stage():
    assert lap_seconds(25, 10) == pytest.approx(0.125)
    assert lap_seconds(200, 3) == pytest.approx(0.3)


def test_the_columns_of_the_report():
    assert REPORT_STAGES == 10
    assert [f"rtt{rtt}" for rtt in REPORT_RTTS_MS] == [name for name in TABLE["gsm8k"] if name.startswith("rtt")]


@pytest.mark.parametrize("rtt", [10, 25, 50, 100, 200])
@pytest.mark.parametrize("name", TABLE)
def test_table_of_the_report(name, rtt):
    # τ is printed to two decimals, and the bound was taken from it unrounded. One is exact.
    slack = 0 if name == "no speculation" else 0.005
    laps = 1000 / (10 * rtt / 2)
    found = tokens_per_second(float(TABLE[name]["tau"]), rtt, 10)
    assert found == pytest.approx(float(TABLE[name][f"rtt{rtt}"]), abs=slack * laps + 0.05 + 1e-9)


@pytest.mark.parametrize("name", TABLE)
def test_speed_up_over_no_speculation_is_tau(name):
    for rtt in REPORT_RTTS_MS:
        gain = tokens_per_second(float(TABLE[name]["tau"]), rtt, 10) / tokens_per_second(1, rtt, 10)
        assert gain == pytest.approx(float(TABLE[name]["speedup"]))


def test_half_the_round_trip_is_worth_twice_the_tau():
    assert tokens_per_second(3, 50, 10) == pytest.approx(tokens_per_second(6, 100, 10))
    assert tokens_per_second(3, 50, 10) == pytest.approx(tokens_per_second(3, 100, 5))
