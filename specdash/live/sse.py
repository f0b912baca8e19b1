"""Server-sent events out of bytes as they arrive, within limits.

Written out here because a latency is the time at which bytes arrived, not at which a line was complete, and because an
endless line must not fill the memory: what the usual parsers give knows neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_BYTES = 256 * 2**20
"""Bytes that one answer may have."""

_MOST_PENDING = 8 * 2**20
"""Bytes that may wait for the end of their event."""

_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
"""A carriage return that is the last byte so far may be half of a line end."""


class TooLarge(Exception):
    """An answer is larger than anything it could rightly be."""


class Events:
    """The data of the events of a stream.

    source: HTML Living Standard, 9.2.6 "Interpreting an event stream", data fields alone.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._received = 0

    def feed(self, received: bytes) -> Iterator[str]:
        """Take bytes and yield the data of every event that they complete.

        Raises:
            TooLarge: The answer, or one event of it, is.
        """
        self._received += len(received)
        pending = self._rest + received
        if self._received > MOST_BYTES or len(pending) > _MOST_PENDING:
            raise TooLarge
        *lines, self._rest = _LINE_END.split(pending)
        for line in lines:
            if not line:
                yield from self._event()
            elif line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
                if sum(map(len, self._data)) > _MOST_PENDING:
                    raise TooLarge

    def end(self) -> Iterator[str]:
        """Yield what the stream ended in the middle of; servers leave out the last blank line."""
        yield from self.feed(b"\n\n")

    def _event(self) -> Iterator[str]:
        if self._data:
            data, self._data = b"\n".join(self._data), []
            yield data.decode("utf-8", "replace")
