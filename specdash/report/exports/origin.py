"""Where exported numbers come from, as every export names it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from specdash._version import VERSION
from specdash.schema import Evaluation, legible
from specdash.verdict import Verdict

_LONGEST_RUN = 40


def safe(name: str, longest: int = 80) -> str:
    """Return a name as far as any file system takes it; it may be empty."""
    return re.sub(r"[^\w.\-+ ]", "_", name).strip(". ")[:longest].strip(". ")


@dataclass(frozen=True)
class Origin:
    """The version, the evaluation and what of it.

    Attributes:
        id: Of the evaluation; None for numbers that no library keeps.
        title: Of the evaluation.
        run: Name of the run.
        datasets: Chosen datasets, None for all.
        verdict: What the checks say of the run in short, None where it was not checked.
    """

    id: str | None
    title: str
    run: str
    datasets: tuple[str, ...] | None = None
    verdict: str | None = None

    @classmethod
    def of(cls, evaluation: Evaluation, run: str, datasets: tuple[str, ...] | None = None) -> Origin:
        """Return the origin of numbers of a run."""
        findings = next((found.checks for found in evaluation.runs if found.name == run), None)
        return cls(evaluation.id, evaluation.title, run, datasets, findings and Verdict.of(findings).short)

    def file(self, name: str) -> str:
        """Return the name, without suffix, of a file that holds ``name`` of the run."""
        run = safe(self.run, _LONGEST_RUN).replace(" ", "_")
        return "_".join(part for part in (self.id, run, name, f"specdash-{VERSION}") if part)

    def columns(self) -> dict[str, str]:
        """Return the columns that name the origin in every row of a CSV."""
        return {"evaluation": self.id or "", "run": self.run, "specdash": VERSION}

    def metadata(self) -> dict[str, str]:
        """Return the metadata of a Parquet file; ``datasets`` is JSON."""
        chosen = {} if self.datasets is None else {"datasets": json.dumps(self.datasets)}
        return self.columns() | {"evaluation_title": self.title} | chosen

    def document(self) -> dict[str, Any]:
        """Return the head of a JSON export."""
        return {
            "specdash": VERSION,
            "evaluation": {"id": self.id, "title": self.title},
            "run": self.run,
            "datasets": None if self.datasets is None else list(self.datasets),
        }

    def __str__(self) -> str:
        scope = f", only {', '.join(self.datasets)}" if self.datasets else ""
        evaluation = f"evaluation {self.id}" if self.id else self.title
        checks = f"; checks: {self.verdict}" if self.verdict else ""
        return legible(f"specdash {VERSION}, {evaluation}, run {self.run}{scope}{checks}")
