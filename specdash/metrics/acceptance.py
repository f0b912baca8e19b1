"""Metrics over verify steps: acceptance length, draft positions, outcomes, the geometric model, shorter blocks.

Notation: S drafted steps, K_s drafted and a_s accepted tokens of step s, k the run's largest K_s.
source: acceptance report sections 1 to 5; Leviathan et al. 2023 (arXiv 2211.17192) for the geometric model.
"""

from __future__ import annotations

import math

import numpy as np

from specdash.metrics import geometric
from specdash.metrics.group import Group
from specdash.metrics.registry import Shape, Value, metric
from specdash.metrics.tally import Tally
from specdash.schema import Granularity

_COUNTS = "from counts"


def _ratio(numerator: float | None, denominator: float | None) -> float | None:
    return None if numerator is None or not denominator else numerator / denominator


def _ratios(numerators: np.ndarray | None, denominators: np.ndarray | int | None) -> list[float | None] | None:
    """Divide elementwise; None for the whole when a side is not known, for an element when it is 0/0."""
    if numerators is None or denominators is None:
        return None
    below = np.broadcast_to(denominators, numerators.shape)
    return [int(n) / int(d) if d else None for n, d in zip(numerators, below, strict=True)]


@metric(
    "steps",
    label="steps",
    unit="steps",
    decimals=0,
    formula=r"S = \#\{s : K_s \ge 1\}",
    definition="Verify steps that had at least one drafted token.",
    estimator=_COUNTS,
    source="report §1; vLLM counts drafts the same way",
    needs=Granularity.AGGREGATE,
)
def _steps(group: Group) -> Value:
    return group.tally.steps


@metric(
    "steps_without_draft",
    label="steps without draft",
    unit="steps",
    decimals=0,
    formula=r"\#\{s : K_s = 0\}",
    definition="Steps for which nothing was drafted; they emit one token and are in no acceptance metric but τ_all.",
    estimator=_COUNTS,
    source="vLLM acceptance metrics",
    needs=Granularity.AGGREGATE,
)
def _steps_without_draft(group: Group) -> Value:
    return group.tally.undrafted


@metric(
    "drafted",
    label="drafted",
    unit="tokens",
    decimals=0,
    formula=r"\sum_s K_s",
    definition="Draft tokens proposed.",
    estimator=_COUNTS,
    source="report §1",
    needs=Granularity.AGGREGATE,
)
def _drafted(group: Group) -> Value:
    return group.tally.drafted


@metric(
    "accepted",
    label="accepted",
    unit="tokens",
    decimals=0,
    formula=r"\sum_s a_s",
    definition="Draft tokens accepted by the target, bonus token not included.",
    estimator=_COUNTS,
    source="report §1",
    needs=Granularity.AGGREGATE,
)
def _accepted(group: Group) -> Value:
    return group.tally.accepted


def tau_of(tally: Tally) -> float | None:
    """Return the step-weighted acceptance length of a tally, None without drafted steps."""
    mean_accepted = _ratio(tally.accepted, tally.steps)
    return None if mean_accepted is None else 1 + mean_accepted


@metric(
    "tau",
    label="τ",
    unit="tokens/step",
    decimals=2,
    formula=r"\tau = 1 + \frac{\sum_s a_s}{S}",
    definition="Acceptance length: tokens emitted per verify step, bonus token included, every step weighing the same.",
    estimator="step-weighted, from counts",
    source="report §1–2",
    needs=Granularity.AGGREGATE,
)
def _tau(group: Group) -> Value:
    return tau_of(group.tally)


@metric(
    "tau_all",
    label="τ, all steps",
    unit="tokens/step",
    decimals=2,
    formula=r"1 + \frac{\sum_s a_s}{S + \#\{s : K_s = 0\}}",
    definition="Acceptance length over all steps, those without a draft included.",
    estimator="step-weighted, from counts",
    source="differs from τ only where some steps drafted nothing",
    needs=Granularity.AGGREGATE,
)
def _tau_all(group: Group) -> Value:
    tally = group.tally
    if tally.undrafted is None:
        return None
    mean_accepted = _ratio(tally.accepted, tally.steps + tally.undrafted)
    return None if mean_accepted is None else 1 + mean_accepted


@metric(
    "verify_rate",
    label="verify rate",
    unit="",
    decimals=3,
    formula=r"\frac{\sum_s (1 + a_s)}{\sum_s (1 + K_s)}",
    definition="Share of the verified positions that produced a token (τ/(K+1) for a constant K). Drafted steps only.",
    estimator=_COUNTS,
    source="report §1; DeepSpec cuts it at end of sequence, so its figure differs slightly",
    needs=Granularity.AGGREGATE,
)
def _verify_rate(group: Group) -> Value:
    tally = group.tally
    return None if tally.drafted is None else _ratio(tally.steps + tally.accepted, tally.steps + tally.drafted)


@metric(
    "acceptance_ratio",
    label="acceptance ratio",
    unit="",
    decimals=3,
    formula=r"\frac{\sum_s a_s}{\sum_s K_s}",
    definition="Share of the drafted tokens that were accepted. It is not the α of the geometric model.",
    estimator=_COUNTS,
    source="report §1",
    needs=Granularity.AGGREGATE,
)
def _acceptance_ratio(group: Group) -> Value:
    return _ratio(group.tally.accepted, group.tally.drafted)


@metric(
    "p",
    label="p",
    unit="",
    decimals=3,
    formula=r"p_i = \frac{\#\{s : a_s \ge i + 1\}}{S}",
    definition="Unconditional acceptance at draft position i (0 = first drafted token), over every drafted step.",
    estimator=_COUNTS,
    source="report §3; vLLM's per-position rate",
    needs=Granularity.AGGREGATE,
    shape=Shape.POSITION,
)
def _p(group: Group) -> Value:
    return _ratios(group.tally.hits, group.tally.steps)


@metric(
    "p_exposed",
    label="p, exposed",
    unit="",
    decimals=3,
    formula=r"\frac{\#\{s : a_s \ge i + 1\}}{\#\{s : K_s > i\}}",
    definition="Acceptance at draft position i over the steps that drafted it. Equals p for a constant K.",
    estimator=_COUNTS,
    source="DeepSpec accept_rate@i",
    needs=Granularity.AGGREGATE,
    shape=Shape.POSITION,
)
def _p_exposed(group: Group) -> Value:
    return _ratios(group.tally.hits, group.tally.exposed)


def _km(tally: Tally) -> list[float | None] | None:
    """Kaplan–Meier survival: the running product of c_i. Once it is 0 it stays 0, at risk or not."""
    conditional = _conditional(tally)
    if conditional is None:
        return None
    survival: list[float | None] = []
    alive: float | None = 1.0
    for c in conditional:
        if alive != 0.0:
            alive = None if alive is None or c is None else alive * c
        survival.append(alive)
    return survival


@metric(
    "p_km",
    label="p, Kaplan–Meier",
    unit="",
    decimals=3,
    formula=r"\prod_{j \le i} c_j",
    definition="Acceptance at draft position i if every step had drafted that far and shortening says nothing about "
    "difficulty. Equals p for a constant K; biased up where a confidence threshold shortens drafts.",
    estimator="product of conditional rates over risk sets",
    source="Kaplan & Meier 1958, drafts that end early being censored",
    needs=Granularity.AGGREGATE,
    shape=Shape.POSITION,
)
def _p_km(group: Group) -> Value:
    return _km(group.tally)


def _conditional(tally: Tally) -> list[float | None] | None:
    # Risk sets are nested: where one is empty so are all deeper ones.
    return _ratios(tally.hits, tally.risk)


@metric(
    "c",
    label="c",
    unit="",
    decimals=3,
    formula=r"c_i = \frac{\#\{s : a_s \ge i + 1\}}{\#\{s : K_s > i,\ a_s \ge i\}}",
    definition="Conditional acceptance at draft position i among the steps that reached it: p_i/p_{i−1} for a "
    "constant K. Undefined where no step is at risk, and at all deeper positions.",
    estimator="ratio of sums over the risk set",
    source="report §3",
    needs=Granularity.AGGREGATE,
    shape=Shape.POSITION,
)
def _c(group: Group) -> Value:
    return _conditional(group.tally)


@metric(
    "outcome",
    label="P(a)",
    unit="",
    decimals=1,
    formula=r"P(a = j) = \frac{\#\{s : a_s = j\}}{S}",
    definition="Share of drafted steps that accepted exactly j tokens.",
    estimator=_COUNTS,
    source="report §4",
    needs=Granularity.AGGREGATE,
    shape=Shape.OUTCOME,
    percent=True,
)
def _outcome(group: Group) -> Value:
    return _ratios(group.tally.outcomes, group.tally.steps)


@metric(
    "step_std",
    label="step std",
    unit="tokens",
    decimals=2,
    formula=r"\sigma_\mathrm{step} = \sqrt{\tfrac{1}{S}\sum_s (a_s - \bar a)^2}",
    definition="Spread of tokens per step over individual steps. It is not a standard error of τ.",
    estimator="population form (ddof 0)",
    source="report §1–2",
    needs=Granularity.AGGREGATE,
)
def _step_std(group: Group) -> Value:
    hits, steps = group.tally.hits, group.tally.steps
    if hits is None or not steps:
        return None
    # Integers up to the last division: Σa² = Σ(2i + 1)·hits_i, and S·Σa² − (Σa)² is exact.
    squares = sum((2 * i + 1) * int(n) for i, n in enumerate(hits))
    return math.sqrt(steps * squares - group.tally.accepted**2) / steps


def _exposed_share(tally: Tally) -> np.ndarray | None:
    return None if tally.exposed is None or not tally.steps else tally.exposed / tally.steps


def _alpha(tally: Tally) -> float | None:
    tau, share = tau_of(tally), _exposed_share(tally)
    return None if tau is None or share is None else geometric.implied_alpha(tau, share)


@metric(
    "implied_alpha",
    label="implied α",
    unit="",
    decimals=3,
    formula=r"\alpha : \sum_K w_K \frac{1 - \alpha^{K+1}}{1 - \alpha} = \tau",
    definition="The constant acceptance rate whose geometric model has the observed τ.",
    estimator="moment; for a variable K the mixture over the observed K_s",
    source="report §1–2; Leviathan et al. 2023, eq. 1",
    needs=Granularity.AGGREGATE,
)
def _implied_alpha(group: Group) -> Value:
    return _alpha(group.tally)


@metric(
    "alpha_mle",
    label="α (MLE)",
    unit="",
    decimals=3,
    formula=r"\frac{\sum_s a_s}{\sum_s a_s + \#\{s : a_s < K_s\}}",
    definition="Maximum-likelihood α of the geometric model, full acceptances being censored. Its distance from "
    "the implied α measures misfit in one number.",
    estimator="maximum likelihood, censored",
    source="censored geometric likelihood",
    needs=Granularity.AGGREGATE,
)
def _alpha_mle(group: Group) -> Value:
    tally = group.tally
    return None if tally.full is None else _ratio(tally.accepted, tally.accepted + tally.steps - tally.full)


def _geometric_outcome(tally: Tally) -> np.ndarray | None:
    alpha, blocks = _alpha(tally), tally.blocks
    return None if alpha is None or blocks is None else geometric.outcome(alpha, blocks / tally.steps)


@metric(
    "geometric_outcome",
    label="P(a), geometric",
    unit="",
    decimals=1,
    formula=r"P_\alpha(a = j) = (1 - \alpha)\alpha^j\ (j < K),\quad \alpha^K\ (j = K)",
    definition="Outcome distribution of the geometric model at the implied α.",
    estimator="moment α; for a variable K the mixture over the observed K_s",
    source="report §1, §4",
    needs=Granularity.AGGREGATE,
    shape=Shape.OUTCOME,
    percent=True,
)
def _geometric_outcome_metric(group: Group) -> Value:
    shares = _geometric_outcome(group.tally)
    return None if shares is None else shares.tolist()


def mle_outcome(group: Group) -> list[float] | None:
    """Return the outcome distribution of the geometric model at the maximum-likelihood α; shape (k + 1,)."""
    tally = group.tally
    blocks, alpha = tally.blocks, _alpha_mle(group)
    if alpha is None or blocks is None or not tally.steps:
        return None
    return geometric.outcome(alpha, blocks / tally.steps).tolist()


@metric(
    "geometric_std",
    label="σ, geometric",
    unit="tokens",
    decimals=2,
    formula=r"\sigma_\alpha = \sqrt{\sum_j P_\alpha(a = j)\,(j - (\tau - 1))^2}",
    definition="Spread of tokens per step that the geometric model would have at the implied α.",
    estimator="population form (ddof 0)",
    source="report §1–2, figure 1",
    needs=Granularity.AGGREGATE,
)
def _geometric_std(group: Group) -> Value:
    shares = _geometric_outcome(group.tally)
    if shares is None:
        return None
    outcomes = np.arange(shares.size)
    return float(np.sqrt(shares @ (outcomes - shares @ outcomes) ** 2))


def _tau_at(survival: list[float | None] | None) -> list[float | None] | None:
    """Running sum 1 + Σ_{i<K'} of a survival curve, None from its first undefined position on."""
    if survival is None:
        return None
    known = survival[: survival.index(None)] if None in survival else survival
    sums: list[float | None] = (1 + np.cumsum(np.array(known, dtype=float))).tolist()
    return sums + [None] * (len(survival) - len(known))


@metric(
    "tau_at_k",
    label="τ(K′)",
    unit="tokens/step",
    decimals=2,
    formula=r"\tau(K') = 1 + \frac{1}{S}\sum_s \min(a_s, K')",
    definition="Acceptance length if every block had been cut at K′. A lower bound for a drafter that is run with "
    "K′ when difficulty comes in stretches.",
    estimator="truncation of the observed outcomes",
    source="report §5",
    needs=Granularity.AGGREGATE,
    shape=Shape.BLOCK,
)
def _tau_at_k(group: Group) -> Value:
    hits, steps = group.tally.hits, group.tally.steps
    if hits is None:
        return None
    return _ratios(steps + np.cumsum(hits), steps)


@metric(
    "tau_at_k_km",
    label="τ(K′), Kaplan–Meier",
    unit="tokens/step",
    decimals=2,
    formula=r"1 + \sum_{i < K'} \prod_{j \le i} c_j",
    definition="Acceptance length of a fixed block of K′ if shortening a draft says nothing about its difficulty. "
    "Equals τ(K′) for a constant K.",
    estimator="Kaplan–Meier survival summed over positions",
    source="differs from τ(K′) only for a variable K",
    needs=Granularity.AGGREGATE,
    shape=Shape.BLOCK,
)
def _tau_at_k_km(group: Group) -> Value:
    return _tau_at(_km(group.tally))
