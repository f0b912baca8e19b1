"""Tokens per second against one property of the pipeline at a time, for every block length at once."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specdash.speed.fill import bottleneck_seconds
from specdash.speed.lap import Floats, best_k, lap_bits, lap_seconds, over, with_no_speculation
from specdash.speed.pipeline import Pipeline


class Sweep(NamedTuple):
    """A grid of block lengths against one property of the pipeline.

    Attributes:
        tok_s: Shape (..., k + 1, n), tokens per second for K = 0..k at each of the n values.
        best_k: Shape (..., n), the K with the highest rate at each value.
    """

    tok_s: Floats
    best_k: NDArray[np.intp]


def over_rtt(pipeline: Pipeline, tau_at_k: ArrayLike, rtt_ms: ArrayLike) -> Sweep:
    """Tokens per second of a single stream against the round-trip time, the same at every hop.

    Args:
        pipeline: The pipeline; its own latencies are put aside.
        tau_at_k: Shape (..., k), acceptance length in tokens a step at K′ = 1..k.
        rtt_ms: Shape (n,), round-trip times of a hop in ms.
    """
    tau = with_no_speculation(tau_at_k)
    rest = lap_seconds(pipeline, tau.shape[-1] - 1).beside_latency
    latency = pipeline.traversals * np.asarray(rtt_ms, dtype=np.float64) / 2 / 1000
    return _sweep(tau, rest[:, None] + latency)


def over_bandwidth(pipeline: Pipeline, tau_at_k: ArrayLike, bandwidth_mbit_s: ArrayLike) -> Sweep:
    """Tokens per second of a single stream against the bandwidth, the same on every link.

    Args:
        pipeline: The pipeline; its own bandwidth is put aside.
        tau_at_k: Shape (..., k), acceptance length in tokens a step at K′ = 1..k.
        bandwidth_mbit_s: Shape (n,), bandwidths in Mbit/s; inf is allowed.
    """
    tau = with_no_speculation(tau_at_k)
    k = tau.shape[-1] - 1
    rest = lap_seconds(replace(pipeline, bandwidth_mbit_s=None), k).total
    bits_s = np.asarray(bandwidth_mbit_s, dtype=np.float64) * 1e6
    return _sweep(tau, rest[:, None] + lap_bits(pipeline, k)[:, None] / bits_s)


def over_stages(pipeline: Pipeline, tau_at_k: ArrayLike, stages: ArrayLike, *, split_model: bool) -> Sweep:
    """Tokens per second of a single stream against the number of stages, every hop taking half of ``rtt_ms``.

    Args:
        pipeline: The pipeline; its own number of stages and explicit one-way latencies are put aside.
        tau_at_k: Shape (..., k), acceptance length in tokens a step at K′ = 1..k.
        stages: Shape (n,), numbers of stages.
        split_model: True: the compute of all of ``pipeline``'s stages is one model, divided among more or fewer. False:
            every stage computes as long as one of ``pipeline``'s does, so more stages are a larger model.

    Raises:
        InputError: A number of stages is outside 1..64.
    """
    tau = with_no_speculation(tau_at_k)
    laps = []
    for number in np.asarray(stages).tolist():
        part = pipeline.stages / number if split_model and number else 1.0
        changed = replace(
            pipeline,
            stages=number,
            one_way_ms=None,
            stage_ms=pipeline.stage_ms * part,
            stage_per_token_ms=pipeline.stage_per_token_ms * part,
        )
        laps.append(lap_seconds(changed, tau.shape[-1] - 1).total)
    return _sweep(tau, np.stack(laps, axis=-1))


def over_streams(pipeline: Pipeline, tau_at_k: ArrayLike, streams: ArrayLike) -> Sweep:
    """Tokens per second of all streams together against how many are in flight; see ``specdash.speed.fill``.

    Args:
        pipeline: The pipeline; its own number of streams is put aside.
        tau_at_k: Shape (..., k), acceptance length in tokens a step at K′ = 1..k.
        streams: Shape (n,), numbers of streams M.
    """
    tau = with_no_speculation(tau_at_k)
    k = tau.shape[-1] - 1
    lap = lap_seconds(pipeline, k).total[:, None]
    # A step of some stream ends every lap / M, but not faster than the busiest device takes for one.
    return _sweep(tau, np.maximum(lap / np.asarray(streams), bottleneck_seconds(pipeline, k)[:, None]))


def _sweep(tau: Floats, seconds: Floats) -> Sweep:
    """Rates of τ, shape (..., k + 1), over seconds a step, shape (k + 1, n)."""
    rates = over(tau[..., None], seconds)
    return Sweep(rates, best_k(rates, axis=-2))
