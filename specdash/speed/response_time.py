"""How long a response takes and how far its speed strays: renewal-reward theory over steps of random length.

A response of L tokens needs as many steps as it takes for Σ(1 + a) to reach L; each step takes one lap.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from specdash.speed.lap import Floats

APPROXIMATE = (
    "For responses of many steps that are equally difficult: one τ and one σ for all. Responses to different prompts "
    "differ by more than this band."
)
"""Caveat of the band around a response's time and speed."""

ORDER_NEEDED = "κ comes from the order of steps; 1 takes steps for independent."
"""Caveat of κ where the order of steps is not known."""


class ResponseTime(NamedTuple):
    """The time of a response of L tokens; numbers, or arrays when L is an array.

    Attributes:
        tokens: L.
        steps: Expected number of steps.
        mean_s: Expected time in s, the discreteness included.
        discreteness_s: The part of ``mean_s`` that is there because the last step emits more tokens than are needed.
        variance_s2: Variance of the time in s².
    """

    tokens: Floats
    steps: Floats
    mean_s: Floats
    discreteness_s: Floats
    variance_s2: Floats

    @property
    def sd_s(self) -> Floats:
        """Standard deviation of the time in s."""
        return np.sqrt(self.variance_s2)

    def tok_s_quantiles(self, levels: Sequence[float] = (0.05, 0.5, 0.95)) -> Floats:
        """Quantiles of the response's tokens per second, L / time.

        The normal approximation is made for the logarithm of the time: a time is positive and skewed to the right.

        Args:
            levels: Quantile levels, within 0 and 1.

        Returns:
            Shape (levels, ...), in tokens per second.
        """
        log_variance = np.log1p(self.variance_s2 / np.square(self.mean_s))
        log_speed = np.log(self.tokens / self.mean_s) + log_variance / 2
        scores = np.array([NormalDist().inv_cdf(level) for level in levels])
        return np.exp(log_speed + np.multiply.outer(scores, np.sqrt(log_variance)))


def response_time(
    tokens: ArrayLike, tau: float, step_std: float, lap_s: float, *, lap_sd_s: float = 0.0, kappa: float = 1.0
) -> ResponseTime:
    """Mean and variance of the time for L tokens: T L/τ + T (E X² − E X)/(2 τ²) and T² L σ² κ/τ³ + (L/τ) sd_T².

    X = 1 + a are the tokens of a step, T is the mean lap.

    Args:
        tokens: L > 0, tokens that steps have to emit, any shape; a token from prefill is not among them.
        tau: Acceptance length, E X.
        step_std: σ_step, population standard deviation of a. The geometric model's would overstate the jitter.
        lap_s: Mean lap in s.
        lap_sd_s: Standard deviation of a lap in s, laps being independent.
        kappa: 1 + 2 Σ ρ_k over the autocorrelation of a; 1 for independent steps.

    source: Cox 1962, Renewal Theory (renewal count, cumulative processes).
    """
    length = np.asarray(tokens, dtype=np.float64)
    extra_steps = (step_std**2 + tau**2 - tau) / (2 * tau**2)
    steps = length / tau + extra_steps
    variance = lap_s**2 * length * step_std**2 * kappa / tau**3 + length / tau * lap_sd_s**2
    return ResponseTime(length, steps, lap_s * steps, np.float64(lap_s * extra_steps), variance)


def lap_sd_seconds(traversals: int, one_way_sd_ms: float) -> float:
    """Standard deviation of a lap in s when every traversal strays by the same amount, independently: √n · sd.

    Args:
        traversals: One-way traversals of a lap.
        one_way_sd_ms: Standard deviation of a traversal in ms.
    """
    return traversals**0.5 * one_way_sd_ms / 1000


def window_sd(window_s: ArrayLike, step_std: float, lap_s: float, *, kappa: float = 1.0) -> Floats:
    """Standard deviation of the tokens per second seen over a window of W seconds: √(κ W / T) σ / W.

    A user sees bursts: a chunk of 1 + a tokens every lap.

    Args:
        window_s: W in s, longer than a lap, any shape.
        step_std: σ_step, population standard deviation of a.
        lap_s: Lap in s, taken as constant.
        kappa: 1 + 2 Σ ρ_k over the autocorrelation of a.
    """
    window = np.asarray(window_s, dtype=np.float64)
    return np.sqrt(kappa * window / lap_s) * step_std / window


def share_reaching(response_tau: ArrayLike, lap_s: float, tok_s: ArrayLike) -> Floats | None:
    """Share of responses whose single stream reaches a speed: P(τ_r / T >= x).

    Args:
        response_tau: Shape (responses,), τ_r; None or nan: the response has no step and does not count.
        lap_s: Lap in s, at the block length that the τ_r were logged with.
        tok_s: x in tokens per second, any shape.

    Returns:
        Shares 0..1 in the shape of ``tok_s``; None without responses.
    """
    tau = np.asarray(response_tau, dtype=np.float64)
    speeds = np.sort(tau[~np.isnan(tau)]) / lap_s
    if not speeds.size:
        return None
    return 1.0 - np.searchsorted(speeds, tok_s, side="left") / speeds.size
