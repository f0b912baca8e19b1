"""What TensorRT-LLM says of a request: ``speculative_decoding`` of its performance metrics, or of a choice.

``total_draft_tokens`` and ``total_accepted_draft_tokens`` count tokens, bonus out, and no steps; newer builds add
``num_spec_steps`` and ``acceptance_histogram`` (steps by accepted draft tokens) to a choice. Older builds write zeros
into every answer whatever was drafted: zeros are not reported, not nothing accepted.

``avg_decoded_tokens_per_iter`` of a choice is output tokens over iterations, bonus in; it is used where no counts are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from specdash.formats import acceptance, answers, peek
from specdash.formats.answers import Dialect, Object, Place, Said
from specdash.formats.base import File
from specdash.formats.collect import Drafting
from specdash.formats.producer import Context
from specdash.schema import (
    Bonus,
    End,
    NothingToRead,
    PerPosition,
    Run,
    RunWarning,
    Semantics,
    Span,
    Undrafted,
)

_MARK, _MEAN = "total_accepted_draft_tokens", "avg_decoded_tokens_per_iter"

_SEMANTICS = Semantics(
    producer="TensorRT-LLM, metrics of each request",
    bonus=Bonus.IN,
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.REQUEST,
    undrafted=Undrafted.OMITTED,
    note="Builds that do not report write zeros.",
)

_ITERATIONS = RunWarning(
    "accepted_from_tokens",
    f"accepted tokens are output tokens less iterations, by {_MEAN}: an iteration without a draft is a step here, and "
    "so may be that of the prompt",
)
_NOTHING = "zeros: this build does not report, or nothing was drafted"


def _holds(found: Object) -> bool:
    return _MARK in found or _MEAN in found


def _said(place: Place) -> Said | None:
    inner = place.numbers.get("speculative_decoding")
    stats = replace(place, numbers=inner) if isinstance(inner, dict) else place
    if stats.count("total_draft_tokens"):
        return _counted(stats)
    return _averaged(place)


def _counted(place: Place) -> Said:
    """Read the counts; beside a histogram they have the meaning they have in others' answers."""
    drafted, accepted = place.count("total_draft_tokens"), place.count(_MARK)
    record = {**place.numbers, "num_draft_tokens": drafted, "num_accepted_draft_tokens": accepted}
    ratios = _ratios(place.numbers, accepted, drafted)
    if record.get("num_spec_steps") is None and record.get("acceptance_histogram") is None:
        return Said(Drafting(None, None, drafted, accepted or 0), ratios=ratios)
    drafting, k = acceptance.drafting(record, place.path, place.line)
    return Said(drafting, k, ratios=ratios)


def _averaged(place: Place) -> Said | None:
    """Read the mean of tokens an iteration where it and the output tokens tell the iterations."""
    mean = place.numbers.get(_MEAN)
    if isinstance(mean, bool) or not isinstance(mean, int | float) or not mean >= 1 or not place.tokens:
        return None
    iterations = place.tokens / mean
    if abs(iterations - round(iterations)) > 0.01 or not iterations >= 0.5:
        return None
    steps = round(iterations)
    return Said(Drafting(None, steps, None, place.tokens - steps), warnings=(_ITERATIONS,))


def _ratios(stats: Mapping[str, Any], accepted: int | None, drafted: int | None) -> list[str]:
    stored = stats.get("acceptance_rate")
    if not isinstance(stored, int | float) or not drafted or accepted is None:
        return []
    ours = accepted / drafted
    same = math.isclose(stored, ours, rel_tol=1e-3, abs_tol=1e-4)
    return [] if same else [f"acceptance_rate {stored} is {ours:.4f} by the counts"]


def _finish(run: Run, _: Context) -> Run:
    """Say what a length by iterations means.

    Raises:
        NothingToRead: It is 1 everywhere, as without speculation.
    """
    if _ITERATIONS not in run.warnings:
        return run
    if not run.sums["accepted"].sum():
        raise NothingToRead(f"{_MEAN} is 1 everywhere", file=run.responses["request"][0], expected="speculation")
    return replace(run, semantics=replace(_SEMANTICS, end=End.TOKENS))


def _looks(file: File) -> bool:
    names = peek.names(file)
    if "aiperf_version" in names:  # its summary has sums of these names
        return False
    return any(name.rpartition(".")[2] == _MARK or name.endswith(f"choices[].{_MEAN}") for name in names)


PRODUCERS = answers.producers(
    "trtllm", "TensorRT-LLM", Dialect(_holds, _said, _NOTHING), _looks, _SEMANTICS, finish=_finish
)
