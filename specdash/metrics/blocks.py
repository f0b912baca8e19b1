"""The block length of a run, where all of its steps had the same."""

from __future__ import annotations

import polars as pl

from specdash.schema import Run


def fixed_block(run: Run) -> int | None:
    """Return the number of tokens that every drafting step of a run drafted; None where it varies or is not known.

    Printed ratios do not say whether it varied, unless they print the mean: their K is taken for it.
    """
    if run.counts is not None:
        lengths = run.counts.filter(pl.col("drafted") != 0)["drafted"].unique()
        return lengths.item() if lengths.len() == 1 and lengths.null_count() == 0 else None
    if run.counters is not None:
        lengths = run.counters["block"].unique()
        return lengths.item() if lengths.len() == 1 and lengths.null_count() == 0 else None
    if run.rates is not None and run.k:
        means = run.rates["mean_drafted"].drop_nulls()
        return run.k if ((means - run.k).abs() < 0.005).all() else None
    return None
