"""The one JSON of a bench: every setting, reading and raw latency, and the file in which it grows while it runs.

While a bench runs, its document stands in ``<out>.partial``: a line with everything but what is measured, then a line
for each reading. Whatever ends the bench, nothing that was measured is lost; when it ends by itself, the lines become
one document.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from specdash._version import VERSION
from specdash.formats.producers.specdash_bench import MARK, SHAPE
from specdash.live.endpoint import Endpoint
from specdash.live.prompts import Prompt
from specdash.schema import InputError

RECORDS = ("warmup", "requests", "counters")
"""What grows while a bench runs."""

NO_BASELINE = "No baseline was measured: a speed-up cannot be claimed."


@dataclass(frozen=True)
class Settings:
    """What a bench does, apart from where.

    Attributes:
        max_tokens: Output tokens a request may have.
        concurrency: Requests in flight, one pass over the prompts for each.
        temperature: Of sampling; 0 gives both arms the same text to write.
        warmup: Requests to each arm before each pass that do not count.
        interleaved: Whether the arms take turns (A B, B A, …) instead of one after the other.
        chat: Whether the prompts go to chat completions; else to completions.
        ignore_eos: Ask for all of ``max_tokens`` (vLLM, SGLang), so that lengths are equal.
        timeout_s: Seconds that a request may take.
        extra: Further fields of every request.
    """

    max_tokens: int = 256
    concurrency: tuple[int, ...] = (1,)
    temperature: float = 0.0
    warmup: int = 2
    interleaved: bool = True
    chat: bool = True
    ignore_eos: bool = False
    timeout_s: float = 300.0
    extra: dict[str, Any] = field(default_factory=dict)

    def body(self, model: str, prompt: Prompt) -> dict[str, Any]:
        """Return the request for a prompt."""
        asked: dict[str, Any] = {"model": model}
        asked |= {"messages": list(prompt.messages)} if self.chat else {"prompt": prompt.text}
        asked |= {"max_tokens": self.max_tokens, "temperature": self.temperature}
        asked |= {"stream": True, "stream_options": {"include_usage": True}}
        if self.ignore_eos:
            asked["ignore_eos"] = True
        return asked | self.extra


def begin(settings: Settings, endpoints: list[Endpoint], models: list[str], prompts: list[Prompt]) -> dict[str, Any]:
    """Return the document of a bench that has measured nothing yet."""
    arms = [{**asdict(at), "model": model} for at, model in zip(endpoints, models, strict=True)]
    return {
        MARK: SHAPE,
        "specdash": VERSION,
        "started": now(),
        "finished": None,
        "state": "running",
        "reason": None,
        "settings": asdict(settings) | {"concurrency": list(settings.concurrency)},
        "arms": arms,
        "prompts": [{"id": p.id, "dataset": p.dataset, "sha256": p.sha256} for p in prompts],
        "notes": [] if len(arms) > 1 else [NO_BASELINE],
        **{name: [] for name in RECORDS},
        "statistics": [],
    }


def now() -> str:
    """Return the time, ISO 8601, UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Journal:
    """The file in which a document grows.

    Args:
        out: Where the document goes in the end.
        document: As far as it is; changed by ``add``.

    Raises:
        OSError: It cannot be written.
    """

    def __init__(self, out: Path, document: dict[str, Any]) -> None:
        self.out, self.document = out, document
        self.path = partial(out)
        lines = [_line(_head(document))]
        lines += [_line({name: record}) for name in RECORDS for record in document[name]]
        fresh = self.path.with_name(self.path.name + ".new")
        fresh.write_text("".join(lines), encoding="ascii")
        fresh.replace(self.path)
        self._stream = self.path.open("a", encoding="ascii")

    def add(self, name: str, record: dict[str, Any]) -> None:
        """Add a reading to ``name``, one of RECORDS; it is in the file when this returns."""
        self.document[name].append(record)
        self._stream.write(_line({name: record}))
        self._stream.flush()

    def finish(self) -> None:
        """Write the document as a whole and remove the journal.

        Raises:
            OSError: It cannot be written; the journal is still there.
        """
        self._stream.close()
        fresh = self.out.with_name(self.out.name + ".new")
        with fresh.open("w", encoding="ascii") as stream:
            json.dump(self.document, stream, indent=1, allow_nan=False)
            stream.write("\n")
            stream.flush()
            os.fsync(stream.fileno())
        fresh.replace(self.out)
        self.path.unlink(missing_ok=True)


def partial(out: Path) -> Path:
    """Return where a document grows until it is whole."""
    return out.with_name(out.name + ".partial")


def _head(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in RECORDS}


def _line(content: dict[str, Any]) -> str:
    return json.dumps(content, allow_nan=False) + "\n"


def load(out: Path) -> dict[str, Any]:
    """Read a document, or the journal of one that never became whole.

    A last line that was cut off, as by a machine that lost power, is left out.

    Raises:
        InputError: There is neither, or it is no bench.
    """
    path = partial(out) if partial(out).exists() else out
    if not path.exists():
        raise InputError("no bench to resume", file=str(out), expected="the file of an earlier bench")
    try:
        text = path.read_text("utf-8")
        document = _of_journal(text) if path != out else json.loads(text)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or document.get(MARK) != SHAPE:
        raise InputError("not a bench of this specdash", file=str(path), expected=f"{MARK}: {SHAPE}")
    return document


def _of_journal(text: str) -> dict[str, Any]:
    head, *lines = text.splitlines()
    document = json.loads(head) | {name: [] for name in RECORDS}
    for nth, line in enumerate(lines):
        try:
            ((name, record),) = json.loads(line).items()
        except ValueError:
            if nth == len(lines) - 1 and not text.endswith("\n"):
                break
            raise
        document[name].append(record)
    return document
