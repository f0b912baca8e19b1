"""llama.cpp's ``/metrics``: a scrape counts since the server started, two of them what came between.

Drafts (verify steps), drafted and accepted tokens, bonus out, and accepted tokens by position, 0-based. A server that
does not speculate exports the first three at 0: they tell of a baseline only what it did not do.
"""

from __future__ import annotations

from collections.abc import Sequence

from specdash.formats import counting
from specdash.formats.base import File
from specdash.formats.producer import Context, Producer, Together
from specdash.schema import End, NothingToRead, PerPosition, Run, Semantics, Span, Undrafted

_PREFIX = "llamacpp:spec_decode_"

_SEMANTICS = Semantics(
    producer="llama.cpp, /metrics",
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.SINCE_START,
    end=End.RAW,
    undrafted=Undrafted.OMITTED,
    note="Counters of a server: every client's requests are in them.",
)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    try:
        return counting.runs(files, _PREFIX, context, _SEMANTICS)
    except NothingToRead as nothing:
        expected = "drafts: a server that does not speculate exports these counters too, at 0"
        raise NothingToRead(nothing.problem, file=nothing.file, expected=expected) from None


PRODUCERS = (
    Producer(
        key="llamacpp-metrics",
        tool="llama.cpp",
        what="/metrics text",
        looks=lambda file: counting.holds(file, _PREFIX),
        read=_read,
        semantics=_SEMANTICS,
        together=Together.FOLDER,
    ),
)
