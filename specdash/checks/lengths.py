"""The log against the number of output tokens: where responses end, and what is missing.

source: vLLM issue #56101 (accepted tokens past the end are counted), DeepSpec base_evaluator.py (they are cut).
"""

from __future__ import annotations

import polars as pl

from specdash.checks import words
from specdash.checks.registry import Result, check, failed, idle, passed, warned
from specdash.checks.subject import MATERIAL, Subject
from specdash.schema import End, Granularity, Undrafted

_CONSTANT = 0.95
"""Share of responses off by the same one token from which on it is how the tool counts."""

_CONVENTIONS = {
    End.RAW: "T0, as this source counts",
    End.CUT: "T1, as this source counts",
    End.ACCEPTED_CUT: "T2, as this source counts",
    End.TOKENS: "its lengths are output tokens over steps",
}


def _overshoot(subject: Subject) -> tuple[pl.DataFrame, int]:
    """Compare the tokens that steps emitted with the output tokens.

    Returns:
        One row a response that knows both: ``dataset, steps, accepted, over`` (1 + Σ(1 + a) − output tokens, less
        the shift); and the shift, by which a tool counts each response's first token differently (−1, 0 or 1).
    """
    emitted = 1 + pl.col("steps") + pl.col("undrafted").fill_null(0) + pl.col("accepted")
    known = subject.responses.with_columns(over=emitted - pl.col("output_tokens")).filter(pl.col("over").is_not_null())
    shift = 0
    for candidate in (-1, 1):
        if known.height and (known["over"] == candidate).sum() >= _CONSTANT * known.height:
            shift = candidate
    return known.select("dataset", "steps", "accepted", over=pl.col("over") - shift), shift


def _said(shift: int) -> str:
    if not shift:
        return ""
    return f"; output tokens {'leave out' if shift > 0 else 'count'} one token a response more than the steps do"


@check(
    "overshoot",
    title="Tokens past the end",
    meaning="Where the last step of a response is counted whole (T0), tokens past the end are in τ though no user gets "
    "them: most for short responses. Other tools cut it, accepted and drafted (T1) or accepted alone (T2), so that τ "
    "of two tools may differ by as much.",
    cause="Accepted tokens are counted before a stop is looked for (vLLM, T0); the last step is cut (DeepSpec, T1).",
    needs=Granularity.RESPONSE,
)
def _overshoot_check(subject: Subject) -> Result:
    known, shift = _overshoot(subject)
    if known.is_empty():
        return idle("output tokens are not known")
    over = known.filter(pl.col("over") > 0)
    if over.is_empty():
        responses = words.plural(known.height, "response")
        return passed(f"none in {responses}{_cut(subject, known.height)}{_said(shift)}")
    k = subject.run.k
    beyond = over.filter(pl.col("over") > k) if k is not None else over.clear()
    if beyond.height:
        return failed(
            f"{beyond.height:,} of {words.plural(known.height, 'response')} with more tokens past the end than a step "
            f"can emit (up to {beyond['over'].max():,}): rows of another response, or doubled"
        )
    effects = _effects(known)
    worst = effects.row(0, named=True)
    figure = (
        f"{over.height:,} of {words.plural(known.height, 'response')} end {over['over'].mean():.1f} tokens on average "
        f"before their steps do (T0): τ is {worst['tau']:.3f} by steps, {worst['tau'] - worst['effect']:.3f} without "
        "these tokens"
    )
    figure += f", in {words.name(worst['dataset'])}, where it is most" if effects.height > 1 else ""
    return (warned if worst["effect"] >= MATERIAL else passed)(figure + _said(shift))


def _cut(subject: Subject, responses: int) -> str:
    """Return what becomes of the last step, as the source says it or as far as the lengths of drafts tell."""
    if subject.run.semantics is not None and subject.run.semantics.end is not End.UNKNOWN:
        return f" ({_CONVENTIONS[subject.run.semantics.end]})"
    blocks = subject.pooled.blocks
    if blocks is None or not subject.pooled.steps:
        return ""
    shorter = subject.pooled.steps - int(blocks[-1])
    if not shorter:
        return " (T2, if ends were cut at all: every draft keeps its length)"
    return " (T1: at most one shorter draft a response)" if shorter <= responses else ""


def _effects(known: pl.DataFrame) -> pl.DataFrame:
    """Return by dataset τ and how much of it lies past the end, the largest such effect first."""
    steps = pl.col("steps").sum()
    return (
        known.group_by("dataset")
        .agg(tau=1 + pl.col("accepted").sum() / steps, effect=pl.col("over").clip(0).sum() / steps)
        .filter(pl.col("effect").is_finite())
        .sort("effect", "dataset", descending=[True, False])
    )


@check(
    "missing_rows",
    title="Missing rows",
    meaning="A response has more output tokens than its steps emitted: rows are missing, or steps without a draft "
    "were never logged. Its acceptance length is of what was logged.",
    cause="A log that was cut or lost lines; vLLM, which logs no step that drafted nothing.",
    needs=Granularity.RESPONSE,
)
def _missing_rows(subject: Subject) -> Result:
    known, shift = _overshoot(subject)
    if known.is_empty():
        return idle("output tokens are not known")
    # One token may be how a tool counts the end of the sequence; a row that is missing takes one with it at least.
    short = known.filter(pl.col("over") < -1)
    if short.is_empty():
        return passed(f"none in {words.plural(known.height, 'response')}{_said(shift)}")
    emitted = int((known["steps"] + known["accepted"] + 1).sum())
    missing = -int(short["over"].sum())
    figure = (
        f"{short.height:,} of {words.plural(known.height, 'response')} lack {missing:,} tokens, "
        f"{words.share(missing, emitted + missing)} of the output"
    )
    undrafted = _undrafted(subject)
    if undrafted is Undrafted.COUNTED:
        return failed(f"{figure}; the log has steps without a draft, so rows are missing")
    if undrafted is Undrafted.OMITTED:
        steps, accepted = known["steps"].sum(), known["accepted"].sum()
        without, over_all = 1 + accepted / max(1, steps), 1 + accepted / (steps + missing)
        figure += f": steps without a draft, which these files leave out; over all steps τ is {over_all:.3f}"
        return warned(figure) if without - over_all >= MATERIAL else passed(figure)
    return warned(figure)


def _undrafted(subject: Subject) -> Undrafted:
    """Return whether the source logs steps without a draft, as far as it says so or has some."""
    if subject.run.semantics is not None:
        return subject.run.semantics.undrafted
    return Undrafted.COUNTED if subject.pooled.undrafted else Undrafted.UNKNOWN


@check(
    "output_tokens_known",
    title="Output tokens",
    meaning="Where some responses lack them, length means tokens emitted by steps for all of them: the correlation "
    "of τ with length is then of another length.",
    cause="Samples put together from several tools; responses that failed.",
    needs=Granularity.RESPONSE,
)
def _output_tokens_known(subject: Subject) -> Result:
    responses = subject.responses
    missing = responses["output_tokens"].null_count()
    if missing == responses.height:
        return idle("output tokens are not known")
    if missing:
        return warned(
            f"{missing:,} of {responses.height:,} responses have no output tokens: length means tokens emitted by "
            "steps, for all of them"
        )
    return passed(f"known of all {responses.height:,} responses")
