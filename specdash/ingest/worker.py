"""The child process of an ingest job: adds one file to the library and reports as JSON lines on stdout.

``{"stage": …, "done": …, "total": …}`` while it works, at the end ``{"id": …, "present": …}`` (present: the library
had it already) or ``{"error": …}``. It ends with its parent: when its standard input closes, nobody is left to hear
the result.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from specdash.ingest.add import add
from specdash.ingest.source import Limits
from specdash.schema import InputError
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
    """Add the file named by the first argument to the library in the folder named by the second."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    path, root = map(Path, sys.argv[1:])
    store = Store(root)
    try:
        before = {entry.id for entry in store.list()}
        evaluation = add(path, store, limits=Limits.from_env(os.environ), progress=_Reporter())
    except (InputError, OSError) as error:
        _say(error=str(error))
        sys.exit(1)
    _say(id=evaluation.id, present=evaluation.id in before)


if __name__ == "__main__":
    main()
