"""The table of a run: every declared metric for every dataset, family and the pooled row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from specdash.metrics import acceptance, errors, fit, positions, responses
from specdash.metrics.borrowing import ALONE, BORROWED, NEEDED, Background, borrow
from specdash.metrics.group import Group, groups
from specdash.metrics.intervals import NO_INTERVAL, note
from specdash.metrics.registry import get
from specdash.schema import LEVEL, OTHER_FAMILY, Granularity, Run

DECLARED_IN = (acceptance, positions, fit, responses, errors)
"""Importing these modules declares their metrics."""

KEYS = """
prompts responses steps steps_without_draft drafted accepted tau tau_all verify_rate acceptance_ratio
p p_exposed p_km c outcome step_std implied_alpha alpha_mle geometric_outcome geometric_std tau_at_k tau_at_k_km
response_mean response_p10 response_p50 response_p90 response_std within_share within_share_corrected
copy_std copy_range copy_max copy_min corr_tau_tokens corr_tau_steps corr_tau_tokens_spearman
""".split()
"""Keys of a row after ``dataset`` and ``family``, in the order of the JSON contract."""

CI_KEYS = [f"{key}_ci" for key in KEYS if get(key).interval]
"""Intervals: the ends [low, high] of a number, a list of such for a list; None where there is none."""

INTERVAL_KEYS = ["level", "interval_note", "interval_from", "tau_se", "design_effect", "effective_steps", *CI_KEYS]
"""Keys of a row that say how sure its numbers are: the level of the intervals, a sentence about them or None, the run
that they are borrowed from or None, the standard error of τ, what clustering does to it, intervals."""

ERROR_KEYS = "tau_se_linear tau_se_bootstrap tau_se_copies tau_se_naive".split()
"""The standard error of τ by other methods. They take as long as all intervals together."""

METRIC_KEYS = [*KEYS, "tau_se", "design_effect", "effective_steps", *ERROR_KEYS]
"""Every declared metric, in the order in which they are explained."""

_PRINTED = ("tau", "verify_rate", "acceptance_ratio", "p", "p_exposed", "c", "outcome")
"""Keys of a row that a table of printed ratios may give."""

Row = dict[str, Any]


def run_rows(
    run: Run,
    family_of: Callable[[str], str | None],
    keys: Sequence[str] = KEYS,
    background: Background = ALONE,
) -> tuple[list[Row], list[Row]]:
    """Compute metrics of a run.

    Args:
        run: A run of any granularity.
        family_of: Family of a dataset name, None when it has none.
        keys: What to compute, of KEYS, INTERVAL_KEYS and ERROR_KEYS.
        background: What intervals need to know of the evaluation.

    Returns:
        Rows by dataset (the pooled row last; none for printed ratios) and rows by family. A row maps "dataset",
        "family" and the keys to numbers, lists or None. A run of latencies alone has none.
    """
    if run.granularity is Granularity.LATENCIES:
        return [], []
    if run.rates is not None:
        return [_printed_row(row, family_of, keys) for row in run.rates.iter_rows(named=True)], []
    by_dataset, by_family = groups(run, family_of, background.seed)
    if background.lender is None or not set(BORROWED) & set(keys):
        return _rows(by_dataset, keys), _rows(by_family, keys)
    lent = run_rows(background.lender, family_of, NEEDED)
    whole = {row["dataset"] for row in lent[0]} == {group.name for group in by_dataset}
    lending = partial(borrow, lender=background.lender.name, k=run.k, whole=whole)
    own = (_rows(chosen, dict.fromkeys((*keys, "steps", "tau"))) for chosen in (by_dataset, by_family))
    asked = ("dataset", "family", *keys)
    return tuple([{key: row[key] for key in asked} for row in lending(*pair)] for pair in zip(own, lent, strict=True))


def _rows(chosen: Iterable[Group], keys: Iterable[str]) -> list[Row]:
    return [{"dataset": g.name, "family": g.family} | {key: _cell(key, g) for key in keys} for g in chosen]


def _cell(key: str, group: Group) -> Any:
    if key == "level":
        return LEVEL
    if key == "interval_note":
        return note(group)
    if key == "interval_from":
        return None
    declared = get(key.removesuffix("_ci"))
    return declared.interval.ends(group) if key.endswith("_ci") else declared.value(group)


def mle_outcomes(
    run: Run, family_of: Callable[[str], str | None]
) -> tuple[dict[str, list[float] | None], dict[str, list[float] | None]]:
    """Return the geometric model's outcomes at the maximum-likelihood α, by dataset (and pooled) and by family."""
    by_dataset, by_family = groups(run, family_of)
    return (
        {group.name: fit.mle_outcome(group) for group in by_dataset},
        {group.name: fit.mle_outcome(group) for group in by_family},
    )


def _printed_row(printed: Row, family_of: Callable[[str], str | None], keys: Sequence[str]) -> Row:
    """Return the row of printed ratios: shown as printed, everything that needs counts is None."""
    row: Row = {"dataset": printed["dataset"], "family": family_of(printed["dataset"]) or OTHER_FAMILY}
    known = {key: printed[key] for key in _PRINTED}
    known |= {"level": LEVEL, "interval_note": NO_INTERVAL + "printed ratios have no counts"}
    return row | {key: known.get(key) for key in keys}
