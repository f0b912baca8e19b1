"""Whether every copy of a prompt is there once and says something of its own, and every prompt too."""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from specdash.checks import words
from specdash.checks.likeness import FEWEST_STEPS
from specdash.checks.registry import Result, check, idle, passed, warned
from specdash.checks.subject import Subject
from specdash.metrics.intervals import NO_PROMPTS
from specdash.schema import Granularity

_CHANCE = 1e-4
"""Probability of as many equal pairs by chance below which they are told."""


@check(
    "equal_copies",
    title="Copies of a prompt",
    meaning="The mean of a prompt's best copy grows with their number, and a mean over responses weighs a prompt by "
    "its copies.",
    cause="Requests that failed, a log that was cut, runs with different numbers of copies put together.",
    needs=Granularity.RESPONSE,
)
def _equal_copies(subject: Subject) -> Result:
    known = subject.prompted
    if known is None:
        return idle(NO_PROMPTS)
    copies = known.group_by("dataset", "prompt").len()
    usual = copies.group_by("dataset").agg(usual=pl.col("len").mode().max())
    odd = copies.join(usual, on="dataset").filter(pl.col("len") != pl.col("usual"))
    if odd.is_empty():
        numbers = sorted(usual["usual"].unique())
        return passed(f"{' or '.join(map(str, numbers))} each")
    worst = odd.sort("len", "dataset").row(0, named=True)
    return warned(
        f"{odd.height:,} of {words.plural(copies.height, 'prompt')}, such as {worst['len']:,} instead of "
        f"{worst['usual']:,} in {words.name(worst['dataset'])}"
    )


@check(
    "numbered_copies",
    title="Repeated copy numbers",
    meaning="Responses with the same dataset, prompt and copy number are the same answer twice, or two answers under "
    "one name.",
    cause="A run that was appended to an earlier one; prompt ids that repeat over files.",
    needs=Granularity.RESPONSE,
)
def _numbered_copies(subject: Subject) -> Result:
    known = subject.responses.filter(pl.col("prompt").is_not_null() & pl.col("copy").is_not_null())
    if known.is_empty():
        return idle("no samples number the copies")
    repeated = known.select(pl.struct("dataset", "prompt", "copy").is_duplicated().sum()).item()
    if repeated:
        return warned(f"{repeated:,} responses share dataset, prompt and copy number with another one")
    return passed(f"{known.height:,} numbered responses")


@check(
    "distinct_copies",
    title="Duplicate responses",
    meaning="Copies whose steps are equal, more often than chance gives, are one answer counted several times: they "
    "add no information, and the spread within a prompt comes out too small.",
    cause="The same seed for every copy, temperature 0, a result file that was read twice.",
    needs=Granularity.RESPONSE,
)
def _distinct_copies(subject: Subject) -> Result:
    compared = subject.likeness
    if compared is None:
        return idle(NO_PROMPTS)
    pairs = _pairs(compared, "dataset", "prompt")
    if not pairs.any:
        return passed(f"no two copies of {FEWEST_STEPS} or more steps are of the same length")
    return _told(subject, compared.height, pairs, "of another copy")


@check(
    "distinct_prompts",
    title="Prompts that share responses",
    meaning="Responses to different prompts whose steps are equal, more often than chance gives, are one answer under "
    "several prompts: intervals take prompts for independent and come out too narrow.",
    cause="A result file read twice under new prompt ids, a prompt that stands in a dataset twice, answers that repeat "
    "themselves alike.",
    needs=Granularity.RESPONSE,
)
def _distinct_prompts(subject: Subject) -> Result:
    compared = subject.likeness
    if compared is None:
        return idle(NO_PROMPTS)
    pairs = _pairs(compared, "dataset").without(_pairs(compared, "dataset", "prompt"))
    if not pairs.any:
        return passed(f"no two prompts have responses of {FEWEST_STEPS} or more steps of the same length")
    return _told(subject, compared.height, pairs, "of another prompt's response")


@dataclass(frozen=True)
class _Pairs:
    """Pairs of responses of the same number of steps.

    Attributes:
        any: How many there are.
        found: How many of them are equal.
        expected: How many would be by chance.
        repeats: Responses that repeat an earlier one.
    """

    any: int
    found: int
    expected: float
    repeats: int

    def without(self, some: _Pairs) -> _Pairs:
        """Return the pairs that are not among some of them."""
        return _Pairs(
            self.any - some.any,
            self.found - some.found,
            max(0.0, self.expected - some.expected),
            self.repeats - some.repeats,
        )


def _pairs(compared: pl.DataFrame, *key: str) -> _Pairs:
    """Pair the responses that have the same key and size; ``compared`` as likeness.compared returns it."""
    n = pl.col("n")
    sizes = compared.group_by(*key, "size").agg(n=pl.len().cast(pl.Int64), chance=pl.col("log_chance").exp().sum())
    equal = compared.group_by(*key, "size", "signature").agg(n=pl.len().cast(pl.Int64))
    return _Pairs(
        any=sizes.select((n * (n - 1) // 2).sum()).item(),
        found=equal.select((n * (n - 1) // 2).sum()).item(),
        # Over pairs of responses drawn alike, the mean probability of the one drawn is that of drawing it twice.
        expected=sizes.select((pl.col("chance") * (n - 1) / 2).sum()).item(),
        repeats=equal.select((n - 1).sum()).item(),
    )


def _told(subject: Subject, compared: int, pairs: _Pairs, whose: str) -> Result:
    how = "the same steps" if subject.sequences is not None else "the same outcomes"
    responses = words.plural(compared, "response")
    figure = f"{pairs.repeats:,} of {responses} of {FEWEST_STEPS} or more steps repeat {how}"
    figure += f" {whose} ({pairs.expected:.1g} pairs by chance, {pairs.found:,} found)" if pairs.found else ""
    return warned(figure) if _improbable(pairs.found, pairs.expected) else passed(figure)


def _improbable(found: int, expected: float) -> bool:
    """Tell whether chance would hardly give so many, by Chernoff's bound of the Poisson tail."""
    if found <= expected:
        return False
    if expected <= 0:
        return True
    return found - expected + found * math.log(expected / found) < math.log(_CHANCE)
