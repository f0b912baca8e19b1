"""Answers whose ``usage`` counts predicted tokens, as OpenAI's API and servers that follow it write them.

``completion_tokens_details.accepted_prediction_tokens`` and ``rejected_prediction_tokens`` add up to the drafted
tokens. There is no count of steps. Zeros stand in every answer of a service that predicts nothing.

What the tokens of an answer are differs: OpenAI bills rejected tokens among them. So none are taken from ``usage``.
"""

from __future__ import annotations

from specdash.formats import answers, peek, unstepped
from specdash.formats.answers import Dialect, Object, Place, Said
from specdash.formats.base import File
from specdash.formats.collect import Drafting
from specdash.formats.producer import Context
from specdash.schema import Run, Semantics, Span, Undrafted

_ACCEPTED, _REJECTED = "accepted_prediction_tokens", "rejected_prediction_tokens"

_SEMANTICS = Semantics(
    producer="OpenAI-style usage of each answer",
    span=Span.REQUEST,
    undrafted=Undrafted.OMITTED,
    note="Accepted and rejected predicted tokens; verify steps are not counted.",
)


def _holds(found: Object) -> bool:
    return _ACCEPTED in found and _REJECTED in found


def _said(place: Place) -> Said | None:
    accepted, rejected = place.count(_ACCEPTED), place.count(_REJECTED)
    if accepted is None or rejected is None or not accepted + rejected:
        return None
    return Said(Drafting(None, None, accepted + rejected, accepted))


def _finish(run: Run, _: Context) -> Run:
    return unstepped.told(run)


def _looks(file: File) -> bool:
    return any(name.rpartition(".")[2] == _ACCEPTED for name in peek.names(file))


PRODUCERS = answers.producers(
    "openai-usage",
    "OpenAI-style servers",
    Dialect(_holds, _said, "zeros or nulls: nothing was predicted", usage=False),
    _looks,
    _SEMANTICS,
    last=True,
    finish=_finish,
)
