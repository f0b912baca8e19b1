"""Responses whose drafted and accepted tokens are counted, and not their verify steps."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from specdash.schema import Run, RunWarning


def told(run: Run, detail: str = "") -> Run:
    """Return a run with the warning that it has no acceptance length, and the estimate that can be made of one.

    A target pass behind the prompt emits one token of its own, so output tokens less the prompt's one less accepted
    ones are passes. That makes tokens a pass: τ over all steps, those without a draft included.

    Args:
        run: A run with sums.
        detail: What else is known of its length, as a sentence.
    """
    known = run.sums.join(run.responses, on="response").filter(pl.col("output_tokens") > 1)
    emitted, accepted = (
        int(known[name].sum()) - less for name, less in (("output_tokens", known.height), ("accepted", 0))
    )
    said = "verify steps are not counted, so τ is not known"
    if emitted > accepted and known.height == run.sums.height:
        said += (
            f"; tokens a target pass, an estimate by output and accepted tokens: {emitted / (emitted - accepted):.2f} "
            "(passes without a draft are in it and lower it, accepted tokens cut off at the end raise it)"
        )
    return replace(run, warnings=(*run.warnings, RunWarning("steps_unknown", ". ".join(filter(None, (said, detail))))))
