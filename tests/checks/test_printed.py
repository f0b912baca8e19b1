"""Stored ratios against the counts beside them."""

import pytest

from specdash.schema import RunWarning
from specdash.verdict import Outcome
from tests.checks.finding import found
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


def of_log(*rows, log=LOG, **fields):
    return found("stored_ratios", log_run(log, printed=rows, **fields))


def of_counters(*rows, counts=COUNTERS, **fields):
    return found("stored_ratios", counter_run(counts, printed=rows, **fields))


def agreeing(finding):
    return finding.outcome is Outcome.PASS


def silent(finding):
    return finding.outcome is Outcome.NOT_APPLICABLE


def differing(finding):
    """What a finding that is no pass says after the number of ratios that differ."""
    assert finding.outcome in (Outcome.WARN, Outcome.FAIL)
    return finding.figure.partition(" differ: ")[2] or finding.figure


def test_nothing_printed_nothing_to_say():
    assert silent(of_log())
    assert silent(of_counters())


def test_a_table_that_agrees_with_the_log():
    assert of_log(row(**CELLS)).figure == "6 stored ratios as by the counts"
    assert agreeing(of_log(row(**CELLS)))


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
    finding = of_log(row(**CELLS | {column: printed}))
    if printed == counted:
        assert agreeing(finding)
    else:
        assert finding.figure == f"1 of 6 stored ratios differ: d {column} {printed}, by the counts {counted}"


@pytest.mark.parametrize("printed", ["3", "2.8", "2.80", "2.800"])
def test_cells_are_compared_at_the_printed_decimals(printed):
    assert agreeing(of_log(row(tau=printed)))


@pytest.mark.parametrize("printed", ["0.4", "0.5"])
def test_a_count_half_way_rounds_to_either_side(printed):
    # 0.45 as printed by one program or another: 9 of 20 drafted tokens were accepted.
    assert agreeing(of_log(row(ratio_mean=printed), log=[response((20, 9))]))


def test_cells_without_a_number_are_passed_over():
    assert agreeing(of_log(row(tau="-", verify_rate="0.560")))
    assert agreeing(of_counters(row(tau="-", p_exposed=["0.8", "-", "-"])))


def test_other_columns_are_passed_over():
    assert agreeing(of_log(row(tau="2.80") | {"target_model": "m", "mean_drafted": 99.0}))


def test_copies_of_unknown_prompts_are_not_compared():
    log = [response((4, 2), prompt=None), response((4, 4), prompt=None)]
    assert agreeing(of_log(row(tau="4", ratio_max="0.9"), log=log))


def test_undrafted_steps_do_not_count():
    assert agreeing(of_log(row(tau="3.0"), log=[response((2, 2), (0, 0), (0, 0))]))


def test_a_dataset_the_log_does_not_have():
    assert differing(of_log(row("x", tau="2.80"))) == "x is not in the log"
    assert differing(of_counters(row("x", tau="2.40"))) == "x is not in the log"


def test_datasets_are_compared_each_by_itself():
    log = [response((4, 1), dataset="a"), response((4, 3), dataset="b")]
    assert agreeing(of_log(row("b", tau="4.00"), row("a", tau="2.00"), log=log))
    found = differing(of_log(row("b", tau="2.00"), row("a", tau="4.00"), log=log))
    assert found == "b tau 2.00, by the counts 4.00; a tau 4.00, by the counts 2.00"


def test_the_same_prompt_in_two_datasets_is_two_prompts():
    log = [response((4, 1), dataset="a", prompt="0"), response((4, 3), dataset="b", prompt="0")]
    assert agreeing(of_log(row("a", ratio_max="0.25", ratio_min="0.25"), row("b", ratio_max="0.75"), log=log))
    found = differing(of_log(row("a", ratio_max="0.75"), row("b", ratio_min="0.25"), log=log))
    assert found == "a ratio_max 0.75, by the counts 0.25; b ratio_min 0.25, by the counts 0.75"


def test_only_the_first_cells_are_listed():
    wrong = dict.fromkeys(CELLS, "9.99")
    found = differing(of_log(row(**wrong), row("x", tau="1")))
    assert found.count(";") == 4
    assert found.startswith("d tau 9.99, by the counts 2.80; d verify_rate 9.99, by the counts 0.56; ")
    assert found.endswith(" and 2 more")
    five = dict(list(wrong.items())[:5])
    assert "more" not in differing(of_log(row(**five)))


def test_a_table_that_agrees_with_counters():
    assert agreeing(of_counters(row(tau="2.40", verify_rate="0.600", p_exposed=["0.80", "0.40", "0.20"])))


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
    assert differing(of_counters(row(**cells))).startswith(expected)


def test_counters_are_compared_as_far_as_they_go():
    bare = counters(10, accepted=14)
    assert agreeing(of_counters(row(tau="2.40", verify_rate="0.99", p_exposed=["0.99"], alen_mean="9"), counts=bare))
    mixed = counters(10, drafted=25, per_position=[8, 4, 2])
    assert agreeing(of_counters(row(tau="2.40", verify_rate="0.69", p_exposed=["0.99"]), counts=mixed))


def test_rates_by_position_that_differ_from_the_log():
    assert of_log(row(p_exposed=["0.10", "0.10", "0.10", "0.10"])) != []  # 4/5, 3/5, 1/5, 1/5


@pytest.mark.parametrize("compare", [of_log, of_counters])
def test_a_dataset_that_drafted_nothing_is_in_the_log(compare):
    given = {"log": [response((0, 0))]} if compare is of_log else {"counts": counters(0, drafted=0, accepted=0)}
    assert silent(compare(row(tau="-"), **given))


@pytest.mark.parametrize(
    ("printed", "outcome"),
    [
        # Two responses of 10 steps: their ends move τ by at most K·N/S = 4·2/20 = 0.4 tokens a step.
        ("2.60", Outcome.WARN),
        ("3.39", Outcome.WARN),
        ("2.59", Outcome.FAIL),
        ("3.41", Outcome.FAIL),
        ("2.00", Outcome.WARN),  # τ = 3 without the bonus token
        ("3.00", Outcome.PASS),
    ],
)
def test_what_the_ends_of_responses_may_move_is_no_failure(printed, outcome):
    log = [response(*[(4, 2)] * 10), response(*[(4, 2)] * 10)]
    assert of_log(row(tau=printed), log=log).outcome is outcome
    counts = counters(20, drafted=80, accepted=40, responses=2)
    assert of_counters(row(tau=printed), counts=counts, k=4).outcome is outcome


def test_a_tau_without_the_bonus_token_is_named():
    assert differing(of_log(row(tau="1.80"))) == "d tau 1.80, by the counts 2.80 (without the bonus token)"


def test_a_ratio_in_percent_is_the_same_ratio():
    assert agreeing(of_log(row(verify_rate="56.0")))
    assert not agreeing(of_log(row(verify_rate="57.0")))


def test_rates_of_one_of_several_engines_are_named():
    halved = of_counters(row(tau="2.40", p=["0.40", "0.20", "0.10"]))
    assert halved.outcome is Outcome.WARN
    assert "d p@0 0.40, by the counts 0.80 (2 times too small, as of one of 2 engines)" in halved.figure
    assert of_counters(row(tau="2.40", p=["0.40", "0.20", "0.20"])).outcome is Outcome.FAIL


def test_what_the_reader_said_of_ratios_is_told():
    said = (RunWarning("ratio_disagrees", "a.json: d: stored tau 3 is 2.4000 by the counts"),)
    assert of_counters(warnings=said).outcome is Outcome.WARN
    assert of_counters(row(tau="2.40"), warnings=said).outcome is Outcome.WARN


def test_a_stored_ratio_is_called_by_the_name_it_has_in_the_file():
    stored = row(tau="4.20") | {"tau_called": "acceptance_length"}
    assert differing(of_log(stored)).startswith("d acceptance_length 4.20, by the counts 2.80")
