"""Whether and how far the drafter drafted: what makes τ one of another policy than its configuration says."""

from __future__ import annotations

import math

import polars as pl

from specdash.checks import words
from specdash.checks.registry import Result, check, failed, idle, passed, warned
from specdash.checks.subject import MATERIAL, Subject
from specdash.metrics.tally import Tally
from specdash.schema import Granularity

FEWEST_IN_A_ROW = 20
"""Steps in a row from which on a stretch may be told from chance."""

CHANCE = 1e-6
"""Probability, over all responses of a run, below which a stretch is none of chance."""

_TRAINED = ("dspark_block_size", "draft_block_size", "drafter_block_size", "trained_block_size", "train_block_size")
"""Settings that say the block that a drafter was trained with."""


@check(
    "constant_block",
    title="Lengths of drafts",
    meaning="Where drafts differ in length, p counts a short draft like a rejection, and a rate by position has more "
    "than one reading; τ(K′) caps what was drafted instead of fixing it.",
    cause="N-gram and suffix drafters, a confidence threshold, drafts cut at the end of a response.",
    needs=Granularity.RATES,
)
def _constant_block(subject: Subject) -> Result:
    run = subject.run
    if run.rates is not None:
        means = [m for m in run.rates["mean_drafted"] if m is not None]
        if not means or not run.k:
            return idle("no drafted tokens")
        # Means are printed with two decimals.
        if max(means) - min(means) < 0.01 and abs(run.k - means[0]) < 0.005:
            return passed(f"K = {run.k}")
        return warned(f"{min(means):g} to {max(means):g} of {run.k} on average")
    if subject.pooled.blocks is not None and subject.pooled.steps:
        return _mix(subject.pooled)
    return _mean_block(subject)


def _mix(tally: Tally) -> Result:
    mix = {k: int(n) for k, n in enumerate(tally.blocks) if n}
    if len(mix) == 1:
        return passed(f"K = {next(iter(mix))} in all {tally.steps:,} steps that drafted")
    often = sorted(mix, key=mix.__getitem__, reverse=True)
    shares = "; ".join(f"{k} in {words.share(mix[k], tally.steps)}" for k in often[:4])
    mean = tally.drafted / tally.steps
    more = f"; {len(mix) - 4} other lengths" if len(mix) > 4 else ""
    return warned(f"{min(mix)} to {max(mix)} drafted, {mean:.2f} on average: {shares}{more}")


def _mean_block(subject: Subject) -> Result:
    """Judge sums: they say how many tokens a step drafted on average, not which step how many."""
    tally = subject.pooled
    if not tally.steps or tally.drafted is None:
        return idle("no count of drafted tokens" if tally.steps else "no step drafted anything")
    if tally.k and tally.drafted == tally.k * tally.steps:
        return passed(f"K = {tally.k} in all {tally.steps:,} steps that drafted")
    most = f" of {tally.k}" if tally.k else ""
    return warned(f"{tally.drafted / tally.steps:.2f}{most} drafted on average; which lengths is not known")


@check(
    "configured_k",
    title="Configured K",
    meaning="The configuration is of another run, or its K means something else (tokens verified, bonus included).",
    cause="A configuration copied from another run.",
    needs=Granularity.RATES,
)
def _configured_k(subject: Subject) -> Result:
    said, longest = subject.run.effective_config.get("k"), subject.run.k
    if not isinstance(said, int) or longest is None:
        return idle("no K is configured" if longest is not None else "no length of a draft is known")
    figure = f"configured K = {said}, longest draft {longest}"
    return warned(figure) if said < longest else passed(figure)


@check(
    "trained_block",
    title="Trained block",
    meaning="Positions beyond the block that the drafter was trained with are extrapolation: acceptance falls there "
    "for a reason that a drafter trained with a longer block would not have.",
    cause="K raised above the block size of the drafter's configuration.",
    needs=Granularity.RATES,
)
def _trained_block(subject: Subject) -> Result:
    found = [(name, value) for name, value in subject.run.effective_config.items() if _says_trained(name)]
    sizes = [(name, int(value)) for name, value in found if _is_size(value)]
    if not sizes or not subject.run.k:
        return idle("the configuration does not say the drafter's block")
    name, size = sizes[0]
    figure = f"K = {subject.run.k}, {name} = {size}"
    if subject.run.k <= size:
        return passed(figure)
    beyond = "position" if subject.run.k == size + 1 else "positions"
    where = f"{size}" if subject.run.k == size + 1 else f"{size} to {subject.run.k - 1}"
    return warned(f"{figure}: {beyond} {where} beyond it")


def _says_trained(name: str) -> bool:
    """Tell whether a setting is a drafter's block; a bare block size is that of a KV cache."""
    *owners, last = name.lower().replace("-", "_").split(".")
    of_drafter = any(word in owner for owner in owners for word in ("draft", "spec", "dspark", "dflash"))
    return last in _TRAINED or (last == "block_size" and of_drafter)


def _is_size(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 1 and float(value).is_integer()


@check(
    "tau_above_one",
    title="τ of exactly 1",
    meaning="τ is exactly 1: every draft was rejected, or there was no drafter. Nothing can be said of one.",
    cause="A baseline run read as a speculating one; a drafter with another vocabulary or a broken sampler.",
    needs=Granularity.RATES,
)
def _tau_above_one(subject: Subject) -> Result:
    if subject.run.rates is not None:
        taus = {row["dataset"]: row["tau"] for row in subject.run.rates.iter_rows(named=True) if row["tau"] is not None}
        ones = [words.name(name) for name, tau in taus.items() if tau == 1]
        known = bool(taus)
    else:
        drafting = {name: tally for name, tally in subject.tallies.items() if tally.steps}
        ones = [f"{words.name(name)} ({t.steps:,} steps)" for name, t in drafting.items() if not t.accepted]
        known = bool(drafting)
        taus = drafting
    if not known:
        return idle("no step drafted anything")
    if len(ones) == len(taus):
        return failed("τ = 1 in every dataset")
    return warned(f"τ = 1 in {words.listed(ones)}") if ones else passed("τ > 1 in every dataset")


@check(
    "undrafted_steps",
    title="Steps without a draft",
    meaning="Steps without a draft emit one token and are in no acceptance metric but τ over all steps, which is what "
    "a user gets.",
    cause="An n-gram drafter without a match, speculation switched off at a large batch, requests that may not "
    "speculate.",
    needs=Granularity.AGGREGATE,
)
def _undrafted_steps(subject: Subject) -> Result:
    tally = subject.pooled
    if tally.undrafted is None:
        return idle("the source does not count steps without a draft")
    if not tally.undrafted:
        return passed("none, of those logged")
    total = tally.steps + tally.undrafted
    figure = f"{tally.undrafted:,} of {total:,} steps without a draft, {words.share(tally.undrafted, total)}"
    if not tally.steps:
        return warned(figure)
    with_them = 1 + tally.accepted / total
    tau = 1 + tally.accepted / tally.steps
    figure += f": τ = {tau:.3f}, over all steps {with_them:.3f}{_longest_idle(subject)}"
    return warned(figure) if tau - with_them >= MATERIAL else passed(figure)


def _longest_idle(subject: Subject) -> str:
    if subject.sequences is None:
        return ""
    most = subject.sequences["idle"].max() or 0
    return f"; up to {most:,} in a row" if most >= FEWEST_IN_A_ROW else ""


@check(
    "zero_tails",
    title="Drafter switched off",
    meaning="From some step on nothing of a draft is accepted any more, to the end of the response and longer than "
    "chance allows: the drafter was as good as off, and its steps count as rejections.",
    cause="A context longer than the drafter supports; a cache that the drafter lost.",
    needs=Granularity.STEP,
    ordered=True,
)
def _zero_tails(subject: Subject) -> Result:
    if subject.sequences is None:
        return idle("the ordered steps are not at hand")
    tails = subject.responses.join(subject.sequences, on="response").filter(pl.col("steps") > 0)
    if tails.is_empty():
        return idle("no step drafted anything")
    zeros = subject.run.counts.filter((pl.col("drafted") > 0) & (pl.col("accepted") == 0))["steps"].sum()
    long = tails.filter(pl.col("zero_tail") >= FEWEST_IN_A_ROW)
    inside = long["zero_tail"].sum()
    outside = tails["steps"].sum() - inside
    chance = (zeros - inside) / outside if outside else None
    if chance is None or chance >= 1:
        return idle("no step accepted anything")
    fewest = shortest_stretch(chance, tails.height)
    off = long.filter(pl.col("zero_tail") >= fewest)
    if off.is_empty():
        return passed(f"no response ends in {fewest} or more steps that accepted nothing")
    steps, accepted = tails["steps"].sum(), tails["accepted"].sum()
    tau, without = 1 + accepted / steps, 1 + accepted / (steps - off["zero_tail"].sum())
    starts = off["zero_tail_from"]
    figure = (
        f"{off.height:,} of {words.plural(tails.height, 'response')} end in {fewest} or more steps that accepted "
        f"nothing, from output token {int(starts.median()):,} on (median; the earliest {starts.min():,}): "
        f"τ = {tau:.3f}, without these steps {without:.3f}"
    )
    return warned(figure) if without - tau >= MATERIAL else passed(figure)


def shortest_stretch(chance: float, responses: int) -> int:
    """Return the steps in a row that chance gives less than CHANCE of the responses together.

    Args:
        chance: Probability of the outcome in a step.
        responses: Responses that may end in such a stretch.
    """
    if chance <= 0:
        return FEWEST_IN_A_ROW
    return max(FEWEST_IN_A_ROW, math.ceil(math.log(CHANCE / max(1, responses)) / math.log(chance)))
