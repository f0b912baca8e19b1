"""The child process of an ingest job: adds one file to the library and reports as JSON lines on stdout.

``{"stage": …, "done": …, "total": …}`` while it works, at the end ``{"id": …, "present": …}`` (present: the library
had it already), ``{"question": …}`` (Question) or ``{"error": …}``. It ends with its parent: when its standard input
closes, nobody is left to hear the result.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from specdash.ingest.add import add
from specdash.ingest.options import Options, Question
from specdash.ingest.source import Limits
from specdash.schema import InputError, Unsaid
from specdash.store import Store

_INTERVAL = 0.1  # seconds between two reports of the same stage


def _say(**message: Any) -> None:
    print(json.dumps(message), flush=True)


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


class _Reporter:
    """Reports every new stage, and within one at most every _INTERVAL."""

    def __init__(self) -> None:
        self.stage, self.due = "", 0.0

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if stage != self.stage or now >= self.due:
            self.stage, self.due = stage, now + _INTERVAL
            _say(stage=stage, done=done, total=total)


def main() -> None:
    """Add a file to the library.

    Arguments: the file, the folder of the library, what the user says (Options as JSON), and "ask" where he is to be
    asked also what the reading can do without.
    """
    threading.Thread(target=_end_with_parent, daemon=True).start()
    path, root, said, *ask = sys.argv[1:]
    store, options = Store(Path(root)), Options.of(json.loads(said))
    limits = Limits.from_env(os.environ)
    try:
        before = {entry.id for entry in store.list()}
        evaluation = add(Path(path), store, options=options, limits=limits, progress=_Reporter(), ask=ask == ["ask"])
    except Unsaid as unsaid:
        _say(question=asdict(Question.of(unsaid)))
        sys.exit(1)
    except (InputError, OSError) as error:
        _say(error=str(error))
        sys.exit(1)
    _say(id=evaluation.id, present=evaluation.id in before)


if __name__ == "__main__":
    main()
