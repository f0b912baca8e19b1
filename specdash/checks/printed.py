"""Ratios that stood in the files, each held against what the counts give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from specdash.checks import words
from specdash.checks.registry import Result, check, failed, idle, passed, warned
from specdash.checks.subject import Subject
from specdash.metrics import acceptance, positions
from specdash.metrics.tally import Tally, plain
from specdash.schema import Granularity

_LISTS = ("p", "p_exposed")
_MOST_ENGINES = 64


@dataclass(frozen=True)
class _Cell:
    """A stored ratio beside the counted one.

    Attributes:
        dataset: Its dataset.
        column: Which ratio.
        called: Its name in the file.
        position: Draft position of a rate, else None.
        stated: As stored.
        counted: By the counts.
        decimals: Decimals it was stored with.
        allowed: How far the end of a response may move it, where tools count that differently.
    """

    dataset: str
    column: str
    called: str
    position: int | None
    stated: float
    counted: float
    decimals: int
    allowed: float

    @property
    def agrees(self) -> bool:
        """Whether the counted ratio may be printed as the stored one, or as that in percent."""
        in_percent = self.column != "tau" and abs(self.stated - 100 * self.counted) <= 0.5000001 * 10.0**-self.decimals
        return self.near(self.stated) or in_percent

    def near(self, stated: float) -> bool:
        """Tell whether the counted ratio may be printed as ``stated``, given the decimals."""
        return abs(stated - self.counted) <= 0.5000001 * 10.0**-self.decimals

    def __str__(self) -> str:
        column = self.called if self.position is None else f"{self.called}@{self.position}"
        stated, counted = (f"{x:.{self.decimals}f}" for x in (self.stated, self.counted))
        return f"{words.name(self.dataset)} {column} {stated}, by the counts {counted}"


@check(
    "stored_ratios",
    title="Stored ratios",
    meaning="Every number here is computed from counts; a ratio stored in the files that differs is of another log, "
    "of other steps, or means something else under the same name.",
    cause="A table of another run. Smaller differences: tokens past the end of a response, which DeepSpec leaves out "
    "and vLLM's counters hold; a τ without the bonus token; rates of one of several engines.",
    needs=Granularity.AGGREGATE,
)
def _stored_ratios(subject: Subject) -> Result:
    said = subject.warning("ratio_disagrees")
    if not subject.run.printed:
        return warned(said) if said else idle("no stored ratios")
    strange, cells = _compared(subject)
    if not cells and not strange:
        return warned(said) if said else idle("no stored ratio that counts can give")
    wrong = [cell for cell in cells if not cell.agrees]
    if not wrong and not strange:
        compared = f"{words.plural(len(cells), 'stored ratio')} as by the counts"
        return warned(f"{compared}; {said}") if said else passed(compared)
    differing = f"{len(wrong):,} of {words.plural(len(cells), 'stored ratio')} differ: " if wrong else ""
    listed = words.listed([*_explained(wrong, cells), *(f"{name} is not in the log" for name in strange)])
    explained = all(abs(cell.stated - cell.counted) <= cell.allowed or _meaning(cell, cells) for cell in wrong)
    return (warned if explained else failed)(differing + listed)


def _explained(wrong: list[_Cell], cells: list[_Cell]) -> Iterator[str]:
    for cell in wrong:
        meaning = _meaning(cell, cells)
        yield f"{cell}{f' ({meaning})' if meaning else ''}"


def _meaning(cell: _Cell, cells: list[_Cell]) -> str | None:
    """Return what a ratio that differs means instead, where that is known from it and the ``cells`` beside it."""
    if cell.column == "tau" and cell.near(cell.stated + 1):
        return "without the bonus token"
    if cell.column in _LISTS and cell.stated:
        factor = round(cell.counted / cell.stated)
        rates = [c for c in cells if (c.dataset, c.column) == (cell.dataset, cell.column)]
        if 2 <= factor <= _MOST_ENGINES and all(
            abs(factor * c.stated - c.counted) <= factor * 0.5000001 * 10.0**-c.decimals for c in rates
        ):
            return f"{factor} times too small, as of one of {factor} engines"
    return None


def _compared(subject: Subject) -> tuple[list[str], list[_Cell]]:
    """Return the datasets that the counts do not have, and every ratio that they give too."""
    computed = {dataset: _of_tally(tally) for dataset, tally in subject.tallies.items()}
    if subject.run.responses is not None:
        for dataset, ratios in _of_copies(subject.responses).items():
            computed[dataset] |= ratios
    allowed = _allowed(subject)
    strange, cells = [], []
    for row in subject.run.printed:
        ours = computed.get(row["dataset"])
        if ours is None:
            strange.append(words.name(row["dataset"]))
        else:
            cells += _cells(row, ours, allowed[row["dataset"]])
    return strange, cells


def _cells(row: dict[str, Any], ours: dict[str, Any], allowed: dict[str, float]) -> Iterator[_Cell]:
    for column, decimals in row["decimals"].items():
        pairs: Iterable[tuple[Any, Any]] = [(row[column], ours.get(column))]
        if column in _LISTS:
            pairs = zip(row[column] or [], ours.get(column) or [], strict=False)
        for i, (stated, counted) in enumerate(pairs):
            if stated is not None and counted is not None:
                position = i if column in _LISTS else None
                called = row.get(f"{column}_called", column)
                yield _Cell(
                    row["dataset"], column, called, position, stated, counted, decimals, allowed.get(column, 0.0)
                )


def _of_tally(tally: Tally) -> dict[str, Any]:
    """Return the ratios that counts of steps give, None where they do not."""
    estimates = {
        "tau": acceptance.tau,
        "verify_rate": acceptance.verify_rate,
        "acceptance_ratio": acceptance.acceptance_ratio,
        "p": positions.p,
        "p_exposed": positions.p_exposed,
    }
    return {name: plain(estimate(tally)) for name, estimate in estimates.items()}


def _of_copies(responses: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Return by dataset the means over responses and over prompts that a printed table may hold.

    ``ratio_max``, ``ratio_mean`` and ``ratio_min`` are read as means over prompts of the largest, mean and smallest
    acceptance ratio among a prompt's copies.
    """
    ratio = pl.col("ratio")
    measured = responses.filter(pl.col("steps") > 0).with_columns(ratio=pl.col("accepted") / pl.col("drafted"))
    by_prompt = (
        measured.filter(pl.col("prompt").is_not_null())
        .group_by("dataset", "prompt")
        .agg(ratio_max=ratio.max(), ratio_mean=ratio.mean(), ratio_min=ratio.min())
        .group_by("dataset")
        .agg(pl.col("ratio_max", "ratio_mean", "ratio_min").mean())
    )
    by_response = measured.group_by("dataset").agg(alen_mean=pl.col("tau").mean())
    rows = by_response.join(by_prompt, on="dataset", how="left").rows_by_key("dataset", named=True, unique=True)
    return dict(rows)


def _allowed(subject: Subject) -> dict[str, dict[str, float]]:
    """Return by dataset how far ratios move at most when the last step of every response is cut, or left out."""
    k, bounds = subject.run.k or 0, {}
    ends = _ends(subject)
    for dataset, tally in subject.tallies.items():
        responses, alone = ends.get(dataset, (None, 0.0))
        bounds[dataset] = {"alen_mean": k * alone} | dict.fromkeys(("ratio_max", "ratio_mean", "ratio_min"), 2 * alone)
        if responses and tally.steps:
            share = responses / tally.steps
            rate = k * share * tally.steps / (tally.drafted or tally.steps) + share
            bounds[dataset] |= {
                "tau": k * share,
                "verify_rate": rate,
                "acceptance_ratio": rate,
                "p": share,
                "p_exposed": 2 * share,
            }
    return bounds


def _ends(subject: Subject) -> dict[str, tuple[int | None, float]]:
    """Return by dataset the number of responses, where known, and the mean over them of one step's share of theirs."""
    if subject.run.counters is not None:
        return {row["dataset"]: (row["responses"], 0.0) for row in subject.run.counters.iter_rows(named=True)}
    measured = subject.responses.filter(pl.col("steps") > 0)
    counted = measured.group_by("dataset").agg(pl.len(), (1 / pl.col("steps")).mean())
    return {dataset: (responses, alone) for dataset, responses, alone in counted.iter_rows()}
