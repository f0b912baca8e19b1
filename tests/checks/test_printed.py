"""Printed tables against the counts beside them."""

import pytest

from specdash.checks.printed import disagreements
from tests.helpers import counter_run, counters, log_run, response

# τ_r 3.5, 3 and 2 with ratios 5/8, 2/4 and 2/8; in all 1 + 9/5, (5 + 9)/(5 + 20).
LOG = [
    response((4, 4), (4, 1), prompt="a", copy=0),
    response((4, 2), prompt="a", copy=1),
    response((4, 2), (0, 0), (4, 0), prompt="b", copy=0),
]
CELLS = {
    "tau": "2.80",
    "verify_rate": "0.560",
    "alen_mean": "2.83",
    "ratio_max": "0.4375",
    "ratio_mean": "0.40625",
    "ratio_min": "0.375",
}
COUNTERS = counters(10, drafted=30, per_position=[8, 4, 2], block=3)


def row(dataset="d", **cells):
    """A row as formats.printed reads it, from cells as they are printed."""
    decimals = {name: len(cell.partition(".")[2]) for name, cell in cells.items() if isinstance(cell, str)}
    found = {name: None if cell == "-" else float(cell) for name, cell in cells.items() if isinstance(cell, str)}
    for name, cell in cells.items():
        if not isinstance(cell, str):
            found[name] = [None if c == "-" else float(c) for c in cell]
            decimals[name] = max(len(c.partition(".")[2]) for c in cell)
    return {"dataset": dataset, "decimals": decimals, **found}


def of_log(*rows, log=LOG):
    return disagreements(log_run(log, printed=rows))


def of_counters(*rows, counts=COUNTERS):
    return disagreements(counter_run(counts, printed=rows))


def only_message(warnings):
    (warning,) = warnings
    assert warning.code == "printed_disagrees"
    prefix = "the printed table differs from the counts: "
    assert warning.message.startswith(prefix)
    return warning.message.removeprefix(prefix)


def test_nothing_printed_nothing_to_say():
    assert of_log() == []
    assert of_counters() == []


def test_a_table_that_agrees_with_the_log():
    assert of_log(row(**CELLS)) == []


@pytest.mark.parametrize(
    ("column", "printed", "counted"),
    [
        ("tau", "2.81", "2.80"),
        ("tau", "2.79", "2.80"),
        ("verify_rate", "0.561", "0.560"),
        ("alen_mean", "2.84", "2.83"),
        ("ratio_max", "0.438", "0.438"),
        ("ratio_max", "0.439", "0.438"),
        ("ratio_mean", "0.408", "0.406"),
        ("ratio_min", "0.4", "0.4"),
        ("ratio_min", "0.5", "0.4"),
    ],
)
def test_one_cell_that_differs_from_the_log(column, printed, counted):
    warnings = of_log(row(**CELLS | {column: printed}))
    if printed == counted:
        assert warnings == []
    else:
        assert only_message(warnings) == f"d {column} {printed}, by the counts {counted}"


@pytest.mark.parametrize("printed", ["3", "2.8", "2.80", "2.800"])
def test_cells_are_compared_at_the_printed_decimals(printed):
    assert of_log(row(tau=printed)) == []


@pytest.mark.parametrize("printed", ["0.4", "0.5"])
def test_a_count_half_way_rounds_to_either_side(printed):
    # 0.45 as printed by one program or another: 9 of 20 drafted tokens were accepted.
    assert of_log(row(ratio_mean=printed), log=[response((20, 9))]) == []


def test_cells_without_a_number_are_passed_over():
    assert of_log(row(tau="-", verify_rate="0.560")) == []
    assert of_counters(row(tau="-", p_exposed=["0.8", "-", "-"])) == []


def test_other_columns_are_passed_over():
    assert of_log(row(tau="2.80") | {"target_model": "m", "mean_drafted": 99.0}) == []


def test_copies_of_unknown_prompts_are_not_compared():
    log = [response((4, 2), prompt=None), response((4, 4), prompt=None)]
    assert of_log(row(tau="4", ratio_max="0.9"), log=log) == []


def test_undrafted_steps_do_not_count():
    assert of_log(row(tau="3.0"), log=[response((2, 2), (0, 0), (0, 0))]) == []


def test_a_dataset_the_log_does_not_have():
    assert only_message(of_log(row("x", tau="2.80"))) == "x is not in the log"
    assert only_message(of_counters(row("x", tau="2.40"))) == "x is not in the log"


def test_datasets_are_compared_each_by_itself():
    log = [response((4, 1), dataset="a"), response((4, 3), dataset="b")]
    assert of_log(row("b", tau="4.00"), row("a", tau="2.00"), log=log) == []
    found = only_message(of_log(row("b", tau="2.00"), row("a", tau="4.00"), log=log))
    assert found == "b tau 2.00, by the counts 4.00; a tau 4.00, by the counts 2.00"


def test_the_same_prompt_in_two_datasets_is_two_prompts():
    log = [response((4, 1), dataset="a", prompt="0"), response((4, 3), dataset="b", prompt="0")]
    assert of_log(row("a", ratio_max="0.25", ratio_min="0.25"), row("b", ratio_max="0.75"), log=log) == []
    found = only_message(of_log(row("a", ratio_max="0.75"), row("b", ratio_min="0.25"), log=log))
    assert found == "a ratio_max 0.75, by the counts 0.25; b ratio_min 0.25, by the counts 0.75"


def test_only_the_first_cells_are_listed():
    wrong = dict.fromkeys(CELLS, "9.99")
    found = only_message(of_log(row(**wrong), row("x", tau="1")))
    assert found.count(";") == 4
    assert found.startswith("d tau 9.99, by the counts 2.80; d verify_rate 9.99, by the counts 0.56; ")
    assert found.endswith(" and 2 more")
    five = dict(list(wrong.items())[:5])
    assert "more" not in only_message(of_log(row(**five)))


def test_a_table_that_agrees_with_counters():
    assert of_counters(row(tau="2.40", verify_rate="0.600", p_exposed=["0.80", "0.40", "0.20"])) == []


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ({"tau": "2.41"}, "d tau 2.41, by the counts 2.40"),
        ({"verify_rate": "0.61"}, "d verify_rate 0.61, by the counts 0.60"),
        ({"p_exposed": ["0.80", "0.41", "0.20"]}, "d p_exposed@1 0.41, by the counts 0.40"),
        ({"p_exposed": ["0.70", "-", "0.30"]}, "d p_exposed@0 0.70, by the counts 0.80; d p_exposed@2 0.30, by the co"),
    ],
)
def test_cells_that_differ_from_counters(cells, expected):
    assert only_message(of_counters(row(**cells))).startswith(expected)


def test_counters_are_compared_as_far_as_they_go():
    bare = counters(10, accepted=14)
    assert of_counters(row(tau="2.40", verify_rate="0.99", p_exposed=["0.99"], alen_mean="9"), counts=bare) == []
    mixed = counters(10, drafted=25, per_position=[8, 4, 2])
    assert of_counters(row(tau="2.40", verify_rate="0.69", p_exposed=["0.99"]), counts=mixed) == []


def test_rates_by_position_that_differ_from_the_log():
    assert of_log(row(p_exposed=["0.10", "0.10", "0.10", "0.10"])) != []  # 4/5, 3/5, 1/5, 1/5


@pytest.mark.parametrize("compare", [of_log, of_counters])
def test_a_dataset_that_drafted_nothing_is_in_the_log(compare):
    given = {"log": [response((0, 0))]} if compare is of_log else {"counts": counters(0, drafted=0, accepted=0)}
    assert compare(row(tau="-"), **given) == []
