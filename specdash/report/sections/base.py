"""What a section of the report is made of, and what it is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from specdash.charts import Chart, Theme
from specdash.families import FamilyOf
from specdash.metrics import (
    ALONE,
    ERROR_KEYS,
    INTERVAL_KEYS,
    KEYS,
    Background,
    Row,
    difficulty,
    mle_outcomes,
    response_sums,
    restricted,
    run_rows,
)
from specdash.report.tables import Table
from specdash.schema import OTHER_FAMILY, Evaluation, Granularity, Run
from specdash.speed.latency import Comparison, Verdict
from specdash.speed.latency.roles import against_baseline, timed

Outcomes = dict[str, list[float] | None]
"""Modelled shares of steps by accepted tokens, by name of a dataset or family."""

_NEEDS = {
    Granularity.STEP: "an ordered log of steps",
    Granularity.RESPONSE: "responses with their prompts",
    Granularity.AGGREGATE: "counts",
    Granularity.RATES: "acceptance data",
}
_HOLDS = {
    Granularity.RESPONSE: "histograms without the order of steps",
    Granularity.AGGREGATE: "counters without responses",
    Granularity.RATES: "printed ratios without counts",
    Granularity.LATENCIES: "latencies alone",
}


@dataclass(frozen=True)
class Rows:
    """The numbers of a run (metrics.run_rows): rows by dataset with the pooled one last, and rows by family."""

    datasets: list[Row]
    families: list[Row]


@dataclass(frozen=True)
class Subject:
    """What a section is about: a run over all its datasets or some, with its numbers.

    Attributes:
        run: The run; its tables hold the chosen datasets alone.
        family_of: Family of a dataset name.
        datasets: Chosen datasets, None for all.
        intervals: Whether its numbers come with their intervals.
        background: What its intervals need to know of the evaluation.
        beside: The runs of the evaluation, over all their datasets.
    """

    run: Run
    family_of: FamilyOf
    datasets: tuple[str, ...] | None = None
    intervals: bool = True
    background: Background = ALONE
    beside: tuple[Run, ...] = ()

    @classmethod
    def of(
        cls,
        run: Run,
        family_of: FamilyOf,
        datasets: tuple[str, ...] | None = None,
        *,
        intervals: bool = True,
        evaluation: Evaluation | None = None,
    ) -> Subject:
        """Return a run as a subject.

        Args:
            run: The run.
            family_of: Family of a dataset name.
            datasets: Chosen datasets, all of them when None.
            intervals: Whether its numbers come with their intervals.
            evaluation: The evaluation that it is of.
        """
        beside = () if evaluation is None else evaluation.runs
        background = ALONE if evaluation is None else Background.of(evaluation, run)
        if datasets is not None:
            run, background = restricted(run, datasets), background.restricted(datasets)
        return cls(run, family_of, datasets, intervals, background, beside)

    @cached_property
    def rows(self) -> Rows:
        """The numbers of the chosen datasets, with their intervals where those are asked for."""
        keys = [*KEYS, *INTERVAL_KEYS] if self.intervals else KEYS
        return Rows(*run_rows(self.run, self.family_of, keys, self.background))

    @cached_property
    def errors(self) -> Rows:
        """The errors of τ by every method, with what they are errors of."""
        keys = "prompts steps responses tau tau_ci tau_se design_effect effective_steps".split() + ERROR_KEYS
        return Rows(*run_rows(self.run, self.family_of, keys, self.background))

    @cached_property
    def responses(self) -> pl.DataFrame:
        """One row a response with its sums (metrics.response_sums) and the family of its dataset."""
        sums = response_sums(self.run)
        known = {name: self.family_of(name) or OTHER_FAMILY for name in sums["dataset"].unique()}
        return sums.with_columns(family=pl.col("dataset").replace_strict(known, return_dtype=pl.String))

    @cached_property
    def prompts(self) -> pl.DataFrame:
        """One row a prompt with its difficulty (metrics.difficulty) and the family of its dataset, hardest first."""
        if not self.has_responses:
            return difficulty.SCHEMA.to_frame().with_columns(family=pl.lit(None, pl.String))
        found = difficulty.difficulty(self.responses, self.run.counts)
        known = {name: self.family_of(name) or OTHER_FAMILY for name in found["dataset"].unique()}
        return found.with_columns(family=pl.col("dataset").replace_strict(known, return_dtype=pl.String))

    @cached_property
    def fits(self) -> tuple[Outcomes, Outcomes]:
        """The maximum-likelihood geometric outcomes, by dataset and by family."""
        return mle_outcomes(self.run, self.family_of)

    @cached_property
    def compared(self) -> list[tuple[Comparison, Verdict]]:
        """How the run compares with its baseline, by measure; empty where the evaluation has none."""
        timed_runs = [run if self.datasets is None else restricted(run, self.datasets) for run in timed(self.beside)]
        return against_baseline(timed_runs, self.run)

    @property
    def has_responses(self) -> bool:
        """Whether responses are known one by one."""
        return self.run.granularity.allows(Granularity.RESPONSE)

    @property
    def has_counts(self) -> bool:
        """Whether there are counts, so that ratios were not only printed."""
        return self.run.granularity.allows(Granularity.AGGREGATE)

    @property
    def has_length(self) -> bool:
        """Whether any dataset has an acceptance length: tokens may be counted where steps are not."""
        return any(row["tau"] is not None for row in self.rows.datasets)

    @property
    def k(self) -> int:
        """The block length K, 0 where it is not known."""
        return self.run.k or 0

    @property
    def varies(self) -> bool:
        """Whether steps drafted different numbers of tokens, so that rates by position have more than one reading."""
        return any(row["p_exposed"] is not None and row["p_exposed"] != row["p"] for row in self.rows.datasets)


@dataclass(frozen=True)
class Note:
    """A sentence that has to be read before what follows.

    Attributes:
        text: It.
        heading: Heading above it.
    """

    text: str
    heading: str | None = None


@dataclass(frozen=True)
class TablePart:
    """A table of a section.

    Attributes:
        table: Its columns, title and note.
        heading: Heading above it; None where the section's own says it.
        extra: Rows below the others.
        name: Name in file names; the table's key when None.
        rows: Its rows; the subject's when None.
    """

    table: Table
    heading: str | None = None
    extra: tuple[Row, ...] = ()
    name: str | None = None
    rows: Rows | None = None


@dataclass(frozen=True)
class FigurePart:
    """A figure of a section.

    Attributes:
        name: Name in file names.
        draw: The figure for a theme.
        heading: Heading above it.
        aside: One of many alike: a report folds them away, a page offers one at a time.
    """

    name: str
    draw: Callable[[Theme], Chart]
    heading: str | None = None
    aside: bool = False


Part = Note | TablePart | FigurePart


@dataclass(frozen=True)
class Section:
    """A section of the report, which a page of the dashboard shows too.

    Attributes:
        key: Address of its page.
        title: Title of its page.
        parts: What it shows with every control at its default.
        needs: The coarsest granularity that can fill it.
        by_position: Whether it needs counts by draft position.
        by_length: Whether it needs an acceptance length.
        timed: Whether it is about latencies.
    """

    key: str
    title: str
    parts: Callable[[Subject], list[Part]]
    needs: Granularity = Granularity.RATES
    by_position: bool = False
    by_length: bool = False
    timed: bool = False

    def is_about(self, run: Run) -> bool:
        """Tell whether a report on the run has this section.

        Few runs are timed, of others nothing is missing; and of those with latencies alone there is nothing else.
        """
        if run.granularity is Granularity.LATENCIES:
            return self.timed
        return not self.timed or run.latencies is not None

    def missing(self, subject: Subject) -> str | None:
        """Return what the run lacks for this section, as ``too_coarse`` says it; None when it lacks nothing."""
        return (
            too_coarse(subject.run, self.needs)
            or (without_positions(subject) if self.by_position else None)
            or (without_length(subject) if self.by_length else None)
            or (_NOT_TIMED if self.timed and subject.run.latencies is None else None)
        )


def too_coarse(run: Run, needs: Granularity) -> str | None:
    """Return the rest of a sentence, "needs counts; this run holds …"; None where a run holds what is needed."""
    if run.granularity.allows(needs):
        return None
    return f"needs {_NEEDS[needs]}; this run holds {_HOLDS[run.granularity]}."


def without_positions(subject: Subject) -> str | None:
    """Return the rest of a sentence that says why there are no counts by draft position, None where there are."""
    run = subject.run
    if run.k and any(row["p"] for row in subject.rows.datasets):
        return None
    if not subject.has_length and any(row["drafted"] for row in subject.rows.datasets):
        reason = _TOKENS_ALONE
    elif run.counters is not None:
        reason = "this run's counters hold none"
    else:
        reason = "this run's answers hold none" if run.sums is not None else "no step of this run drafted any"
    return f"needs counts by draft position; {reason}."


_NOT_TIMED = "needs latencies; no request of this run was timed."
_TOKENS_ALONE = "this run's source counts drafted and accepted tokens, not verify steps"


def without_length(subject: Subject) -> str | None:
    """Return the rest of a sentence that says why there is no acceptance length, None where there is one."""
    rows = subject.rows.datasets
    if subject.has_length:
        return None
    reason = _TOKENS_ALONE if any(row["drafted"] for row in rows) else "no step of this run drafted any"
    return f"needs an acceptance length; {reason}."
