"""Ratios that stood in the files, each held against what the counts give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from specdash.checks import words
from specdash.checks.registry import Result, check, failed, idle, passed, warned
from specdash.checks.subject import Subject
from specdash.schema import Granularity, Run

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
    strange, cells = _compared(subject.run)
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


def _compared(run: Run) -> tuple[list[str], list[_Cell]]:
    """Return the datasets that the counts do not have, and every ratio that they give too."""
    computed = _from_responses(run) if run.counts is not None else _from_counters(run)
    strange = [words.name(row["dataset"]) for row in run.printed if row["dataset"] not in computed]
    cells = [
        cell for row in run.printed if row["dataset"] in computed for cell in _cells(row, computed[row["dataset"]])
    ]
    return strange, cells


def _cells(row: dict[str, Any], ours: dict[str, Any]) -> Iterator[_Cell]:
    for column, decimals in row["decimals"].items():
        pairs: Iterable[tuple[Any, Any]] = [(row[column], ours.get(column))]
        if column in _LISTS:
            pairs = zip(row[column] or [], ours.get(column) or [], strict=False)
        for i, (stated, counted) in enumerate(pairs):
            if stated is not None and counted is not None:
                position = i if column in _LISTS else None
                allowed = ours.get("allowed", {}).get(column, 0.0)
                called = row.get(f"{column}_called", column)
                yield _Cell(row["dataset"], column, called, position, stated, counted, decimals, allowed)


def _allowed(steps: int, drafted: float | None, responses: int | None, k: int | None) -> dict[str, float]:
    """Return how far ratios move at most when the last step of every response is cut to any length, or left out."""
    if not steps or not responses:
        return {}
    ends = responses / steps
    tokens = (k or 0) * ends
    block = drafted / steps if drafted else 1.0
    rate = tokens / block + ends
    return {"tau": tokens, "verify_rate": rate, "acceptance_ratio": rate, "p": ends, "p_exposed": 2 * ends}


def _from_counters(run: Run) -> dict[str, dict[str, Any]]:
    if run.counters is None:
        return {}
    computed = {}
    for row in run.counters.iter_rows(named=True):
        steps, drafted, accepted = row["steps"], row["drafted"], row["accepted"]
        rates = [n / steps for n in row["per_position"]] if steps and row["per_position"] else None
        computed[row["dataset"]] = {
            "tau": 1 + accepted / steps if steps else None,
            "verify_rate": (steps + accepted) / (steps + drafted) if steps and drafted else None,
            "acceptance_ratio": accepted / drafted if drafted else None,
            "p": rates,
            "p_exposed": rates if row["block"] else None,
            "allowed": _allowed(steps or 0, drafted, row["responses"], run.k),
        }
    return computed


def _from_responses(run: Run) -> dict[str, dict[str, Any]]:
    """Return by dataset what a printed table may hold.

    ``ratio_max``, ``ratio_mean`` and ``ratio_min`` are read as means over prompts of the largest, mean and smallest
    acceptance ratio among a prompt's copies.
    """
    steps, drafted, accepted = pl.col("steps"), pl.col("drafted"), pl.col("accepted")
    drafting = run.counts.filter(drafted > 0).join(run.responses, on="response")
    by_response = (
        drafting.group_by("response", "dataset", "prompt")
        .agg(steps.sum(), drafted=(steps * drafted).sum(), accepted=(steps * accepted).sum())
        .with_columns(tau=1 + accepted / steps, ratio=accepted / drafted)
    )
    by_dataset = by_response.group_by("dataset").agg(
        steps.sum(),
        drafted.sum(),
        responses=pl.len(),
        ends=(1 / steps).mean(),
        alen_mean=pl.col("tau").mean(),
        tau=1 + accepted.sum() / steps.sum(),
        verify_rate=(steps.sum() + accepted.sum()) / (steps.sum() + drafted.sum()),
        acceptance_ratio=accepted.sum() / drafted.sum(),
    )
    ratio = pl.col("ratio")
    by_copies = (
        by_response.filter(pl.col("prompt").is_not_null())
        .group_by("dataset", "prompt")
        .agg(ratio_max=ratio.max(), ratio_mean=ratio.mean(), ratio_min=ratio.min())
        .group_by("dataset")
        .agg(pl.col("ratio_max", "ratio_mean", "ratio_min").mean())
    )
    rows = run.responses.select("dataset").unique()
    for computed in (by_dataset, by_copies, _by_position(run, drafting)):
        rows = rows.join(computed, on="dataset", how="left")
    return {row["dataset"]: row | {"allowed": _allowed_of_log(row, run.k)} for row in rows.iter_rows(named=True)}


def _allowed_of_log(row: dict[str, Any], k: int | None) -> dict[str, float]:
    allowed = _allowed(row["steps"] or 0, row["drafted"], row["responses"], k)
    # A mean over responses moves by what one response moves, which is more for a short one.
    alone = row["ends"] or 0.0
    of_responses = dict.fromkeys(("ratio_max", "ratio_mean", "ratio_min"), 2 * alone)
    return allowed | of_responses | {"alen_mean": (k or 0) * alone}


def _by_position(run: Run, drafting: pl.DataFrame) -> pl.DataFrame:
    steps, drafted, accepted = pl.col("steps"), pl.col("drafted"), pl.col("accepted")
    positions = range(run.k or 0)
    exposed = [steps.filter(drafted > i).sum() for i in positions]
    hits = [steps.filter(accepted > i).sum() for i in positions]
    rates = [pl.when(e > 0).then(h / e).alias(str(i)) for i, (h, e) in enumerate(zip(hits, exposed, strict=True))]
    shares = [(h / steps.sum()).alias(str(i)) for i, h in enumerate(hits)]
    return drafting.group_by("dataset").agg(
        p_exposed=pl.concat_list(rates) if rates else pl.lit(None),
        p=pl.concat_list(shares) if shares else pl.lit(None),
    )
