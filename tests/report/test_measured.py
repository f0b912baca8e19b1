"""Measured acceptance lengths beside implied ones: what is comparable, how far apart they lie, what makes a curve."""

from dataclasses import replace

import pytest

from specdash import ingest
from specdash.metrics import fixed_block, run_rows
from specdash.report import measured
from specdash.report.measured import Other, beside
from specdash.report.sections.blocks import curves
from specdash.verdict import Finding, Outcome
from tests.formats.producers.reading import TRIMMED
from tests.helpers import Response, log_run

LONG = log_run([Response(((4, 4), (4, 1)), "x", "p"), Response(((4, 2),), "y", "q")])
"""τ of x: 3.5; cut at 2: 1 + (2 + 1)/2 = 2.5. τ of y: 3; cut at 2: 3."""


def rows(run):
    return run_rows(run, {"x": "math", "y": "chat"}.get)[0]


def other(run, block, label="other", curve="evaluation"):
    return Other(label, curve, run, rows(run), block)


def test_by_hand():
    short = log_run([Response(((2, 2), (2, 2)), "x", "p"), Response(((2, 0),), "z", "r")])
    found = {row["dataset"]: row for row in beside(rows(LONG), LONG, [other(short, 2)])}
    assert set(found) == {"x", "z"}  # the two pool other datasets, so no pooled row is measured
    x, z = found["x"], found["z"]
    assert (x["tau"], x["implied"], x["off"]) == (3.0, 2.5, pytest.approx(2.5 / 3 - 1))
    assert (x["family"], x["block"], x["run"], x["prompts"]) == ("math", 2, "other", "the same 1")
    assert (z["tau"], z["implied"], z["off"], z["prompts"]) == (1.0, None, None, measured.WORKLOAD_DIFFERS)


def test_pooled_stands_beside_pooled_of_the_same_datasets():
    short = log_run([Response(((2, 2),), "x", "p"), Response(((2, 1),), "y", "other")])
    found = beside(rows(LONG), LONG, [other(short, 2)])
    assert [row["dataset"] for row in found] == ["x", "y", "pooled"]
    assert [row["prompts"] for row in found] == ["the same 1", "none in common", "1 of 2 and 2"]
    # 8 of 12 tokens … τ(2) of all three steps: 1 + (2 + 1 + 2)/3.
    assert found[-1]["implied"] == pytest.approx(1 + 5 / 3)


def test_a_longer_block_is_not_implied():
    longer = log_run([Response(((6, 6),), "x", None)])
    (row,) = beside(rows(LONG), LONG, [other(longer, 6)])
    assert (row["tau"], row["implied"], row["prompts"]) == (7.0, None, "not known")


def test_the_same_prompts_with_two_four_and_eight_draft_tokens(tmp_path):
    """What a server measured: K = 8 cut to 2 and 4 is 17 % and 15 % too low."""
    runs = ingest.read(TRIMMED / "vllm-bench-k", tmp_path).runs
    all_rows = {run.k: run_rows(run, lambda name: None)[0] for run in runs}
    whole = next(run for run in runs if run.k == 8)
    others = [Other(run.name, "bench", run, all_rows[run.k], fixed_block(run)) for run in runs if run is not whole]
    found = beside(all_rows[8], whole, others)
    assert [(row["block"], round(row["tau"], 3), round(row["implied"], 3)) for row in found] == [
        (2, 1.993, 1.653),
        (4, 2.391, 2.038),
    ]
    assert [round(100 * row["off"]) for row in found] == [-17, -15]
    (curve,) = curves(found)
    assert (list(curve.blocks), curve.dataset) == ([2, 4], found[0]["dataset"])


def test_runs_of_one_block_length_are_no_curve():
    made = [log_run([Response(((k, 1),), "x", "p")]) for k in (2, 3, 3)]
    found = beside(rows(LONG), LONG, [other(run, run.k, f"run {i}") for i, run in enumerate(made)])
    assert [list(curve.blocks) for curve in curves(found)] == [[2, 3], [3]]
    apart = [other(made[0], 2, curve="one"), other(made[1], 3, curve="two")]
    assert [list(curve.blocks) for curve in curves(beside(rows(LONG), LONG, apart))] == [[2], [3]]


def test_another_workload_stands_beside_no_line():
    other_rows = [{"dataset": "coding", "family": None, "tau": 2.51}]
    found = beside(rows(LONG), LONG, [Other("published", "model thinking_on", LONG, other_rows, 2)])
    (curve,) = curves(found)
    assert (curve.name, curve.dataset, list(curve.tau)) == ("model thinking_on, coding", None, [2.51])


def test_a_block_beyond_the_trained_one_is_told():
    assert measured.beyond_training(LONG) == []
    warned = Finding("trained_block", Outcome.WARN, "K = 7, dspark_block_size = 5: positions 5 to 6 beyond it")
    (sentence,) = measured.beyond_training(replace(LONG, checks=(warned,)))
    assert sentence.startswith("K = 7, dspark_block_size = 5: positions 5 to 6 beyond it.")
