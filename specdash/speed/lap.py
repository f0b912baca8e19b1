"""The lap model: what one verify step costs on a pipeline of stages, and the tokens per second that follow.

A lap takes T(K) = latency + transfer + compute + draft + overhead; a step of K drafted tokens sends K + 1 through every
stage and emits τ(K) of them, so a single stream gets τ(K) / T(K) tokens per second. K = 0 is no speculation: τ(0) = 1
and nothing is drafted. With every cost but the latency at zero this is the bound of ``specdash.speed.bound``.

source: acceptance report, section 7, for the latency; the other costs are what the bound leaves out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from specdash.speed.pipeline import Drafter, Pipeline

Floats = NDArray[np.float64]

IMPLIED = (
    "τ(K′) below the logged block length is implied by cutting its steps short, not measured: a lower bound of a real "
    "run at K′ when easy tokens come in stretches, and no statement about a block length the drafter was not trained "
    "for."
)
"""Caveat of everything that compares block lengths of one log."""


class Lap(NamedTuple):
    """Seconds of a lap by cause, each of shape (k + 1,), for K = 0..k drafted tokens.

    Attributes:
        latency: Σ one-way latencies of the traversals.
        transfer: Sending K + 1 tokens over every forward hop and the return hop (serialization).
        compute: All stages verifying K + 1 tokens.
        draft: Drafting K tokens; 0 at K = 0.
        overhead: What else a step costs.
    """

    latency: Floats
    transfer: Floats
    compute: Floats
    draft: Floats
    overhead: Floats

    @property
    def beside_latency(self) -> Floats:
        """Seconds that are not latency, shape (k + 1,)."""
        return self.transfer + self.compute + self.draft + self.overhead

    @property
    def total(self) -> Floats:
        """Seconds of the whole lap, shape (k + 1,)."""
        return self.latency + self.beside_latency


def lap_seconds(pipeline: Pipeline, k: int) -> Lap:
    """Seconds of a lap by cause, for every K from 0 to ``k``.

    Args:
        pipeline: The pipeline.
        k: Largest number of drafted tokens.

    Returns:
        Five arrays of shape (k + 1,), in s.

    Raises:
        ValueError: ``k`` is negative.
    """
    if k < 0:
        raise ValueError(f"a step cannot draft {k} tokens")
    drafted = np.arange(k + 1, dtype=np.float64)
    bandwidth = pipeline.bandwidth_mbit_s
    return Lap(
        latency=np.full(k + 1, pipeline.latency_s),
        transfer=np.zeros(k + 1) if bandwidth is None else lap_bits(pipeline, k) / (bandwidth * 1e6),
        compute=pipeline.stages * stage_seconds(pipeline, k),
        draft=pipeline.draft_ms / 1000 * (drafted if pipeline.drafter == Drafter.AUTOREGRESSIVE else drafted > 0),
        overhead=np.full(k + 1, pipeline.overhead_ms / 1000),
    )


def lap_bits(pipeline: Pipeline, k: int) -> Floats:
    """Bits that a lap sends, over all its hops together, for K = 0..k: shape (k + 1,)."""
    return 8.0 * np.arange(1, k + 2) * (pipeline.forward_hops * pipeline.forward_bytes + pipeline.returned_bytes)


def stage_seconds(pipeline: Pipeline, k: int) -> Floats:
    """Seconds one stage computes in a step, for K = 0..k: shape (k + 1,)."""
    return (pipeline.stage_ms + pipeline.stage_per_token_ms * np.arange(1, k + 2)) / 1000


def with_no_speculation(tau_at_k: ArrayLike) -> Floats:
    """Put τ(0) = 1 in front of τ(K′).

    Args:
        tau_at_k: Shape (..., k), acceptance length in tokens a step at K′ = 1..k; None counts as not known (nan).

    Returns:
        Shape (..., k + 1), for K = 0..k.

    Raises:
        ValueError: ``tau_at_k`` is a single number.
    """
    tau = np.asarray(tau_at_k, dtype=np.float64)
    if tau.ndim == 0:
        raise ValueError("τ(K′) is a list with one value for every K′ from 1")
    return np.concatenate([np.ones((*tau.shape[:-1], 1)), tau], axis=-1)


def over(amount: ArrayLike, seconds: ArrayLike) -> Floats:
    """Divide by seconds, broadcasting: x/0 is inf and 0/0 is nan, without a warning."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(amount, seconds)


def tokens_per_second(pipeline: Pipeline, tau_at_k: ArrayLike) -> Floats:
    """Tokens per second of a single stream that has the pipeline to itself: τ(K) / T(K).

    τ over the mean lap, not the mean of τ over the lap: that is what a long response gets.

    Args:
        pipeline: The pipeline.
        tau_at_k: Shape (..., k), acceptance length in tokens a step at K′ = 1..k.

    Returns:
        Shape (..., k + 1), for K = 0..k. nan where τ is not known, inf where a lap takes no time.

    source: acceptance report, section 7, with every cost in T.
    """
    tau = with_no_speculation(tau_at_k)
    return over(tau, lap_seconds(pipeline, tau.shape[-1] - 1).total)


def speedup(pipeline: Pipeline, tau_at_k: ArrayLike) -> Floats:
    """Speed-up over no speculation on the same pipeline: τ(K) T(0) / T(K), at most τ(K).

    Args:
        pipeline: The pipeline.
        tau_at_k: Shape (..., k), acceptance length in tokens a step at K′ = 1..k.

    Returns:
        Shape (..., k + 1), for K = 0..k; 1 at K = 0. nan where τ is not known or a lap takes no time.
    """
    tau = with_no_speculation(tau_at_k)
    total = lap_seconds(pipeline, tau.shape[-1] - 1).total
    return tau * over(total[0], total)


def best_k(rates: ArrayLike, axis: int = -1) -> NDArray[np.intp]:
    """Number of drafted tokens with the highest rate; the smallest of equals.

    Args:
        rates: Rates for K = 0..k along ``axis``; nan is never the best.
        axis: The axis of K.

    Returns:
        ``rates`` without that axis.
    """
    values = np.asarray(rates, dtype=np.float64)
    return np.argmax(np.where(np.isnan(values), -np.inf, values), axis=axis)
