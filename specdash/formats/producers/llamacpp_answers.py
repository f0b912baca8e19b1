"""llama.cpp's answers with ``timings``: ``draft_n`` and ``draft_n_accepted``, present only where drafts were made.

They count tokens of one request, bonus out, and no steps. A draft is never longer than what the token limit leaves, so
only an end of text inside a draft leaves tokens that were accepted and not emitted. With ``n`` > 1 they are of one
choice. A stream may carry them in every event: the last one counts.
source: llama.cpp, tools/server.
"""

from __future__ import annotations

from specdash.formats import answers, peek, unstepped
from specdash.formats.answers import Dialect, Object, Place, Said
from specdash.formats.base import File
from specdash.formats.collect import Drafting
from specdash.formats.producer import Context
from specdash.schema import End, NothingToRead, Run, RunWarning, Semantics, Span, Undrafted

_OTHERS = ("draft_rounds", "draft_kind", "specdash_bench")  # mlx-vlm's timings have more; a bench passes ours on

_SEMANTICS = Semantics(
    producer="llama.cpp, timings of each answer",
    span=Span.REQUEST,
    end=End.RAW,
    undrafted=Undrafted.OMITTED,
    note="Verify steps are not counted.",
)

_ONE_CHOICE = RunWarning(
    "timings_of_one_choice", "answers with several choices: their timings are of one choice, the others are not counted"
)


def _holds(found: Object) -> bool:
    return "draft_n" in found or {"predicted_n", "predicted_ms"} <= found.keys()


def _said(place: Place) -> Said | None:
    if place.numbers.get("draft_n", 0) is None:
        return None  # a benchmark's row of a server that does not speculate
    drafted, accepted = place.count("draft_n") or 0, place.count("draft_n_accepted") or 0
    choices = place.answer.get("choices")
    warnings = [_ONE_CHOICE] if isinstance(choices, list) and len(choices) > 1 else []
    # Without the fields no draft was made for this request.
    drafting = Drafting(None, None, drafted, accepted) if drafted else Drafting({}, 0, 0, 0)
    return Said(drafting, output_tokens=place.count("predicted_n"), warnings=warnings)


def _finish(run: Run, _: Context) -> Run:
    if run.sums is None:
        raise NothingToRead(
            "no answer has drafts",
            file=run.responses["request"][0],
            expected="timings with draft_n: a server that speculates",
        )
    return unstepped.told(run)


def _looks(file: File) -> bool:
    last = {name.rpartition(".")[2] for name in peek.names(file)}
    if not last.isdisjoint(_OTHERS):
        return False
    if not last.isdisjoint(("draft_n_accepted", "predicted_per_second")):
        return True
    # A long answer, and the settings behind it, stand before the timings; so do the events of a stream.
    return not last.isdisjoint(("content", "choices")) and peek.reaches(file, b'"draft_n_accepted"')


PRODUCERS = answers.producers(
    "llamacpp",
    "llama.cpp",
    Dialect(_holds, _said, "a server that does not speculate"),
    _looks,
    _SEMANTICS,
    finish=_finish,
)
