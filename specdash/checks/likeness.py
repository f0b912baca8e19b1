"""How alike the steps of two responses are, and how likely that would be by chance."""

from __future__ import annotations

import math

import polars as pl

FEWEST_STEPS = 20
"""Steps of a response from which on its likeness to another one may say something."""


def compared(counts: pl.DataFrame, prompted: pl.DataFrame, sequences: pl.DataFrame | None) -> pl.DataFrame:
    """Return what is compared of each response that is long enough.

    Args:
        counts: schema.COUNTS.
        prompted: The responses whose prompt is known: ``response, dataset, prompt``.
        sequences: What the order of each one's steps says (ordered.sequences); None without the order.

    Returns:
        ``dataset, prompt, size`` (steps), ``signature`` (equal for equal steps; of the steps in order where their
        order is at hand, else of their counts) and ``log_chance``, the log-probability that another copy of the same
        size has the same, were steps drawn from the prompt's own outcomes.
    """
    key, steps = ("dataset", "prompt"), pl.col("steps")
    long = pl.col("size") >= FEWEST_STEPS
    steps_of = (
        counts.join(prompted.select("response", *key), on="response")
        .with_columns(size=steps.sum().over("response"))
        .filter(long)
    )
    own = pl.struct("drafted", "accepted", "steps").hash()
    chance = steps_of.join(
        steps_of.group_by(*key, "drafted", "accepted").agg(of_prompt=steps.sum()),
        on=[*key, "drafted", "accepted"],
        nulls_equal=True,
    ).with_columns(share=pl.col("of_prompt") / steps.sum().over(key))
    # In order there is one arrangement of the steps, else as many as their counts allow.
    known_order = sequences is not None
    arrangements = pl.lit(0.0) if known_order else _log_factorial(pl.col("size").first()) - _log_factorial(steps).sum()
    likeness = chance.group_by("response", *key, "size").agg(
        signature=own.sum(), log_chance=(steps * pl.col("share").log()).sum() + arrangements
    )
    if sequences is None:
        return likeness
    return likeness.drop("signature").join(sequences.select("response", "signature"), on="response")


def _log_factorial(n: pl.Expr) -> pl.Expr:
    """Stirling's series; at most 0.003 too small, at n = 1."""
    return n * n.log() - n + (2 * math.pi * n).log() / 2 + 1 / (12 * n)
