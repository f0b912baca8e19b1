"""Answers to the questions of a bench in the shape that FastChat's judge gave the field: a line a question.

``{"question_id": …, "model_id": …, "choices": [{"index": …, "turns": […], "new_tokens": […], "wall_time": […], …}]}``.
Benches of drafters add how the drafting of each turn went. A turn is a response; the turns of a question are prompts of
their own. Whatever a bench adds, such files have the same faults: a last line that is cut off and padded, rows that
stand there twice, a bench run again into the same file, a baseline beside the drafters.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from specdash.formats import jsonlines, peek
from specdash.formats.base import File
from specdash.formats.collect import Drafting, Responses, number, stepwise, whole, wholes
from specdash.formats.producer import Context
from specdash.schema import MAX_DRAFTED, Bonus, InputError, Run, RunWarning

_MT_BENCH = {"writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities"}
_PLACES = ("model_answer", "model_answers")
_QUESTIONS = ("question_id", "article_idx")


def looks(file: File, field_name: str, *others: str) -> bool:
    """Tell whether a file holds answers whose choices have a field, and none of others; a long answer may stand before.

    Args:
        file: The file.
        field_name: The field.
        others: Fields that make the answers another tool's.
    """
    names = peek.names(file)
    if not any(name in names for name in _QUESTIONS) or "choices" not in names:
        return False
    unseen = "choices[].wall_time" not in names

    def has(name: str) -> bool:
        return f"choices[].{name}" in names or (unseen and peek.reaches(file, f'"{name}"'.encode()))

    return has(field_name) and not any(map(has, others))


@dataclass(frozen=True)
class Answer:
    """One choice of one answer, its fields as lists by turn.

    Attributes:
        file: Where it stands.
        line: Its line.
        question: Id of the question.
        copy: Number of the choice where the answer has several, else None.
        dataset: Its dataset.
        choice: Its fields.
    """

    file: File
    line: int
    question: str
    copy: int | None
    dataset: str
    choice: Mapping[str, Any]

    def counts(self, name: str) -> list[int] | None:
        """Return a field of counts, a single one as a list of one; None where there is none.

        Raises:
            InputError: It is something else.
        """
        found = self.choice.get(name)
        return wholes(found if isinstance(found, list) else None if found is None else [found], name, *self.at)

    def seconds(self, name: str) -> list[float | None]:
        """Return a field of times; [] where there is none."""
        found = self.choice.get(name)
        values = found if isinstance(found, list) else [] if found is None else [found]
        return [number(value, name, *self.at) for value in values]

    def drafting(self, lengths: Sequence[int], k: int | None, bonus: Bonus) -> Drafting:
        """Return the drafting of a turn whose steps are listed.

        Args:
            lengths: A length a step.
            k: Drafted tokens of every step, None when not known.
            bonus: Whether the lengths count the bonus token.

        Raises:
            InputError: A length cannot be.
        """
        more = 1 if bonus is Bonus.IN else 0
        most = MAX_DRAFTED if k is None else k
        wrong = [length for length in lengths if not more <= length <= most + more]
        if wrong:
            why = f"{most} drafted" + (" and the bonus token" if more else "")
            raise self.wrong("an accepted length cannot be", wrong[0], f"{more} to {most + more}: {why}")
        steps = [(k, length - more) for length in lengths]
        ordered = None if k is None else [(k, length - more) for length in lengths]
        drafted = None if k is None else k * len(steps)
        return Drafting(stepwise(steps), len(steps), drafted, sum(accepted for _, accepted in steps), ordered)

    @property
    def at(self) -> tuple[str, int]:
        """Path and line, for messages."""
        return self.file.path, self.line

    def wrong(self, problem: str, found: Any, expected: str) -> InputError:
        """Return the error of this answer."""
        return InputError(problem, file=self.file.path, line=self.line, found=found, expected=expected)


@dataclass(frozen=True)
class Turn:
    """How a turn of an answer went.

    Attributes:
        drafting: Its drafting.
        tokens: Its output tokens, None where they are not said.
        seconds: How long it took, None where that is not said.
        name: Of the turn: "" for an answer of one turn.
    """

    drafting: Drafting
    tokens: int | None
    seconds: float | None
    name: str = ""


@dataclass
class _Model:
    """The answers of one model.

    Attributes:
        folder: Of its ordered steps.
        responses: Its turns.
        plain: The same turns as times alone, for a model that turns out to be a baseline.
        drafts: Whether any step gave more than one token.
        questions: How often each choice of a question was answered.
    """

    folder: Path
    responses: Responses
    plain: Responses
    drafts: bool = False
    questions: Counter[tuple[str, str, int | None]] = field(default_factory=Counter)

    def add(self, answer: Answer, turns: Sequence[Turn]) -> None:
        """Take in an answer."""
        again = self.questions[answer.dataset, answer.question, answer.copy]
        self.questions[answer.dataset, answer.question, answer.copy] += 1
        for turn in turns:
            prompt = answer.question + turn.name
            parts = [answer.question, "" if answer.copy is None else f"choice {answer.copy}", turn.name.strip()]
            request = " ".join(filter(None, parts)) + (f" again {again}" if again else "")
            told = {"prompt": prompt, "copy": answer.copy if not again else None, "output_tokens": turn.tokens}
            self.responses.add(request, turn.drafting, dataset=answer.dataset, line=answer.line, **told)
            self.drafts |= bool(turn.drafting.accepted)
            if turn.seconds is not None:
                for responses, logged in ((self.responses, True), (self.plain, False)):
                    responses.time(answer.dataset, logged=logged, e2e_s=turn.seconds, **told)

    def run(self, label: str, model: str, context: Context) -> Run:
        """Return its run; a baseline's is one of times alone, as its steps drafted nothing."""
        again = sum(count - 1 for count in self.questions.values())
        said = []
        if again:
            message = f"{again:,} answers are to questions that were answered before: they count as further copies"
            said.append(RunWarning("answered_again", message))
        config = {"model": model} if model else {}
        if not self.drafts:
            message = "a baseline: no step gave more than one token, so there is nothing on acceptance in it"
            self.plain.warnings += [*said, RunWarning("baseline", message)]
            return self.plain.run(label, None, config)
        self.responses.warnings += said
        return self.responses.run(label, context.k, config, k_listed=False)


def read(
    files: Sequence[File],
    context: Context,
    turns: Callable[[Answer], list[Turn] | None],
    *,
    k: Callable[[], list[RunWarning]] = lambda: [],
) -> list[Run]:
    """Read answers, a run a model.

    Args:
        files: Shards of one file.
        context: What the user says.
        turns: Returns the turns of an answer; None where it says nothing of its drafting.
        k: Called once something was drafted; returns what has to be told of K, or asks for it.

    Raises:
        InputError: A line is wrong.
        Unsaid: ``k`` asks.
    """
    models: dict[str, _Model] = {}
    said = _Told()
    for file in files:
        for model, answer in _answers(file, context, said):
            found = turns(answer)
            if found is None:
                said.silent += 1
                continue
            if model not in models:
                folder = context.workspace / f"model{len(models)}"
                folder.mkdir()
                models[model] = _Model(folder, Responses(folder, file.path), Responses(folder, file.path))
            models[model].add(answer, found)
    if not models:
        raise InputError("no answer says how its drafting went", file=files[0].path)
    warnings = said.warnings(files[0].path)
    if any(model.drafts for model in models.values()):
        warnings += k()
    runs = [found.run("" if len(models) == 1 else model, model, context) for model, found in models.items()]
    return [replace(run, warnings=(*run.warnings, *warnings)) for run in runs]


def read_without_k(
    files: Sequence[File], context: Context, turns: Callable[[Answer, int | None], list[Turn] | None]
) -> list[Run]:
    """Read answers in which K stands nowhere, a run a model.

    Args:
        files: Shards of one file.
        context: What the user says; K, if he does.
        turns: Returns the turns of an answer with that K; None where it says nothing of its drafting.

    Raises:
        InputError: A line is wrong.
        Unsaid: K is asked.
    """

    def unknown() -> list[RunWarning]:
        return context.without_k(files[0].path, "the rows do not say how many tokens a step drafted")

    return read(files, context, lambda answer: turns(answer, context.k), k=unknown)


@dataclass
class _Told:
    """What is told of rows that are not used."""

    twice: int = 0
    silent: int = 0
    cut: list[int] = field(default_factory=list)

    def warnings(self, path: str) -> list[RunWarning]:
        made = []
        if self.twice:
            message = f"{path}: {self.twice:,} rows stand there twice, to the letter; each counts once"
            made.append(RunWarning("rows_twice", message))
        if self.silent:
            message = f"{path}: {self.silent:,} answers say nothing of their steps and were left out"
            made.append(RunWarning("answers_without_steps", message))
        if self.cut:
            made.append(RunWarning("cut_off", f"{path}: line {self.cut[0]} is cut off and was left out"))
        return made


def _answers(file: File, context: Context, said: _Told) -> Iterator[tuple[str, Answer]]:
    """Yield the model and every choice of every answer that was not there before."""
    seen: set[bytes] = set()
    dataset = _bench(file) or context.dataset
    for line, found in jsonlines.objects(file, cut=said.cut.append):
        digest = hashlib.blake2b(
            repr(sorted(found.items(), key=str)).encode("utf-8", "replace"), digest_size=16
        ).digest()
        if digest in seen:
            said.twice += 1
            continue
        seen.add(digest)
        choices = found.get("choices")
        question = next((str(found[name]) for name in _QUESTIONS if found.get(name) is not None), None)
        if question is None or not isinstance(choices, list) or not all(isinstance(c, dict) for c in choices):
            shown = "fields " + ", ".join(map(str, found))
            raise InputError("no answer to a question", file=file.path, line=line, found=shown, expected="choices")
        category = found.get("category")
        for place, choice in enumerate(choices):
            copy = None if len(choices) == 1 else whole(choice.get("index", place), "index", file.path, line, 10**6)
            named = dataset if not isinstance(category, str) or not category else category
            named = "mt_bench" if named in _MT_BENCH else named
            yield str(found.get("model_id") or ""), Answer(file, line, question, copy, named, choice)


def _bench(file: File) -> str | None:
    """Return the folder of a bench: benches keep answers in a folder ``model_answer`` of it."""
    folders = PurePosixPath(file.path).parent
    return (folders.parent.name or None) if folders.name in _PLACES else None


def by_turn(answer: Answer, steps: Sequence[int] | None, total: int) -> list[int] | None:
    """Return how many of an answer's steps each turn has, None where that is not said.

    Args:
        answer: The answer.
        steps: As it says.
        total: As many steps as it lists.
    """
    if steps is None or sum(steps) != total:
        turns = answer.choice.get("turns")
        return [total] if isinstance(turns, list) and len(turns) == 1 else None
    return list(steps)


def numbered(place: int, turns: int) -> str:
    """Return the name of a turn."""
    return "" if turns == 1 else f" turn {place + 1}"
