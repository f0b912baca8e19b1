"""Prompts by difficulty: τ of a prompt drawn towards its dataset's mean by as much as it is noise.

The mean τ_r of a few copies is a noisy sign of how hard a prompt is; the prompts with the smallest means are those with
the largest errors. Model: τ_r = μ_d + prompt effect (variance σ_b²) + noise. The best linear guess at μ_d + effect is
w·m_q + (1 − w)·μ_d with w = σ_b²/(σ_b² + v_q), m_q the mean of the prompt's copies and v_q its noise variance. Its
error is √(w·v_q + (1 − w)²·Var μ_d).

v_q is σ_w²/n_q where prompts have copies. Where each has one, only the noise of its steps is known: s²/S_q, s² the
variance of steps within responses. That is a lower bound, for another copy would have other text.
source: Efron & Morris 1975; Searle, Casella & McCulloch 1992, §3.6 for the variance components.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from specdash.metrics.components import Components
from specdash.metrics.intervals import FEWEST, LEVEL
from specdash.schema import Run

SCHEMA = pl.Schema(
    {
        "dataset": pl.String,
        "prompt": pl.String,
        "copies": pl.Int64,  # responses with a drafted step
        "steps": pl.Int64,
        "tau": pl.Float64,  # step-weighted over the copies
        "mean": pl.Float64,  # m_q, mean of τ_r over the copies
        "min": pl.Float64,  # smallest τ_r
        "max": pl.Float64,  # largest τ_r
        "centre": pl.Float64,  # μ_d, mean of τ_r over the dataset
        "weight": pl.Float64,  # w, 0..1
        "shrunken": pl.Float64,  # w·m_q + (1 − w)·μ_d
        "low": pl.Float64,  # its interval
        "high": pl.Float64,
        "noise": pl.String,  # what v_q is known from: copies or steps
    }
)
"""One row a prompt; τ in tokens/step. From ``weight`` on null where noise cannot be told from difficulty."""


@dataclass(frozen=True)
class Noise:
    """How the spread of a dataset's prompts divides into difficulty and noise.

    Attributes:
        between: σ_b², variance of prompts, (tokens/step)².
        of_prompt: v_q as an expression over a frame with ``n`` (copies) and ``steps``.
        of_centre: Variance of μ_d.
        freedom: Degrees of freedom of the noise variance.
        source: What the noise is known from.
    """

    between: float
    of_prompt: pl.Expr
    of_centre: float
    freedom: int
    source: str


def difficulty(responses: pl.DataFrame, counts: pl.DataFrame | None) -> pl.DataFrame:
    """Return the prompts of some responses, hardest first (SCHEMA).

    Args:
        responses: metrics.response_sums; those whose prompt or τ_r is not known are left out.
        counts: Outcome counts of theirs (schema.COUNTS), None where there are none.
    """
    measured = responses.filter(pl.col("tau").is_not_null() & pl.col("prompt").is_not_null())
    spreads = _step_spreads(counts)
    parts = [_of_dataset(part, spreads) for part in measured.partition_by("dataset", maintain_order=True)]
    found = pl.concat([SCHEMA.to_frame(), *parts])
    return found.sort(pl.coalesce("shrunken", "mean"), "mean", maintain_order=True)


def _of_dataset(responses: pl.DataFrame, spreads: pl.DataFrame | None) -> pl.DataFrame:
    tau = pl.col("tau")
    prompts = responses.group_by("dataset", "prompt", maintain_order=True).agg(
        n=pl.len().cast(pl.Int64),
        steps=pl.col("steps").sum(),
        tau=1 + pl.col("accepted").sum() / pl.col("steps").sum(),
        mean=tau.mean(),
        ss=((tau - tau.mean()) ** 2).sum(),
        min=tau.min(),
        max=tau.max(),
    )
    centre = responses["tau"].mean()
    noise = _noise(prompts, responses, spreads)
    return _shrunken(prompts.with_columns(centre=pl.lit(centre, pl.Float64)), noise).select(
        pl.col(name).cast(kind) for name, kind in SCHEMA.items()
    )


def _noise(prompts: pl.DataFrame, responses: pl.DataFrame, spreads: pl.DataFrame | None) -> Noise | None:
    """Return the noise of a dataset; None with too few prompts, or when nothing tells it."""
    if prompts.height < FEWEST:
        return None
    components = Components.of(prompts)
    if components is not None and components.prompts >= FEWEST:
        n, total = prompts["n"], prompts["n"].sum()
        of_centre = components.between * (n**2).sum() / total**2 + components.within / total
        return Noise(
            components.between, components.within / pl.col("n"), of_centre,
            components.responses - components.prompts, "copies",
        )  # fmt: skip
    if spreads is None or prompts["n"].max() > 1:
        return None
    known = responses.join(spreads, on="response")
    freedom = int((known["steps"] - 1).sum())
    if known.height < responses.height or freedom < 1:
        return None
    step = known["ss"].sum() / freedom
    of_prompts = step * (1 / prompts["steps"]).mean()
    between = max(0.0, prompts["mean"].var() - of_prompts)
    return Noise(between, step / pl.col("steps"), (between + of_prompts) / prompts.height, prompts.height - 1, "steps")


def _step_spreads(counts: pl.DataFrame | None) -> pl.DataFrame | None:
    """Return ``response, ss``, the sum of squares of a_s about its mean in a response; None without outcome counts."""
    if counts is None:
        return None
    steps, accepted = pl.col("steps"), pl.col("accepted").cast(pl.Int64)
    drafted = counts.filter(pl.col("drafted") > 0)  # Histograms that do not say what was drafted are left out.
    return drafted.group_by("response").agg(
        ss=(steps * accepted**2).sum() - (steps * accepted).sum() ** 2 / steps.sum(),
    )


def _shrunken(prompts: pl.DataFrame, noise: Noise | None) -> pl.DataFrame:
    """Add ``weight, shrunken, low, high, noise`` and rename ``n``; null without noise."""
    named = prompts.rename({"n": "copies"})
    if noise is None:
        empty = {name: pl.lit(None, SCHEMA[name]) for name in ("weight", "shrunken", "low", "high", "noise")}
        return named.with_columns(**empty)
    from scipy.special import stdtrit  # Takes longer to import than most reports to compute.

    reach = float(stdtrit(noise.freedom, (1 + LEVEL) / 2))
    weight = pl.col("weight")
    return (
        prompts.with_columns(own=noise.of_prompt)
        # Without any noise a prompt is its own mean, whether or not prompts differ.
        .with_columns(
            weight=pl.when(pl.col("own") > 0).then(noise.between / (noise.between + pl.col("own"))).otherwise(1.0)
        )
        .with_columns(
            shrunken=weight * pl.col("mean") + (1 - weight) * pl.col("centre"),
            error=(weight * pl.col("own") + (1 - weight) ** 2 * noise.of_centre).sqrt(),
        )
        .with_columns(
            low=(pl.col("shrunken") - reach * pl.col("error")).clip(lower_bound=1.0),
            high=pl.col("shrunken") + reach * pl.col("error"),
            noise=pl.lit(noise.source),
        )
        .rename({"n": "copies"})
    )


def copies_of(run: Run, responses: pl.DataFrame) -> list[dict[str, object]]:
    """Return the outcomes of some responses of a run, in their order.

    Args:
        run: A run with outcome counts.
        responses: Rows of metrics.response_sums.

    Returns:
        A row a response: its own fields, and ``outcome``, shares of its drafted steps by accepted tokens, 0..K; None
        where it has no outcome counts.
    """
    counts = (
        run.counts.join(responses.select("response"), on="response", how="semi") if run.counts is not None else None
    )
    shares: dict[int, list[float]] = {}
    if counts is not None:
        drafted = counts.filter(pl.col("drafted").is_null() | (pl.col("drafted") > 0))
        summed = drafted.group_by("response", "accepted").agg(pl.col("steps").sum())
        for (response,), part in summed.group_by("response"):
            of_outcome = dict(part.select("accepted", "steps").iter_rows())
            total = sum(of_outcome.values())
            shares[response] = [of_outcome.get(j, 0) / total for j in range((run.k or 0) + 1)]
    return [row | {"outcome": shares.get(row["response"])} for row in responses.iter_rows(named=True)]
