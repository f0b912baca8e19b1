"""The ordered steps of a run, read from their file as far as somebody looks at them."""

from __future__ import annotations

import polars as pl

from specdash.formats import stepload
from specdash.schema import InputError, Run


def ordered(run: Run) -> pl.LazyFrame | None:
    """Return the ordered steps of a run (schema.STEPS), nothing read yet; None when it has none."""
    return None if run.steps is None else stepload.scan(run.steps)


def of_response(run: Run, request: str) -> pl.DataFrame:
    """Return the steps of one response, in the order of the log.

    Args:
        run: A run with ordered steps.
        request: As RESPONSES has it.

    Returns:
        ``drafted, accepted``; no row when the log does not name the request.

    Raises:
        InputError: The file of the steps cannot be read.
    """
    try:
        steps = ordered(run)
        # A number in text is compared as a number: the file's statistics then tell which of its parts to read.
        kind = steps.collect_schema()["request"]
        wanted = pl.Series([request]).cast(kind, strict=False).item()
        return steps.filter(pl.col("request") == wanted).select("drafted", "accepted").collect()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError("the ordered steps cannot be read", file=run.name, found=error) from error
