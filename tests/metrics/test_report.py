"""Counters made from the report's printed p against what the report prints beside them.

A printed p is off by 0.0005 at most, and what follows from it by a little more: the tolerances are those sums.
"""

import pytest

from specdash.metrics import run_rows
from tests.helpers import counter_run, counters, report_table

HALF = {digits: 0.5 * 10.0**-digits for digits in (1, 2, 3)}
P = HALF[3]
MAIN = report_table("table1_acceptance_length")
CONDITIONAL = report_table("table3_conditional_c")
OUTCOMES = report_table("table4_outcome_percent")
SHORTER = report_table("table5_tau_at_shorter_block")
POSITIONS = report_table("table2_unconditional_p")
FAMILY = {name: row["family"] for name, row in MAIN.items() if row["family"]}


def within(value, tolerance):
    return pytest.approx(float(value), abs=tolerance + 2e-5, rel=0)


def p_of(name):
    return [float(POSITIONS[name][f"p{i}"]) for i in range(7)]


@pytest.fixture(scope="module")
def rows():
    tables = []
    for name in FAMILY:
        steps = int(MAIN[name]["steps"])
        hits = [round(p * steps) for p in p_of(name)]
        tables.append(counters(steps, name, drafted=7 * steps, per_position=hits, block=7))
    by_dataset, by_family = run_rows(counter_run(*tables), FAMILY.get)
    assert [row["dataset"] for row in by_family] == ["math", "code", "chat"]
    return {row["dataset"]: row for row in (*by_dataset, *by_family)}


@pytest.mark.parametrize("name", MAIN)
def test_positions_as_printed(rows, name):
    # The pooled row is a step-weighted mean of rounded values, and is itself rounded.
    assert rows[name]["p"] == [within(p, 2 * P if name == "pooled" else 0) for p in p_of(name)]


@pytest.mark.parametrize("name", MAIN)
def test_acceptance_length_as_printed(rows, name):
    assert rows[name]["steps"] == int(MAIN[name]["steps"])
    assert rows[name]["tau"] == within(MAIN[name]["tau_run_b"], 7 * P + HALF[2])


@pytest.mark.parametrize("name", MAIN)
def test_conditional_rates_as_printed(rows, name):
    for i, (found, before) in enumerate(zip(rows[name]["c"], [1.0, *p_of(name)], strict=False)):
        assert found == within(CONDITIONAL[name][f"c{i}"], P * (1 + found) / before + HALF[3])


@pytest.mark.parametrize("name", MAIN)
def test_outcomes_as_printed(rows, name):
    for j, found in enumerate(rows[name]["outcome"]):
        assert 100 * found == within(OUTCOMES[name][f"a{j}"], 100 * 2 * P + HALF[1])


@pytest.mark.parametrize("name", MAIN)
def test_shorter_blocks_as_printed(rows, name):
    for k, found in enumerate(rows[name]["tau_at_k"], start=1):
        assert found == within(SHORTER[name][f"k{k}"], k * P + HALF[2])
    gain = rows[name]["tau_at_k"][6] - rows[name]["tau_at_k"][4]
    assert gain == within(SHORTER[name]["gain_5_to_7"], 2 * P + HALF[2])


@pytest.mark.parametrize("name", MAIN)
def test_spread_and_alpha_as_printed(rows, name):
    mean = rows[name]["tau"] - 1
    slack = sum(abs(2 * i + 1 - 2 * mean) for i in range(7)) * P / (2 * rows[name]["step_std"])
    assert rows[name]["step_std"] == within(MAIN[name]["step_std"], slack + HALF[2])
    # dτ/dα = 1 + 2α + … + 7α⁶
    slope = sum((i + 1) * rows[name]["implied_alpha"] ** i for i in range(7))
    assert rows[name]["implied_alpha"] == within(MAIN[name]["implied_alpha"], 7 * P / slope + HALF[3])


def test_step_weighted_families(rows):
    # From the same tables: math 4.984, code 4.506, chat 3.251; overall 3.834.
    expected = {"math": 4.984, "code": 4.506, "chat": 3.251, "pooled": 3.834}
    for name, tau in expected.items():
        assert rows[name]["tau"] == within(tau, HALF[3])
