"""The latencies of one run by dataset: how many requests, how many failed, means and percentiles of every measure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import polars as pl

from specdash.schema import OTHER_FAMILY, POOLED
from specdash.speed.latency.arms import MEASURES, Arm
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
        A row a dataset in order of appearance, the pooled one last: ``dataset, family, requests, failed,
        output_tokens`` (mean) and ``<measure>_<statistic>`` in seconds, None where nothing has the measure.
    """
    names = latencies["dataset"].unique(maintain_order=True).to_list()
    rows = [_row(n, family_of(n) or OTHER_FAMILY, latencies.filter(pl.col("dataset") == n)) for n in names]
    return [*rows, _row(POOLED, None, latencies)] if rows else []


def _row(name: str, family: str | None, latencies: pl.DataFrame) -> Row:
    arm = Arm(name, latencies)
    ok = arm.succeeded
    row: Row = {"dataset": name, "family": family, "requests": latencies.height, "failed": latencies.height - ok.height}
    row["output_tokens"] = ok["output_tokens"].mean()
    for key, measure in MEASURES.items():
        seconds = arm.measured(measure)["seconds"].to_numpy()
        values = _statistics(seconds) if seconds.size else [None] * len(STATISTICS)
        row |= {f"{key}_{name}": value for name, value in zip(STATISTICS, values, strict=True)}
    return row


def _statistics(seconds: np.ndarray) -> Iterable[float]:
    return [float(seconds.mean()), *np.quantile(seconds, LEVELS).tolist()]
