"""Whether every request is there once, belongs to its prompt, and says something of its own."""

from __future__ import annotations

import math

import polars as pl

from specdash.checks import words
from specdash.checks.registry import Result, check, failed, idle, passed, warned
from specdash.checks.subject import Subject
from specdash.schema import Granularity

_MANY_ABSENT = 0.05
_MANY_ZERO = 0.01

FEWEST_STEPS = 20
"""Steps of a response from which on its likeness to another one may say something."""

_CHANCE = 1e-4
"""Probability of as many equal pairs by chance below which they are told."""

_READING = (
    "mapping_refused",
    "mapping_incomplete",
    "counts_unchecked",
    "absent_requests",
    "order_invented",
    "reconstruction",
    "ratio_disagrees",
    "several_engines",
    "unread_documents",
)
"""Codes of what the reader said that other checks tell."""


@check(
    "mapping",
    title="Requests to samples",
    meaning="A request is assigned to its prompt by id or by position, and its counts have to be those of its sample. "
    "Where they are not, what is said of prompts, copies and datasets may be of others.",
    cause="Samples of another run, lines lost or doubled, tools that count steps differently.",
    needs=Granularity.RESPONSE,
)
def _mapping(subject: Subject) -> Result:
    found = subject.run.mapping
    if refused := subject.warning("mapping_refused"):
        return failed(refused)
    if found is None:
        return idle("no samples stand beside the log")
    if said := subject.warning("mapping_incomplete", "counts_unchecked"):
        return warned(said)
    figure = f"{found.matched:,} of {found.total:,} match"
    return passed(figure) if found.matched == found.total else warned(figure)


@check(
    "absent_requests",
    title="Absent requests",
    meaning="Responses without rows are in no number. If it is the long or the hard ones that are missing, τ is of "
    "the others.",
    cause="Requests that failed or ended with their first token; a log that was cut.",
    needs=Granularity.RESPONSE,
)
def _absent_requests(subject: Subject) -> Result:
    found = subject.run.mapping
    if found is None or subject.warning("mapping_refused"):
        return idle("no samples stand beside the log")
    total = found.total + found.absent
    if not found.absent:
        return passed(f"{total:,} of {total:,} responses")
    figure = f"{found.absent:,} of {total:,} responses, {words.share(found.absent, total)}"
    said = subject.warning("absent_requests")
    figure += f": {said}" if said else ""
    return failed(figure) if found.absent >= _MANY_ABSENT * total else warned(figure)


@check(
    "zero_step_responses",
    title="Responses without a step",
    meaning="A response without a drafted step has no acceptance length: it is in no mean over responses.",
    cause="The end of the sequence as the first token, one output token, requests that may not speculate.",
    needs=Granularity.RESPONSE,
)
def _zero_step_responses(subject: Subject) -> Result:
    steps = subject.responses["steps"].drop_nulls()
    if steps.is_empty():
        return idle("steps by response are not known")
    zero = int((steps == 0).sum())
    figure = f"{zero:,} of {steps.len():,} without one"
    return warned(figure) if zero > _MANY_ZERO * steps.len() else passed(figure)


def _prompted(subject: Subject) -> pl.DataFrame | None:
    """Return the responses whose prompt is known, None when there are none."""
    known = subject.responses.filter(pl.col("prompt").is_not_null())
    return None if known.is_empty() else known


@check(
    "equal_copies",
    title="Copies of a prompt",
    meaning="The mean of a prompt's best copy grows with their number, and a mean over responses weighs a prompt by "
    "its copies.",
    cause="Requests that failed, a log that was cut, runs with different numbers of copies put together.",
    needs=Granularity.RESPONSE,
)
def _equal_copies(subject: Subject) -> Result:
    known = _prompted(subject)
    if known is None:
        return idle("no samples say which prompt a response answers")
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
    known = _prompted(subject)
    if known is None or subject.run.counts is None:
        return idle("no samples say which prompt a response answers")
    compared = _likeness(subject, known)
    pairs = compared.group_by("dataset", "prompt", "size").agg(
        n=pl.len().cast(pl.Int64), chance=pl.col("log_chance").exp().sum()
    )
    if not pairs["n"].max() or pairs["n"].max() < 2:
        return passed(f"no two copies of {FEWEST_STEPS} or more steps are of the same length")
    # Over pairs of responses drawn alike, the mean probability of the one drawn is that of drawing it twice.
    expected = pairs.select((pl.col("chance") * (pl.col("n") - 1) / 2).sum()).item()
    equal = compared.group_by("dataset", "prompt", "size", "signature").agg(n=pl.len().cast(pl.Int64))
    found = equal.select((pl.col("n") * (pl.col("n") - 1) // 2).sum()).item()
    repeats = equal.select((pl.col("n") - 1).sum()).item()
    how = "the same steps" if subject.sequences is not None else "the same outcomes"
    figure = f"{repeats:,} of {words.plural(compared.height, 'response')} of {FEWEST_STEPS} or more steps repeat {how}"
    figure += f" of another copy ({expected:.1g} pairs by chance, {found:,} found)" if found else ""
    return warned(figure) if _improbable(found, expected) else passed(figure)


def _likeness(subject: Subject, known: pl.DataFrame) -> pl.DataFrame:
    """Return what is compared of each response that is long enough.

    Returns:
        ``dataset, prompt, size`` (steps), ``signature`` (equal for equal steps; of the steps in order where their
        order is at hand, else of their counts) and ``log_chance``, the log-probability that another copy of the same
        size has the same, were steps drawn from the prompt's own outcomes.
    """
    key, steps = ("dataset", "prompt"), pl.col("steps")
    long = pl.col("size") >= FEWEST_STEPS
    counts = (
        subject.run.counts.join(known.select("response", *key), on="response")
        .with_columns(size=steps.sum().over("response"))
        .filter(long)
    )
    own = pl.struct("drafted", "accepted", "steps").hash()
    chance = counts.join(
        counts.group_by(*key, "drafted", "accepted").agg(of_prompt=steps.sum()),
        on=[*key, "drafted", "accepted"],
        nulls_equal=True,
    ).with_columns(share=pl.col("of_prompt") / steps.sum().over(key))
    ordered = subject.sequences is not None
    arrangements = pl.lit(0.0) if ordered else _log_factorial(pl.col("size").first()) - _log_factorial(steps).sum()
    likeness = chance.group_by("response", *key, "size").agg(
        signature=own.sum(), log_chance=(steps * pl.col("share").log()).sum() + arrangements
    )
    if not ordered:
        return likeness
    return likeness.drop("signature").join(subject.sequences.select("response", "signature"), on="response")


def _log_factorial(n: pl.Expr) -> pl.Expr:
    """Stirling's series; at most 0.003 too small, at n = 1."""
    return n * n.log() - n + (2 * math.pi * n).log() / 2 + 1 / (12 * n)


def _improbable(found: int, expected: float) -> bool:
    """Tell whether chance would hardly give so many, by Chernoff's bound of the Poisson tail."""
    if found <= expected:
        return False
    if expected <= 0:
        return True
    return found - expected + found * math.log(expected / found) < math.log(_CHANCE)


@check(
    "read_whole",
    title="Reading the files",
    meaning="The reader of the files left something out, renamed it or assumed it.",
    cause="Files that are no log; records that do not say everything.",
    needs=Granularity.LATENCIES,
)
def _read_whole(subject: Subject) -> Result:
    said = [warning.message for warning in subject.run.warnings if warning.code not in _READING]
    documents = subject.warning("unread_documents")
    return warned("; ".join(said)) if said else passed(documents or "nothing left out, renamed or assumed")
