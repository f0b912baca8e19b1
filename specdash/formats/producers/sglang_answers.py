"""SGLang's answers: ``meta_info`` of the native API, ``sglext.spec_tokens_details`` of the OpenAI one.

The names changed with the versions; all of them are read:

* ``spec_verify_ct`` alone: the accepted tokens are output tokens less steps;
* ``spec_accept_token_num`` and ``spec_draft_token_num``, then ``spec_accepted_drafts`` and ``spec_proposed_drafts``,
  then ``spec_num_correct_drafts`` and ``spec_num_proposed_drafts``: bonus token out;
* ``spec_accept_histogram``, then ``spec_correct_drafts_histogram``: steps by accepted draft tokens;
* ``speculative_decoding_stats`` with ``verify_lengths`` and ``accept_lengths``, step by step, one token more each.

``spec_accept_length`` is output tokens over steps, so an end inside an accepted draft and the prompt's own token
shift it. The drafted tokens are steps × (``num_draft_tokens`` − 1), not counted, unless a histogram of proposed
drafts is there. They are a chain of that length where some step accepted all of it: a tree has more nodes than depth.
"""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl

from specdash.formats import answers, peek
from specdash.formats.answers import Dialect, Object, Place, Said
from specdash.formats.base import File
from specdash.formats.collect import Drafting, histogram, stepwise, wholes
from specdash.formats.producer import Context
from specdash.schema import (
    MAX_DRAFTED,
    Bonus,
    End,
    InputError,
    PerPosition,
    Run,
    RunWarning,
    Semantics,
    Span,
    Undrafted,
)

_LENGTHS = ("verify_lengths", "accept_lengths")
_STEPWISE = "speculative_decoding_stats"
STEPS = ("spec_verify_ct", "num_verification_steps")
_ACCEPTED = ("spec_num_correct_drafts", "spec_accepted_drafts", "spec_accept_token_num", "num_accepted_draft_tokens")
_PROPOSED = ("spec_num_proposed_drafts", "spec_proposed_drafts", "spec_draft_token_num")
_HISTOGRAM = ("spec_correct_drafts_histogram", "spec_accept_histogram")

SEMANTICS = Semantics(
    producer="SGLang, answers",
    bonus=Bonus.IN,
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.REQUEST,
    end=End.TOKENS,
    undrafted=Undrafted.UNKNOWN,
    note="Proposed tokens are steps × (num_draft_tokens − 1) by SGLang's own reckoning, not a count.",
)

_FROM_TOKENS = RunWarning(
    "accepted_from_tokens",
    "accepted tokens are output tokens less verify steps: the prompt's own token is in them, tokens cut off at the end "
    "are not",
)
_DERIVED = RunWarning(
    "drafted_assumed", "drafted tokens are verify steps × (num_draft_tokens − 1) as SGLang derives them, not counted"
)


def _holds(found: Object) -> bool:
    return not found.keys().isdisjoint(STEPS)


def _said(place: Place) -> Said | None:
    stats = place.numbers.get(_STEPWISE)
    detailed = stats if isinstance(stats, dict) else place.numbers
    if detailed.get("verify_lengths") is not None:
        return _ordered(place, detailed)
    steps = place.count(*STEPS)
    if not steps:
        return None
    tokens = place.count("completion_tokens")
    tokens = place.tokens if tokens is None else tokens
    found = _histogram(place)
    accepted, drafted, counted = place.count(*_ACCEPTED), place.count(*_PROPOSED), _counted(place)
    if found is not None:
        accepted = _agreed(place, steps, accepted, found)
    warnings = () if drafted is None or counted is not None else (_DERIVED,)
    if accepted is None:
        if tokens is None:
            return None
        # A step may run beside the one that ends the answer: then it adds no token.
        accepted, warnings = max(tokens - steps, 0), (_FROM_TOKENS,)
    outcomes = None if found is None else {(None, j): n for j, n in found.items()}
    drafting = Drafting(outcomes, steps, drafted if counted is None else counted, accepted)
    return Said(drafting, None, tokens, _ratios(place, steps, tokens), warnings)


def _ordered(place: Place, stats: Object) -> Said:
    """Read the steps one by one: what was verified and what was accepted, the bonus token in both."""
    verified, accepted = (wholes(stats.get(name), name, place.path, place.line) or [] for name in _LENGTHS)
    if len(verified) != len(accepted) or 0 in verified or 0 in accepted:
        found = f"{len(verified)} and {len(accepted)}, from {min(verified + accepted, default=0)}"
        expected = "lists of one length, of at least one token a step"
        raise InputError(
            f"{' and '.join(_LENGTHS)} do not fit", file=place.path, line=place.line, found=found, expected=expected
        )
    steps = [(k - 1, a - 1) for k, a in zip(verified, accepted, strict=True)]
    return Said(Drafting(stepwise(steps), ordered=steps), output_tokens=place.count("completion_tokens"))


def _histogram(place: Place) -> dict[int, int] | None:
    name = next((name for name in _HISTOGRAM if place.numbers.get(name) is not None), "")
    return histogram(place.numbers.get(name), name, place.path, place.line)


def _agreed(place: Place, steps: int, accepted: int | None, found: dict[int, int]) -> int:
    """Return the accepted tokens of a histogram.

    Raises:
        InputError: The counts beside it say something else.
    """
    ours = sum(found.values()), sum(j * n for j, n in found.items())
    if ours[0] != steps or accepted not in (None, ours[1]):
        raise InputError(
            "the histogram contradicts the counts beside it",
            file=place.path,
            line=place.line,
            found=f"{ours[0]} steps and {ours[1]} accepted tokens by the histogram, {steps} and {accepted} beside it",
            expected="counts that agree",
        )
    return ours[1]


def _counted(place: Place) -> int | None:
    """Return the drafted tokens where the lengths of the drafts were counted, else None."""
    name = "spec_proposed_drafts_histogram"
    found = histogram(place.numbers.get(name), name, place.path, place.line)
    return place.count("num_verified_draft_tokens") if found is None else sum(j * n for j, n in found.items())


def _ratios(place: Place, steps: int, tokens: int | None) -> list[str]:
    """Compare the stored length with what it means to SGLang, output tokens over steps."""
    stored = place.numbers.get("spec_accept_length")
    if tokens is None or not isinstance(stored, int | float) or math.isclose(stored, tokens / steps, rel_tol=1e-6):
        return []
    return [f"spec_accept_length {stored} is {tokens / steps:.4f} by output tokens over steps"]


def finish(run: Run, context: Context) -> Run:
    """Give a run the length of its blocks where it is known that they are chains: all equal, and once accepted whole.

    Args:
        run: The run, its histograms without the lengths of the drafts.
        context: Says K where the user does.
    """
    if run.counts is None or run.sums is None or _DERIVED not in run.warnings:
        return run
    steps, drafted = run.sums["steps"].sum(), run.sums["drafted"].sum()
    k = drafted // steps if steps else 0
    constant = run.sums.select((pl.col("drafted") == pl.col("steps") * k).all()).item()
    covered = run.counts["steps"].sum() == steps
    chain = run.counts["accepted"].max() == k or context.k == k
    if not constant or not covered or not chain or not 0 < k <= MAX_DRAFTED:
        return run
    counts = run.counts.with_columns(drafted=pl.lit(k, run.counts.schema["drafted"]))
    return replace(run, k=k, counts=counts, sums=None)


def _looks(file: File) -> bool:
    names = peek.names(file)
    last = {name.rpartition(".")[2] for name in names}
    if not last.isdisjoint(STEPS):
        return True
    # A long text stands before its numbers.
    cut = bool(names) and last <= {"text", "output_ids"}
    marks = [f'"{name}"'.encode() for name in STEPS]
    return (cut or not last.isdisjoint(("meta_info", "sglext"))) and peek.reaches(file, *marks)


DIALECT = Dialect(_holds, _said, "no step was verified, or return_spec_tokens_details was not asked for")

PRODUCERS = answers.producers(
    "sglang",
    "SGLang",
    DIALECT,
    _looks,
    SEMANTICS,
    finish=finish,
)
