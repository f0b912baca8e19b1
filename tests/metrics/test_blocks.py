"""The block length of a run, where all of its steps had the same."""

from dataclasses import replace

import polars as pl
import pytest

from specdash.metrics import fixed_block
from tests.helpers import Response, counter_run, counters, log_run, rates_run


@pytest.mark.parametrize(
    ("steps", "block"),
    [
        (((7, 3), (7, 7)), 7),
        (((7, 3), (0, 0), (7, 7)), 7),  # a step without a draft is none of another length
        (((7, 3), (6, 6)), None),
        (((0, 0),), None),
    ],
)
def test_of_a_log(steps, block):
    assert fixed_block(log_run([Response(steps)])) == block


def test_a_length_that_is_not_known_is_none():
    run = log_run([Response(((7, 3),))])
    unknown = run.counts.with_columns(drafted=pl.lit(None, pl.Int16))
    assert fixed_block(replace(run, counts=unknown)) is None


def test_of_counters():
    four, five = (counters(9, "x" * k, block=k, accepted=9) for k in (4, 5))
    assert fixed_block(counter_run(four, four | {"dataset": "y"}, k=4)) == 4
    assert fixed_block(counter_run(four, five, k=5)) is None
    assert fixed_block(counter_run(four, four | {"dataset": "y", "block": None}, k=4)) is None


def test_of_printed_ratios():
    row = {"dataset": "d", "tau": 2.5}
    assert fixed_block(replace(rates_run(row), k=4)) == 4
    assert fixed_block(replace(rates_run(row), k=None)) is None
    assert fixed_block(replace(rates_run(row | {"mean_drafted": 4.0}), k=4)) == 4
    assert fixed_block(replace(rates_run(row | {"mean_drafted": 3.98}), k=4)) is None
