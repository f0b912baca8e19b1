"""Where a longer block starts to pay: break-even network time and bandwidth, and the marginal rule.

All compare the tokens per second of a single stream at two block lengths, K1 < K2; K1 = 0 is no speculation.
"""

from __future__ import annotations

import math
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from specdash.speed.lap import Floats, lap_bits, lap_seconds, over, with_no_speculation
from specdash.speed.pipeline import Pipeline


class Pays(StrEnum):
    """On which side of the break-even value the longer block is faster."""

    ALWAYS = "always"
    ABOVE = "above"
    BELOW = "below"
    NEVER = "never"


class BreakEven(NamedTuple):
    """Where K2 drafted tokens start to be faster than K1.

    Attributes:
        value: The break-even point; not positive where K2 always pays, None where it never does.
        pays: Where K2 is faster.
    """

    value: float | None
    pays: Pays

    def at(self, x: float) -> bool:
        """Tell whether K2 is faster at ``x``, in the unit of ``value``."""
        if self.value is None or self.pays == Pays.ALWAYS:
            return self.pays == Pays.ALWAYS
        return x > self.value if self.pays == Pays.ABOVE else x < self.value


_NEVER = BreakEven(None, Pays.NEVER)


def network_seconds(pipeline: Pipeline, tau_at_k: ArrayLike, k1: int, k2: int) -> BreakEven:
    """Σ one-way latencies of a lap from which K2 is faster than K1: L* = (τ1 X2 − τ2 X1) / (τ2 − τ1).

    X is the time of a lap that is not latency, so the pipeline's own latencies do not matter. More tokens never cost
    less, so the longer block pays above L* or, when it emits no more tokens, never.

    Args:
        pipeline: The pipeline.
        tau_at_k: Shape (k,), acceptance length in tokens a step at K′ = 1..k.
        k1: The shorter block, 0 for no speculation.
        k2: The longer block.

    Returns:
        The break-even latency of a lap in s.

    Raises:
        ValueError: Not 0 <= k1 < k2 <= k, or τ is not known at one of them.
    """
    tau1, tau2 = _pair(tau_at_k, k1, k2)
    rest = lap_seconds(pipeline, k2).beside_latency
    if not tau2 > tau1:
        return _NEVER
    value = float((tau1 * rest[k2] - tau2 * rest[k1]) / (tau2 - tau1))
    return BreakEven(value, Pays.ABOVE if value > 0 else Pays.ALWAYS)


def rtt_ms(pipeline: Pipeline, tau_at_k: ArrayLike, k1: int, k2: int) -> BreakEven:
    """Round-trip time of every hop, in ms, from which K2 is faster than K1: RTT* = 2 L* / traversals.

    A pipeline without traversals (one stage, no return hop) has no network: K2 pays always or never.

    Args:
        pipeline: The pipeline.
        tau_at_k: Shape (k,), acceptance length in tokens a step at K′ = 1..k.
        k1: The shorter block, 0 for no speculation.
        k2: The longer block.

    Raises:
        ValueError: Not 0 <= k1 < k2 <= k, or τ is not known at one of them.
    """
    latency = network_seconds(pipeline, tau_at_k, k1, k2)
    if latency.value is None:
        return latency
    if not pipeline.traversals:
        return BreakEven(0.0, Pays.ALWAYS) if latency.value < 0 else _NEVER
    return latency._replace(value=2000 * latency.value / pipeline.traversals)


def bandwidth_mbit_s(pipeline: Pipeline, tau_at_k: ArrayLike, k1: int, k2: int) -> BreakEven:
    """Bandwidth of every link, in Mbit/s, at which K2 and K1 are equally fast.

    With a lap of C + D / BW, BW* = (τ1 D2 − τ2 D1) / (τ2 C1 − τ1 C2): both positive, K2 pays above it. With τ(K′) from
    a log, τ / (K + 1) never rises, so D favours K1; a measured τ(K′) may turn the sides around.

    Args:
        pipeline: The pipeline; its own bandwidth does not matter.
        tau_at_k: Shape (k,), acceptance length in tokens a step at K′ = 1..k.
        k1: The shorter block, 0 for no speculation.
        k2: The longer block.

    Raises:
        ValueError: Not 0 <= k1 < k2 <= k, or τ is not known at one of them.
    """
    tau1, tau2 = _pair(tau_at_k, k1, k2)
    fixed = lap_seconds(replace(pipeline, bandwidth_mbit_s=None), k2).total
    megabits = lap_bits(pipeline, k2) / 1e6
    gain = tau2 * fixed[k1] - tau1 * fixed[k2]
    loss = tau1 * megabits[k2] - tau2 * megabits[k1]
    if gain > 0:
        return BreakEven(float(loss / gain), Pays.ABOVE if loss > 0 else Pays.ALWAYS)
    if loss < 0:
        return BreakEven(float(loss / gain), Pays.BELOW) if gain < 0 else BreakEven(0.0, Pays.ALWAYS)
    return _NEVER


def _pair(tau_at_k: ArrayLike, k1: int, k2: int) -> tuple[float, float]:
    """τ at K1 and at K2."""
    tau = with_no_speculation(tau_at_k)
    if tau.ndim != 1:
        raise ValueError("a break-even compares two block lengths of one dataset")
    if not 0 <= k1 < k2 < tau.size:
        raise ValueError(f"cannot compare K = {k1} with K = {k2}: needs 0 <= K1 < K2 <= {tau.size - 1}")
    tau1, tau2 = float(tau[k1]), float(tau[k2])
    if not math.isfinite(tau1 + tau2):
        raise ValueError(f"τ is not known at both K = {k1} and K = {k2}")
    return tau1, tau2


class Margin(NamedTuple):
    """What one more drafted token brings and costs; going from i to i + 1 is index i of shape (k,).

    Attributes:
        gain: p_i / τ(i), tokens added relative to those already emitted.
        cost: (T(i + 1) − T(i)) / T(i), time added relative to the lap. Index 0 holds all that starting to draft costs.
    """

    gain: Floats
    cost: Floats


def margin(pipeline: Pipeline, tau_at_k: ArrayLike) -> Margin:
    """Compare the next position's acceptance with its cost: i + 1 tokens are faster than i iff gain > cost.

    With τ(K′) from a log and costs linear in the tokens, deepening from 1 while this holds ends at the best K >= 1; no
    speculation has no draft cost, so K = 0 has to be compared separately.

    Args:
        pipeline: The pipeline.
        tau_at_k: Shape (k,), acceptance length in tokens a step at K′ = 1..k.

    Returns:
        Two arrays of shape (k,); the cost is not finite where the shorter lap takes no time.
    """
    tau = with_no_speculation(tau_at_k)
    total = lap_seconds(pipeline, tau.shape[-1] - 1).total
    return Margin(np.diff(tau) / tau[..., :-1], over(np.diff(total), total[:-1]))
