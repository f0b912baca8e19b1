"""Watching counters of servers: polls that go on whatever happens to the page that started them."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from specdash.live.window import Window
from specdash.schema import Evaluation, InputError, NothingToRead
from specdash.store import Store

MOST = 8
"""Servers that are watched at the same time."""

_POINTS = 1000  # readings that are told one by one

_LOST = 5  # scrapes in a row that may fail before a watch tells that it has lost its server


class Point(NamedTuple):
    """What was counted up to a moment.

    Attributes:
        at: Seconds since the start.
        steps: Steps that drafted, since the start of the watch.
        accepted: Tokens accepted in them.
    """

    at: float
    steps: int
    accepted: int


@dataclass(frozen=True)
class State:
    """Where a watch stands.

    Attributes:
        key: Of the watch.
        url: Address that is polled.
        seconds: Between two polls.
        taken: Scrapes taken.
        stopped: Whether it has ended.
        problem: Why the last poll failed, None when it did not.
    """

    key: str
    url: str
    seconds: float
    taken: int = 0
    stopped: bool = False
    problem: str | None = None


class Watch:
    """A server that is polled by a thread from its start mark to its stop mark.

    Args:
        url: Address of the counters.
        seconds: Between two polls.
        fetch: Returns the text at the address; raises InputError.
        folder: Where the readings lie; one of its own when None.
    """

    def __init__(self, url: str, seconds: float, fetch: Callable[[str], str], folder: Path | None = None) -> None:
        self.state = State(hashlib.sha256(url.encode()).hexdigest()[:12], url, seconds)
        self._fetch = fetch
        self._folder = folder or Path(tempfile.mkdtemp(prefix="specdash-watch-"))
        host = urlsplit(url).netloc or url
        self.window = Window(self._folder / host.replace(":", "_").replace("/", "_"), f"Counters of {host}", url)
        self.points: list[Point] = []
        self.lock = threading.RLock()
        self._end, self._read = threading.Event(), True
        self._thread = threading.Thread(target=self._poll, name=f"watch {host}", daemon=True)

    def start(self) -> None:
        """Take the start mark, and go on from there.

        Raises:
            InputError: The address gives no counters of a server that is known; nothing is watched then.
        """
        try:
            self._take()
        except InputError:
            self.discard()
            raise
        self._thread.start()

    def stop(self, *, read: bool = True) -> None:
        """Take the stop mark, with a last reading unless told otherwise; what was counted stays."""
        self._read = read
        self._end.set()
        if self._thread.is_alive():
            self._thread.join()

    def discard(self) -> None:
        """Stop, and forget what was counted."""
        self.stop(read=False)
        shutil.rmtree(self._folder, ignore_errors=True)

    def evaluation(self, workspace: Path) -> Evaluation:
        """Return what was counted so far as an evaluation.

        Raises:
            InputError: Nothing was drafted, or the counters contradict each other.
        """
        with self.lock:
            return self._between_marks().evaluation(workspace)

    def keep(self, store: Store) -> Evaluation:
        """Put what was counted so far into the library.

        Raises:
            InputError: Nothing was drafted, or the counters contradict each other.
        """
        with self.lock:
            return self._between_marks().keep(store)

    def _between_marks(self) -> Window:
        if self.window.taken < 2:
            raise NothingToRead("the start mark is read; the next reading makes a window", file=self.state.url)
        return self.window

    def _poll(self) -> None:
        failed = 0
        while True:
            last = self._end.wait(self.state.seconds)
            try:
                if self._read:
                    self._take()
                failed = 0
            except InputError as error:
                failed += 1
                if last or failed >= _LOST:
                    self.state = replace(self.state, problem=str(error))
            if last:
                self.state = replace(self.state, stopped=True)
                return

    def _take(self) -> None:
        text = self._fetch(self.state.url)
        with self.lock:
            self.window.add(text, time.time())
            self.state = replace(self.state, taken=self.window.taken, problem=None)
            if (counted := self.window.drafted) is not None:
                self.points.append(Point(self.window.seconds, *counted))
                if len(self.points) > _POINTS:  # the window of a day is told as well by every other reading
                    del self.points[1:-1:2]


class Watches:
    """The watches of a server of dashboards, one an address."""

    def __init__(self) -> None:
        self._watches: dict[str, Watch] = {}
        self._lock = threading.Lock()

    def all(self) -> list[Watch]:
        """Return the watches in the order they were started."""
        with self._lock:
            return list(self._watches.values())

    def start(self, url: str, seconds: float, fetch: Callable[[str], str]) -> Watch:
        """Watch an address; one that is watched already is not watched twice.

        Raises:
            InputError: It gives no counters, or too many are watched.
        """
        watch = Watch(url, seconds, fetch)
        with self._lock:
            known = self._watches.get(watch.state.key)
            if known and not known.state.stopped:
                watch.discard()
                return known
            if len(self._watches) >= MOST:
                watch.discard()
                raise InputError("too many servers are watched", file=url, found=MOST, expected="one that is dismissed")
        watch.start()
        with self._lock:
            if old := self._watches.pop(watch.state.key, None):
                old.discard()
            self._watches[watch.state.key] = watch
        return watch

    def dismiss(self, key: str) -> None:
        """End a watch and forget what it counted."""
        with self._lock:
            watch = self._watches.pop(key, None)
        if watch:
            watch.discard()
