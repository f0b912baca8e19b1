"""Collects verify steps that come one by one, those of several responses mixed, into the tables of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from specdash.formats import aggregate, stepload
from specdash.formats.collect import STEP_ROWS, longest, with_copies, write_steps
from specdash.formats.growing import Numbers
from specdash.schema import COUNTS, RESPONSES, SUMS, Granularity, NothingToRead, Run


class Whose(NamedTuple):
    """What tells responses apart.

    Attributes:
        dataset: Its dataset.
        request: Its id, None where there is none.
        prompt: What it answers, None where that is not known.
        copy: Which answer to it, None where that is not known.
        turn: Which of several responses that are the same in all of these.
    """

    dataset: str
    request: str | None = None
    prompt: str | None = None
    copy: int | None = None
    turn: int = 0

    @property
    def named(self) -> str:
        """The response's id."""
        named = [self.dataset, self.prompt or "", "" if self.copy is None else str(self.copy)]
        first = self.request or "/".join(filter(None, named))
        return f"{first}#{self.turn}" if self.turn else first


class StepRows:
    """The steps of one run in the order they come.

    Args:
        workspace: Folder for the ordered steps.
        path: Of the file they come from, for messages.
    """

    def __init__(self, workspace: Path, path: str) -> None:
        self.workspace, self.path = workspace, path
        self.responses: dict[Whose, int] = {}
        self._tokens: dict[int, int] = {}
        self._rows = Numbers(STEP_ROWS, workspace)

    def number(self, whose: Whose) -> int:
        """Return the number of a response, a new one where it has not come before."""
        return self.responses.setdefault(whose, len(self.responses))

    def add(self, whose: Whose, drafted: int | None, accepted: int) -> None:
        """Add a step that can be; ``drafted`` is None when not known."""
        self.extend([self.number(whose)], [-1 if drafted is None else drafted], [accepted])

    def extend(self, responses: Sequence[int], drafted: Iterable[int], accepted: Iterable[int]) -> None:
        """Add steps that can be, by the numbers of their responses; drafted is -1 where not known."""
        self._rows.extend(responses, drafted, accepted)

    def told_tokens(self, response: int, output_tokens: int) -> None:
        """Take note of a response's output tokens."""
        self._tokens[response] = output_tokens

    def run(self, name: str, k: int | None, **fields: Any) -> Run:
        """Return the run, of granularity step where all drafts' lengths are known and else response.

        Args:
            name: Its label.
            k: Largest number of drafted tokens in a step, where the source says it.
            fields: Others of Run.

        Raises:
            NothingToRead: There are no steps.
        """
        counts = self._counted()
        responses = self._responses()
        known = counts["drafted"].null_count() == 0
        return Run(
            name=name,
            granularity=Granularity.STEP if known else Granularity.RESPONSE,
            k=longest(counts, k),
            responses=responses,
            counts=counts,
            sums=None if known else _sums(counts),
            steps=write_steps(self._rows, responses, self.workspace) if known else None,
            **fields,
        )

    def totals(self, name: str, k: int | None, **fields: Any) -> Run:
        """Return the run by dataset alone, for steps of which nobody knows whose they are; see ``run``.

        Raises:
            NothingToRead: There are no steps.
        """
        dataset = self._responses().select("response", "dataset")
        counts = self._counted().join(dataset, on="response")
        rows = [
            _row(str(name), group, self.path, k) for (name,), group in counts.group_by("dataset", maintain_order=True)
        ]
        return aggregate.run(name, rows, k, **fields)

    def _counted(self) -> pl.DataFrame:
        self._rows.flush()
        if not self._rows.files:
            raise NothingToRead("holds no step", file=self.path)
        found = pl.concat([stepload.scan(file) for file in self._rows.files])
        counts = found.group_by("response", "drafted", "accepted").agg(steps=pl.len()).collect()
        return counts.cast(COUNTS).sort("response", "drafted", "accepted")

    def _responses(self) -> pl.DataFrame:
        rows = [
            (number, whose.named, whose.dataset, whose.prompt, whose.copy, self._tokens.get(number))
            for whose, number in self.responses.items()
        ]
        frame = pl.DataFrame(rows, schema=RESPONSES, orient="row")
        again = pl.int_range(pl.len()).over("request")
        suffix = pl.when(again > 0).then(pl.format(" ({})", again + 1)).otherwise(pl.lit(""))
        return with_copies(frame.with_columns(request=pl.col("request") + suffix)).select(RESPONSES.names())


def _sums(counts: pl.DataFrame) -> pl.DataFrame:
    """Return what the outcomes of steps of unknown length tell by response (schema.SUMS)."""
    drafted, steps = pl.col("drafted"), pl.col("steps")
    summed = counts.group_by("response", maintain_order=True).agg(
        steps=steps.sum(),
        drafted=pl.when(drafted.null_count() == 0).then((drafted.cast(pl.Int64) * steps).sum()),
        accepted=(pl.col("accepted").cast(pl.Int64) * steps).sum(),
    )
    return summed.select(pl.col(column).cast(kind) for column, kind in SUMS.items())


def _row(dataset: str, counts: pl.DataFrame, path: str, k: int | None) -> dict[str, Any]:
    """Return the row of schema.COUNTERS of a dataset's steps; those without a draft are no steps."""
    drafts = counts.filter(pl.col("drafted").is_null() | (pl.col("drafted") > 0))
    known = drafts["drafted"].null_count() == 0
    steps = drafts["steps"]
    deepest = longest(drafts, k)
    within = range(deepest or 0)
    return aggregate.row(
        dataset,
        path,
        steps=int(steps.sum()),
        drafted=int((drafts["drafted"].cast(pl.Int64) * steps).sum()) if known else None,
        accepted=int((drafts["accepted"].cast(pl.Int64) * steps).sum()),
        per_position=[int(steps.filter(drafts["accepted"] > i).sum()) for i in within] if deepest else None,
        exposed=[int(steps.filter(drafts["drafted"] > i).sum()) for i in within] if known and deepest else None,
    )
