"""The report's supporting files as CSV, at full precision; columns are the JSON keys."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

from specdash.families import FamilyOf
from specdash.metrics import INTERVAL_KEYS, KEYS, Row, response_sums, run_rows
from specdash.report import soundness
from specdash.report.tables import Column, report_tables
from specdash.schema import LATENCIES, OTHER_FAMILY, Evaluation, Granularity, Run

_COUNTED = ("prompts", "responses", "steps", "steps_without_draft", "drafted", "accepted")
_RESPONSE = ("response_mean", "response_p10", "response_p50", "response_p90", "response_std", "within_share")
_COPIES = ("within_share_corrected", "copy_std", "copy_range", "copy_max", "copy_min")
_LENGTH = ("corr_tau_tokens", "corr_tau_steps", "corr_tau_tokens_spearman")
_STEP = ("steps", "tau", "step_std", "implied_alpha", "alpha_mle", "geometric_std")

FILES = {
    "tableA_single_sample": (*_COUNTED[2:], "tau", "verify_rate", "acceptance_ratio", "p", "c", "outcome"),
    "tableB_bon10_steps": (
        *_COUNTED, "tau", "tau_se", "design_effect", "effective_steps", "tau_all", "verify_rate", "acceptance_ratio",
        "p", "p_exposed", "p_km", "c", "outcome",
    ),
    "tableC_bon10_responses": ("prompts", "responses", *_RESPONSE, *_COPIES, *_LENGTH),
    "tableD_tau_vs_K_truncation": ("steps", "tau", "tau_at_k", "tau_at_k_km"),
    "tableE_step_level_std": (*_STEP, "outcome", "geometric_outcome"),
}  # fmt: skip
"""Files and the metrics they hold, a row a dataset, family and the pooled run."""


def write(evaluation: Evaluation, family_of: FamilyOf, runs: tuple[Run, ...], folder: Path) -> list[Path]:
    """Write the supporting files of some runs into ``folder``/<run>/.

    Returns:
        The files written.

    Raises:
        OSError: A file cannot be written.
    """
    written = []
    names = _folders([run.name for run in runs])
    for run in runs:
        target = folder / names[run.name]
        target.mkdir(parents=True, exist_ok=True)
        for name, frame in frames(run, family_of).items():
            path = target / f"{name}.csv"
            path.write_text(csv_text(frame), "utf-8")
            written.append(path)
    return written


def csv_text(frame: pl.DataFrame) -> str:
    """Return a frame as CSV that no spreadsheet takes for commands.

    A text that begins like a formula gets an apostrophe before it: names come from files, and a cell ``=cmd()`` would
    be run when the CSV is opened.
    """
    formula = pl.selectors.string().str.contains(r"^[=+\-@\t\r]")
    return frame.with_columns(
        pl.when(formula).then(pl.lit("'") + pl.selectors.string()).otherwise(pl.selectors.string()).name.keep()
    ).write_csv()


def frames(run: Run, family_of: FamilyOf) -> dict[str, pl.DataFrame]:
    """Return the supporting files of a run as frames, those its granularity can fill."""
    beside = {} if run.checks is None else {"checks": soundness.frame(run.checks)}
    if run.latencies is not None:
        beside["latencies"] = _timed(run.latencies)
    if run.granularity is Granularity.LATENCIES:
        return beside
    datasets, families = run_rows(run, family_of, (*KEYS, *INTERVAL_KEYS))
    rows = datasets + families
    made = {name: _frame(rows, keys) for name, keys in FILES.items()}
    made["tableF_tok_per_s_pp10"] = table_frame(rows, report_tables(run.k)[-1].columns)
    if run.responses is None:
        del made["tableB_bon10_steps"], made["tableC_bon10_responses"]
    else:
        made["bon10_per_response"] = _per_response(run, family_of)
    return made | beside


def _frame(rows: list[Row], keys: tuple[str, ...]) -> pl.DataFrame:
    columns = _names(rows)
    for key in keys:
        values, ends = [row[key] for row in rows], [row.get(f"{key}_ci") for row in rows]
        length = max((len(value) for value in values if isinstance(value, list)), default=None)
        if length is None:
            columns |= _with_ends(key, values, ends)
            continue
        for i in range(length):
            columns |= _with_ends(f"{key}_{i}", *([x and x[i] for x in found] for found in (values, ends)))
    return pl.DataFrame(columns, strict=False, infer_schema_length=None)


def table_frame(rows: list[Row], columns: tuple[Column, ...]) -> pl.DataFrame:
    """Return a table at full precision: its numbers, and the ends of the interval of each that has one."""
    found = _names(rows)
    for column in columns:
        found |= _with_ends(column.key, [column.value(row) for row in rows], [column.ends(row) for row in rows])
    return pl.DataFrame(found, strict=False, infer_schema_length=None)


def _names(rows: list[Row]) -> dict[str, list[Any]]:
    return {"dataset": [row["dataset"] for row in rows], "family": [row["family"] for row in rows]}


def _with_ends(key: str, values: list[Any], ends: list[list[float] | None]) -> dict[str, list[Any]]:
    """Return the columns of a number: itself, and where some rows have an interval its ends."""
    if not any(ends):
        return {key: values}
    low, high = ([found and found[side] for found in ends] for side in (0, 1))
    return {key: values, f"{key}_low": low, f"{key}_high": high}


def _per_response(run: Run, family_of: FamilyOf) -> pl.DataFrame:
    sums = response_sums(run)
    family = [family_of(dataset) or OTHER_FAMILY for dataset in sums["dataset"]]
    return sums.with_columns(family=pl.Series(family, dtype=pl.String), steps_without_draft="undrafted").select(
        *("dataset", "family", "prompt", "copy", "request", "steps", "steps_without_draft"),
        *("drafted", "accepted", "tau", "output_tokens"),
    )


def _timed(latencies: pl.DataFrame) -> pl.DataFrame:
    """Return the latencies with the gaps between chunks as one text, which CSV has no list for."""
    gaps = pl.col("gaps_s").cast(pl.List(pl.String)).list.join(" ")
    return latencies.select(*LATENCIES).with_columns(gaps)


def _folders(names: list[str]) -> dict[str, str]:
    """Return a folder name for each run: its own, as far as a file system takes it, and unique."""
    folders: dict[str, str] = {}
    for name in names:
        safe = re.sub(r"[^\w.\-+ ]", "_", name).strip(". ")[:80] or "run"
        taken, number = set(folders.values()), 2
        folder = safe
        while folder in taken:
            folder, number = f"{safe}_{number}", number + 1
        folders[name] = folder
    return folders
