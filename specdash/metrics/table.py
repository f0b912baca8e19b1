"""The table of a run: every declared metric for every dataset, family and the pooled row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from specdash.metrics import acceptance, errors, fit, positions, responses
from specdash.metrics.group import groups
from specdash.metrics.registry import all_metrics
from specdash.schema import OTHER_FAMILY, Granularity, Run

DECLARED_IN = (acceptance, positions, fit, responses, errors)
"""Importing these modules declares their metrics."""

KEYS = """
prompts responses steps steps_without_draft drafted accepted tau tau_all verify_rate acceptance_ratio
p p_exposed p_km c outcome step_std implied_alpha alpha_mle geometric_outcome geometric_std tau_at_k tau_at_k_km
response_mean response_p10 response_p50 response_p90 response_std within_share within_share_corrected
copy_std copy_range copy_max copy_min corr_tau_tokens corr_tau_steps corr_tau_tokens_spearman
""".split()
"""Keys of a row after ``dataset`` and ``family``, in the order of the JSON contract."""

Row = dict[str, Any]


def run_rows(run: Run, family_of: Callable[[str], str | None]) -> tuple[list[Row], list[Row]]:
    """Compute every metric of a run.

    Args:
        run: A run of any granularity.
        family_of: Family of a dataset name, None when it has none.

    Returns:
        Rows by dataset (the pooled row last; none for printed ratios) and rows by family. A row maps "dataset",
        "family" and KEYS to numbers, lists or None. A run of latencies alone has none.
    """
    if run.granularity is Granularity.LATENCIES:
        return [], []
    if run.rates is not None:
        return [_printed_row(row, family_of) for row in run.rates.iter_rows(named=True)], []
    metrics = {metric.key: metric for metric in all_metrics()}
    by_dataset, by_family = groups(run, family_of)
    rows = [
        [{"dataset": g.name, "family": g.family} | {key: metrics[key].value(g) for key in KEYS} for g in chosen]
        for chosen in (by_dataset, by_family)
    ]
    return rows[0], rows[1]


def mle_outcomes(
    run: Run, family_of: Callable[[str], str | None]
) -> tuple[dict[str, list[float] | None], dict[str, list[float] | None]]:
    """Return the geometric model's outcomes at the maximum-likelihood α, by dataset (and pooled) and by family."""
    by_dataset, by_family = groups(run, family_of)
    return (
        {group.name: fit.mle_outcome(group) for group in by_dataset},
        {group.name: fit.mle_outcome(group) for group in by_family},
    )


def _printed_row(printed: Row, family_of: Callable[[str], str | None]) -> Row:
    """Return the row of printed ratios: shown as printed, everything that needs counts is None."""
    row: Row = {"dataset": printed["dataset"], "family": family_of(printed["dataset"]) or OTHER_FAMILY}
    row |= dict.fromkeys(KEYS)
    return row | {key: printed[key] for key in ("tau", "verify_rate", "p_exposed")}
