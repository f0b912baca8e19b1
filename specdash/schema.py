"""The canonical tables and words that every room of specdash shares.

An *evaluation* is one upload and holds one or more *runs*. A run is kept as the coarsest table that still
answers every question its files can answer:

* granularity ``step``: ``responses`` and ``counts`` (and the ordered steps as a Parquet file);
* granularity ``response``: the same without the steps;
* granularity ``aggregate``: ``counters``, one row a dataset;
* granularity ``rates``: ``rates``, printed ratios without counts;
* granularity ``latencies``: nothing on acceptance, ``latencies`` alone, such as the baseline of an A/B measurement.

A run of any granularity may hold ``latencies`` beside the rest. What the numbers in its files mean, where tools differ,
is its ``Semantics``.

This module knows nothing of the project but what a finding is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import polars as pl

from specdash.verdict import Finding

MAX_DRAFTED = 64
"""Largest number of draft tokens a step may have; a larger one is taken for a mistake in the log."""

POOLED = "pooled"
"""Name of the row over all datasets of a run."""

OTHER_FAMILY = "other"
"""Shown as the family of a dataset that no family lists. It is no family: it gets no row of its own."""


LEVEL = 0.95
"""Confidence of every interval."""


class Granularity(StrEnum):
    """What a run holds, from the finest to the coarsest."""

    STEP = "step"
    RESPONSE = "response"
    AGGREGATE = "aggregate"
    RATES = "rates"
    LATENCIES = "latencies"

    def allows(self, needed: Granularity) -> bool:
        """Tell whether a run of this granularity can answer a question that needs ``needed``."""
        order = list(Granularity)
        return order.index(self) <= order.index(needed)


class InputError(Exception):
    """Bad input, said in one line: where, what is wrong, what was found, what was expected.

    Args:
        problem: What is wrong, as a sentence fragment without a full stop.
        file: Path of the file inside the evaluation (or of the evaluation itself).
        line: 1-based line of the file; for Parquet the 1-based row.
        found: What stands there.
        expected: What should stand there.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        found: object = None,
        expected: str | None = None,
    ) -> None:
        self.problem = problem
        self.file = file
        self.line = line
        self.found = None if found is None else _shown(found)
        self.expected = expected
        super().__init__(str(self))

    def __str__(self) -> str:
        where = ", ".join(part for part in (self.file, f"line {self.line}" if self.line else None) if part)
        what = [self.problem]
        if self.found is not None:
            what.append(f"found {self.found}")
        if self.expected is not None:
            what.append(f"expected {self.expected}")
        return _printable(" ".join(f"{where + ': ' if where else ''}{'; '.join(what)}".split()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.problem, self.file, self.line, self.found, self.expected)


class NothingToRead(InputError):
    """A file is what it looks like and holds nothing that can be used: beside others it is told, alone refused."""


class Unsaid(InputError):
    """A file does not say what only its owner can: he is asked, it is never guessed.

    Attributes:
        asks: What is asked: "k", "bonus" or "map".
        columns: Columns of the file, where it is a table.
        known: What the names of its columns tell: the column by what it is.
        rows: Its first rows, line and cells (as text or as JSON has them): enough to see what an answer would give.
    """

    asks: str = ""
    columns: tuple[str, ...] = ()
    known: dict[str, str] = {}  # noqa: RUF012  (set on instances alone)
    rows: tuple[tuple[int, tuple[Any, ...]], ...] = ()

    @classmethod
    def about(
        cls,
        asks: str,
        problem: str,
        *,
        columns: tuple[str, ...] = (),
        known: dict[str, str] | None = None,
        rows: tuple[tuple[int, tuple[Any, ...]], ...] = (),
        **where: Any,
    ) -> Unsaid:
        """Return the error that asks for an option by its name on the command line."""
        option = {"k": "--k N", "bonus": "--bonus in or --bonus out", "map": "--map accepted=COLUMN"}[asks]
        error = cls(problem, expected=f"{option} to say it", **where)
        error.asks, error.columns, error.known, error.rows = asks, columns, dict(known or {}), rows
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        said = {"asks": self.asks, "columns": self.columns, "known": self.known, "rows": self.rows}
        return *super().__reduce__(), said


def _rebuild(
    kind: type[InputError], problem: str, file: str | None, line: int | None, found: str | None, expected: str | None
) -> InputError:
    error = kind(problem, file=file, line=line, expected=expected)
    error.found = found
    return error


_JOINERS = "\u200c\u200d"


def legible(text: str, instead: str = " ") -> str:
    """Return text for people: what shows nothing or turns the direction of writing is replaced.

    The joiners stay: emoji and some scripts are spelt with them.
    """
    return "".join(c if c.isprintable() or c in _JOINERS else instead for c in text)


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _shown(value: object, limit: int = 300) -> str:
    """Return ``value`` for an error message: printable, on one line, not longer than ``limit``."""
    text = value if isinstance(value, str) else repr(value)
    text = _printable(text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def check_settings(settings: dict[str, Any], file: str | None = None) -> None:
    """Let settings pass whose K is possible and whose numbers are finite: JSON has no word for others.

    Args:
        settings: By name; what is no number is not looked at.
        file: Where they come from.

    Raises:
        InputError: ``k`` is not a whole number from 0 to MAX_DRAFTED, or a number is not finite.
    """
    k = settings.get("k")
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or not 0 <= k <= MAX_DRAFTED):
        raise InputError(
            "k is not a block length", file=file, found=k, expected=f"a whole number from 0 to {MAX_DRAFTED}"
        )
    for name, value in settings.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"{_shown(name, 40)} is not finite", file=file, found=value, expected="a number")


@dataclass(frozen=True)
class RunWarning:
    """Something about a run that its reader has to know; ``code`` is stable, ``message`` is for people."""

    code: str
    message: str


@dataclass(frozen=True)
class Mapping:
    """How many of the logged requests were found among the responses, counts agreeing.

    Attributes:
        matched: Logged requests whose draft and accepted counts equal those of their response.
        total: Logged requests.
        absent: Responses in the samples that have no rows in the log.
    """

    matched: int
    total: int
    absent: int

    def __str__(self) -> str:
        return f"{self.matched:,} of {self.total:,} match, {self.absent:,} absent"


class Bonus(StrEnum):
    """Whether a length counts the token that the target adds to every step."""

    IN = "in"
    OUT = "out"


class PerPosition(StrEnum):
    """What a rate by draft position is relative to."""

    UNCONDITIONAL = "unconditional"  # to all steps
    EXPOSED = "exposed"  # to the steps that drafted the position
    CONDITIONAL = "conditional"  # to the steps that reached it


class Span(StrEnum):
    """What a number in a file is summed over."""

    REQUEST = "request"
    RUN = "run"
    SINCE_START = "since start"
    DIFFERENCE = "difference"
    WINDOWS = "windows"


class End(StrEnum):
    """What becomes of the last step of a response, when its end lies inside of what was accepted."""

    RAW = "raw"  # T0: counted whole, tokens behind the end included
    CUT = "cut"  # T1: accepted and drafted end with the response, no bonus token
    ACCEPTED_CUT = "accepted cut"  # T2: accepted is cut, drafted is not
    TOKENS = "tokens"  # the length is output tokens over steps
    UNKNOWN = "not known"


class Undrafted(StrEnum):
    """What becomes of steps for which nothing was drafted."""

    COUNTED = "counted"
    OMITTED = "omitted"
    UNKNOWN = "not known"


@dataclass(frozen=True)
class Semantics:
    """What the numbers in a run's files mean, where tools differ. Ours never differ: they are recomputed.

    Attributes:
        producer: What wrote the files, for people.
        bonus: Whether acceptance lengths in them count the bonus token; None when they hold none.
        position_base: Number of the first draft position in them; None when they hold no positions.
        per_position: What their rates or counts by position are relative to; None when they hold none.
        span: What a number in them is summed over.
        end: What becomes of the last step of a response.
        undrafted: What becomes of steps without a draft.
        note: What else a reader has to know, as sentences.
    """

    producer: str
    bonus: Bonus | None = None
    position_base: int | None = None
    per_position: PerPosition | None = None
    span: Span = Span.RUN
    end: End = End.UNKNOWN
    undrafted: Undrafted = Undrafted.UNKNOWN
    note: str = ""


RESPONSES = pl.Schema(
    {
        "response": pl.Int32,  # 0-based, in log order
        "request": pl.String,  # request id as the log has it
        "dataset": pl.String,
        "prompt": pl.String,  # null: not known
        "copy": pl.Int32,  # null: not known
        "output_tokens": pl.Int64,  # null: not known
    }
)
"""One row a response that the log holds."""

COUNTS = pl.Schema(
    {
        "response": pl.Int32,
        "drafted": pl.Int16,  # K_s, 0..MAX_DRAFTED; null: the histogram does not say how long the drafts were
        "accepted": pl.Int16,  # a_s, 0..drafted
        "steps": pl.Int64,
    }
)
"""Outcome counts: one row a (response, drafted, accepted) that occurs. They add up over files and machines."""

SUMS = pl.Schema(
    {
        "response": pl.Int32,
        "steps": pl.Int64,  # with at least one drafted token; null: not known
        "drafted": pl.Int64,  # sum of K_s; null: not known
        "accepted": pl.Int64,  # sum of a_s
    }
)
"""What the source says of a response in sum, for those whose outcome counts are missing or lack ``drafted``."""

COUNTERS = pl.Schema(
    {
        "dataset": pl.String,
        "responses": pl.Int64,  # null: not known
        "steps": pl.Int64,  # verify steps with at least one drafted token; null: not known
        "drafted": pl.Int64,  # sum of K_s; null: not known
        "accepted": pl.Int64,  # sum of a_s
        "per_position": pl.List(pl.Int64),  # steps that accepted position i (0-based); null: not known
        "block": pl.Int16,  # K when every step drafted the same number; null: it varies or is not known
        "exposed": pl.List(pl.Int64),  # steps that drafted position i, where the source counts them; else null
    }
)
"""Counters without responses: one row a dataset."""

RATES = pl.Schema(
    {
        "dataset": pl.String,
        "tau": pl.Float64,
        "verify_rate": pl.Float64,
        "mean_drafted": pl.Float64,
        "p_exposed": pl.List(pl.Float64),  # accepted at i / drafted at i; null: no step was that long
        "acceptance_ratio": pl.Float64,  # accepted / drafted
        "p": pl.List(pl.Float64),  # accepted at i / steps
        "c": pl.List(pl.Float64),  # accepted at i / steps that reached i
        "outcome": pl.List(pl.Float64),  # steps that accepted exactly j / steps
    }
)
"""Printed ratios without counts: one row a dataset. Shown, never pooled. Lists are as long as the run's K allows."""

LATENCIES = pl.Schema(
    {
        "dataset": pl.String,
        "prompt": pl.String,  # what a response of another run is paired by; null: not known
        "copy": pl.Int32,  # null: not known
        "response": pl.Int32,  # that of RESPONSES; null: none was logged
        "start_s": pl.Float64,  # when it was sent, after the first request of the run; null: not known
        "ttft_s": pl.Float64,  # from sending to the first chunk with content; null: not known, or none came
        "e2e_s": pl.Float64,  # from sending to the last chunk with content; null: not known, or it failed
        "input_tokens": pl.Int64,  # null: not known
        "output_tokens": pl.Int64,  # as the server counts them; null: not known
        "gaps_s": pl.List(pl.Float64),  # between chunks, each of one or more tokens; null: not known
        "error": pl.String,  # why it failed, null when it did not
    }
)
"""Latencies: one row a request of the measurement, failed ones too; warm-up requests are left out."""

STEPS = ("request", "drafted", "accepted")
"""Columns of the ordered steps (Parquet, in log order); ``request`` is Int64 or String."""


@dataclass(frozen=True)
class Run:
    """One pass with one configuration, as canonical tables.

    Attributes:
        name: Name inside the evaluation, unique there.
        granularity: What the tables hold.
        k: Largest number of drafted tokens in a step, None when not known.
        config: What the files beside the log say of the run.
        config_set: What the user said of it; wins over ``config``.
        mapping: Result of assigning requests to responses; None without samples.
        warnings: What a reader has to know.
        responses: RESPONSES, for granularity step and response.
        counts: COUNTS, for granularity step and response; None where responses have only SUMS.
        sums: SUMS, where ``counts`` do not tell them.
        counters: COUNTERS, for granularity aggregate.
        rates: RATES, for granularity rates.
        printed: Rows of a results table that stood beside the log, kept for comparison.
        steps: Parquet file of the ordered steps, for granularity step.
        latencies: LATENCIES, where they were measured; the only table for granularity latencies.
        checks: What the checks found in it, with the settings it has; None while they were not made.
        semantics: What the files' own numbers mean; None for specdash's own kinds of files.
    """

    name: str
    granularity: Granularity
    k: int | None
    config: dict[str, Any] = field(default_factory=dict)
    config_set: dict[str, Any] = field(default_factory=dict)
    mapping: Mapping | None = None
    warnings: tuple[RunWarning, ...] = ()
    responses: pl.DataFrame | None = None
    counts: pl.DataFrame | None = None
    sums: pl.DataFrame | None = None
    counters: pl.DataFrame | None = None
    rates: pl.DataFrame | None = None
    printed: tuple[dict[str, Any], ...] = ()
    steps: Path | None = None
    latencies: pl.DataFrame | None = None
    checks: tuple[Finding, ...] | None = None
    semantics: Semantics | None = None

    @property
    def effective_config(self) -> dict[str, Any]:
        """Configuration as read, overlaid with what the user set."""
        return self.config | self.config_set


@dataclass(frozen=True)
class Evaluation:
    """One upload: a zip, a folder or a file, read.

    Attributes:
        id: 12 hex digits, the same for the same input and options.
        title: For people.
        source: File name of the input.
        sha256: Of the input's bytes; for a folder of its sorted (name, sha256) pairs.
        runs: In the order of their names.
        note: What the input says about itself, shown wherever the evaluation is.
        reconstruction: True for data that was built from printed tables instead of logged.
        order: "recorded", or "invented" when the order of steps means nothing.
        options: The ingest options that went into the id.
        added: When it was stored (ISO 8601, UTC); None while it is not.
        notes: What people wrote about it.
        tags: Short words of people, to find it by.
    """

    id: str
    title: str
    source: str
    sha256: str
    runs: tuple[Run, ...]
    note: str = ""
    reconstruction: bool = False
    order: str = "recorded"
    options: dict[str, Any] = field(default_factory=dict)
    added: str | None = None
    notes: str = ""
    tags: tuple[str, ...] = ()

    def run(self, name: str) -> Run:
        """Return the run of that name.

        Raises:
            InputError: There is none; the message lists those there are.
        """
        for run in self.runs:
            if run.name == name:
                return run
        raise InputError("no such run", file=self.source, found=name, expected=" or ".join(r.name for r in self.runs))
