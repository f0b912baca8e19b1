"""What the figures of prompts and of one response show, counted by hand."""

import polars as pl
import pytest

from specdash import charts
from specdash.metrics import difficulty
from tests.charts.drawing import STEPS, is_empty


def prompts(count, *, dataset="gsm8k", shrunken=True):
    """Prompts p0, p1, … with mean 2 + i/10, drawn half way to the centre 3, hardest first."""
    rows = [
        {
            "dataset": dataset, "prompt": f"p{i}", "copies": 4, "steps": 100 + i, "tau": 2.0, "mean": 2 + i / 10,
            "min": 1.5, "max": 4.0, "centre": 3.0, "weight": 0.5, "shrunken": 2.5 + i / 20, "low": 2.4 + i / 20,
            "high": 2.7 + i / 20, "noise": "copies",
        }
        for i in range(count)
    ]  # fmt: skip
    if not shrunken:
        rows = [row | dict.fromkeys(("weight", "shrunken", "low", "high", "noise")) for row in rows]
    return pl.DataFrame(rows, schema=difficulty.SCHEMA).with_columns(family=pl.lit("math"))


def test_the_hardest_and_the_easiest():
    chart = charts.prompt_caterpillar(prompts(20), "light", ends=3)
    means, guesses = chart.figure.data
    assert list(guesses.x) == pytest.approx([2.5, 2.55, 2.6, 3.35, 3.4, 3.45])
    assert list(means.x) == pytest.approx([2.0, 2.1, 2.2, 3.7, 3.8, 3.9])
    assert list(guesses.y) == list(means.y) == [0, 1, 2, 4, 5, 6]  # a blank row parts them
    assert list(guesses.error_x.array) == pytest.approx([0.2] * 6)
    assert list(guesses.error_x.arrayminus) == pytest.approx([0.1] * 6)
    assert list(chart.figure.layout.yaxis.ticktext) == ["p0", "p1", "p2", "p17", "p18", "p19"]
    assert chart.data["prompt"].to_list() == ["p0", "p1", "p2", "p17", "p18", "p19"]
    assert chart.caption.startswith(
        "The 3 hardest and 3 easiest of 20 prompts: τ from 2.50 (p0 of gsm8k) to 3.45 (p19 of gsm8k) tokens per step."
    )
    assert "bars are its 95% interval" in chart.caption


def test_few_prompts_are_all_shown():
    chart = charts.prompt_caterpillar(prompts(6), "light", ends=3)
    assert list(chart.figure.data[1].y) == list(range(6))
    assert chart.caption.startswith("All 6 prompts: ")


def test_prompts_of_several_datasets_are_named_with_theirs():
    both = pl.concat([prompts(2), prompts(2, dataset="alpaca").with_columns(family=pl.lit("chat"))])
    chart = charts.prompt_caterpillar(both, "light")
    assert list(chart.figure.layout.yaxis.ticktext) == ["p0 · gsm8k", "p1 · gsm8k", "p0 · alpaca", "p1 · alpaca"]
    assert [trace.name for trace in chart.figure.data[1:]] == ["τ, shrunken: math", "τ, shrunken: chat"]


def test_means_alone_where_noise_is_not_known():
    chart = charts.prompt_caterpillar(prompts(6, shrunken=False), "light")
    (means,) = chart.figure.data
    assert list(means.x) == pytest.approx([2 + i / 10 for i in range(6)])
    assert chart.caption == (
        "All 6 prompts: τ from 2.00 (p0 of gsm8k) to 2.50 (p5 of gsm8k) tokens per step. "
        "Where noise cannot be told from difficulty the mean stands alone, without an interval."
    )


def test_no_prompts():
    assert is_empty(charts.prompt_caterpillar(prompts(0), "light"))


def test_a_strip_of_steps():
    chart = charts.step_strip(STEPS, "light", family="math")
    drafted, accepted = chart.figure.data
    assert list(drafted.y) == [3, 3, 3, 3, 0, 0, 2, 2]  # each step from its left to its right end
    assert list(accepted.y) == [3, 3, 0, 0, 0, 0, 1, 1]
    assert list(accepted.x) == [-0.5, 0.5, 0.5, 1.5, 1.5, 2.5, 2.5, 3.5]
    assert [list(row) for row in accepted.customdata[::2]] == [[0, 3, 3, 5], [1, 0, 3, 6], [2, 0, 0, 7], [3, 1, 2, 9]]
    assert chart.data.rows() == [(0, 3, 3, 5), (1, 3, 0, 6), (2, 0, 0, 7), (3, 2, 1, 9)]
    # 1 token from prefill, 4 from the steps, 4 accepted; τ over the 3 drafted steps = 1 + 4/3.
    assert chart.caption == (
        "4 steps emitted 9 tokens, the one of prefill included. τ of the response is 2.33: 33 % of its steps accepted "
        "nothing, 33 % all that they drafted. 1 step drafted nothing."
    )


def test_a_long_response_stays_small():
    steps = pl.DataFrame({"drafted": [7] * 20_000, "accepted": [i % 8 for i in range(20_000)]})
    assert len(charts.step_strip(steps, "light").figure.to_json()) < 5_000_000
