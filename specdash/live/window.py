"""A window of a server's counters: what it counted between a start and now, as a run like any other.

A window is a folder of scrapes named by their time. Of many scrapes in a row only the first and the last matter, and
those on both sides of a restart, so a window of any length stays small. The folder is an evaluation as it stands.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from specdash import ingest
from specdash.formats import aggregate, counting, scrapes
from specdash.formats.producer import Context
from specdash.formats.scrapes import Increase, Series
from specdash.live import servers
from specdash.schema import Evaluation, InputError, NothingToRead, Run
from specdash.store import Store


@dataclass(frozen=True)
class Scrape:
    """A scrape on disk; what formats know as a file.

    Attributes:
        at: Seconds since 1970 when it was taken.
        file: Where it lies.
        told: What it tells of its server.
    """

    at: float
    file: Path
    told: servers.Told

    @property
    def path(self) -> str:
        """Its name, for messages."""
        return self.file.name

    name = path

    def head(self, size: int = 65536) -> bytes:
        """Return its first bytes."""
        with self.file.open("rb") as stream:
            return stream.read(size)

    def local(self) -> Path:
        """Return where it lies."""
        return self.file

    @cached_property
    def text(self) -> str:
        """Its text."""
        return self.file.read_text(encoding="utf-8")

    @cached_property
    def values(self) -> dict[Series, float]:
        """Its samples of servers that are known.

        Raises:
            InputError: A line is no sample.
        """
        return scrapes.read(self, *(server.prefix for server in servers.SERVERS))


class Window:
    """Counters from a start on.

    Args:
        folder: Of the window; made, and empty.
        title: Of the evaluation it makes.
        where: Address or file that the scrapes come from.
        timed: Whether it is known when the scrapes were taken; else their times are but an order.
    """

    def __init__(self, folder: Path, title: str, where: str, *, timed: bool = True) -> None:
        folder.mkdir(parents=True)
        self.folder, self.title, self.where, self.timed = folder, title, where, timed
        self.scrapes: list[Scrape] = []
        self.taken = 0
        self._increase: Increase | None = None

    def add(self, text: str, at: float) -> None:
        """Take a scrape.

        Args:
            text: The scrape.
            at: Seconds since 1970; later than those before.

        Raises:
            InputError: It is of no server that is known, or of another one, or wrong. It is not taken then.
        """
        found = servers.told(text, self.where)
        if self.scrapes and found.server != self.told.server:
            before = self.told.server.name
            raise InputError(
                "answers as another server than before", file=self.where, found=found.server.name, expected=before
            )
        scrape = Scrape(at, self.folder / f"{at:017.6f}.prom", found)
        scrape.file.write_text(text, encoding="utf-8")
        try:
            restarted = bool(self.scrapes and _counted(self.scrapes[-1], scrape).resets)
        except InputError:
            scrape.file.unlink()
            raise
        if len(self.scrapes) > 1 and not restarted and not _counted(*self.scrapes[-2:]).resets:
            self.scrapes.pop().file.unlink()
        self.scrapes.append(scrape)
        self.taken += 1
        self._increase = None

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.scrapes[-1].at - self.scrapes[0].at if self.scrapes else 0.0

    @property
    def told(self) -> servers.Told:
        """What the last scrape tells of the server."""
        return self.scrapes[-1].told

    @property
    def increase(self) -> Increase:
        """How far the counters went up; of a single scrape since the server's start."""
        if self._increase is None:
            self._increase = _counted(*self.scrapes)
        return self._increase

    @property
    def drafted(self) -> tuple[int, int] | None:
        """Steps that drafted and tokens accepted so far; None where the server does not count steps."""
        prefix, values = f"{self.told.server.prefix}spec_decode_", self.increase.values
        steps = scrapes.summed(values, f"{prefix}num_drafts_total", self.where)
        accepted = scrapes.summed(values, f"{prefix}num_accepted_tokens_total", self.where)
        return None if steps is None or accepted is None or len(self.scrapes) < 2 else (steps, accepted)

    @property
    def served(self) -> int | None:
        """Requests that were answered, None where that is not counted."""
        return servers.served(self.increase.values, self.told.server)

    def sentences(self, ours: int | None = None) -> list[str]:
        """Return what a reader has to know of the counters and of who moved them.

        Args:
            ours: Requests that we sent in the window, None when that is not known.
        """
        told, served, found = self.told, self.served, []
        if told.sentence:
            found.append(told.sentence + ".")
        if served is not None and ours is None:
            found.append(f"{served:,} requests were answered; whoever sent them, their drafts are in the counters.")
        elif served is not None and served != ours:
            others = (
                f"{served - ours:,} of {served:,} answered requests were not ours"
                if served > ours
                else (
                    f"{served:,} requests were answered, fewer than the {ours:,} of ours: some failed or are not over"
                )
            )
            found.append(f"{others}: the counters are not those of our requests alone.")
        elif ours is not None and served is None:
            found.append(
                f"{told.server.name} does not count the requests it answers: others' cannot be told from ours."
            )
        found += [f"{name} fell: the server was restarted in the window." for name in self.increase.resets[:1]]
        return found

    def document(self, ours: int | None = None) -> dict[str, Any]:
        """Return what is told of the server and the window, ready for JSON."""
        engines = self.engines()
        return {
            "name": self.told.server.name,
            "missing": list(self.told.missing),
            "seconds": self.seconds if self.timed else None,
            "readings": self.taken,
            "served": self.served,
            "ours": ours,
            "resets": list(self.increase.resets),
            "engines": [] if engines is None else engines.counters.drop("responses").to_dicts(),
        }

    def engines(self) -> Run | None:
        """Return the run with a row an engine that drafted, None where engines are not several or not told apart."""
        prefix = f"{self.told.server.prefix}spec_decode_"
        values = {series: value for series, value in self.increase.values.items() if series[0].startswith(prefix)}
        names = [name for name in scrapes.label_values(values, "engine") if name]
        if len(names) < 2:
            return None
        rows = [
            counting.counters(values, prefix, Context(f"engine {name}", self.folder), self.where, engine=name)
            for name in names
        ]
        drafted = [row for row in rows if row is not None]
        return aggregate.run("engines", drafted, None) if drafted else None

    def evaluation(self, workspace: Path) -> Evaluation:
        """Return the window as an evaluation.

        Raises:
            NothingToRead: Nothing was drafted in it.
            InputError: The counters contradict each other.
        """
        told = self.told
        if not told.speculates:
            raise NothingToRead(told.sentence or "does not speculate", file=self.where)
        self._describe()
        try:
            return ingest.read(self.folder, workspace)
        except NothingToRead as nothing:
            raise NothingToRead(self._idle(), file=self.where) from nothing

    def keep(self, store: Store) -> Evaluation:
        """Put the window into the library.

        Raises:
            NothingToRead: Nothing was drafted in it.
            InputError: The counters contradict each other.
        """
        with tempfile.TemporaryDirectory(prefix="specdash-") as workspace:
            self.evaluation(Path(workspace))  # says clearly why there is nothing to keep, and describes the window
        return ingest.add(self.folder, store)

    def _describe(self) -> None:
        first, last = (datetime.fromtimestamp(self.scrapes[i].at, UTC).isoformat(timespec="seconds") for i in (0, -1))
        if len(self.scrapes) > 1:
            since = f" from {first} to {last}" if self.timed else ", between the two"
        else:
            since = " since the server's start" + (f", read {first}" if self.timed else "")
        served = "" if self.served is None else f"; {self.served:,} requests were answered in it"
        about: dict[str, Any] = {"title": self.title, "note": f"Counters of {self.where}{since}{served}."}
        (self.folder / "evaluation.json").write_text(json.dumps(about), encoding="utf-8")

    def _idle(self) -> str:
        told, since = self.told, "in this window" if len(self.scrapes) > 1 else "since the server's start"
        unsure = " (llama.cpp exports its counters without speculation too)" if told.server.always else ""
        return f"{told.server.name} has counters of drafts and drafted nothing {since}{unsure}"


def _counted(*found: Scrape) -> Increase:
    """Return how far counters went up over scrapes, gauges left out: they fall without a restart."""
    return scrapes.increase([_counters(scrape.values) for scrape in found])


def _counters(values: Mapping[Series, float]) -> dict[Series, float]:
    return {series: value for series, value in values.items() if series[0].endswith(("_total", "_created"))}
