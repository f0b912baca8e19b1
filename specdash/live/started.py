"""Benches that a dashboard starts: each a process of its own, whose clock nobody's clicks disturb.

They go on when the page is left or loaded anew. When they are cancelled, or their dashboard ends, they write down what
they have measured, in a folder that outlives both.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from specdash import ingest
from specdash.ingest.jobs import environment
from specdash.live import endpoint as endpoints
from specdash.live import prompts
from specdash.live.document import RECORDS, partial
from specdash.live.plan import BASELINE, SPEC
from specdash.live.policy import Policy, address
from specdash.report.exports import safe
from specdash.schema import Evaluation, InputError
from specdash.store import Store

_LONGEST = 300  # characters of a message


@dataclass(frozen=True)
class Asked:
    """What to measure.

    Attributes:
        spec: Address of the endpoint with speculation.
        baseline: Address of the one without; empty to measure the first alone.
        prompts: A prompt a line, or a JSON object a line.
        name: File name of the prompts: JSON objects where it ends in .jsonl; it names their dataset.
        count: How many of them.
        max_tokens: Output tokens a request may have.
        concurrency: Requests in flight, a pass over the prompts for each.
        again: Whether the baseline is measured twice.
    """

    spec: str
    baseline: str
    prompts: bytes
    name: str = "prompts.txt"
    count: int = 32
    max_tokens: int = 256
    concurrency: tuple[int, ...] = (1,)
    again: bool = False

    def check(self) -> None:
        """Let it pass where it can be measured, as far as that can be told without asking anybody.

        Raises:
            InputError: An address is none.
        """
        for name, given in ((SPEC, self.spec), (BASELINE, self.baseline)):
            if given or name == SPEC:
                Policy().check(address(endpoints.endpoint(name, given).base))


class Started:
    """A bench that runs, or has ended.

    Args:
        asked: What to measure.
        folder: Where its files go.

    Raises:
        InputError: It cannot be measured.
        OSError: Its files cannot be written.
    """

    def __init__(self, asked: Asked, folder: Path) -> None:
        asked.check()
        folder.mkdir(parents=True, exist_ok=True)
        stem = f"bench-{datetime.now():%Y%m%d-%H%M%S-%f}"
        self.asked, self.key, self.out = asked, stem, folder / f"{stem}.json"
        self._folder = tempfile.TemporaryDirectory(prefix="specdash-prompts-")
        self._file = Path(self._folder.name) / (safe(asked.name) or "prompts.txt")
        self._file.write_bytes(asked.prompts)
        self._held = len(prompts.read(self._file, asked.count))
        arms = 1 + (1 + asked.again) * bool(asked.baseline)
        self.total = self._held * arms * len(asked.concurrency)
        self.cancelled, self._said = False, list[str]()
        self._process = subprocess.Popen(
            self._command(),
            stdin=subprocess.PIPE,  # the bench ends when it closes
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _command(self) -> list[str]:
        asked = self.asked
        command = [sys.executable, "-m", "specdash", "bench", "--of-dashboard", "--spec", asked.spec]
        command += ["--baseline", asked.baseline] if asked.baseline else []
        command += ["--aa"] if asked.again and asked.baseline else []
        command += ["--prompts", str(self._file), "-n", str(self._held), "--max-tokens", str(asked.max_tokens)]
        return [*command, "--concurrency", ",".join(map(str, asked.concurrency)), "-o", str(self.out)]

    def _listen(self) -> None:
        for line in self._process.stderr or ():
            self._said.append(line.decode("utf-8", "replace").strip())
        self._process.wait()
        self._folder.cleanup()  # no prompt is kept

    @property
    def running(self) -> bool:
        """Whether it still measures."""
        return self._listener.is_alive()

    @property
    def done(self) -> int:
        """Requests that are measured."""
        return self._counted() if self.running else self._all_counted

    @cached_property
    def _all_counted(self) -> int:
        """Requests that were measured when it had ended."""
        return self._counted()

    def _counted(self) -> int:
        if self.out.exists():
            return len(json.loads(self.out.read_text("utf-8"))["requests"])
        journal, mark = partial(self.out), b'{"%s": ' % RECORDS[1].encode()
        if not journal.exists():
            return 0
        with journal.open("rb") as lines:
            return sum(line.startswith(mark) for line in lines)

    @property
    def problem(self) -> str | None:
        """Why it has measured nothing; None where it has, or still may."""
        if self.running or self.out.exists():
            return None
        if self.cancelled:
            return "It was cancelled before anything was measured."
        return (" ".join(self._said) or "it ended without a word")[-_LONGEST:].removeprefix("specdash: ")

    def cancel(self) -> None:
        """End it; what was measured is written down."""
        if self._process.poll() is None:
            self.cancelled = True
            self._process.send_signal(signal.SIGINT)

    def keep(self, store: Store) -> Evaluation:
        """Put what was measured into the library.

        Raises:
            InputError: Nothing was measured.
        """
        return ingest.add(self.out, store)


class Benches:
    """The benches of a server of dashboards: one at a time, as two would disturb each other's clock.

    Args:
        folder: Where their files go.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started: dict[str, Started] = {}
        self._lock = threading.Lock()

    def all(self) -> list[Started]:
        """Return the benches in the order they were started."""
        with self._lock:
            return list(self._started.values())

    def start(self, asked: Asked) -> Started:
        """Start a bench.

        Raises:
            InputError: It cannot be measured, or another one is running.
            OSError: Its files cannot be written.
        """
        with self._lock:
            if any(bench.running for bench in self._started.values()):
                raise InputError("another measurement is running", expected="one at a time")
            started = Started(asked, self.folder)
            self._started[started.key] = started
            return started

    def dismiss(self, key: str) -> None:
        """End a bench and show it no more; its file stays in the folder."""
        with self._lock:
            started = self._started.pop(key, None)
        if started:
            started.cancel()
