"""EAGLE's and Medusa's answers: ``idxs``, the number of the last verify step of each turn, counted from 0.

So a turn has one step more than its ``idxs`` says; to forget that raises τ by one or two percent. The steps gave
``new_tokens`` in all, bonus tokens among them. EAGLE's measurement of alpha adds how often a draft token at each depth
was tried (``alpha_num``) and accepted (``alpha``) once all before it were: conditional rates, the first depth is 0.
source: SafeAILab/EAGLE, FasterDecoding/Medusa.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from specdash.formats import aggregate, questions
from specdash.formats.base import File
from specdash.formats.collect import Drafting, numbers
from specdash.formats.producer import Context, Producer
from specdash.formats.questions import Answer, Turn
from specdash.schema import MAX_DRAFTED, Bonus, End, InputError, PerPosition, Run, Semantics, Span

_SEMANTICS = Semantics(
    producer="EAGLE or Medusa, answers",
    bonus=Bonus.IN,
    span=Span.REQUEST,
    end=End.TOKENS,
    note="A length is output tokens over steps; steps are idxs + 1.",
)

_ALPHA = replace(
    _SEMANTICS,
    producer="EAGLE, alpha by depth",
    position_base=0,
    per_position=PerPosition.CONDITIONAL,
    span=Span.RUN,
    note="alpha over alpha_num: of the tries at a depth, those accepted. How many tries a step makes is not said.",
)


def _turns(answer: Answer) -> list[Turn] | None:
    last, tokens = answer.counts("idxs"), answer.counts("new_tokens")
    if last is None or tokens is None:
        return None
    if len(last) != len(tokens):
        raise answer.wrong("idxs and new_tokens are not of one length", f"{len(last)} and {len(tokens)}", "a turn each")
    seconds = answer.seconds("wall_time")
    turns = []
    for place, (idx, count) in enumerate(zip(last, tokens, strict=True)):
        steps = idx + 1 if count else 0
        if count < steps:
            raise answer.wrong("fewer tokens than steps", f"{count} tokens in {steps} steps", "a token a step at least")
        spent = seconds[place] if place < len(seconds) else None
        drafting = Drafting(None, steps, None, count - steps)
        turns.append(Turn(drafting, count, spent, questions.numbered(place, len(last))))
    return turns


@dataclass
class _Alpha:
    """Tries and successes by depth, by dataset; successes may be sums of probabilities."""

    tried: dict[str, list[float]] = field(default_factory=dict)
    accepted: dict[str, list[float]] = field(default_factory=dict)

    def add(self, answer: Answer) -> None:
        """Add those of an answer, a list in all or one a turn."""
        for name, sums in (("alpha_num", self.tried), ("alpha", self.accepted)):
            found = answer.choice.get(name)
            nested = isinstance(found, list) and found and all(isinstance(turn, list) for turn in found)
            for turn in found if nested else [found]:
                values = numbers(turn, name, *answer.at) or []
                if len(values) > MAX_DRAFTED or min(values, default=0) < 0:
                    raise answer.wrong(f"{name} cannot be", values, f"counts of up to {MAX_DRAFTED} depths")
                total = sums.setdefault(answer.dataset, [])
                total += [0] * (len(values) - len(total))
                for depth, value in enumerate(values):
                    total[depth] += value

    def run(self, label: str, path: str) -> Run:
        """Return the rates by depth."""
        rows = []
        for dataset, tried in self.tried.items():
            accepted = self.accepted[dataset]
            pairs = list(zip(accepted, tried, strict=False))
            if any(a > n for a, n in pairs) or len(accepted) != len(tried):
                found = f"{accepted} of {tried}"
                raise InputError(
                    f"{dataset}: alpha does not go with alpha_num", file=path, found=found, expected="no more"
                )
            rows.append({"dataset": dataset, "c": [a / n if n else None for a, n in pairs]})
        return replace(aggregate.rates_run(label, rows, None), semantics=_ALPHA)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    return questions.read(files, context, _turns)


def _read_alpha(files: Sequence[File], context: Context) -> list[Run]:
    alpha = _Alpha()

    def turns(answer: Answer) -> list[Turn] | None:
        alpha.add(answer)
        return _turns(answer)

    runs = questions.read(files, context, turns)
    named = [replace(run, name=run.name or "answers") for run in runs]
    return [*named, alpha.run("alpha by depth", files[0].path)]


PRODUCERS = (
    Producer(
        key="eagle-answers",
        tool="EAGLE, Medusa",
        what="answers with idxs",
        looks=lambda file: questions.looks(file, "idxs", "accept_lengths", "accept_length", "alpha_num"),
        read=_read,
        semantics=_SEMANTICS,
    ),
    Producer(
        key="eagle-alpha",
        tool="EAGLE, Medusa",
        what="answers with alpha by depth",
        looks=lambda file: questions.looks(file, "alpha_num"),
        read=_read_alpha,
        semantics=_SEMANTICS,
    ),
)
