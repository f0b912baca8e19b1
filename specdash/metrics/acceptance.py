"""Acceptance over verify steps: what is counted, acceptance length and acceptance rates.

Notation: S drafted steps, K_s drafted and a_s accepted tokens of step s, k the run's largest K_s.
source: acceptance report sections 1 and 2.
"""

from __future__ import annotations

import numpy as np

from specdash.metrics.estimates import estimate, ratio
from specdash.metrics.group import Group
from specdash.metrics.intervals import Scale
from specdash.metrics.registry import Value, metric
from specdash.metrics.tally import Tally
from specdash.schema import Granularity

_COUNTS = "from counts"


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


def _lengths(k: int) -> tuple[float, float]:
    """Smallest and largest acceptance length of blocks of up to k tokens."""
    return 1.0, 1.0 + k


@estimate(
    "tau",
    label="τ",
    unit="tokens/step",
    decimals=2,
    formula=r"\tau = 1 + \frac{\sum_s a_s}{S}",
    definition="Acceptance length: tokens emitted per verify step, bonus token included, every step weighing the same.",
    estimator="step-weighted, from counts",
    source="report §1–2",
    scale=Scale.LOG,
    limits=_lengths,
)
def tau(tally: Tally) -> np.ndarray | None:
    """Step-weighted acceptance length, shape (...)."""
    accepted = ratio(tally.accepted, tally.steps)
    return None if accepted is None else 1 + accepted


@estimate(
    "tau_all",
    label="τ, all steps",
    unit="tokens/step",
    decimals=2,
    formula=r"1 + \frac{\sum_s a_s}{S + \#\{s : K_s = 0\}}",
    definition="Acceptance length over all steps, those without a draft included.",
    estimator="step-weighted, from counts",
    source="differs from τ only where some steps drafted nothing",
    scale=Scale.LOG,
    limits=_lengths,
)
def tau_all(tally: Tally) -> np.ndarray | None:
    """Acceptance length over drafted and undrafted steps, shape (...)."""
    known = tally.undrafted is not None and tally.steps is not None
    return 1 + ratio(tally.accepted, tally.steps + tally.undrafted) if known else None


@estimate(
    "verify_rate",
    label="verify rate",
    unit="",
    decimals=3,
    formula=r"\frac{\sum_s (1 + a_s)}{\sum_s (1 + K_s)}",
    definition="Share of the verified positions that produced a token (τ/(K+1) for a constant K). Drafted steps only.",
    estimator=_COUNTS,
    source="report §1; DeepSpec cuts it at end of sequence, so its figure differs slightly",
    scale=Scale.LOGIT,
)
def verify_rate(tally: Tally) -> np.ndarray | None:
    """Tokens emitted by drafted steps per verified position, shape (...)."""
    known = tally.drafted is not None and tally.steps is not None
    return ratio(tally.steps + tally.accepted, tally.steps + tally.drafted) if known else None


@estimate(
    "acceptance_ratio",
    label="acceptance ratio",
    unit="",
    decimals=3,
    formula=r"\frac{\sum_s a_s}{\sum_s K_s}",
    definition="Share of the drafted tokens that were accepted. It is not the α of the geometric model.",
    estimator=_COUNTS,
    source="report §1",
    scale=Scale.LOGIT,
)
def acceptance_ratio(tally: Tally) -> np.ndarray | None:
    """Accepted per drafted token, shape (...)."""
    return ratio(tally.accepted, tally.drafted)
