"""Spread of tokens per step, and the constant-α (geometric) model fitted to it.

Notation: S drafted steps, K_s drafted and a_s accepted tokens of step s.
source: acceptance report sections 1 and 2; Leviathan et al. 2023 (arXiv 2211.17192) for the geometric model.
"""

from __future__ import annotations

import numpy as np

from specdash.metrics import geometric
from specdash.metrics.acceptance import tau
from specdash.metrics.estimates import estimate, ratio
from specdash.metrics.group import Group
from specdash.metrics.intervals import Scale
from specdash.metrics.registry import Shape
from specdash.metrics.tally import Tally, lifted, plain


@estimate(
    "step_std",
    label="step std",
    unit="tokens",
    decimals=2,
    formula=r"\sigma_\mathrm{step} = \sqrt{\tfrac{1}{S}\sum_s (a_s - \bar a)^2}",
    definition="Spread of tokens per step over individual steps. It is not a standard error of τ.",
    estimator="population form (ddof 0)",
    source="report §1–2",
    scale=Scale.LOG,
)
def step_std(tally: Tally) -> np.ndarray | None:
    """Population standard deviation of accepted tokens over drafted steps, shape (...)."""
    share = ratio(tally.outcomes, lifted(tally.steps))
    return None if share is None else _spread(share)


def _spread(share: np.ndarray) -> np.ndarray:
    """Standard deviation of a distribution over 0..k given as shape (..., k + 1)."""
    outcomes = np.arange(share.shape[-1])
    deviations = outcomes - lifted(share @ outcomes)
    return np.sqrt(np.maximum((share * deviations**2).sum(axis=-1), 0.0))


@estimate(
    "implied_alpha",
    label="implied α",
    unit="",
    decimals=3,
    formula=r"\alpha : \sum_K w_K \frac{1 - \alpha^{K+1}}{1 - \alpha} = \tau",
    definition="The constant acceptance rate whose geometric model has the observed τ.",
    estimator="moment; for a variable K the mixture over the observed K_s",
    source="report §1–2; Leviathan et al. 2023, eq. 1",
    scale=Scale.LOGIT,
)
def implied_alpha(tally: Tally) -> np.ndarray | None:
    """Moment estimate of the geometric model's α, shape (...)."""
    exposed = ratio(tally.exposed, lifted(tally.steps))
    return None if exposed is None else geometric.implied_alpha(tau(tally), exposed)


@estimate(
    "alpha_mle",
    label="α (MLE)",
    unit="",
    decimals=3,
    formula=r"\frac{\sum_s a_s}{\sum_s a_s + \#\{s : a_s < K_s\}}",
    definition="Maximum-likelihood α of the geometric model, full acceptances being censored. Its distance from "
    "the implied α measures misfit in one number.",
    estimator="maximum likelihood, censored",
    source="censored geometric likelihood",
    scale=Scale.LOGIT,
)
def alpha_mle(tally: Tally) -> np.ndarray | None:
    """Maximum-likelihood estimate of the geometric model's α, shape (...)."""
    return None if tally.full is None else ratio(tally.accepted, tally.accepted + tally.steps - tally.full)


def _model(alpha: np.ndarray | None, tally: Tally) -> np.ndarray | None:
    """Outcome distribution of the geometric model at some α, shape (k + 1,); of one set of steps."""
    blocks = ratio(tally.blocks, lifted(tally.steps))
    return None if alpha is None or blocks is None or np.isnan(alpha) else geometric.outcome(float(alpha), blocks)


@estimate(
    "geometric_outcome",
    label="P(a), geometric",
    unit="",
    decimals=1,
    formula=r"P_\alpha(a = j) = (1 - \alpha)\alpha^j\ (j < K),\quad \alpha^K\ (j = K)",
    definition="Outcome distribution of the geometric model at the implied α.",
    estimator="moment α; for a variable K the mixture over the observed K_s",
    source="report §1, §4",
    shape=Shape.OUTCOME,
    percent=True,
)
def geometric_outcome(tally: Tally) -> np.ndarray | None:
    """Outcome distribution of the geometric model at the implied α, shape (k + 1,)."""
    return _model(implied_alpha(tally), tally)


def mle_outcome(group: Group) -> list[float] | None:
    """Return the outcome distribution of the geometric model at the maximum-likelihood α; shape (k + 1,)."""
    return plain(_model(alpha_mle(group.tally), group.tally))


@estimate(
    "geometric_std",
    label="σ, geometric",
    unit="tokens",
    decimals=2,
    formula=r"\sigma_\alpha = \sqrt{\sum_j P_\alpha(a = j)\,(j - (\tau - 1))^2}",
    definition="Spread of tokens per step that the geometric model would have at the implied α.",
    estimator="population form (ddof 0)",
    source="report §1–2, figure 1",
)
def geometric_std(tally: Tally) -> np.ndarray | None:
    """Standard deviation of the geometric model at the implied α, shape ()."""
    shares = geometric_outcome(tally)
    return None if shares is None else _spread(shares)
