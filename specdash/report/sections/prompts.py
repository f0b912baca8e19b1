"""The section of prompts: the hardest and the easiest, and the copies of one of them."""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

from specdash import charts
from specdash.metrics.difficulty import copies_of
from specdash.report.sections.base import FigurePart, Note, Part, Subject

ENDS = 15
"""Prompts at either end that the figure shows at first."""

NOT_KNOWN = "No samples say which prompt a response answers, so there are no prompts to tell apart."

METHOD = (
    "A prompt's τ is the mean over its copies, drawn to its dataset's mean by the share of its variance that is "
    "noise: of raw means the smallest are those that erred most. The noise is that between copies or, where every "
    "prompt has one, that of its steps, a lower bound. The interval is of the prompt's own τ, given its dataset."
)


def prompts(subject: Subject, *, found: pl.DataFrame | None = None, ends: int = ENDS) -> list[Part]:
    """The hardest and the easiest prompts.

    Args:
        subject: What it is about.
        found: Those of ``subject.prompts`` that are looked for; all of them when None.
        ends: Prompts at either end.
    """
    if subject.prompts.is_empty():
        return [Note(NOT_KNOWN)]
    drawn = partial(charts.prompt_caterpillar, subject.prompts if found is None else found, ends=ends)
    return [FigurePart("prompts", drawn)]


def copies(subject: Subject, responses: pl.DataFrame, names: list[str]) -> FigurePart:
    """Return the outcomes of a prompt's copies as a figure.

    Args:
        subject: What it is about.
        responses: Those of ``subject.responses`` that answer the prompt.
        names: What each is called.
    """
    rows: list[dict[str, Any]] = [
        row | {"dataset": name, "responses": 1}
        for row, name in zip(copies_of(subject.run, responses), names, strict=True)
    ]
    return FigurePart("prompt_copies", partial(charts.outcome_heatmap, rows, pooled=False))
