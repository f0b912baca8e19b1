"""What a report shows: every section with its controls at their defaults, the calculator with costs that it states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from specdash.report import speed_tables
from specdash.report.sections import calculator
from specdash.report.sections.base import Note, Part, Section, Subject
from specdash.report.sections.calculator import Asked
from specdash.report.sections.declared import SECTIONS, THROUGHPUT, throughput
from specdash.speed.pipeline import LATENCY_ONLY, Pipeline
from specdash.speed.presets import EXAMPLE, PRESETS

_LEFT = 2  # K′ that a report compares with is so much shorter, as on the page


@dataclass(frozen=True)
class Settings:
    """What a report asks of the calculator, whatever the run.

    Attributes:
        said: Where the settings come from and what they take for granted, in a sentence or two.
        pipeline: The pipeline.
        block: K′; the run's K when None or larger.
        other: K′ that it is compared with; two less than K when None.
        of: Name of the row that figures of one row are about; the first one where a run has no such row.
        tokens: Length of an answer in tokens.
        goal: Speed to reach in tok/s.
        jitter_ms: Standard deviation of a traversal in ms.
        split_model: Whether more stages share one model's compute.
    """

    said: str
    pipeline: Pipeline
    block: int | None = None
    other: int | None = None
    of: str | None = None
    tokens: int = Asked.tokens
    goal: float = Asked.goal
    jitter_ms: float = Asked.jitter_ms
    split_model: bool = Asked.split_model

    @classmethod
    def of_preset(cls, name: str) -> Settings:
        """Return the settings of one of ``PRESETS``."""
        preset = PRESETS[name]
        return cls(f"{name}. {preset.assumes}", preset.pipeline)

    @classmethod
    def as_asked(cls, asked: Asked, said: str) -> Settings:
        """Return the settings of a page's calculator."""
        shared = {key: getattr(asked, key) for key in cls.__dataclass_fields__ if key != "said"}
        return cls(said=said, **shared)

    def ask(self, subject: Subject) -> Asked:
        """Return what is asked of a run whose block length is known."""
        k, rows = subject.k, calculator.names(subject.rows)
        return Asked(
            subject,
            self.pipeline,
            k if self.block is None else min(self.block, k),
            max(0, k - _LEFT) if self.other is None else min(self.other, k),
            self.of if self.of in rows else next(iter(rows)),
            self.tokens,
            self.goal,
            self.jitter_ms,
            self.split_model,
        )


def printed(settings: Settings | None = None) -> tuple[Section, ...]:
    """Return the sections of a report.

    Args:
        settings: Those of the calculator; when None it works through ``presets.EXAMPLE``.
    """
    priced = partial(_throughput, settings or Settings.of_preset(EXAMPLE))
    return tuple(replace(section, parts=priced) if section is THROUGHPUT else section for section in SECTIONS)


def _throughput(settings: Settings, subject: Subject) -> list[Part]:
    """Return the report's bound, and what the calculator answers with costs."""
    parts = throughput(subject)
    if not subject.k:
        return parts
    asked = settings.ask(subject)
    questions = [calculator.speed, calculator.depth, calculator.network, calculator.lap, calculator.responses]
    if asked.pipeline.streams > 1:
        questions.append(calculator.streams)
    priced = asked.pipeline != LATENCY_ONLY
    heading = "With what else a lap costs" if priced else "The latency-only pipeline by question"
    return [
        *parts,
        Note(f"{settings.said} {_asked_in_words(asked)}", heading),
        *(part for question in questions for part in question(asked)),
    ]


def _asked_in_words(asked: Asked) -> str:
    jitter = f" Jitter of a traversal: {asked.jitter_ms:g} ms." if asked.jitter_ms else ""
    return (
        f"In numbers: {speed_tables.pipeline_in_words(asked.pipeline)}. K′ = {asked.block}, compared with "
        f"K′ = {asked.other}; figures of one row are of {asked.of}.{jitter}"
    )
