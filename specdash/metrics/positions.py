"""Acceptance by draft position, by outcome and by block length.

Notation: S drafted steps, K_s drafted and a_s accepted tokens of step s, k the run's largest K_s; draft position 0 is
the first drafted token. source: acceptance report sections 3 to 5.
"""

from __future__ import annotations

import numpy as np

from specdash.metrics.estimates import estimate, ratio
from specdash.metrics.intervals import Scale
from specdash.metrics.registry import Shape
from specdash.metrics.tally import Tally, lifted

_COUNTS = "from counts"


def _steps(tally: Tally) -> np.ndarray:
    """Drafted steps, once a position; shape (..., 1)."""
    return lifted(tally.steps)


def _lengths(k: int) -> tuple[float, np.ndarray]:
    """Smallest and largest acceptance length of blocks of 1..k tokens."""
    return 1.0, 2.0 + np.arange(k)


@estimate(
    "p",
    label="p",
    unit="",
    decimals=3,
    formula=r"p_i = \frac{\#\{s : a_s \ge i + 1\}}{S}",
    definition="Unconditional acceptance at draft position i (0 = first drafted token), over every drafted step.",
    estimator=_COUNTS,
    source="report §3; vLLM's per-position rate",
    shape=Shape.POSITION,
    scale=Scale.LOGIT,
    over=_steps,
)
def p(tally: Tally) -> np.ndarray | None:
    """Share of drafted steps that accepted position i, shape (..., k)."""
    return ratio(tally.hits, lifted(tally.steps))


@estimate(
    "p_exposed",
    label="p, exposed",
    unit="",
    decimals=3,
    formula=r"\frac{\#\{s : a_s \ge i + 1\}}{\#\{s : K_s > i\}}",
    definition="Acceptance at draft position i over the steps that drafted it. Equals p for a constant K.",
    estimator=_COUNTS,
    source="DeepSpec accept_rate@i",
    shape=Shape.POSITION,
    scale=Scale.LOGIT,
    over=lambda tally: tally.exposed,
)
def p_exposed(tally: Tally) -> np.ndarray | None:
    """Share of the steps that drafted position i which accepted it, shape (..., k)."""
    return ratio(tally.hits, tally.exposed)


@estimate(
    "c",
    label="c",
    unit="",
    decimals=3,
    formula=r"c_i = \frac{\#\{s : a_s \ge i + 1\}}{\#\{s : K_s > i,\ a_s \ge i\}}",
    definition="Conditional acceptance at draft position i among the steps that reached it: p_i/p_{i−1} for a "
    "constant K. Undefined where no step is at risk, and at all deeper positions.",
    estimator="ratio of sums over the risk set",
    source="report §3",
    shape=Shape.POSITION,
    scale=Scale.LOGIT,
    over=lambda tally: tally.risk,
)
def c(tally: Tally) -> np.ndarray | None:
    """Share of the steps at risk at position i which accepted it, shape (..., k)."""
    return ratio(tally.hits, tally.risk)  # Risk sets are nested: where one is empty so are all deeper ones.


@estimate(
    "p_km",
    label="p, Kaplan–Meier",
    unit="",
    decimals=3,
    formula=r"\prod_{j \le i} c_j",
    definition="Acceptance at draft position i if every step had drafted that far and shortening says nothing about "
    "difficulty. Equals p for a constant K; biased up where a confidence threshold shortens drafts.",
    estimator="product of conditional rates over risk sets",
    source="Kaplan & Meier 1958, drafts that end early being censored",
    shape=Shape.POSITION,
    scale=Scale.LOGIT,
    over=lambda tally: tally.risk,
)
def p_km(tally: Tally) -> np.ndarray | None:
    """Kaplan–Meier survival past position i, shape (..., k). Once it is 0 it stays 0, at risk or not."""
    conditional = c(tally)
    if conditional is None:
        return None
    ended = np.logical_or.accumulate(conditional == 0, axis=-1)
    return np.cumprod(np.where(ended, 0.0, conditional), axis=-1)


@estimate(
    "outcome",
    label="P(a)",
    unit="",
    decimals=1,
    formula=r"P(a = j) = \frac{\#\{s : a_s = j\}}{S}",
    definition="Share of drafted steps that accepted exactly j tokens.",
    estimator=_COUNTS,
    source="report §4",
    shape=Shape.OUTCOME,
    percent=True,
    scale=Scale.LOGIT,
    over=_steps,
)
def outcome(tally: Tally) -> np.ndarray | None:
    """Share of drafted steps that accepted exactly j tokens, shape (..., k + 1)."""
    return ratio(tally.outcomes, lifted(tally.steps))


@estimate(
    "tau_at_k",
    label="τ(K′)",
    unit="tokens/step",
    decimals=2,
    formula=r"\tau(K') = 1 + \frac{1}{S}\sum_s \min(a_s, K')",
    definition="Acceptance length if every block had been cut at K′. A lower bound for a drafter that is run with "
    "K′ when difficulty comes in stretches.",
    estimator="truncation of the observed outcomes",
    source="report §5",
    shape=Shape.BLOCK,
    scale=Scale.LOG,
    over=_steps,
    limits=_lengths,
)
def tau_at_k(tally: Tally) -> np.ndarray | None:
    """Acceptance length of the observed outcomes cut at 1..k tokens, shape (..., k)."""
    if tally.hits is None:
        return None
    return ratio(lifted(tally.steps) + np.cumsum(tally.hits, axis=-1), lifted(tally.steps))


@estimate(
    "tau_at_k_km",
    label="τ(K′), Kaplan–Meier",
    unit="tokens/step",
    decimals=2,
    formula=r"1 + \sum_{i < K'} \prod_{j \le i} c_j",
    definition="Acceptance length of a fixed block of K′ if shortening a draft says nothing about its difficulty. "
    "Equals τ(K′) for a constant K.",
    estimator="Kaplan–Meier survival summed over positions",
    source="differs from τ(K′) only for a variable K",
    shape=Shape.BLOCK,
    scale=Scale.LOG,
    over=lambda tally: tally.risk,
    limits=_lengths,
)
def tau_at_k_km(tally: Tally) -> np.ndarray | None:
    """Kaplan–Meier acceptance length of fixed blocks of 1..k tokens, shape (..., k)."""
    survival = p_km(tally)
    return None if survival is None else 1 + np.cumsum(survival, axis=-1)
