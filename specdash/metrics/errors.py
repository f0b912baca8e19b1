"""The error of τ in one number, by the method that every interval uses and by those it can be checked against.

Notation: Q prompts (Q_d of dataset d), q a prompt, e_q = Σ_{s in q} (1 + a_s - τ) its residual.
source: Wolter 2007, Introduction to Variance Estimation, chapters 4 and 6; Efron & Tibshirani 1993, chapter 6; Kish
1965 for the design effect.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import polars as pl

from specdash.metrics import variance
from specdash.metrics.acceptance import tau
from specdash.metrics.clusters import DRAWS
from specdash.metrics.fit import step_std
from specdash.metrics.group import Group
from specdash.metrics.intervals import FEWEST, sample
from specdash.metrics.registry import Value, metric
from specdash.schema import Granularity

Error = Callable[[Group], float | None]


def _error(key: str, **declared: str) -> Callable[[Error], Error]:
    """Declare the decorated function as a standard error of τ. An error of 0 is none: prompts then do not differ."""

    def declare(compute: Error) -> Error:
        def value(group: Group) -> Value:
            found = compute(group)
            return found if found is not None and found > 1e-12 else None

        metric(key, unit="tokens/step", decimals=3, needs=Granularity.RESPONSE, **declared)(value)
        return value

    return declare


@_error(
    "tau_se",
    label="SE of τ",
    formula=r"\sqrt{\sum_d \tfrac{Q_d - 1}{Q_d} \sum_{q \in d} (\tau_{(q)} - \bar\tau_{(d)})^2}",
    definition="Standard error of τ over prompts: how far off τ of another sample of as many prompts typically is. "
    "Every interval rests on it.",
    estimator="delete-one-prompt jackknife, datasets as strata",
    source="Wolter 2007, chapter 4",
)
def tau_se(group: Group) -> float | None:
    """Jackknife standard error of τ over prompts, tokens/step."""
    clusters = sample(group)
    return None if clusters is None else float(variance.jackknife(tau, clusters).se)


@_error(
    "tau_se_linear",
    label="SE of τ, linearised",
    formula=r"\frac{1}{S}\sqrt{\sum_d \tfrac{Q_d}{Q_d - 1} \sum_{q \in d} (e_q - \bar e_d)^2}",
    definition="The same standard error by linearisation, as a rule a little smaller where prompts are few.",
    estimator="cluster-robust (CR1), datasets as strata",
    source="Wolter 2007, chapter 6",
)
def tau_se_linear(group: Group) -> float | None:
    """Linearised standard error of τ over prompts, tokens/step."""
    clusters = sample(group)
    if clusters is None:
        return None
    return float(variance.linearised(clusters.tally.accepted, clusters.tally.steps, clusters).se)


@_error(
    "tau_se_bootstrap",
    label="SE of τ, bootstrap",
    formula=r"\operatorname{sd}_b\ \tau(\text{prompts drawn with replacement})",
    definition="The same standard error by resampling whole prompts: a cross-check. Its random stream follows from "
    "the evaluation's id, so it is the same wherever the evaluation is looked at.",
    estimator=f"{DRAWS:,} bootstrap samples of prompts within datasets",
    source="Efron & Tibshirani 1993, chapter 6",
)
def tau_se_bootstrap(group: Group) -> float | None:
    """Bootstrap standard error of τ over prompts, tokens/step."""
    return None if sample(group) is None else float(np.std(tau(group.sampling.bootstrap(group.members)), ddof=1))


@_error(
    "tau_se_copies",
    label="SE of τ, these prompts",
    formula=r"\frac{1}{S}\sqrt{\sum_q \tfrac{n_q}{n_q - 1} \sum_{r \in q} (e_r - \bar e_q)^2}",
    definition="Standard error of τ for these very prompts, answered again: sampling noise alone. It is the one to "
    "hold two runs of the same prompts against, and says nothing about other prompts. Prompts with at least two "
    "copies.",
    estimator="linearised, copies as clusters within prompts",
    source="Wolter 2007, chapter 6",
)
def tau_se_copies(group: Group) -> float | None:
    """Linearised standard error of τ over copies of the same prompts, tokens/step."""
    if sample(group) is None:
        return None
    copied = group.measured.filter(pl.len().over("dataset", "prompt") > 1)
    steps = copied["steps"].sum()
    residual = pl.col("accepted") - copied["accepted"].sum() / max(steps, 1) * pl.col("steps")
    by_prompt = copied.group_by("dataset", "prompt", maintain_order=True).agg(variance=pl.len() * residual.var(ddof=1))
    return None if by_prompt.height < FEWEST else math.sqrt(by_prompt["variance"].sum()) / steps


@_error(
    "tau_se_naive",
    label="SE of τ, naive",
    formula=r"\sigma_\mathrm{step} / \sqrt{S}",
    definition="What the standard error of τ would be if steps were independent. They are not: 95% intervals made of "
    "it hold the truth about one time in eight. For comparison only.",
    estimator="independent steps",
    source="for comparison",
)
def tau_se_naive(group: Group) -> float | None:
    """Standard error of τ as if steps were independent, tokens/step."""
    clusters = sample(group)
    spread = None if clusters is None else step_std(clusters.total)
    return None if spread is None else float(spread / np.sqrt(clusters.total.steps))


@metric(
    "design_effect",
    label="design effect",
    unit="",
    decimals=1,
    formula=r"(\mathrm{SE}_\mathrm{linearised} / \mathrm{SE}_\mathrm{naive})^2",
    definition="How many times the variance of τ is what as many independent steps would give: steps of a prompt "
    "resemble each other.",
    estimator="linearised over naive",
    source="Kish 1965",
    needs=Granularity.RESPONSE,
)
def design_effect(group: Group) -> float | None:
    """Ratio of the clustered to the naive variance of τ."""
    clustered, naive = tau_se_linear(group), tau_se_naive(group)
    return None if clustered is None or naive is None else (clustered / naive) ** 2


@metric(
    "effective_steps",
    label="effective steps",
    unit="steps",
    decimals=0,
    formula=r"S / \mathrm{deff}",
    definition="Independent steps that would tell as much about τ as these steps do.",
    estimator="steps over design effect",
    source="Kish 1965",
    needs=Granularity.RESPONSE,
)
def effective_steps(group: Group) -> float | None:
    """Steps divided by the design effect of τ."""
    effect = design_effect(group)
    return None if effect is None else group.tally.steps / effect
