"""The constant-α (geometric) reference model, for a constant or a variable block length."""

from __future__ import annotations

import numpy as np


def tau_of_alpha(alpha: float, exposed_share: np.ndarray) -> float:
    """Acceptance length of the geometric model: 1 + Σ_i α^i · P(K_s >= i).

    For a constant K this is (1 − α^(K+1)) / (1 − α); for a mix of K_s it is the mixture of those.

    Args:
        alpha: Acceptance rate at every position, 0..1.
        exposed_share: Shape (k,), share of drafted steps with K_s > i.
    """
    return 1.0 + float(np.polyval(np.append(exposed_share[::-1], 0.0), alpha))


def implied_alpha(tau: np.ndarray | float, exposed_share: np.ndarray) -> np.ndarray:
    """Return the α at which the model has acceptance length ``tau`` (the moment estimate).

    τ(α) is a polynomial with non-negative coefficients, so it is increasing and convex on [0, 1]: Newton's
    method started at 1 falls monotonically to the only root. ``scipy.optimize.brentq`` gives the same to 1e-12
    (tested) but takes longer to import than a report takes to compute, and solves one equation at a time.

    Args:
        tau: Shape (...), observed acceptance length, 1..1 + Σ exposed_share; NaN where undefined.
        exposed_share: Shape (..., k), share of drafted steps with K_s > i.

    Returns:
        Shape (...), NaN where ``tau`` is.

    Raises:
        ValueError: ``tau`` lies outside what any α gives.
    """
    tau = np.asarray(tau, dtype=float)
    ceiling = 1.0 + exposed_share.sum(axis=-1)
    outside = (tau < 1.0 - 1e-12) | (tau > ceiling * (1 + 1e-12))
    if outside.any():
        raise ValueError(f"acceptance length {tau[outside].flat[0]} is not within 1 and {ceiling[outside].flat[0]}")
    alpha = np.ones_like(tau)
    for _ in range(200):
        value, slope = _horner(exposed_share, alpha)
        step = np.divide(value + 1.0 - tau, slope, out=np.zeros_like(tau), where=slope > 0)
        moved = np.where(step > 0, np.maximum(alpha - step, 0.0), alpha)
        if (moved == alpha).all():
            break
        alpha = moved
    return np.where(np.isnan(tau), np.nan, np.where(tau <= 1.0, 0.0, alpha))


def _horner(exposed_share: np.ndarray, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Σ_i share_i α^(i+1) and its derivative; both of alpha's shape."""
    value, slope = np.zeros_like(alpha), np.zeros_like(alpha)
    for share in np.moveaxis(exposed_share, -1, 0)[::-1]:
        slope = slope * alpha + value + share
        value = (value + share) * alpha
    return value, slope


def outcome(alpha: float, blocks_share: np.ndarray) -> np.ndarray:
    """Distribution of accepted tokens: (1 − α)α^j for j < K_s and α^K_s for j = K_s, mixed over K_s.

    Args:
        alpha: Acceptance rate at every position, 0..1.
        blocks_share: Shape (k + 1,), share of drafted steps by K_s.

    Returns:
        Shape (k + 1,), P(a = j).
    """
    k = blocks_share.size - 1
    longer = np.append(np.cumsum(blocks_share[::-1])[::-1][1:], 0.0)
    powers = alpha ** np.arange(k + 1)
    return powers * ((1.0 - alpha) * longer + blocks_share)
