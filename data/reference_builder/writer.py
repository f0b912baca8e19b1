"""Writes the reconstruction as a zip of the evaluation's own file formats."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from .build import Dataset, Reconstruction
from .counts import LEVELS, shuffled_steps
from .tables import COPIES, MAX_TOKENS, PROMPTS, SEED, Ints, K

SINGLE, LOGGED = "7_draft", "7_draft_best_of_10"
EVALUATION = {
    "title": "DeepSeek-V4-Pro with the DSpark drafter (reconstruction)",
    "reconstruction": True,
    "order": "invented",
    "note": "Built from the report's printed tables; this is not the original log. The order of the steps "
    "and the number of output tokens are invented.",
}
SETUP = {
    "model": "DeepSeek-V4-Pro",
    "drafter": "DeepSeek-V4-Pro-DSpark",
    "engine": "vLLM",
    "num_speculative_tokens": K,
    "temperature": 1.0,
    "draft_sampling": "probabilistic",
    "seed": SEED,
}
SETUP_TAIL = {"max_tokens": MAX_TOKENS, "chat_mode": True, "hardware": "TP8, fp8 KV cache"}


def counters(single: dict[str, Ints]) -> list[dict[str, Any]]:
    """Return the aggregate counters of the single run, one object a dataset."""
    result = []
    for name, outcomes in single.items():
        drafts = int(outcomes.sum())
        per_pos = [int(outcomes[i + 1 :].sum()) for i in range(K)]
        accepted = sum(per_pos)
        result.append(
            {
                "dataset": name,
                "num_samples": PROMPTS[name],
                "drafts": drafts,
                "draft_tokens": K * drafts,
                "accepted_tokens": accepted,
                "per_pos": per_pos,
                "acceptance_length": round(1 + accepted / drafts, 6),
                "verify_rate": round((1 + accepted / drafts) / (K + 1), 6),
                "accept_rates_by_position": [round(count / drafts, 6) for count in per_pos],
            }
        )
    return result


def sample_lines(dataset: Dataset) -> list[str]:
    """Return one JSON line a response, ten copies of a prompt in a row."""
    lines = []
    for question, copies in enumerate(dataset.table):
        for copy, counts in enumerate(copies):
            steps, accepted = int(counts.sum()), int(counts @ LEVELS)
            sample = {
                "dataset": dataset.name,
                "question_id": question,
                "copy": copy,
                "num_drafts": steps,
                "draft_tokens": K * steps,
                "accepted_tokens": accepted,
                "accept_len": round(1 + accepted / steps, 4),
                "output_tokens": 1 + steps + accepted,
            }
            lines.append(json.dumps(sample, separators=(",", ":")) + "\n")
    return lines


def log_text(datasets: list[Dataset]) -> str:
    """Return the step log: a row a step, requests in ascending order, no rows for absent responses."""
    parts: list[str] = []
    request = 0
    for dataset in datasets:
        rng = np.random.default_rng(dataset.order_seed)
        rows = dataset.table.reshape(-1, K + 1)
        for counts, present in zip(rows, dataset.present.ravel(), strict=True):
            if present:
                endings = [f"{request},{K},{level}\n" for level in range(K + 1)]
                parts.extend(endings[level] for level in shuffled_steps(rng, counts))
            request += 1
    return "".join(parts)


def result_rows(datasets: list[Dataset]) -> list[list[str]]:
    """Return the rows of the result table: mean tau and the acceptance ratio over the copies of a prompt."""
    rows = []
    for dataset in datasets:
        tau = 1 + dataset.table @ LEVELS / dataset.table.sum(axis=2)
        tau = np.where(dataset.present, tau, np.nan)
        ratio = (tau - 1) / K
        summaries = [np.nanmax(ratio, axis=1), np.nanmean(ratio, axis=1), np.nanmin(ratio, axis=1)]
        rows.append([dataset.name, f"{np.nanmean(tau):.2f}", *(f"{s.mean():.4f}" for s in summaries)])
    return rows


def boxed(rows: list[list[str]]) -> str:
    """Return rows as a table in ASCII boxes, the first row as its head."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    lines = [
        "|" + "|".join(f" {cell:^{width}} " for cell, width in zip(row, widths, strict=True)) + "|" for row in rows
    ]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule]) + "\n"


def members(built: Reconstruction) -> dict[str, str]:
    """Return the text of every member of the zip by its name."""

    def pretty(value: object) -> str:
        return json.dumps(value, indent=2) + "\n"

    head = ["dataset", "alen_mean", "ratio_max", "ratio_mean", "ratio_min"]
    lines = [line for dataset in built.datasets for line in sample_lines(dataset)]
    return {
        "evaluation.json": pretty(EVALUATION),
        f"{SINGLE}/config.json": pretty({**SETUP, "copies": 1, **SETUP_TAIL}),
        f"{SINGLE}/counters.json": pretty(counters(built.single)),
        f"{LOGGED}/config.json": pretty({**SETUP, "copies": COPIES, **SETUP_TAIL}),
        f"{LOGGED}/results_table.txt": boxed([head, *result_rows(built.datasets)]),
        f"{LOGGED}/samples.jsonl": "".join(lines),
        f"{LOGGED}/spec_log.csv": log_text(built.datasets),
    }


def write_zip(built: Reconstruction, out: Path) -> None:
    """Write the zip, with fixed times so that the same content gives the same bytes."""
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in members(built).items():
            info = zipfile.ZipInfo(name, date_time=(2026, 9, 2, 0, 0, 0))
            info.external_attr = 0o644 << 16
            info.create_system = 3
            archive.writestr(info, text.encode(), compress_type=zipfile.ZIP_DEFLATED, compresslevel=9)
