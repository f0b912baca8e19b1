"""Step 1: outcome counts of every dataset, inside every printed rounding interval.

The unknowns are the unconditional acceptance probabilities p_0..p_6 of each dataset. Every printed cell is an
interval on a linear function of p (the outcome shares, tau, tau at a shorter block, the gain, tok/s, alpha as
bounds on tau, and p_i - c p_{i-1} for the conditional table), except the step deviation and c_0 - c_6, which
are linearised about the last solution. The pooled row is the step-weighted sum of the datasets, so all are
solved together. The program maximises the smallest distance to an edge, in half-widths of the interval.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from .tables import POOLED, PROMPTS, RTT_MS, STAGES, TOTAL_DRAFTS_A, Floats, Ints, K, Tables

ROUNDS = 8
ODD = 2.0 * np.arange(K) + 1.0


@dataclass(frozen=True)
class Bound:
    """The constraint ``row @ p >= low + slack * unit``."""

    row: Floats
    low: float
    unit: float


def interval(row: Floats, low: float, high: float) -> Iterator[Bound]:
    """Yield both sides of ``low <= row @ p <= high``, with the half-width as the unit of slack."""
    unit = (high - low) / 2
    yield Bound(row, low, unit)
    yield Bound(-row, -high, unit)


def unit_row(index: int) -> Floats:
    """Return the row that picks p_index, which is 0 past the last position."""
    row = np.zeros(K)
    if index < K:
        row[index] = 1.0
    return row


def tau_of_alpha(alpha: float) -> float:
    """Return the acceptance length of the constant-alpha model."""
    return float((1 - alpha ** (K + 1)) / (1 - alpha))


def tau_bounds(tables: Tables, name: str) -> Iterator[Bound]:
    """Yield the intervals on tau: the printed tau, alpha, tok/s and the speed-up."""
    ones = np.ones(K)
    for column in ("tau_run_b", "tau", "speedup"):
        value, half = tables.value(name, column), tables.half(name, column)
        yield from interval(ones, value - half - 1, value + half - 1)
    alpha, half = tables.value(name, "implied_alpha"), tables.half(name, "implied_alpha")
    yield from interval(ones, tau_of_alpha(alpha - half) - 1, tau_of_alpha(alpha + half) - 1)
    for rtt in RTT_MS:
        value, half = tables.value(name, f"rtt{rtt}"), tables.half(name, f"rtt{rtt}")
        lap = STAGES * rtt / 2000
        yield from interval(ones, (value - half) * lap - 1, (value + half) * lap - 1)


def position_bounds(tables: Tables, name: str) -> Iterator[Bound]:
    """Yield the intervals of the tables by position: p, c, outcome shares and tau at a shorter block."""
    for i in range(K):
        value, half = tables.value(name, f"p{i}"), tables.half(name, f"p{i}")
        yield from interval(unit_row(i), value - half, value + half)
        value, half = tables.value(name, f"k{i + 1}"), tables.half(name, f"k{i + 1}")
        yield from interval((np.arange(K) <= i).astype(float), value - half - 1, value + half - 1)
    for i in range(1, K):
        value, half = tables.value(name, f"c{i}"), tables.half(name, f"c{i}")
        unit = half * tables.value(name, f"p{i - 1}")
        yield Bound(unit_row(i) - (value - half) * unit_row(i - 1), 0.0, unit)
        yield Bound((value + half) * unit_row(i - 1) - unit_row(i), 0.0, unit)
    for j in range(K + 1):
        value, half = tables.value(name, f"a{j}") / 100, tables.half(name, f"a{j}") / 100
        before, offset = (unit_row(j - 1), 0.0) if j else (np.zeros(K), 1.0)
        yield from interval(before - unit_row(j), value - half - offset, value + half - offset)
    value, half = tables.value(name, "gain_5_to_7"), tables.half(name, "gain_5_to_7")
    yield from interval(unit_row(5) + unit_row(6), value - half, value + half)


def curved_bounds(tables: Tables, name: str, at: Floats) -> Iterator[Bound]:
    """Yield the intervals of the step deviation and of c_0 - c_6, linearised at ``at``."""
    value, half = tables.value(name, "step_std"), tables.half(name, "step_std")
    gradient = ODD - 2 * at.sum()
    shift = gradient @ at - (ODD @ at - at.sum() ** 2)
    yield from interval(gradient, (value - half) ** 2 + shift, (value + half) ** 2 + shift)
    value, half = tables.value(name, "c0_minus_c6"), tables.half(name, "c0_minus_c6")
    gradient = unit_row(0) - unit_row(6) / at[5] + unit_row(5) * at[6] / at[5] ** 2
    shift = gradient @ at - (at[0] - at[6] / at[5])
    yield from interval(gradient, value - half + shift, value + half + shift)


def all_bounds(tables: Tables, weights: Floats, p: Floats) -> tuple[Floats, Floats, Floats]:
    """Stack the bounds of every dataset and of the pooled row.

    Args:
        tables: The printed cells.
        weights: Share of the steps by dataset.
        p: The point at which the curved cells are linearised.

    Returns:
        The bounds' rows over the flattened p, their rows over one slack a printed row, and their lower ends.
    """
    names = list(PROMPTS)
    rows, slacks, lows = [], [], []
    for d, name in enumerate([*names, POOLED]):
        spread = np.eye(len(names))[d] if d < len(names) else weights
        bounds = (*tau_bounds(tables, name), *position_bounds(tables, name))
        for bound in (*bounds, *curved_bounds(tables, name, spread @ p)):
            rows.append(np.kron(spread, bound.row))
            slacks.append(-bound.unit * np.eye(len(names) + 1)[d])
            lows.append(bound.low)
    return np.array(rows), np.array(slacks), np.array(lows)


def solve(tables: Tables) -> tuple[Floats, float]:
    """Find the acceptance probabilities that stay away from the edges.

    Each round first maximises the smallest slack over all cells, then the sum of the smallest slacks of the
    datasets while none falls under 0.9 of that.

    Args:
        tables: The printed cells.

    Returns:
        The probabilities (dataset x position) and the slack in half-widths (1 is the middle of an interval).
    """
    weights = np.array([tables.steps(name) for name in PROMPTS], dtype=float)
    weights /= weights.sum()
    p = np.array([[tables.value(name, f"p{i}") for i in range(K)] for name in PROMPTS])
    slack = 0.0
    for _ in range(ROUNDS):
        rows, slacks, lows = all_bounds(tables, weights, p)
        joint = np.hstack([rows, slacks.sum(axis=1, keepdims=True)])
        slack = float(maximise(joint, lows, p.size, -1.0)[-1])
        if slack <= 0:
            raise RuntimeError(f"no outcome shares satisfy every printed cell (slack {slack:.4f})")
        p = maximise(np.hstack([rows, slacks]), lows, p.size, 0.9 * slack)[: p.size].reshape(p.shape)
    return p, slack


def maximise(matrix: Floats, lows: Floats, size: int, floor: float) -> Floats:
    """Maximise the sum of the slack variables (the columns after ``size``), each in ``floor`` .. 0.5."""
    slacks = matrix.shape[1] - size
    cost = np.concatenate([np.zeros(size), -np.ones(slacks)])
    limits = [(0.0, 1.0)] * size + [(floor, 0.5)] * slacks
    result = linprog(cost, A_ub=-matrix, b_ub=-lows, bounds=limits, method="highs")
    if result.x is None:
        raise RuntimeError(f"the linear program of the outcome shares failed: {result.message}")
    return np.asarray(result.x, dtype=float)


def outcome_counts(p: Floats, steps: int) -> Ints:
    """Return the steps by accepted tokens (0..7) whose probabilities are nearest to p."""
    survive = np.rint(p * steps).astype(np.int64)
    return -np.diff(np.concatenate(([steps], survive, [0])))


def single_run_counts(tables: Tables, outcomes: dict[str, Ints]) -> dict[str, Ints]:
    """Build the counters of the run with one response a prompt.

    Each dataset gets about a tenth of the per-step run's drafts (exact in total). Its outcome shares are the
    per-step run's, tilted by an exponential factor just far enough that tau is inside the printed interval.

    Args:
        tables: The printed cells.
        outcomes: Outcome counts of the per-step run by dataset.

    Returns:
        Outcome counts by dataset.
    """
    rng = np.random.default_rng(20260902)
    weights = np.array([tables.steps(name) for name in outcomes]) * np.exp(rng.normal(0, 0.01, len(outcomes)))
    edges = np.rint(np.cumsum(weights) / weights.sum() * TOTAL_DRAFTS_A).astype(np.int64)
    drafts = np.diff(np.concatenate(([0], edges)))
    result: dict[str, Ints] = {}
    for (name, counts), total in zip(outcomes.items(), drafts, strict=True):
        printed = tables.value(name, "tau_run_a")
        mean = float(counts @ np.arange(K + 1) / counts.sum())
        target = np.clip(mean, printed - 1 - 0.0035, printed - 1 + 0.0035)
        share = tilted(counts / counts.sum(), float(target))
        result[name] = outcome_counts(1 - np.cumsum(share)[:-1], int(total))
    return result


def tilted(share: Floats, mean: float) -> Floats:
    """Return ``share * exp(theta j)``, normalised, with the given mean."""
    levels = np.arange(K + 1)
    for _ in range(50):
        now = share @ levels
        share = share * np.exp((mean - now) / (share @ (levels - now) ** 2) * levels)
        share /= share.sum()
    return share
