"""HASS's answers: ``accept_length``, the draft tokens that every verify step accepted; the bonus token is not counted.

Its scripts add 1, and average the means of single questions. K stands nowhere.
source: HArmonizedSS/HASS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from specdash.formats import questions
from specdash.formats.base import File
from specdash.formats.producer import Context, Producer
from specdash.formats.questions import Answer, Turn
from specdash.schema import Bonus, Run, Semantics, Span

_SEMANTICS = Semantics(
    producer="HASS, answers",
    bonus=Bonus.OUT,
    span=Span.REQUEST,
    note="The mean that HASS prints is one of the means of questions, plus 1.",
)


def _turns(answer: Answer, k: int | None) -> list[Turn] | None:
    lists = _lists(answer)
    if lists is None:
        return None
    tokens, seconds = answer.counts("new_tokens") or [], answer.seconds("wall_time")
    turns = []
    for place, lengths in enumerate(lists):
        told = len(tokens) == len(lists), len(seconds) == len(lists)
        turns.append(
            Turn(
                answer.drafting(lengths, k, Bonus.OUT),
                tokens[place] if told[0] else None,
                seconds[place] if told[1] else None,
                questions.numbered(place, len(lists)),
            )
        )
    return turns


def _lists(answer: Answer) -> list[list[int]] | None:
    """Return the lengths by turn: a list a turn, or one list of all that ``idxs`` tells apart."""
    found = answer.choice.get("accept_length")
    if isinstance(found, list) and found and all(isinstance(turn, list) for turn in found):
        return [replace(answer, choice={"accept_length": turn}).counts("accept_length") or [] for turn in found]
    lengths = answer.counts("accept_length")
    if lengths is None:
        return None
    last = answer.counts("idxs")
    steps = questions.by_turn(answer, None if last is None else [idx + 1 for idx in last], len(lengths))
    lists, start = [], 0
    for count in steps or [len(lengths)]:
        lists.append(lengths[start : start + count])
        start += count
    return lists


def _read(files: Sequence[File], context: Context) -> list[Run]:
    return questions.read_without_k(files, context, _turns)


PRODUCERS = (
    Producer(
        key="hass-answers",
        tool="HASS",
        what="answers with accept_length",
        looks=lambda file: questions.looks(file, "accept_length"),
        read=_read,
        semantics=_SEMANTICS,
    ),
)
