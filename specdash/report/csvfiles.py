"""The report's supporting files as CSV or Parquet, at full precision; columns are the JSON keys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import polars as pl

from specdash.families import FamilyOf
from specdash.metrics import ALONE, INTERVAL_KEYS, KEYS, Background, Row, response_sums, run_rows
from specdash.report import soundness
from specdash.report.document import head
from specdash.report.exports import Origin, csv_text, safe
from specdash.report.frames import names, table_frame, with_ends
from specdash.report.latency_tables import latencies
from specdash.report.tables import report_tables
from specdash.schema import LATENCIES, OTHER_FAMILY, Evaluation, Granularity, Run
from specdash.speed.latency.summary import latency_rows

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


MANIFEST = "specdash.json"
"""File that names where the files of a folder come from."""

Suffix = Literal["csv", "parquet"]


def write(
    evaluation: Evaluation, family_of: FamilyOf, runs: tuple[Run, ...], folder: Path, suffix: Suffix = "csv"
) -> list[Path]:
    """Write the supporting files of some runs into ``folder``/<run>/, and what they come from into ``folder``.

    Returns:
        The files written.

    Raises:
        OSError: A file cannot be written.
    """
    written = []
    folders = _folders([run.name for run in runs])
    for run in runs:
        target = folder / folders[run.name]
        target.mkdir(parents=True, exist_ok=True)
        for name, frame in frames(run, family_of, Background.of(evaluation, run)).items():
            path = target / f"{name}.{suffix}"
            if suffix == "csv":
                path.write_text(csv_text(frame), "utf-8")
            else:
                frame.write_parquet(path, metadata=Origin.of(evaluation, run.name).metadata() | {"name": name})
            written.append(path)
    manifest = head(evaluation) | {"runs": [{"name": run.name, "folder": folders[run.name]} for run in runs]}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
    return [*written, folder / MANIFEST]


def frames(run: Run, family_of: FamilyOf, background: Background = ALONE) -> dict[str, pl.DataFrame]:
    """Return the supporting files of a run as frames, those its granularity can fill."""
    beside = {} if run.checks is None else {"checks": soundness.frame(run.checks)}
    if run.latencies is not None:
        beside["latencies"] = _timed(run.latencies)
        beside["latency_summary"] = table_frame(latency_rows(run.latencies, family_of), latencies())
    if run.granularity is Granularity.LATENCIES:
        return beside
    datasets, families = run_rows(run, family_of, (*KEYS, *INTERVAL_KEYS), background)
    rows = datasets + families
    made = {name: _frame(rows, keys) for name, keys in FILES.items()}
    made["tableF_tok_per_s_pp10"] = table_frame(rows, report_tables(run.k)[-1])
    if run.responses is None:
        del made["tableB_bon10_steps"], made["tableC_bon10_responses"]
    else:
        made["bon10_per_response"] = _per_response(run, family_of)
    return made | beside


def _frame(rows: list[Row], keys: tuple[str, ...]) -> pl.DataFrame:
    columns = names(rows)
    for key in keys:
        values, ends = [row[key] for row in rows], [row.get(f"{key}_ci") for row in rows]
        length = max((len(value) for value in values if isinstance(value, list)), default=None)
        if length is None:
            columns |= with_ends(key, values, ends)
            continue
        for i in range(length):
            columns |= with_ends(f"{key}_{i}", *([x and x[i] for x in found] for found in (values, ends)))
    return pl.DataFrame(columns, strict=False, infer_schema_length=None)


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
        own = safe(name) or "run"
        taken, number = {MANIFEST, *folders.values()}, 2
        folder = own
        while folder in taken:
            folder, number = f"{own}_{number}", number + 1
        folders[name] = folder
    return folders
