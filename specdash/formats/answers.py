"""Answers of servers as clients save them, whatever stands around the numbers.

An answer is one JSON document, an element of a list, a line of its own, or the events of a captured stream; a script
may have wrapped it into an object of its own, with the dataset and the prompt beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specdash.formats import jsonlines, peek
from specdash.formats.base import File
from specdash.formats.collect import Drafting, Responses, whole
from specdash.formats.producer import Context, Producer, Together
from specdash.formats.synonyms import SAMPLE, normalised
from specdash.schema import NothingToRead, Run, RunWarning, Semantics

Object = Mapping[str, Any]

Objects = Callable[[File, Callable[[int], None]], Iterator[tuple[int | None, Object]]]

_DEEPEST = 5  # objects around the numbers
_SHOWN = 3  # disagreeing ratios that are spelled out


@dataclass(frozen=True)
class Place:
    """Where an answer says something of its drafting.

    Attributes:
        numbers: The object in which the numbers stand.
        answer: The answer around it.
        tokens: Tokens of the answer by its ``usage``; None where it has none, or several choices share it.
        path: Of the file, for messages.
        line: Of the file, None in a document.
    """

    numbers: Object
    answer: Object
    tokens: int | None
    path: str
    line: int | None

    def count(self, *names: str) -> int | None:
        """Return the first count of these names that is there and not null.

        Raises:
            InputError: It is no count.
        """
        name = next((name for name in names if self.numbers.get(name) is not None), None)
        return None if name is None else whole(self.numbers[name], name, self.path, self.line)


@dataclass(frozen=True)
class Said:
    """What is said of the drafting of one answer, or of one of its choices.

    Attributes:
        drafting: The counts.
        k: Configured draft length, where it is said.
        output_tokens: Tokens of the answer where they stand beside the numbers; else its ``usage`` counts.
        ratios: How ratios stored there differ from those of the counts, a phrase each.
        warnings: What a reader of the run has to know because of this answer; equal ones are told once.
    """

    drafting: Drafting
    k: int | None = None
    output_tokens: int | None = None
    ratios: Sequence[str] = ()
    warnings: Sequence[RunWarning] = ()


@dataclass(frozen=True)
class Dialect:
    """How one server writes its numbers into answers.

    Attributes:
        holds: Tells that an object is one in which the numbers stand.
        said: Reads it; None where it reports nothing.
        nothing: Why an answer may report nothing, for people.
        usage: Whether ``usage`` of an answer counts the tokens that were emitted.
    """

    holds: Callable[[Object], bool]
    said: Callable[[Place], Said | None]
    nothing: str
    usage: bool = True


def producers(
    key: str,
    tool: str,
    dialect: Dialect,
    looks: Callable[[File], bool],
    semantics: Semantics,
    *,
    last: bool = False,
    finish: Callable[[Run, Context], Run] = lambda run, _: run,
) -> tuple[Producer, Producer]:
    """Return the formats of a server's answers: several in a file, and one a file, where a folder is one run.

    Args:
        key: Of the formats, which are ``<key>-answers`` and ``<key>-answer``.
        tool: The server, for people.
        dialect: How it writes its numbers.
        looks: Tells that a file holds answers of its.
        semantics: What the numbers mean.
        last: As of Producer.
        finish: Called with the run: for what follows only from all answers together.
    """

    def reader(label: str) -> Callable[[Sequence[File], Context], list[Run]]:
        return lambda files, context: [finish(read(files, context, label, dialect), context)]

    several = Producer(
        f"{key}-answers",
        tool,
        "answers, a line each or in a list",
        lambda file: looks(file) and _holds_several(file),
        reader(""),
        semantics,
        last=last,
    )
    single = Producer(
        f"{key}-answer",
        tool,
        "an answer, or a captured stream",
        lambda file: looks(file) and not _holds_several(file),
        reader("answers"),
        semantics,
        together=Together.FOLDER,
        last=last,
    )
    return several, single


def _holds_several(file: File) -> bool:
    head = file.head().lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(b"[") or (head.startswith(b"{") and peek.starts(file, b"{") > 1)


class _Collected:
    """The answers of one run, and what is told beside their numbers.

    Args:
        responses: Takes the responses.
        context: Of the reader.
        dialect: Of the answers.
    """

    def __init__(self, responses: Responses, context: Context, dialect: Dialect) -> None:
        self.responses, self.context, self.dialect = responses, context, dialect
        self.without = self.errors = 0
        self.cut: list[int] = []
        self.ratios: list[str] = []
        self.warnings: dict[RunWarning, None] = {}
        self.models: dict[str, None] = {}
        self.k = context.k

    def take(self, file: File, objects: Objects) -> None:
        """Take the answers of a file."""
        for line, around in objects(file, self.cut.append):
            places = list(_places(around, around, self.dialect.holds, _DEEPEST))
            if not places and "error" in around and not _is_answer(around):
                self.errors += 1
            elif not places:
                self.without += 1
            for number, (numbers, answer) in enumerate(places):
                name = _id(answer) or _id(around) or f"{file.name}:{line or len(self.responses) + 1}"
                alone = self.dialect.usage and len(places) == 1
                tokens = _usage(answer, file.path, line) if alone else None
                place = Place(numbers, answer, tokens, file.path, line)
                self._add(f"{name}#{number}" if len(places) > 1 else name, place, around)

    def _add(self, request: str, place: Place, around: Object) -> None:
        said = self.dialect.said(place)
        if said is None:
            self.without += 1
            return
        dataset, prompt = _labels(around)
        self.responses.add(
            request,
            said.drafting,
            dataset=dataset or self.context.dataset,
            prompt=prompt,
            output_tokens=place.tokens if said.output_tokens is None else said.output_tokens,
            line=place.line,
        )
        self.k = max((k for k in (self.k, said.k) if k is not None), default=None)
        self.models[str(place.answer.get("model") or around.get("model") or "")] = None
        self.ratios += [f"{request}: {text}" for text in said.ratios]
        self.warnings |= dict.fromkeys(said.warnings)

    def told(self, path: str) -> list[RunWarning]:
        """Return what is told as warnings."""
        made, answers = list(self.warnings), len(self.responses) + self.without
        if self.without:
            why = f"({self.dialect.nothing}): they are in no number"
            made.append(
                RunWarning(
                    "responses_without_metrics", f"{self.without:,} of {answers:,} answers report no drafting {why}"
                )
            )
        if self.errors:
            made.append(RunWarning("failed_requests", f"{self.errors:,} requests failed and are in no number"))
        if self.cut:
            made.append(RunWarning("cut_off", f"{path}: line {self.cut[0]} is cut off and was left out"))
        if self.ratios:
            more = f" and {len(self.ratios) - _SHOWN} more" if len(self.ratios) > _SHOWN else ""
            differ = "; ".join(self.ratios[:_SHOWN])
            made.append(RunWarning("ratio_disagrees", f"stored ratios differ from the counts: {differ}{more}"))
        return made


def read(files: Sequence[File], context: Context, label: str, dialect: Dialect, objects: Objects | None = None) -> Run:
    """Read the answers of files as one run.

    Args:
        files: The files.
        context: What the user says.
        label: Of the run.
        dialect: How the server writes its numbers.
        objects: Yields the answers of a file with their lines, and calls back with the line of one that is cut off;
            None where they are JSON.

    Raises:
        NothingToRead: None of them reports its drafting.
        InputError: One is wrong.
    """
    path = files[0].path
    responses = Responses(context.workspace, path)
    collected = _Collected(responses, context, dialect)
    for file in files:
        collected.take(file, objects or _objects)
    if not len(responses):
        found = f"{collected.without:,} answers without, {collected.errors:,} errors"
        raise NothingToRead("no answer reports its drafting", file=path, found=found, expected=dialect.nothing)
    responses.warnings += collected.told(path)
    models = ", ".join(filter(None, collected.models))
    return responses.run(label, collected.k, {"model": models} if models else {})


def _objects(file: File, cut: Callable[[int], None]) -> Iterator[tuple[int | None, Object]]:
    """Yield the objects of a file with their lines; the events of one streamed answer as one object."""
    found = jsonlines.records(file, cut=cut)
    return _streamed(found) if jsonlines.is_stream(file) else iter(found)


def _streamed(events: Iterable[tuple[int | None, Object]]) -> Iterator[tuple[int | None, Object]]:
    """Put the events of an answer together: what a later one says counts, unless it is null or empty.

    A new answer begins with another id, or behind an event that says ``stop``.
    """
    answer: dict[str, Any] = {}
    first: int | None = None
    for line, event in events:
        if answer and (answer.get("stop") is True or (_id(event) and _id(answer) != _id(event))):
            yield first, answer
            answer = {}
        first = first if answer else line
        answer |= {name: value for name, value in event.items() if value not in (None, [], {})}
    if answer:
        yield first, answer


def _places(
    found: Object, answer: Object, holds: Callable[[Object], bool], depth: int
) -> Iterator[tuple[Object, Object]]:
    """Yield every outermost object that holds the numbers, and the innermost answer around it."""
    if holds(found):
        yield found, answer
        return
    for value in found.values() if depth else ():
        if not isinstance(value, dict | list):
            continue
        for inner in value if isinstance(value, list) else (value,):
            if isinstance(inner, dict):
                yield from _places(inner, inner if _is_answer(inner) else answer, holds, depth - 1)


def _is_answer(found: Object) -> bool:
    return bool(found.keys() & {"choices", "meta_info", "usage", "generation_settings"})


def _id(found: Object) -> str:
    """Return the id of an answer, "" when it has none."""
    meta = found.get("meta_info")
    places = (found, meta if isinstance(meta, dict) else {})
    values = (place.get(name) for place in places for name in ("id", "request_id", "custom_id"))
    return next((str(value) for value in values if isinstance(value, str | int) and value != ""), "")


def _usage(answer: Object, path: str, line: int | None) -> int | None:
    """Return the tokens of an answer by its ``usage``; those of several choices are not told apart there."""
    usage, choices = answer.get("usage"), answer.get("choices")
    if not isinstance(usage, dict) or (isinstance(choices, list) and len(choices) > 1):
        return None
    return whole(usage.get("completion_tokens"), "completion_tokens", path, line)


def _labels(around: Object) -> tuple[str | None, str | None]:
    """Return the dataset and the prompt by what a script wrote around an answer; what a server wrote is no label."""
    if _is_answer(around):
        return None, None
    by_name = {normalised(name): value for name, value in around.items() if isinstance(value, str | int)}
    dataset, prompt = (next((by_name[n] for n in SAMPLE[c] if n in by_name), None) for c in ("dataset", "prompt"))
    if prompt is None and "response" in around:
        prompt = around.get("custom_id")
    return _text(dataset), _text(prompt)


def _text(value: Any) -> str | None:
    return None if value is None or value == "" else str(value)
