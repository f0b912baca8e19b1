"""The latencies of one run: how many requests, how many failed, mean and percentiles of every measure by dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import polars as pl

from specdash.schema import OTHER_FAMILY, POOLED
from specdash.speed.latency.arms import MEASURES, Arm, Measure
from specdash.speed.latency.bootstrap import LEVELS

Row = dict[str, Any]

STATISTICS = ("mean", *(f"p{level * 100:g}" for level in LEVELS))
"""Of every measure; percentiles of type 7."""


def latency_rows(latencies: pl.DataFrame, family_of: Callable[[str], str | None]) -> list[Row]:
    """Summarise the latencies of a run.

    Args:
        latencies: schema.LATENCIES.
        family_of: Family of a dataset name, None when it has none.

    Returns:
        A row a dataset (in order of appearance, the pooled run last) and measure, of the measures that some request
        has: ``dataset, family, measure`` (its key), ``requests``, ``failed``, ``output_tokens`` (mean over those that
        did not fail and say it), ``timed`` (requests with the measure), and in seconds ``mean_s, p50_s, p95_s, p99_s``,
        None where no request has the measure.
    """
    whole = Arm(POOLED, latencies)
    measures = [measure for measure in MEASURES.values() if whole.measured(measure).height]
    arms = [
        (family_of(name) or OTHER_FAMILY, Arm(name, latencies.filter(pl.col("dataset") == name)))
        for name in latencies["dataset"].unique(maintain_order=True)
    ]
    return [_row(arm, family, measure) for family, arm in [*arms, (None, whole)] for measure in measures]


def _row(arm: Arm, family: str | None, measure: Measure) -> Row:
    ok, seconds = arm.succeeded, arm.measured(measure)["seconds"].to_numpy()
    values = _statistics(seconds) if seconds.size else [None] * len(STATISTICS)
    return {
        "dataset": arm.name,
        "family": family,
        "measure": measure.key,
        "requests": arm.latencies.height,
        "failed": arm.latencies.height - ok.height,
        "output_tokens": ok["output_tokens"].mean(),
        "timed": seconds.size,
        **{f"{name}_s": value for name, value in zip(STATISTICS, values, strict=True)},
    }


def _statistics(seconds: np.ndarray) -> Iterable[float]:
    return [float(seconds.mean()), *np.quantile(seconds, LEVELS).tolist()]
