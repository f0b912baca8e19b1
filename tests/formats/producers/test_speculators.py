"""speculators' acceptance.csv. Hand counts: 10 drafts of 2 tokens accepted 6 at position 0 and 3 at position 1."""

import pytest

from specdash.schema import Bonus, Granularity, InputError, NothingToRead, Span
from tests.formats.producers.reading import codes, only, outcome, pooled, read_files, recognised

HEAD = (
    "subset,num_drafts,num_draft_tokens,num_accepted_tokens,acceptance_length,acceptance_at_pos_0,acceptance_at_pos_1"
)
QA = "qa,10.0,20.0,9.0,1.9,0.6,0.3"
CODE = "HumanEval,3.0,6.0,4.0,2.333333333333333,1.0,0.3333333333333333"


def table(*rows, head=HEAD):
    return "\n".join([head, *rows, ""])


def test_counts_by_position_follow_from_rates(tmp_path):
    assert recognised(tmp_path, table(QA), "acceptance.csv") == ["speculators-acceptance"]
    run = only(read_files(tmp_path, {"acceptance.csv": table(QA, CODE)}))
    assert (run.granularity, run.k, codes(run)) == (Granularity.AGGREGATE, 2, [])
    assert run.counters.select("dataset", "steps", "drafted", "accepted", "per_position", "block").rows() == [
        ("qa", 10, 20, 9, [6, 3], 2),
        ("HumanEval", 3, 6, 4, [3, 1], 2),
    ]
    assert pooled(run)["tau"] == 1 + 13 / 13
    assert outcome(run, "stored_ratios") == "pass"
    assert (run.semantics.bonus, run.semantics.span) == (Bonus.IN, Span.DIFFERENCE)


def test_a_shorter_draft_leaves_cells_blank(tmp_path):
    run = only(read_files(tmp_path, {"acceptance.csv": table("qa,10,10,6,1.6,0.6,")}))
    assert run.counters["per_position"].to_list() == [[6]]


def test_rates_that_were_made_of_times(tmp_path):
    run = only(read_files(tmp_path, {"acceptance.csv": table("qa,10,20,9,1.9,178143083.0,178143083.0")}))
    assert codes(run) == ["positions_unknown"]
    assert (pooled(run)["tau"], pooled(run)["p"]) == (1.9, None)


def test_a_sweep_says_the_same_of_a_subset_at_every_rate(tmp_path):
    head = "strategy,target_rate," + HEAD
    rows = [f"{rate},{QA}" for rate in ("synchronous,", "constant,1.5")]
    run = only(read_files(tmp_path, {"perf_results.csv": table(*rows, head=head)}))
    assert run.counters["steps"].to_list() == [10]
    rows[1] = f"constant,1.5,{QA.replace('10.0,20.0', '20.0,40.0').replace('0.6,0.3', '0.3,0.15')}"
    runs = read_files(tmp_path / "other", {"perf_results.csv": table(*rows, head=head)})
    assert {name: run.counters["steps"].to_list() for name, run in runs.items()} == {
        "synchronous": [10], "constant 1.5": [20],
    }  # fmt: skip


def test_nothing_was_drafted(tmp_path):
    with pytest.raises(NothingToRead, match="nothing was drafted"):
        read_files(tmp_path, {"acceptance.csv": table("qa,0,0,0,0,0,0")})


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([QA, "qa,11,22,9,1.8,,"], "line 3: a subset is counted twice; found qa"),
        (["qa,10,20,x,1.9,0.6,0.3"], "line 2: num_accepted_tokens is not a count; found x"),
        (["qa,10,,9,1.9,0.6,0.3"], "line 2: num_draft_tokens is empty"),
        (["qa,10,20,30,4,1,1"], "qa: more tokens accepted than drafted; found 30 of 20"),
        ([",10,20,9,1.9,0.6,0.3"], "line 2: a row without a subset"),
        (["qa,10,20,9,1.9"], "acceptance.csv: no table"),
        ([QA, "qa,10,20,9,1.9"], "line 3"),
    ],
)
def test_refused(tmp_path, rows, said):
    with pytest.raises(InputError, match=said):
        read_files(tmp_path, {"acceptance.csv": table(*rows)})


def test_positions_with_a_gap(tmp_path):
    with pytest.raises(InputError, match="line 1: positions are not 0, 1, 2, …; found acceptance_at_pos_0, accept"):
        read_files(tmp_path, {"acceptance.csv": table(QA, head=HEAD.replace("pos_1", "pos_2"))})


EXAMPLES = {
    "speculators-acceptance": table(QA, CODE),
}
