"""What a reader has to know besides the speed-up: tails, failures, lengths, chunks, and how the arms were run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from specdash.speed.latency.arms import E2E, PER_TOKEN, TPOT, TTFT, Arm, keys
from specdash.speed.latency.bootstrap import Percentile
from specdash.speed.latency.comparison import Comparison

_WHOLE = 0.9
"""Share of the end-to-end time from which on a first chunk brings an answer nearly whole."""

_TAIL_OF = 0.05
"""Share of such answers from which on it is told."""


@dataclass(frozen=True)
class Note:
    """Something to know; ``code`` is stable, ``message`` is for people, ``warns`` when it may change the decision."""

    code: str
    message: str
    warns: bool = True


def number(value: float, decimals: int = 3) -> str:
    """Return a number for a sentence, with a true minus sign."""
    return f"{value:,.{decimals}f}".replace("-", "−")


def milliseconds(seconds: float) -> str:
    """Return a duration as people read it."""
    return f"{seconds * 1000:,.{0 if seconds >= 1 else 1 if seconds >= 0.1 else 2}f} ms"


def notes(comparison: Comparison, *, faster: bool) -> tuple[Note, ...]:
    """Return what else there is to know, the weightiest first.

    Args:
        comparison: The comparison.
        faster: Whether speculation was judged faster, which a slower tail would spoil.
    """
    base, spec = comparison.base, comparison.spec
    return (
        *(_tails(comparison) if faster else ()),
        *_failures(base, spec),
        *_same_prompts(base, spec),
        *_lengths(comparison),
        *_bunched(comparison),
        *_unpaired(comparison),
        *_concurrency(base, spec),
        *_chunks(base, spec),
    )


def _tails(comparison: Comparison) -> Iterator[Note]:
    """A speed-up of the mean with a loss in the tail."""
    found = comparison.bootstrap
    for tail in () if found is None else found.percentiles:
        if tail.level <= 0.5 or tail.speedup.value >= 1:
            continue
        name = f"p{tail.level * 100:g}"
        shown = (
            f"{name} is {milliseconds(tail.spec.value)} with speculation and {milliseconds(tail.base.value)} without: "
            f"a speed-up of {number(tail.speedup.value)} ({_interval(tail)})"
        )
        if tail.speedup.high < 1 and tail.resolved:
            yield Note("tail_loss", f"The mean is faster, the tail is slower: {shown}. Whoever waits longest loses.")
        else:
            yield Note("tail_unsure", f"The tail may be slower: {shown}, which leaves it open.{_unresolved(tail)}")


def _interval(tail: Percentile) -> str:
    return f"95 % interval {number(tail.speedup.low)} to {number(tail.speedup.high)}"


def _unresolved(tail: Percentile) -> str:
    if tail.resolved:
        return ""
    return f" It takes {round(1 / (1 - tail.level))} requests to have one beyond it; here it is nearly the largest."


def _failures(base: Arm, spec: Arm) -> Iterator[Note]:
    failed = [(arm, arm.latencies.height - arm.succeeded.height) for arm in (base, spec)]
    if any(count for _, count in failed):
        told = " and ".join(f"{count:,} of {arm.latencies.height:,} in {arm.name}" for arm, count in failed)
        yield Note("failures", f"Requests failed: {told}. They have no latency and are left out.")


def _same_prompts(base: Arm, spec: Arm) -> Iterator[Note]:
    """Prompts of one name whose input lengths differ are not the same prompt."""
    both = _side_by_side(base, spec, "input_tokens")
    other = both.filter(pl.col("base") != pl.col("spec")).height
    if other:
        yield Note(
            "other_prompts",
            f"The input lengths of {other:,} of {both.height:,} prompts differ between the arms: "
            "they did not answer the same prompts.",
        )


def _lengths(comparison: Comparison) -> Iterator[Note]:
    base, spec = comparison.base, comparison.spec
    means = [arm.succeeded["output_tokens"].mean() for arm in (base, spec)]
    if None in means:
        if comparison.measure in (TPOT, PER_TOKEN):
            return
        yield Note("no_lengths", "No output tokens are known, so nothing tells whether the answers were equally long.")
        return
    both = _side_by_side(base, spec, "output_tokens")
    other = both.filter(pl.col("base") != pl.col("spec")).height
    if not other and (both.height or means[0] == means[1]):
        return
    where = f"for {other:,} of {both.height:,} prompts" if both.height else "in the mean"
    so = (
        "End-to-end times compare unequal work; time per token does not."
        if comparison.measure is E2E
        else "End-to-end times would compare unequal work; this measure does not."
    )
    message = (
        f"Output lengths differ {where} ({number(means[0], 1)} and {number(means[1], 1)} tokens in the mean). {so}"
    )
    yield Note("lengths_differ", message, warns=comparison.measure is E2E)


def _side_by_side(base: Arm, spec: Arm, column: str) -> pl.DataFrame:
    """Means of a column over the copies of each prompt that both arms know, as ``base`` and ``spec``."""
    key = keys(base, spec)

    def means(arm: Arm, name: str) -> pl.DataFrame:
        known = arm.succeeded.filter(pl.all_horizontal(pl.col("prompt", column).is_not_null()))
        return known.group_by(key).agg(pl.col(column).cast(pl.Float64).mean().alias(name))

    return means(base, "base").join(means(spec, "spec"), on=key)


def _bunched(comparison: Comparison) -> Iterator[Note]:
    for arm, whole, timed in bunched(comparison):
        yield Note(
            "bunched",
            f"{whole:,} of {timed:,} answers in {arm.name} arrived nearly whole with their first chunk: "
            "what their TPOT and TTFT measure is buffering on the way. Trust end to end per token.",
        )


def bunched(comparison: Comparison) -> Iterator[tuple[Arm, int, int]]:
    """Yield the arms of which many answers came nearly whole with their first chunk: these have no pace to measure.

    Yields:
        The arm, such answers, and all answers long enough to tell; nothing for measures that do not mind.
    """
    if comparison.measure not in (TPOT, TTFT):
        return
    for arm in (comparison.base, comparison.spec):
        timed = arm.succeeded.filter((pl.col("output_tokens") >= 8) & pl.col("ttft_s").is_not_null())
        whole = timed.filter(pl.col("ttft_s") >= _WHOLE * pl.col("e2e_s")).height
        if timed.height and whole >= _TAIL_OF * timed.height:
            yield arm, whole, timed.height


def _unpaired(comparison: Comparison) -> Iterator[Note]:
    pair = comparison.pair
    if any(pair.left_out):
        (a, b), noun = pair.left_out, comparison.measure.noun
        yield Note("left_out", f"{a:,} and {b:,} requests are left out: the other arm has no {noun} of their prompts.")
    if pair.prompts is None and comparison.settings.paired:
        yield Note(
            "unpaired",
            "Not every request says its prompt, so the arms are compared as if unrelated: Welch. If they had the same "
            "prompts, pairing would see smaller differences.",
            warns=False,
        )
    if not comparison.settings.paired:
        yield Note("welch", "Welch's test ignores that both arms answered the same prompts.", warns=False)


def _concurrency(base: Arm, spec: Arm) -> Iterator[Note]:
    known = base.concurrency, spec.concurrency
    if None not in known and known[0] != known[1]:
        yield Note(
            "concurrency_differs",
            f"The arms ran with {known[0]} and {known[1]} requests in flight: load, not speculation, may differ.",
        )
    elif known[0] is not None and known[0] > 1:
        message = (
            f"With {known[0]} requests in flight they wait for each other, so they are not independent and the "
            "interval is too narrow to an extent that is not known."
        )
        yield Note("not_independent", message, warns=False)


def _chunks(base: Arm, spec: Arm) -> Iterator[Note]:
    """Gaps are between chunks: with speculation a chunk holds several tokens."""
    per_chunk = [tokens_per_chunk(arm) for arm in (base, spec)]
    if None not in per_chunk:
        message = (
            f"A chunk holds {number(per_chunk[0], 2)} tokens without speculation, {number(per_chunk[1], 2)} with it: "
            "gaps between chunks are not per token and are not compared."
        )
        yield Note("chunks", message, warns=False)


def tokens_per_chunk(arm: Arm) -> float | None:
    """Mean output tokens a chunk, over the requests whose chunks are known; None when there are none."""
    known = arm.succeeded.filter(pl.col("gaps_s").is_not_null() & pl.col("output_tokens").is_not_null())
    chunks = known.select((pl.col("gaps_s").list.len() + 1).sum()).item()
    return known["output_tokens"].sum() / chunks if chunks else None
