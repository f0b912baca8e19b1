"""Ingest jobs: one upload at a time is read in a child process, whatever happens to the page that started it.

A child of its own can be cancelled at any moment, can be held to a memory limit, and takes nothing down with it. The
library stays whole because ``Store`` adds an evaluation with one rename.
"""

from __future__ import annotations

import hashlib
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from specdash.ingest.options import Options, Question, evaluation_id
from specdash.schema import InputError
from specdash.store import Store

DEFAULT_MEMORY = 4 * 10**9
"""Bytes of memory a job may use, when SPECDASH_MAX_MEMORY does not say."""

_POLL = 0.1  # seconds


class State(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    ASKING = "asking"
    CANCELLING = "cancelling"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def active(self) -> bool:
        """Whether the job still waits for its turn or works; one that asks waits for its user."""
        return self in (State.QUEUED, State.RUNNING, State.CANCELLING)


@dataclass(frozen=True)
class Job:
    """What is known of a job.

    Attributes:
        key: sha256 of the uploaded bytes: the same file twice is the same job.
        name: File name of the upload.
        size: Its bytes.
        state: Where it stands.
        stage: What it is doing.
        done: Units of the stage done (bytes, runs).
        total: Units of the stage in all, None when not known.
        evaluation: Id of the evaluation, once it is in the library.
        present: Whether the library had it already.
        error: Why it failed, or could not be read with the answer when it asks again.
        question: What the user is asked, when it asks.
        options: What he has said.
    """

    key: str
    name: str
    size: int
    state: State = State.QUEUED
    stage: str = ""
    done: int = 0
    total: int | None = None
    evaluation: str | None = None
    present: bool = False
    error: str | None = None
    question: Question | None = None
    options: Options = field(default_factory=Options)


class Jobs:
    """A queue of ingest jobs for one library.

    Args:
        store: The library.
        max_memory: Bytes of memory that a job may use.
    """

    def __init__(self, store: Store, max_memory: int = DEFAULT_MEMORY) -> None:
        self._store, self._max_memory = store, max_memory
        self._jobs: dict[str, Job] = {}
        self._inputs: dict[str, tuple[Path, ExitStack]] = {}
        self._lock = threading.Lock()
        self._waiting: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._work, name="ingest-jobs", daemon=True).start()

    def submit(self, name: str, chunks: Iterable[bytes]) -> Job:
        """Take an upload and queue it.

        Args:
            name: File name, as the browser gave it.
            chunks: Its bytes.

        Returns:
            The new job, or the one that reads or has read the same bytes.

        Raises:
            OSError: The upload cannot be written to the library's disk.
            InputError: The library is read-only.
        """
        self._store.check_writable()
        with ExitStack() as opened:
            path = opened.enter_context(self._store.workspace()) / _file_name(name)
            digest, size = hashlib.sha256(), 0
            with path.open("wb") as out:
                for chunk in chunks:
                    out.write(chunk)
                    digest.update(chunk)
                    size += len(chunk)
            key = digest.hexdigest()
            with self._lock:
                known = self._jobs.get(key)
                if known and (known.state.active or known.state is State.ASKING or self._is_kept(known)):
                    return known
                job = self._jobs[key] = Job(key, name, size)
                self._inputs[key] = (path, opened.pop_all())
        self._waiting.put(key)
        return job

    def _is_kept(self, job: Job) -> bool:
        return job.state is State.DONE and job.evaluation in self._store

    def answer(self, key: str, options: Options) -> None:
        """Go on with a job that asks, with what the user says; he is not asked again what can be done without."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None or job.state is not State.ASKING:
                return
            self._jobs[key] = replace(job, state=State.QUEUED, stage="", error=None, options=options)
        self._waiting.put(key)

    def all(self) -> list[Job]:
        """Return the jobs in the order they came."""
        with self._lock:
            return list(self._jobs.values())

    def cancel(self, key: str) -> None:
        """End a job that waits, asks or works; one that has ended, or stores what it has read just then, is done."""
        with self._lock:
            job = self._jobs.get(key)
            if job and job.state in (State.QUEUED, State.ASKING):
                self._jobs[key] = replace(job, state=State.CANCELLED)
                self._inputs.pop(key)[1].close()
            elif job and job.state is State.RUNNING:
                self._jobs[key] = replace(job, state=State.CANCELLING)

    def dismiss(self, key: str) -> None:
        """Forget a job that has ended."""
        with self._lock:
            if key in self._jobs and not self._jobs[key].state.active:
                del self._jobs[key]
                if key in self._inputs:  # of a job that asked
                    self._inputs.pop(key)[1].close()

    def _update(self, key: str, *, only: Callable[[Job], bool] = lambda _: True, **changes: Any) -> bool:
        """Change a job, if it is still known; tell whether it was changed."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None or not only(job):
                return False
            self._jobs[key] = replace(job, **changes)
            return True

    def _is_cancelled(self, key: str) -> bool:
        with self._lock:
            return self._jobs[key].state is State.CANCELLING

    def _work(self) -> None:
        while True:
            key = self._waiting.get()
            if not self._update(key, state=State.RUNNING, only=lambda job: job.state is State.QUEUED):
                continue
            path, opened = self._inputs[key]
            try:
                outcome = self._run(key, path)
            except Exception as error:  # The queue has to go on whatever one job runs into.
                outcome = {"state": State.FAILED, "error": str(error)}
            if outcome["state"] is not State.ASKING:  # then the input is read again with the answer
                del self._inputs[key]
                opened.close()
            # A killed child leaves its own workspace behind; giving out a new one sweeps it.
            with self._store.workspace():
                pass
            self._update(key, **outcome)

    def _run(self, key: str, path: Path) -> dict[str, Any]:
        """Run the child and return how the job ended."""
        with self._lock:
            options, question = self._jobs[key].options, self._jobs[key].question
        said = json.dumps(options.as_dict())
        command = [sys.executable, "-m", "specdash.ingest.worker", str(path), str(self._store.root), said]
        if question is None or not (question.columns or question.asks == "k"):
            command.append("ask")
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        heard: dict[str, Any] = {}
        errors: list[str] = []
        readers = [
            threading.Thread(target=self._listen, args=(key, child, heard), daemon=True),
            threading.Thread(target=lambda: errors.extend(child.stderr), daemon=True),
        ]
        for reader in readers:
            reader.start()
        killed = self._watch(key, child)
        for reader in readers:
            reader.join()
        child.stdin.close()
        id = heard.get("id", evaluation_id(key, options))
        if id in self._store:  # Also when the child was killed between storing it and saying so.
            return {"state": State.DONE, "evaluation": id, "present": heard.get("present", False)}
        if self._is_cancelled(key):
            return {"state": State.CANCELLED}
        if "question" in heard:
            return {"state": State.ASKING, "question": Question.told(heard["question"]), "error": None}
        if question is not None and "error" in heard:  # The answer may be what is wrong.
            return {"state": State.ASKING, "question": question, "error": heard["error"]}
        reason = heard.get("error") or killed or _last_words(errors, child.returncode)
        return {"state": State.FAILED, "error": reason}

    def _listen(self, key: str, child: subprocess.Popen, heard: dict[str, Any]) -> None:
        for line in child.stdout:
            message = json.loads(line)
            heard.update(message)
            if "stage" in message:
                self._update(key, **message)

    def _watch(self, key: str, child: subprocess.Popen) -> str | None:
        """Wait for the child; kill it when it is cancelled or too large, and return why."""
        while child.poll() is None:
            cancelled = self._is_cancelled(key)
            used = _memory(child.pid)
            if cancelled or used > self._max_memory:
                child.kill()
                child.wait()
                return (
                    None
                    if cancelled
                    else (f"reading it takes more than {self._max_memory / 1e9:g} GB of memory (SPECDASH_MAX_MEMORY)")
                )
            time.sleep(_POLL)
        return None


def _file_name(name: str) -> str:
    """Return a name under which an upload can lie on any disk, as near to its own as that allows.

    Its ending stays: it tells what a file claims to be.
    """
    plain = re.sub(r"[/\\\x00-\x1f\x7f\ud800-\udfff]", "_", name)
    ending = re.search(r"(\.[A-Za-z0-9]{1,10}){0,2}$", plain)[0]
    start = plain[: len(plain) - len(ending)].encode()[: 200 - len(ending)].decode(errors="ignore")
    return (start or "upload") + ending


def max_memory(env: dict[str, str]) -> int:
    """Return the memory limit of a job in bytes.

    Raises:
        InputError: SPECDASH_MAX_MEMORY is not a number of bytes.
    """
    text = env.get("SPECDASH_MAX_MEMORY", str(DEFAULT_MEMORY))
    if not text.isdecimal() or int(text) < 1:
        raise InputError("is not a usable limit", file="SPECDASH_MAX_MEMORY", found=text, expected="a number of bytes")
    return int(text)


def environment() -> dict[str, str]:
    """Return the environment of a child process, in which it finds this package as it is imported here."""
    root = str(Path(__file__).resolve().parents[2])
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))}


def _memory(pid: int) -> int:
    """Return the resident bytes of a process, 0 where the system does not say."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _last_words(errors: list[str], code: int) -> str:
    said = [line.strip() for line in errors if line.strip()]
    return f"the reading process ended unexpectedly (code {code})" + (f": {said[-1]}" if said else "")
