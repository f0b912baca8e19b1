"""Step 3: the number of steps and of accepted tokens of every response.

The logarithm of a response's length in tokens is a quadratic in its standardised tau plus noise (a prompt's
part and a copy's part), cut at the token limit. The coefficients are fitted to the dataset's exact steps, to
its exact tokens (so that tau is the step-weighted mean) and to the printed correlation of tau and length.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from .tables import COPIES, MAX_TOKENS, Floats, Ints, K, Mask

LEAST_STEPS = 4
TOLERANCE = 2e-3
PROMPT_PART = 0.7
LONGEST = MAX_TOKENS - 3.0


@dataclass(frozen=True)
class Totals:
    """What the responses of one dataset must add up to."""

    steps: int
    accepted: int
    correlation: float


def noise(rng: np.random.Generator, prompts: int) -> Floats:
    """Draw the noise of the lengths by prompt and copy: unit variance, alike within a prompt."""
    prompt = rng.normal(size=(prompts, 1)) * np.sqrt(PROMPT_PART)
    copy = rng.normal(size=(prompts, COPIES)) * np.sqrt(1 - PROMPT_PART)
    return np.asarray(prompt + copy)


def model(parameters: Floats, tau: Floats, draws: Floats) -> Floats:
    """Return the real-valued number of steps of every response."""
    level, slope, bend, spread = parameters
    score = (tau - tau.mean()) / tau.std()
    log = level + slope * score + bend * (score**2 - 1) + np.exp(spread) * draws
    tokens = np.minimum(np.exp(np.clip(log, 0, 12)), LONGEST)
    return np.asarray(np.maximum(tokens / tau, LEAST_STEPS))


def fit(tau: Floats, draws: Floats, present: Mask, totals: Totals) -> Floats:
    """Fit the length model.

    Args:
        tau: Acceptance length by prompt and copy.
        draws: Noise of the lengths.
        present: Which responses have steps in the log.
        totals: The sums and the correlation to reach.

    Returns:
        The real-valued steps by prompt and copy.

    Raises:
        RuntimeError: The model cannot reach the totals.
    """
    tokens = totals.steps + totals.accepted

    def misfit(parameters: Floats) -> Floats:
        steps = model(parameters, tau, draws)[present]
        emitted = steps * tau[present]
        correlation = np.corrcoef(emitted, tau[present])[0, 1]
        sums = [steps.sum() / totals.steps - 1, emitted.sum() / tokens - 1]
        return np.array([*sums, correlation - totals.correlation])

    def residuals(parameters: Floats) -> Floats:
        habits = np.array([0.1 * parameters[1], 0.3 * parameters[2], 0.5 * (parameters[3] - np.log(0.6))])
        return np.concatenate([misfit(parameters) * [1e4, 1e4, 2e3], habits])

    trials = []
    for slope in (0.0, -0.5, 0.5):
        start = np.array([np.log(tokens / present.sum()) - 0.2, slope, 0.0, np.log(0.6)])
        trials.append(least_squares(residuals, start, x_scale=[0.1, 0.1, 0.1, 0.2], max_nfev=300))
    best = min(trials, key=lambda trial: trial.cost).x
    if np.abs(misfit(best)).max() > TOLERANCE:
        raise RuntimeError(f"the lengths miss their totals by {misfit(best)}")
    return model(best, tau, draws)


def whole_numbers(steps: Floats, tau: Floats, present: Mask, totals: Totals) -> tuple[Ints, Ints]:
    """Round steps and accepted tokens so that the present responses have the exact sums.

    Args:
        steps: Real-valued steps by prompt and copy.
        tau: Acceptance length by prompt and copy.
        present: Which responses count.
        totals: The sums to reach.

    Returns:
        Steps and accepted tokens by prompt and copy.
    """
    whole = np.rint(steps).astype(np.int64)
    whole[present] = settle(steps[present], whole[present], totals.steps, np.full(present.sum(), MAX_TOKENS))
    wanted = (tau - 1) * whole
    accepted = np.clip(np.rint(wanted), 0, np.minimum(K * whole, MAX_TOKENS - 1 - whole)).astype(np.int64)
    room = np.minimum(K * whole, MAX_TOKENS - 1 - whole)[present]
    accepted[present] = settle(wanted[present], accepted[present], totals.accepted, room)
    return whole, accepted


def settle(wanted: Floats, whole: Ints, total: int, most: Ints) -> Ints:
    """Move whole numbers by one, the longest responses first, until they have the wanted sum."""
    whole = whole.copy()
    order = np.argsort(-wanted, kind="stable")
    while (gap := total - int(whole.sum())) != 0:
        sign = 1 if gap > 0 else -1
        free = order[(whole[order] + sign <= most[order]) & (whole[order] + sign > LEAST_STEPS)]
        if not free.size:
            raise RuntimeError("whole numbers cannot reach the wanted sum")
        whole[free[: abs(gap)]] += sign
    return whole
