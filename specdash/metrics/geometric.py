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


def implied_alpha(tau: float, exposed_share: np.ndarray) -> float:
    """Return the α at which the model has acceptance length ``tau`` (the moment estimate).

    τ(α) is a polynomial with non-negative coefficients, so it is increasing and convex on [0, 1]: Newton's
    method started at 1 falls monotonically to the only root. ``scipy.optimize.brentq`` gives the same to 1e-12
    (tested) but takes longer to import than a report takes to compute.

    Args:
        tau: Observed acceptance length, 1..1 + Σ exposed_share.
        exposed_share: Shape (k,), share of drafted steps with K_s > i.

    Raises:
        ValueError: ``tau`` lies outside what any α gives.
    """
    coefficients = np.append(exposed_share[::-1], 1.0 - tau)
    slope = np.polyder(coefficients)
    ceiling = 1.0 + float(exposed_share.sum())
    if not 1.0 <= tau <= ceiling * (1 + 1e-12):
        raise ValueError(f"acceptance length {tau} is not within 1 and {ceiling}")
    if tau <= 1.0:
        return 0.0
    alpha = 1.0
    for _ in range(200):
        step = float(np.polyval(coefficients, alpha) / np.polyval(slope, alpha))
        if step <= 0 or alpha - step == alpha:
            break
        alpha = max(alpha - step, 0.0)
    return alpha


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
