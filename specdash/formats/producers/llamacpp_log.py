"""llama.cpp's server log: its requests, its statistics since the start, its steps of adaptive depth.

Lengths count the bonus token, rates by position are over all steps, position 0 is the first drafted token. A request's
steps are not printed: they follow from its accepted tokens and its rounded length where one number alone fits. A log
may hold several of these, each a run of its own; they tell of the same requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from specdash.formats import aggregate, llamacpp_lines, peek, rounded, unstepped
from specdash.formats.base import File
from specdash.formats.collect import Drafting, Responses, stepwise
from specdash.formats.llamacpp_lines import Request, Statistics, Step
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


@dataclass
class _Steps:
    """How many verify steps the requests had, where it does not follow: between which bounds."""

    fewest: int = 0
    most: int = 0
    accepted: int = 0
    bounded: bool = True

    def add(self, request: Request, k: int | None) -> int | None:
        """Return the steps of a request where one number alone fits what is printed."""
        found = _fitting(request, k)
        self.within(found, request.accepted)
        return found[0] if len(found) == 1 else None

    def within(self, steps: Sequence[int], accepted: int) -> None:
        """Take a request that had one of these numbers of steps; none is known where there are none."""
        self.bounded &= bool(steps)
        if steps:
            self.fewest, self.most = self.fewest + steps[0], self.most + steps[-1]
        self.accepted += accepted

    def told(self) -> str:
        """Return what the bounds make of τ, as a sentence."""
        if not self.bounded or not self.fewest:
            return ""
        low, high = (1 + self.accepted / steps for steps in (self.most, self.fewest))
        return f"by the rounded lengths of the requests τ lies from {low:.3f} to {high:.3f}"


def _fitting(request: Request, k: int | None) -> Sequence[int]:
    if not request.mean:
        return ()
    found: Sequence[int] = rounded.steps_within(request.accepted, request.mean, request.drafted)
    longest = k or len(request.rates)
    if longest:
        found = [steps for steps in found if steps * longest >= request.drafted]
    if request.rates:
        exact = [steps for steps in found if rounded.hits(request.rates, steps, request.accepted)]
        found = exact if len(exact) == 1 else found
    return found


class _Requests:
    """The requests of a log, and the steps of adaptive depth that were logged for them."""

    def __init__(self, context: Context, path: str) -> None:
        self.context = context
        self.responses = Responses(context.workspace, path)
        self.steps = _Steps()
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
            drafting = Drafting(stepwise(ordered), ordered=ordered)
            self.steps.within([len(ordered)], found.accepted)
        else:
            self.left += [(name, step) for step in logged]
            drafting = self._drafting(found)
        dataset, tokens = self.context.dataset, found.output_tokens
        self.responses.add(name, drafting, dataset=dataset, output_tokens=tokens, line=found.line)

    def _drafting(self, found: Request) -> Drafting:
        steps = self.steps.add(found, self.context.k)
        hits = rounded.hits(found.rates, steps, found.accepted) if steps and found.rates else None
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
        run = self.responses.run("", self.context.k)
        if run.sums is None or not run.sums["steps"].null_count():
            return run
        # Requests whose steps follow are no fair sample of all of them.
        sums = run.sums.with_columns(steps=pl.lit(None, pl.Int64))
        known = None if run.counts is None else run.counts.filter(pl.col("drafted").is_not_null())
        counts = known if known is not None and known.height else None
        return unstepped.told(replace(run, sums=sums, counts=counts), self.steps.told())


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
        positions = [rounded.hits(one.rates, one.steps, one.accepted) if one.rates else None for one in own]
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
    for name in dict.fromkeys(name for name, _ in found):
        own = [step for owner, step in found if owner == name]
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
