"""Steps 4 and 5: whole step counts by response and outcome, and the order of the steps.

Iterative proportional fitting of ``steps_r * kernel_rj * w_j * exp(theta_r j)`` reaches every response's mean
and every outcome's total. A gamma kernel around a first, noiseless fit gives rows the scatter of sampled
steps. The table is then rounded row by row. The rounding error is carried to the next row, so that column
sums come out exact.
"""

import numpy as np

from .tables import Floats, Ints, K

LEVELS = np.arange(K + 1)
PATTERNS = np.array([[n >> j & 1 for j in LEVELS] for n in range(2 ** (K + 1))])
SWEEPS = 400
MOMENT_WEIGHT = 3.0
LIMIT = 25.0


def proportional_fit(steps: Ints, accepted: Ints, columns: Ints, kernel: Floats) -> Floats:
    """Fit a response x outcome table with given row sums, row means and column sums.

    Args:
        steps: Steps by response.
        accepted: Accepted tokens by response.
        columns: Steps by outcome.
        kernel: The table's shape before fitting.

    Returns:
        Real-valued step counts by response and outcome.
    """
    mean = accepted / steps
    weights = np.log(columns / columns.sum())
    theta = np.zeros(steps.size)
    log_kernel = np.log(kernel)
    table = kernel
    for _ in range(SWEEPS):
        for _ in range(3):
            logits = log_kernel + weights + theta[:, None] * LEVELS
            share = np.exp(logits - logits.max(axis=1, keepdims=True))
            share /= share.sum(axis=1, keepdims=True)
            now = share @ LEVELS
            variance = (share * (LEVELS - now[:, None]) ** 2).sum(axis=1)
            theta = np.clip(theta + np.clip((mean - now) / np.maximum(variance, 0.05), -1, 1), -LIMIT, LIMIT)
        table = share * steps[:, None]
        ratio = columns / table.sum(axis=0)
        weights += np.log(ratio)
        if np.abs(ratio - 1).max() < 1e-7:
            break
    return table


def round_rows(table: Floats, steps: Ints, accepted: Ints) -> Ints:
    """Round a table to whole counts with exact row sums, near-exact row moments and column sums.

    Args:
        table: Real-valued counts.
        steps: Row sums.
        accepted: Row moments (accepted tokens).

    Returns:
        Whole counts. Each row takes over the rounding error of the rows before it.
    """
    whole = np.zeros(table.shape, dtype=np.int64)
    carry = np.zeros(K + 1)
    sizes = PATTERNS.sum(axis=1)
    moments = PATTERNS @ LEVELS
    for r, row in enumerate(table):
        wanted = np.maximum(row + carry, 0.0)
        wanted *= steps[r] / wanted.sum()
        base = np.floor(wanted).astype(np.int64)
        part = wanted - base
        cost = ((PATTERNS - part) ** 2).sum(axis=1)
        cost += MOMENT_WEIGHT * (moments + base @ LEVELS - accepted[r]) ** 2
        cost[sizes != steps[r] - base.sum()] = np.inf
        whole[r] = base + PATTERNS[np.argmin(cost)]
        carry += row - whole[r]
    return whole


def repair_columns(whole: Ints, columns: Ints) -> Ints:
    """Move single steps between outcomes, in the longest responses, until the column sums are exact."""
    whole = whole.copy()
    order = np.argsort(-whole.sum(axis=1), kind="stable")
    turn = 0
    while (gap := columns - whole.sum(axis=0)).any():
        more, less = int(np.argmax(gap)), int(np.argmin(gap))
        row = order[turn % order.size]
        turn += 1
        if whole[row, less] > 0:
            whole[row, less] -= 1
            whole[row, more] += 1
    return whole


def outcome_table(rng: np.random.Generator, steps: Ints, accepted: Ints, columns: Ints) -> Ints:
    """Build the whole response x outcome table of one dataset.

    Args:
        rng: Source of the rows' scatter.
        steps: Steps by response.
        accepted: Wanted accepted tokens by response.
        columns: Steps by outcome, exact in the result.

    Returns:
        Counts by response and outcome; row sums are exact, a row's accepted tokens may be off by a few.
    """
    smooth = proportional_fit(steps, accepted, columns, np.ones((steps.size, K + 1)))
    kernel = (rng.gamma(smooth + 0.7) + 1e-3) / (smooth + 0.7)
    table = proportional_fit(steps, accepted, columns, kernel)
    return repair_columns(round_rows(table, steps, accepted), columns)


def shuffled_steps(rng: np.random.Generator, counts: Ints) -> Ints:
    """Return the accepted tokens of a response's steps in a random order."""
    return rng.permutation(np.repeat(LEVELS, counts))
