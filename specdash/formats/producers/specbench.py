"""Spec-Bench's model answers: ``choices[].accept_lengths``, the tokens that every verify step gave, bonus token in.

The lists of an answer's turns follow each other; ``decoding_steps`` tells them apart. K stands nowhere. Methods differ
in what they do with tokens behind the end. The baseline's lengths are all 1.
source: hemingkx/Spec-Bench, evaluation/eval.py and speed.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from specdash.formats import questions
from specdash.formats.base import File
from specdash.formats.producer import Context, Producer
from specdash.formats.questions import Answer, Turn
from specdash.schema import Bonus, End, Run, Semantics, Span

_SEMANTICS = Semantics(
    producer="Spec-Bench, model answers",
    bonus=Bonus.IN,
    span=Span.REQUEST,
    end=End.UNKNOWN,
    note="EAGLE, EAGLE-2 and PLD cut what lies behind the end of an answer, Medusa, Hydra, REST and EAGLE-3 do not.",
)


def _turns(answer: Answer, k: int | None) -> list[Turn] | None:
    lengths = answer.counts("accept_lengths")
    tokens = answer.counts("new_tokens") or []
    if lengths is None or (not lengths and sum(tokens)):
        return None
    counts = answer.counts("decoding_steps")
    steps = questions.by_turn(answer, counts, len(lengths)) or [len(lengths)]
    seconds = answer.seconds("wall_time")
    if len(steps) != max(len(tokens), len(seconds)):  # the turns cannot be told apart
        steps, tokens, known = [len(lengths)], [sum(tokens)] if tokens else [], [s for s in seconds if s is not None]
        seconds = [sum(known)] if len(known) == len(seconds) and known else []
    turns, start = [], 0
    for place, count in enumerate(steps):
        drafting = answer.drafting(lengths[start : start + count], k, Bonus.IN)
        start += count
        spent = seconds[place] if place < len(seconds) else None
        name = questions.numbered(place, len(steps))
        turns.append(Turn(drafting, tokens[place] if place < len(tokens) else None, spent, name))
    return turns


def _read(files: Sequence[File], context: Context) -> list[Run]:
    return questions.read_without_k(files, context, _turns)


PRODUCERS = (
    Producer(
        key="spec-bench",
        tool="Spec-Bench",
        what="model answers with accept_lengths",
        looks=lambda file: questions.looks(file, "accept_lengths"),
        read=_read,
        semantics=_SEMANTICS,
    ),
)
