"""llama.cpp's server log: its requests, its statistics since the start, its steps of adaptive depth.

Lengths count the bonus token, rates by position are over all steps, position 0 is the first drafted token. The steps
of a request are not printed: they follow from its accepted tokens and its rounded length, as well as its decimals
allow. A log may hold several of these, each a run of its own; they tell of the same requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from specdash.formats import aggregate, llamacpp_lines, peek, recover
from specdash.formats.base import File
from specdash.formats.collect import Drafting, Responses, stepwise
from specdash.formats.llamacpp_lines import Request, Statistics, Step
from specdash.formats.llamacpp_steps import Steps, printed
from specdash.formats.producer import Context, Producer, label_of
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

_SEMANTICS = Semantics(
    producer="llama.cpp, server log",
    bonus=Bonus.IN,
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.REQUEST,
    end=End.RAW,
    undrafted=Undrafted.OMITTED,
)

_SELECTED = RunWarning(
    "selected_steps",
    "only steps that changed the depth of the drafts are in the log: they are no sample of all steps, and their "
    "acceptance length is not that of the server",
)


class _Requests:
    """The requests of a log, and the steps of adaptive depth that were logged for them."""

    def __init__(self, context: Context, path: str) -> None:
        self.context = context
        self.responses = Responses(context.workspace, path)
        self.steps = Steps()
        self.accepted = 0
        self.left: list[tuple[str, Step]] = []
        self._logged: dict[str, list[Step]] = {}

    def step(self, found: Step) -> None:
        """Take a step: it is of the request that its slot works on."""
        self._logged.setdefault(found.slot, []).append(found)

    def add(self, found: Request) -> None:
        """Take a request. Steps that add up to its counts are all of its steps."""
        name = found.name or f"line {found.line}"
        logged = self._logged.pop(found.slot, [])
        ordered = [(step.drafted, step.accepted) for step in logged]
        if ordered and tuple(map(sum, zip(*ordered, strict=True))) == (found.drafted, found.accepted):
            self.steps.exactly(len(ordered), found.drafted)
            drafting = Drafting(stepwise(ordered), ordered=ordered)
        else:
            self.left += [(name, step) for step in logged]
            drafting = self._drafting(found)
        self.accepted += found.accepted
        dataset, tokens = self.context.dataset, found.output_tokens
        self.responses.add(name, drafting, dataset=dataset, output_tokens=tokens, line=found.line)

    def _drafting(self, found: Request) -> Drafting:
        steps = self.steps.take(len(self.responses), found, self.context.k)
        hits = _hits(found.rates, steps, found.accepted) if steps else None
        if not steps or hits is None:
            return Drafting(None, steps, found.drafted, found.accepted)
        k = len(hits) if found.drafted == len(hits) * steps else None
        shares = (above - below for above, below in zip([steps, *hits], [*hits, 0], strict=True))
        return Drafting({(k, j): n for j, n in enumerate(shares) if n}, steps, found.drafted, found.accepted)

    def run(self) -> Run | None:
        """Return the run of the requests, None when there are none."""
        self.left += [(f"seq {slot}", step) for slot, logged in self._logged.items() for step in logged]
        if not len(self.responses):
            return None
        return self.steps.settled(self.responses.run("", self.context.k), self.accepted)


def _hits(rates: Sequence[str], steps: int, accepted: int) -> list[int] | None:
    """Return the steps that accepted each position, None where the rates do not tell them exactly."""
    found = recover.hits(*printed(rates), steps, accepted) if rates else None
    return None if found is None or found.doubt else list(found.counts)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    requests, label = _Requests(context, files[0].path), label_of(files[0])
    statistics: dict[tuple[str, str], list[Statistics]] = {}
    for file in files:
        for found in llamacpp_lines.read(file):
            match found:
                case Request():
                    requests.add(found)
                case Step():
                    requests.step(found)
                case Statistics():
                    known = statistics.setdefault((found.server, found.implementation), [found])
                    if found.steps >= known[-1].steps and found.accepted >= known[-1].accepted:
                        known.pop()  # it counted on; else the server was restarted
                    known.append(found)
    runs = [
        requests.run(),
        _since_start([one for several in statistics.values() for one in several], f"{label} statistics", context),
        _depth_changes(requests.left, f"{label} depth changes", context, files[0].path),
    ]
    made = [run for run in runs if run is not None]
    if not made:
        raise NothingToRead("its statistics say that nothing was drafted", file=files[0].path)
    return made


def _since_start(found: Sequence[Statistics], label: str, context: Context) -> Run | None:
    """Return the run of the statistics, a row an implementation: the last line of every server counts."""
    rows = []
    for name in dict.fromkeys(one.implementation for one in found if one.steps):
        own = [one for one in found if one.implementation == name and one.steps]
        positions = [_hits(one.rates, one.steps, one.accepted) for one in own]
        known = [hits for hits in positions if hits is not None]
        same = len(known) == len(own) and len({len(hits) for hits in known}) == 1
        row = aggregate.row(
            name,
            f"line {own[-1].line}",
            steps=sum(one.steps for one in own),
            drafted=sum(one.drafted for one in own),
            accepted=sum(one.accepted for one in own),
            per_position=[sum(column) for column in zip(*known, strict=True)] if same else None,
            k=context.k,
        )
        rows.append(row)
    semantics = replace(_SEMANTICS, span=Span.SINCE_START)
    return aggregate.run(label, rows, context.k, semantics=semantics) if rows else None


def _depth_changes(found: Sequence[tuple[str, Step]], label: str, context: Context, path: str) -> Run | None:
    """Return the run of logged steps that are not all steps of a request."""
    if not found:
        return None
    workspace = context.workspace / "depth"
    workspace.mkdir()
    responses = Responses(workspace, path)
    by_request: dict[str, list[Step]] = {}
    for name, step in found:
        by_request.setdefault(name, []).append(step)
    for name, own in by_request.items():
        ordered = [(step.drafted, step.accepted) for step in own]
        responses.add(name, Drafting(stepwise(ordered), ordered=ordered), dataset=context.dataset, line=own[0].line)
    if all(step.changed for _, step in found):
        responses.warnings.append(_SELECTED)
    return responses.run(label, context.k)


PRODUCERS = (
    Producer(
        key="llamacpp-log",
        tool="llama.cpp",
        what="server log",
        looks=lambda file: peek.is_log(file, llamacpp_lines.ANY),
        read=_read,
        semantics=_SEMANTICS,
    ),
)
