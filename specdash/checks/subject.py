"""What a check looks at: a run, what its evaluation says of it, and its steps in order where somebody can read them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from specdash.checks import likeness, ordered
from specdash.metrics import response_sums
from specdash.metrics.tally import Tally, tallies_by_dataset, total
from specdash.schema import Evaluation, Granularity, Run

MATERIAL = 0.005
"""Tokens a step: what changes τ by less does not show at its two printed decimals."""


@dataclass(frozen=True)
class Subject:
    """A run under its checks. What several checks need is computed once.

    Attributes:
        run: The run.
        order_recorded: Whether the order of its steps is that of the log.
        reconstruction: Whether it was built from printed tables instead of logged.
        steps: Its ordered steps (schema.STEPS), in log order; None when nobody can read them here.
    """

    run: Run
    order_recorded: bool = True
    reconstruction: bool = False
    steps: pl.LazyFrame | None = None

    @classmethod
    def of(cls, evaluation: Evaluation, run: Run, steps: pl.LazyFrame | None = None) -> Subject:
        """Return the subject that a run of an evaluation is."""
        return cls(run, evaluation.order == "recorded", evaluation.reconstruction, steps)

    @cached_property
    def responses(self) -> pl.DataFrame:
        """One row a response with its sums (metrics.response_sums); for runs that hold responses."""
        return response_sums(self.run)

    @cached_property
    def tallies(self) -> dict[str, Tally]:
        """Counts by dataset; none for printed ratios."""
        counted = Granularity.AGGREGATE
        return tallies_by_dataset(self.run) if self.run.granularity.allows(counted) else {}

    @cached_property
    def pooled(self) -> Tally:
        """Counts over all datasets; for runs with counts."""
        return total(self.tallies.values())

    @cached_property
    def sequences(self) -> pl.DataFrame | None:
        """What the order of a response's steps says, a row a response (ordered.sequences); None without the order."""
        if self.steps is None or not self.order_recorded or self.run.granularity is not Granularity.STEP:
            return None
        return ordered.sequences(self.steps, self.responses)

    @cached_property
    def prompted(self) -> pl.DataFrame | None:
        """The responses whose prompt is known; None when there are none. For runs that hold responses."""
        known = self.responses.filter(pl.col("prompt").is_not_null())
        return None if known.is_empty() else known

    @cached_property
    def likeness(self) -> pl.DataFrame | None:
        """What is compared of each response (likeness.compared); None without prompts or counts."""
        if self.prompted is None or self.run.counts is None:
            return None
        return likeness.compared(self.run.counts, self.prompted, self.sequences)

    def warning(self, *codes: str) -> str | None:
        """Return what the reader of the files said under one of these codes."""
        said = [warning.message for warning in self.run.warnings if warning.code in codes]
        return "; ".join(said) or None
