"""What the tables of a run say about themselves that a reader has to know."""

from __future__ import annotations

import polars as pl

from specdash.schema import Run, RunWarning


def notices(run: Run) -> list[RunWarning]:
    """Return what is odd about a run's responses and its configuration.

    Args:
        run: A run with its configuration; of any granularity.
    """
    return [*_configuration(run), *_responses(run)]


def _configuration(run: Run) -> list[RunWarning]:
    said = run.effective_config.get("k")
    if not isinstance(said, int) or run.k is None or said >= run.k:
        return []
    return [RunWarning("k_disagrees", f"the configuration says K = {said}, the longest draft has {run.k} tokens")]


def _responses(run: Run) -> list[RunWarning]:
    if run.responses is None:
        return []
    warnings = []
    missing = run.responses["output_tokens"].null_count()
    if 0 < missing < run.responses.height:
        warnings.append(
            RunWarning(
                "output_tokens_incomplete",
                f"{missing:,} of {run.responses.height:,} responses have no output tokens: length means tokens emitted "
                "by steps, for all of them",
            )
        )
    answered = run.responses.filter(pl.col("prompt").is_not_null())
    repeated = answered.select(pl.struct("dataset", "prompt", "copy").is_duplicated().sum()).item()
    if repeated:
        warnings.append(
            RunWarning(
                "copies_repeat", f"{repeated:,} responses share dataset, prompt and copy number with another one"
            )
        )
    return warnings
