"""Metrics over responses, prompts and copies: what a single prompt or a lucky draw sees.

Notation: τ_r acceptance length of response r over its S_r drafted steps, N responses with S_r >= 1, q prompts.
source: acceptance report sections 2 and 6; Searle, Casella & McCulloch 1992 for the variance components.
"""

from __future__ import annotations

from functools import partial

import polars as pl

from specdash.metrics.components import Components, varies
from specdash.metrics.group import Group
from specdash.metrics.intervals import refusal
from specdash.metrics.registry import Ends, Interval, Value, metric
from specdash.schema import LEVEL, Granularity

_LINEAR = "Hyndman–Fan type 7 (linear interpolation)"


@metric(
    "prompts",
    label="prompts",
    unit="prompts",
    decimals=0,
    formula=r"Q",
    definition="Distinct prompts with at least one response in the log.",
    estimator="from counts",
    source="report, setup",
    needs=Granularity.RESPONSE,
)
def _prompts(group: Group) -> Value:
    known = group.responses.filter(pl.col("prompt").is_not_null())
    return known.select("dataset", "prompt").n_unique() or None


@metric(
    "responses",
    label="responses",
    unit="responses",
    decimals=0,
    formula=r"N",
    definition="Responses that the log holds; those without a drafted step count, but have no τ_r.",
    estimator="from counts",
    source="report, setup",
    needs=Granularity.RESPONSE,
)
def _responses(group: Group) -> Value:
    return group.responses.height


@metric(
    "response_mean",
    label="per-response mean",
    unit="tokens/step",
    decimals=2,
    formula=r"\bar\tau_\mathrm{resp} = \frac{1}{N}\sum_r \tau_r",
    definition="Mean of τ_r, every response weighing the same: what a typical prompt experiences.",
    estimator="unweighted mean over responses",
    source="report §1–2",
    needs=Granularity.RESPONSE,
)
def _response_mean(group: Group) -> Value:
    return group.measured["tau"].mean()


def _quantile(share: float, group: Group) -> Value:
    return group.measured["tau"].quantile(share, interpolation="linear")


for _percent in (10, 50, 90):
    metric(
        f"response_p{_percent}",
        label=f"p{_percent}",
        unit="tokens/step",
        decimals=2,
        formula=rf"Q_{{{_percent / 100:g}}}(\tau_r)",
        definition=f"{_percent}th percentile of τ_r over responses. It describes spread, not uncertainty.",
        estimator=_LINEAR,
        source="report §2",
        needs=Granularity.RESPONSE,
    )(partial(_quantile, _percent / 100))


@metric(
    "response_std",
    label="per-response std",
    unit="tokens/step",
    decimals=2,
    formula=r"\sqrt{\tfrac{1}{N}\sum_r (\tau_r - \bar\tau_\mathrm{resp})^2}",
    definition="Spread of τ_r over responses.",
    estimator="population form (ddof 0)",
    source="report §6",
    needs=Granularity.RESPONSE,
)
def _response_std(group: Group) -> Value:
    return group.measured["tau"].std(ddof=0)


def _copied(group: Group) -> pl.DataFrame:
    return group.prompts.filter(pl.col("n") >= 2)


def _share_interval(group: Group) -> Ends:
    """Return the ends of the corrected within share, which is one minus the intraclass correlation."""
    components = None if refusal(group) else Components.of(group.prompts)
    found = components and components.icc_interval(LEVEL)
    return found and [1 - found[1], 1 - found[0]]


@metric(
    "within_share",
    label="within share",
    unit="",
    decimals=0,
    formula=r"\frac{\sum_q \sum_{r \in q} (\tau_r - \bar\tau_q)^2}{\sum_r (\tau_r - \bar\tau)^2}",
    definition="Share of the variance of τ_r that lies between copies of one prompt: sampling noise. Undefined with "
    "one copy a prompt.",
    estimator="population form, prompts weighted by copies; m copies make it (m − 1)/m of the corrected variance",
    source="report §6",
    needs=Granularity.RESPONSE,
    percent=True,
)
def _within_share(group: Group) -> Value:
    prompts = group.prompts
    if _copied(group).is_empty() or not varies(prompts):
        return None
    n, mean = prompts["n"], prompts["mean"]
    within = prompts["ss"].sum()
    between = (n * (mean - (n * mean).sum() / n.sum()) ** 2).sum()
    return within / (within + between)


@metric(
    "within_share_corrected",
    label="within share, corrected",
    unit="",
    decimals=0,
    formula=r"\frac{\sigma_w^2}{\sigma_w^2 + \sigma_b^2}",
    definition="The same share from variance components, so that it does not depend on the number of copies.",
    estimator="one-way random-effects ANOVA, unbalanced; σ_b² cut at 0; prompts with at least two copies",
    source="Searle, Casella & McCulloch 1992, §3.6",
    needs=Granularity.RESPONSE,
    percent=True,
    interval=Interval(
        f"{LEVEL:.0%}, from the F distribution of the mean squares: exact for normal effects and equally many copies",
        _share_interval,
    ),
)
def _within_share_corrected(group: Group) -> Value:
    components = Components.of(group.prompts)
    return None if components is None else 1 - components.icc


def _copies(column: str, group: Group) -> Value:
    return _copied(group)[column].mean()


def _range(group: Group) -> Value:
    copied = _copied(group)
    return (copied["max"] - copied["min"]).mean()


for _key, _label, _formula, _definition, _estimator, _compute in (
    (
        "copy_std",
        "copy std",
        r"\frac{1}{Q}\sum_q s_q",
        "Mean over prompts of the standard deviation of τ_r over a prompt's copies.",
        "sample form (ddof 1)",
        partial(_copies, "std"),
    ),
    (
        "copy_range",
        "copy range",
        r"\frac{1}{Q}\sum_q (\max_{r \in q} \tau_r - \min_{r \in q} \tau_r)",
        "Mean over prompts of the range of τ_r over a prompt's copies; it grows with the number of copies.",
        "unweighted mean over prompts",
        _range,
    ),
    (
        "copy_max",
        "copy max",
        r"\frac{1}{Q}\sum_q \max_{r \in q} \tau_r",
        "Mean over prompts of the best copy: a lucky draw, not an operating point.",
        "unweighted mean over prompts",
        partial(_copies, "max"),
    ),
    (
        "copy_min",
        "copy min",
        r"\frac{1}{Q}\sum_q \min_{r \in q} \tau_r",
        "Mean over prompts of the worst copy: an unlucky draw, not an operating point.",
        "unweighted mean over prompts",
        partial(_copies, "min"),
    ),
):
    metric(
        _key,
        label=_label,
        unit="tokens/step",
        decimals=2,
        formula=_formula,
        definition=_definition + " Prompts with at least two copies.",
        estimator=_estimator,
        source="report §6",
        needs=Granularity.RESPONSE,
    )(_compute)


def _correlation(length: str, ranks: bool, group: Group) -> Value:
    """Correlate τ_r with a length column; None when either is constant or there are fewer than two responses."""
    pair = group.measured.select("tau", length)
    if pair.height < 2 or pair["tau"].n_unique() < 2 or pair[length].n_unique() < 2:
        return None
    if ranks:
        pair = pair.select(pl.all().rank("average"))
    value = pair.select(pl.corr("tau", length)).item()
    return None if value is None else min(1.0, max(-1.0, value))


_TOKENS = "length = output tokens where every response of the run has them, else tokens emitted by steps Σ(1 + a)"

for _key, _label, _length, _ranks, _estimator in (
    ("corr_tau_tokens", "corr(τ_r, length)", "length", False, f"Pearson over responses; {_TOKENS}"),
    (
        "corr_tau_steps",
        "corr(τ_r, steps)",
        "steps",
        False,
        "Pearson over responses; length = drafted steps S_r",
    ),
    (
        "corr_tau_tokens_spearman",
        "rank corr(τ_r, length)",
        "length",
        True,
        f"Spearman over responses; {_TOKENS}",
    ),
):
    metric(
        _key,
        label=_label,
        unit="",
        decimals=2,
        formula=r"\operatorname{corr}(\tau_r, \mathrm{length}_r)",
        definition="Correlation over responses of acceptance length with response length. Tokens and steps can give "
        "opposite signs on the same data. Undefined when either is constant.",
        estimator=_estimator,
        source="report §6",
        needs=Granularity.RESPONSE,
    )(partial(_correlation, _length, _ranks))
