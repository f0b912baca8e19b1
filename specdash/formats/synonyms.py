"""The declared table of field names: what others call our columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from specdash.schema import InputError

STEP = {
    "request": ("request_id", "req_id", "request", "rid", "id", "uid", "uuid", "request_uuid", "seq_id"),
    "drafted": (
        "drafted", "draft_tokens", "num_draft_tokens", "drafted_tokens", "num_drafted", "draft_len", "draft_length",
        "proposed", "num_proposed", "proposal_length", "k",
    ),
    "accepted": (
        "accepted", "accepted_tokens", "num_accepted_tokens", "num_accepted", "accept", "accepted_drafts", "a",
    ),
}  # fmt: skip
"""Columns of a step log. ``accepted`` never counts the bonus token."""

SAMPLE = {
    "request": ("request_id", "req_id", "rid", "request_uuid", "uuid", "request"),
    "dataset": ("dataset", "dataset_name", "task", "task_name", "benchmark", "bench", "category", "subset"),
    "prompt": (
        "prompt_id", "question_id", "problem_id", "task_id", "prompt_idx", "question_idx", "prompt_index",
        "sample_id", "idx", "index", "qid",
    ),
    "copy": (
        "copy", "sample", "sample_idx", "sample_index", "copy_idx", "copy_id", "repeat", "repetition",
        "completion_idx", "trial",
    ),
    "drafts": ("num_drafts", "drafts", "n_drafts", "draft_count", "verify_steps", "num_steps", "steps"),
    "drafted": ("draft_tokens", "drafted", "num_draft_tokens", "drafted_tokens", "num_drafted_tokens", "num_drafted"),
    "accepted": ("accepted_tokens", "accepted", "num_accepted_tokens", "num_accepted"),
    "accept_len": (
        "accept_len", "acceptance_length", "accept_length", "mean_accept_len", "mean_acceptance_length",
        "alen", "tau",
    ),
    "output_tokens": (
        "output_tokens", "completion_tokens", "num_output_tokens", "output_len", "generated_tokens",
        "num_generated_tokens", "num_tokens", "new_tokens",
    ),
}  # fmt: skip
"""Fields of a samples file."""

COUNTER = {
    "dataset": ("dataset", "dataset_name", "task", "task_name", "benchmark", "bench", "category", "name"),
    "responses": (
        "num_samples", "samples", "num_responses", "responses", "num_requests", "requests", "num_prompts",
        "n",
    ),
    "drafts": (
        "drafts", "num_drafts", "n_drafts", "num_steps", "steps", "verify_steps", "num_proposals",
        "proposals",
    ),
    "drafted": ("draft_tokens", "drafted", "num_draft_tokens", "drafted_tokens", "proposed_tokens"),
    "accepted": ("accepted", "accepted_tokens", "num_accepted_tokens", "num_accepted"),
    "per_position": (
        "per_pos", "per_position", "accepted_per_pos", "num_accepted_tokens_per_pos",
        "accepted_per_position", "per_pos_accepted",
    ),
    "tau": ("acceptance_length", "accept_length", "accept_len", "mean_acceptance_length", "tau"),
    "rates": (
        "accept_rates_by_position", "acceptance_rates_by_position", "accept_rate_by_position",
        "per_position_rates",
    ),
    "verify_rate": ("verify_rate",),
    "acceptance_ratio": ("acceptance_ratio", "acceptance_rate", "accept_rate", "draft_acceptance_rate"),
}  # fmt: skip
"""Fields of a counters file; the last four are stored ratios, which are recomputed."""

CONFIG = {
    "model": (
        "model", "target", "target_model", "model_name", "model_id", "model_path",
        "target_model_name_or_path", "target_name_or_path",
    ),
    "drafter": (
        "drafter", "draft_model", "draft", "speculative_model", "drafter_model", "draft_name_or_path",
        "draft_model_name_or_path",
    ),
    "k": (
        "k", "num_speculative_tokens", "num_draft_tokens", "speculative_num_draft_tokens",
        "num_spec_tokens", "gamma", "draft_tokens",
    ),
    "temperature": ("temperature", "temp"),
    "sampler": ("sampler", "sampling", "draft_sampling", "draft_sample_method", "sampling_method"),
    "seed": ("seed", "random_seed"),
    "copies": ("copies", "num_copies", "num_samples_per_prompt", "best_of", "n", "num_return_sequences"),
    "max_tokens": ("max_tokens", "max_new_tokens", "max_output_tokens", "max_completion_tokens"),
    "hardware": ("hardware", "gpu", "device", "gpus", "accelerator"),
}  # fmt: skip
"""Settings of a run; others are kept under their own name."""


@lru_cache(maxsize=4096)
def normalised(name: str) -> str:
    """Return a field name in lower snake case: ``requestId``, ``Request ID`` and ``request-id`` are one."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[\s\-.]+", "_", split).strip("_").lower()


def match(
    found: Iterable[str], table: dict[str, tuple[str, ...]], *, file: str, line: int | None = None
) -> dict[str, str]:
    """Return which of the found names stands for which of our columns.

    Args:
        found: Names as the file has them.
        table: Our column to its names in others' files.
        file: For the error message.
        line: For the error message.

    Returns:
        Our column to the name in the file, for those that are there. Of several names for one column that of the
        table's order counts: the first is the most specific.

    Raises:
        InputError: A name that counts stands there twice.
    """
    by_name: dict[str, list[str]] = {}
    for name in found:
        by_name.setdefault(normalised(name), []).append(name)
    matched: dict[str, str] = {}
    for column, names in table.items():
        present = next((by_name[name] for name in names if name in by_name), None)
        if present is None:
            continue
        if len(present) > 1:
            raise InputError("two columns of the same name", file=file, line=line, found=" and ".join(present))
        matched[column] = present[0]
    return matched
