"""vLLM's ``/metrics``, engine V1: a scrape counts since the server started, two of them what came between.

Accepted tokens are draft tokens, bonus out. ``…_per_pos`` is over all steps, so where drafts differ in length a low
late position may only mean that few drafts were that long. Series of several engines add up. Aborted requests and
answers without metrics of their own are counted too.
source: vllm/v1/spec_decode/metrics.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from specdash.formats import counting
from specdash.formats.base import File
from specdash.formats.producer import Context, Producer, Together
from specdash.schema import End, PerPosition, Run, Semantics, Span, Undrafted

_PREFIX = "vllm:spec_decode_"
_V0 = "vllm:spec_decode_efficiency"

_SEMANTICS = Semantics(
    producer="vLLM, /metrics",
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.SINCE_START,
    end=End.RAW,
    undrafted=Undrafted.OMITTED,
    note="Counters of a server: every client's requests are in them, aborted ones too.",
)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    return counting.runs(files, _PREFIX, context, _SEMANTICS)


PRODUCERS = (
    Producer(
        key="vllm-metrics",
        tool="vLLM",
        what="/metrics text",
        looks=lambda file: counting.holds(file, _PREFIX) and not counting.holds(file, _V0, ""),
        read=_read,
        semantics=_SEMANTICS,
        together=Together.FOLDER,
    ),
)
