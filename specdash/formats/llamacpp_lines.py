"""The lines that llama.cpp's server logs on drafts, whatever its prefixes and verbosity.

* a line a request, in two wordings: ``draft acceptance rate = R ( A accepted / G generated)``, then ``draft acceptance
  = R ( A accepted / G generated), mean len = M`` (once ``mean acceptance length``, with the rates by position behind
  it, now in a line ``acc per pos`` of their own, which stands there with ``-lv 4``);
* ``statistics <implementation>: …``, since the start of the server;
* ``adaptive draft depth seq N: A -> B (n_draft=…, n_accepted=…)``, one verify step each.
source: llama.cpp, tools/server and common/speculative; pulls 24536 and 27210.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from specdash.formats.base import File, spelled
from specdash.formats.jsonlines import lines

_RATIO = rb"\d{1,9}\.\d{1,12}"
_RATES = rb"\((" + _RATIO + rb"(?:, " + _RATIO + rb")*)\)"
_PLACE = re.compile(rb"print_timing: id +(\d+) \| task (-?\d+) \|")
_EVAL = re.compile(rb"(?<!prompt) eval time = .*? / +(\d+) tokens")
_REQUEST = re.compile(
    rb"draft acceptance(?: rate)? = [\d.]+ \( *(\d+) accepted / +(\d+) generated\)"
    rb"(?:, mean (?:acceptance length|len) = *(\d{1,9}\.\d{1,12})(?:, acceptance rate per position = "
    + _RATES
    + rb")?)?"
)
_POSITIONS = re.compile(rb"acc per pos = " + _RATES)
_STATISTICS = re.compile(
    rb"statistics +(\S+): .*?#gen drafts = *(\d+), #acc drafts = *(\d+), #gen tokens = *(\d+), #acc tokens = *(\d+)"
    rb"(?:, #mean acc len = *[\d.]+, #acc rate/pos = " + _RATES + rb")?"
)
_CHILD = re.compile(rb"^\[(\d+)\] ")  # of a server that hands requests on to others
_DEPTH = re.compile(rb"adaptive draft depth seq (\d+): (\d+) -> (\d+) \(n_draft=(\d+), n_accepted=(\d+)")

ANY = re.compile(b"|".join(part.pattern for part in (_REQUEST, _STATISTICS, _DEPTH)))
"""What a line on drafts has in it."""


@dataclass
class Request:
    """What is said of one request.

    Attributes:
        line: Its line.
        name: Its slot and task, "" where they are not said.
        slot: Its slot, "" where it is not said.
        accepted: Sum of a_s.
        drafted: Sum of K_s.
        mean: 1 + accepted / steps as printed; "" where it is not.
        rates: Share of the steps that accepted each position, as printed.
        output_tokens: Tokens of the answer, None where they are not said.
    """

    line: int
    name: str
    slot: str
    accepted: int
    drafted: int
    mean: str
    rates: tuple[str, ...]
    output_tokens: int | None


@dataclass(frozen=True)
class Statistics:
    """What one implementation drafted since the start of the server.

    Attributes:
        line: Its line.
        server: Tells the servers of one log apart.
        implementation: Name of what drafts.
        steps: Drafts, each verified.
        hits: Drafts of which a token at least was accepted.
        drafted: Sum of K_s.
        accepted: Sum of a_s.
        rates: Share of the drafts that had each position accepted, as printed.
    """

    line: int
    server: str
    implementation: str
    steps: int
    hits: int
    drafted: int
    accepted: int
    rates: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """A verify step that was logged with the change of depth it made.

    Attributes:
        line: Its line.
        slot: Sequence, which is the slot of the request.
        drafted: K_s.
        accepted: a_s.
        changed: Whether the depth did change.
    """

    line: int
    slot: str
    drafted: int
    accepted: int
    changed: bool


@dataclass
class _Reader:
    tokens: dict[str, int] = field(default_factory=dict)
    pending: Request | None = None

    def take(self, line: int, raw: bytes) -> Iterator[Request | Statistics | Step]:
        """Yield what a line completes."""
        if positions := _POSITIONS.search(raw):
            if self.pending is not None:
                self.pending.rates = _texts(positions.group(1))
        elif request := _REQUEST.search(raw):
            yield from self.end()
            self.pending = self._request(line, raw, request)
        elif found := _EVAL.search(raw):
            self.tokens[_place(raw)] = spelled(found.group(1))
        elif found := _STATISTICS.search(raw):
            yield from self.end()
            child = _CHILD.match(raw)
            counts = map(spelled, found.groups()[1:5])
            server = child.group(1).decode() if child else ""
            yield Statistics(line, server, _text(found.group(1)), *counts, _texts(found.group(6)))
        elif found := _DEPTH.search(raw):
            slot, before, after, drafted, accepted = found.groups()
            yield Step(line, _text(slot), spelled(drafted), spelled(accepted), before != after)

    def end(self) -> Iterator[Request]:
        """Yield the request that still waits for its rates by position."""
        if self.pending is not None:
            yield self.pending
        self.pending = None

    def _request(self, line: int, raw: bytes, found: re.Match[bytes]) -> Request:
        accepted, drafted, mean, rates = found.groups()
        place = _PLACE.search(raw)
        slot, task = map(_text, place.groups()) if place else ("", "")
        name = f"slot {slot} task {task}" if place else ""
        tokens = self.tokens.pop(_place(raw), None)
        return Request(line, name, slot, spelled(accepted), spelled(drafted), _text(mean or b""), _texts(rates), tokens)


def read(file: File) -> Iterator[Request | Statistics | Step]:
    """Yield what a log says of drafts, in order."""
    reader = _Reader()
    for line, raw in lines(file):
        yield from reader.take(line, raw)
    yield from reader.end()


def _place(raw: bytes) -> str:
    """Return the slot and task of a line, "" where it says none: then lines of one request follow each other."""
    place = _PLACE.search(raw)
    return place.group().decode() if place else ""


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _texts(raw: bytes | None) -> tuple[str, ...]:
    return tuple(_text(raw).split(", ")) if raw else ()
