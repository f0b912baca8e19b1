"""τ(K′) of the report's datasets, and random drafters and pipelines."""

from functools import cache

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from specdash.speed.lap import lap_seconds
from specdash.speed.pipeline import Drafter, Pipeline
from tests.helpers import report_table

quick = settings(max_examples=50, deadline=None)


@cache
def printed_p():
    """The printed p_i of every dataset."""
    rows = report_table("table2_unconditional_p")
    return {dataset: np.array([float(row[f"p{i}"]) for i in range(7)]) for dataset, row in rows.items()}


def tau_at_k(dataset):
    return 1 + np.cumsum(printed_p()[dataset])


def step_std(dataset):
    p = printed_p()[dataset]
    return float(np.sqrt(np.sum((2 * np.arange(p.size) + 1) * p) - p.sum() ** 2))


@st.composite
def logged_taus(draw, shortest=1):
    """τ(K′) as a log gives it: p_i falls from position to position."""
    p = draw(st.lists(st.integers(1, 1000), min_size=shortest, max_size=12))
    return 1 + np.cumsum(sorted(p, reverse=True)) / 1000


measured_taus = st.lists(st.integers(101, 900), min_size=2, max_size=12).map(lambda tau: np.array(tau) / 100)
"""τ(K′) as separate runs give it: of any shape."""


def up_to(largest):
    """Costs in tenths, so that none is vanishingly small beside another."""
    return st.integers(0, 10 * largest).map(lambda tenths: tenths / 10)


def pipelines(**fixed):
    """Pipelines whose lap takes some time."""
    fields = {
        "stages": st.integers(1, 64),
        "rtt_ms": st.integers(1, 400).map(float),
        "return_hop": st.booleans(),
        "stage_ms": up_to(20),
        "stage_per_token_ms": up_to(5),
        "drafter": st.sampled_from(Drafter),
        "draft_ms": up_to(20),
        "hidden_size": st.integers(1, 16384),
        "bytes_per_value": st.sampled_from([0.5, 1.0, 2.0, 4.0]),
        "residual_streams": st.integers(1, 4),
        "bandwidth_mbit_s": st.none() | st.integers(1, 10_000).map(float),
        "return_bytes": st.integers(0, 16).map(float),
        "overhead_ms": up_to(20),
        "streams": st.integers(1, 256),
    }
    built = st.builds(Pipeline, **(fields | {name: st.just(value) for name, value in fixed.items()}))
    return built.filter(lambda pipeline: lap_seconds(pipeline, 0).total[0] > 0)
