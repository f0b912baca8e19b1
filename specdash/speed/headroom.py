"""What a better draft position would be worth: acceptance length gained by fixing one position at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from specdash.speed.lap import Floats, with_no_speculation

FROM_LOG_ONLY = (
    "An upper bound from the log: it assumes that the tokens a better position lets through are accepted further on as "
    "often as today's, though they are the harder ones."
)
"""Caveat of the headroom."""


def headroom(tau_at_k: ArrayLike) -> Floats:
    """Tokens a step that τ would gain if position i always accepted (c_i = 1): (Σ_{j>=i} p_j)(1 / c_i − 1).

    Args:
        tau_at_k: Shape (..., k), acceptance length in tokens a step at K′ = 1..k, all of one log.

    Returns:
        Shape (..., k); nan where nothing was ever accepted, since nothing is known beyond.
    """
    tail, conditional = _tail_and_conditional(tau_at_k)
    with np.errstate(divide="ignore", invalid="ignore"):
        return tail * (1 / conditional - 1)


def sensitivity(tau_at_k: ArrayLike) -> Floats:
    """Tokens a step that τ gains for each unit of c_i, the other positions as they are: dτ/dc_i = Σ_{j>=i} p_j / c_i.

    Args:
        tau_at_k: Shape (..., k), acceptance length in tokens a step at K′ = 1..k, all of one log.

    Returns:
        Shape (..., k); nan where nothing was ever accepted.
    """
    tail, conditional = _tail_and_conditional(tau_at_k)
    with np.errstate(divide="ignore", invalid="ignore"):
        return tail / conditional


def _tail_and_conditional(tau_at_k: ArrayLike) -> tuple[Floats, Floats]:
    """Σ_{j>=i} p_j and c_i = p_i / p_{i−1}, both of shape (..., k)."""
    tau = with_no_speculation(tau_at_k)
    p = np.diff(tau)
    before = np.concatenate([np.ones((*p.shape[:-1], 1)), p[..., :-1]], axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return tau[..., -1:] - tau[..., :-1], p / before
