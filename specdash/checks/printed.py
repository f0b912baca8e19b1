"""Printed tables that stood beside a log, held against its counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from specdash.schema import Run, RunWarning

_SHOWN = 5


def disagreements(run: Run) -> list[RunWarning]:
    """Compare every printed cell of a run with what its counts give, at the printed decimals.

    DeepSpec's acceptance length and rates leave out tokens after the end of a sequence, a log may count them: a small
    difference there is a difference of convention. ``ratio_max``, ``ratio_mean`` and ``ratio_min`` are read as means
    over prompts of the largest, mean and smallest acceptance ratio among a prompt's copies.

    Args:
        run: A run with counts or counters; ``printed`` may be empty.

    Returns:
        No warning, or one that lists the first cells that differ.
    """
    if not run.printed:
        return []
    computed = _from_responses(run) if run.responses is not None else _from_counters(run)
    cells = list(_differing(run.printed, computed))
    if not cells:
        return []
    more = f" and {len(cells) - _SHOWN} more" if len(cells) > _SHOWN else ""
    return [
        RunWarning(
            "printed_disagrees",
            f"the printed table differs from the counts: {'; '.join(cells[:_SHOWN])}{more}",
        )
    ]


def _differing(printed: Iterable[dict[str, Any]], computed: dict[str, dict[str, Any]]) -> Iterable[str]:
    for row in printed:
        ours = computed.get(row["dataset"])
        if ours is None:
            yield f"{row['dataset']} is not in the log"
            continue
        for column, decimals in row["decimals"].items():
            pairs = (
                zip(row[column], ours.get(column) or [], strict=False)
                if column == "p_exposed"
                else [(row[column], ours.get(column))]
            )
            for i, (stated, counted) in enumerate(pairs):
                if stated is not None and counted is not None and abs(stated - counted) > 0.5000001 * 10.0**-decimals:
                    label = f"{column}@{i}" if column == "p_exposed" else column
                    yield f"{row['dataset']} {label} {stated:.{decimals}f}, by the counts {counted:.{decimals}f}"


def _from_counters(run: Run) -> dict[str, dict[str, Any]]:
    computed = {}
    for row in run.counters.iter_rows(named=True):
        steps, drafted, accepted = row["steps"], row["drafted"], row["accepted"]
        constant = bool(steps and row["block"] and row["per_position"])
        computed[row["dataset"]] = {
            "tau": 1 + accepted / steps if steps else None,
            "verify_rate": (steps + accepted) / (steps + drafted) if steps and drafted else None,
            "p_exposed": [n / steps for n in row["per_position"]] if constant else None,
        }
    return computed


def _from_responses(run: Run) -> dict[str, dict[str, Any]]:
    steps, drafted, accepted = pl.col("steps"), pl.col("drafted"), pl.col("accepted")
    drafting = run.counts.filter(drafted > 0).join(run.responses, on="response")
    by_response = (
        drafting.group_by("response", "dataset", "prompt")
        .agg(steps.sum(), drafted=(steps * drafted).sum(), accepted=(steps * accepted).sum())
        .with_columns(tau=1 + accepted / steps, ratio=accepted / drafted)
    )
    exposed = [steps.filter(drafted > i).sum() for i in range(run.k or 0)]
    hits = [steps.filter(accepted > i).sum() for i in range(run.k or 0)]
    rates = [pl.when(e > 0).then(h / e).alias(str(i)) for i, (h, e) in enumerate(zip(hits, exposed, strict=True))]
    by_position = drafting.group_by("dataset").agg(p_exposed=pl.concat_list(rates) if rates else pl.lit(None))
    by_dataset = by_response.group_by("dataset").agg(
        alen_mean=pl.col("tau").mean(),
        tau=1 + accepted.sum() / steps.sum(),
        verify_rate=(steps.sum() + accepted.sum()) / (steps.sum() + drafted.sum()),
    )
    ratio = pl.col("ratio")
    by_copies = (
        by_response.filter(pl.col("prompt").is_not_null())
        .group_by("dataset", "prompt")
        .agg(ratio_max=ratio.max(), ratio_mean=ratio.mean(), ratio_min=ratio.min())
        .group_by("dataset")
        .agg(pl.col("ratio_max", "ratio_mean", "ratio_min").mean())
    )
    rows = run.responses.select("dataset").unique()
    for computed in (by_dataset, by_copies, by_position):
        rows = rows.join(computed, on="dataset", how="left")
    return {row["dataset"]: row for row in rows.iter_rows(named=True)}
