"""Several streams in one pipeline: what they get together and from how many on they wait for each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from specdash.speed.lap import Floats, lap_seconds, over, stage_seconds, with_no_speculation
from specdash.speed.pipeline import Pipeline

UNBATCHED = (
    "Stages and links serve one stream at a time, in perfect rotation: no batching, which would serve more, and no "
    "queues from uneven steps, which would serve less."
)
"""Caveat of every number here."""


class Fill(NamedTuple):
    """M streams in flight, for K = 0..k.

    Attributes:
        aggregate: Shape (..., k + 1), tokens per second of all streams together.
        per_stream: Shape (..., k + 1), tokens per second of one of them.
        cap: Shape (..., k + 1), tokens per second that no number of streams exceeds; inf when nothing is ever busy.
        saturation: Shape (k + 1,), M*: streams that fill the busiest device. Below it no stream slows another down;
            inf when nothing is ever busy.
    """

    aggregate: Floats
    per_stream: Floats
    cap: Floats
    saturation: Floats


def bottleneck_seconds(pipeline: Pipeline, k: int) -> Floats:
    """Seconds a step keeps the busiest device busy, for K = 0..k: shape (k + 1,).

    The busiest is the last stage, which drafts too, or the link that sends most. Latency and overhead keep nothing
    busy.
    """
    busiest_stage = stage_seconds(pipeline, k) + lap_seconds(pipeline, k).draft
    return np.maximum(busiest_stage, _link_seconds(pipeline, k))


def _link_seconds(pipeline: Pipeline, k: int) -> Floats:
    """Seconds that sending one step's tokens takes on the link that sends most: shape (k + 1,)."""
    if pipeline.bandwidth_mbit_s is None:
        return np.zeros(k + 1)
    token_bytes = max(pipeline.forward_bytes if pipeline.forward_hops else 0.0, pipeline.returned_bytes)
    return 8.0 * token_bytes * np.arange(1, k + 2) / (pipeline.bandwidth_mbit_s * 1e6)


def fill(pipeline: Pipeline, tau_at_k: ArrayLike) -> Fill:
    """Throughput of ``pipeline.streams`` streams: min(M τ / T, τ / busiest stage, τ / busiest link).

    Args:
        pipeline: The pipeline, with its streams in flight.
        tau_at_k: Shape (..., k), acceptance length in tokens a step at K′ = 1..k.

    source: utilisation bound of a closed pipeline with M customers (asymptotic bounds, Denning & Buzen 1978).
    """
    tau = with_no_speculation(tau_at_k)
    k = tau.shape[-1] - 1
    lap = lap_seconds(pipeline, k).total
    busy = bottleneck_seconds(pipeline, k)
    aggregate = over(tau, np.maximum(lap / pipeline.streams, busy))
    return Fill(aggregate, aggregate / pipeline.streams, cap=over(tau, busy), saturation=over(lap, busy))
