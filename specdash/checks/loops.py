"""Responses that never end: they repeat themselves up to the length limit, and a drafter guesses all of it.

Told from a good drafter by chance: how likely the fully accepted steps at a response's end are, given how often a step
was fully accepted before them, in the response and in all of them.
"""

from __future__ import annotations

import math

import polars as pl

from specdash.checks import words
from specdash.checks.drafting import CHANCE
from specdash.checks.registry import Result, check, idle, passed, warned
from specdash.checks.subject import MATERIAL, Subject
from specdash.schema import Granularity

_FEWEST = 8
"""Steps below which a response is too short to be told from chance, however unlikely it is."""

_LOOPING = 0.98
"""Rate at which a response that loops accepts each next token at least, where the order of its steps is not at hand."""

_PRIOR = 2.0
"""Steps that the rate over all responses counts for in the rate of one: a few steps say little by themselves."""


@check(
    "repetition_loops",
    title="Repetition loops",
    meaning="A response that repeats itself up to the length limit is drafted perfectly: it raises τ with text that "
    "nobody wants.",
    cause="Temperature 0 with a weak or damaged target, a missing end-of-sequence token.",
    needs=Granularity.RESPONSE,
)
def _repetition_loops(subject: Subject) -> Result:
    if subject.run.counts is None:
        return idle("no outcome counts")
    cap = _cap(subject)
    if cap is None:
        return idle("no length limit is known")
    measured = _with_full(subject)
    looping = (
        _improbable_shares(measured, subject.run.k or 0) if subject.sequences is None else _improbable_tails(measured)
    )
    loops = looping.filter(pl.col("length") >= cap)
    if loops.is_empty():
        return passed(f"none among the responses of {cap:,} tokens or more")
    rest = measured.join(loops, on="response", how="anti")
    figure = f"{loops.height:,} of {words.plural(measured.height, 'response')} accept everything up to {cap:,} tokens"
    if rest.is_empty():
        return warned(f"{figure}: all there are")
    before, without = _tau(measured), _tau(rest)
    figure += f": τ = {before:.3f}, without them {without:.3f}"
    return warned(figure) if abs(before - without) >= MATERIAL else passed(figure)


def _tau(responses: pl.DataFrame) -> float:
    return 1 + responses["accepted"].sum() / responses["steps"].sum()


def _cap(subject: Subject) -> int | None:
    """Return the length at which responses are cut: as configured, else the largest where several end on it."""
    said = subject.run.effective_config.get("max_tokens")
    if isinstance(said, int) and not isinstance(said, bool) and said > 0:
        return said
    tokens = subject.responses["output_tokens"].drop_nulls()
    if tokens.is_empty():
        return None
    return int(tokens.max()) if (tokens == tokens.max()).sum() >= 2 else None


def _with_full(subject: Subject) -> pl.DataFrame:
    """Return the responses with a drafted step.

    Returns:
        ``response, steps, accepted, length, full`` (steps with a = K_s), and ``full_tail`` where the order of steps is
        at hand.
    """
    whole = (pl.col("drafted") > 0) & (pl.col("drafted") == pl.col("accepted"))
    full = subject.run.counts.filter(whole).group_by("response").agg(full=pl.col("steps").sum())
    measured = (
        subject.responses.filter(pl.col("steps") > 0)
        .select("response", "steps", "accepted", "length")
        .join(full, on="response", how="left")
        .with_columns(pl.col("full").fill_null(0))
    )
    return measured if subject.sequences is None else measured.join(subject.sequences, on="response")


def _improbable_tails(measured: pl.DataFrame) -> pl.DataFrame:
    """Return the responses whose fully accepted steps at their end are too many in a row for chance."""
    tail = pl.col("full_tail")
    # The step before the tail is one that was not fully accepted: what ended the tail says nothing about the rest.
    before = measured.with_columns(
        rest=pl.max_horizontal(pl.col("steps") - tail - 1, pl.lit(0, pl.Int64)), hits=pl.col("full") - tail
    )
    pooled = before["hits"].sum() / max(1, before["rest"].sum())
    own = (pl.col("hits") + _PRIOR * pooled) / (pl.col("rest") + _PRIOR)
    rate = pl.max_horizontal(own, pl.lit(pooled))
    return before.filter((tail >= _FEWEST) & (tail * rate.log() < _log_chance(measured)))


def _improbable_shares(measured: pl.DataFrame, k: int) -> pl.DataFrame:
    """Return the responses with too large a share of fully accepted steps for chance, by Chernoff's bound."""
    share, least = pl.col("full") / pl.col("steps"), _LOOPING**k
    many = (share >= least) & (pl.col("steps") >= _FEWEST)
    others = measured.filter(~many)
    pooled = others["full"].sum() / max(1, others["steps"].sum())
    if pooled >= least:
        return measured.clear()
    missed = 1 - share
    # x ln x is 0 at 0.
    misses = pl.when(missed > 0).then(missed * (missed / (1 - pooled)).log()).otherwise(0.0)
    distance = share * (share / pooled).log() + misses
    return measured.filter(many & (pl.col("steps") * distance > -_log_chance(measured)))


def _log_chance(measured: pl.DataFrame) -> float:
    """Return the log-probability below which nothing of one response is chance, given how many there are."""
    return math.log(CHANCE / max(1, measured.height))
