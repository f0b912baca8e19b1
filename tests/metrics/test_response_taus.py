"""The acceptance length of responses whose blocks are cut at K′."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdash.metrics import response_sums, response_taus, run_rows
from tests.helpers import Response, log_run
from tests.metrics.logs import constant_logs, quick, variable_logs

TWO = (
    Response(((3, 3), (3, 1), (0, 0)), "x"),
    Response(((3, 0), (3, 2)), "y"),
    Response(((0, 0),), "y"),
)


@pytest.mark.parametrize(("block", "taus"), [(0, [1, 1]), (1, [2, 1.5]), (2, [2.5, 2]), (3, [3, 2]), (9, [3, 2])])
def test_by_hand(block, taus):
    found = response_taus(log_run(TWO), block)
    assert found["dataset"].to_list() == ["x", "y"]  # a response that drafts nothing has no acceptance length
    assert found["tau"].to_list() == taus


@given(st.one_of(constant_logs, variable_logs), st.integers(0, 7))
@quick
def test_weighted_by_steps_it_is_tau_at_the_block(log, block):
    run = log_run(log)
    steps = response_sums(run).filter(pl.col("steps") > 0)["steps"]
    found = response_taus(run, block)
    assert found.height == steps.len()
    rows, _ = run_rows(run, lambda name: None)
    at_k = rows[-1]["tau_at_k"]
    if not steps.len() or block == 0:
        assert found["tau"].to_list() == [1.0] * found.height
        return
    wanted = at_k[min(block, len(at_k)) - 1]
    assert (found["tau"] * steps).sum() / steps.sum() == pytest.approx(wanted)
