"""What a file holds, told from its beginning: the names in its JSON, whatever is around it."""

from __future__ import annotations

import re
from functools import lru_cache

from specdash.formats.base import File

_TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\]]')
_SIZE = 65536


def text(file: File, size: int = _SIZE) -> str:
    """Return the beginning of a file as text; what is no UTF-8 is replaced."""
    return file.head(size)[:size].decode("utf-8", "replace").removeprefix("\ufeff")


def names(file: File) -> frozenset[str]:
    """Return the paths of all names in the JSON at the beginning of a file.

    ``{"a": {"b": [{"c": 1}]}}`` gives ``a``, ``a.b`` and ``a.b[].c``. Objects that follow each other (lines, events of
    a stream) add up; the end of the beginning may cut one.
    """
    return _names(file.head(_SIZE)[:_SIZE])


@lru_cache(maxsize=16)
def _names(head: bytes) -> frozenset[str]:
    if b"{" not in head:
        return frozenset()
    found: set[str] = set()
    path: list[str] = []  # one element a bracket that is open: how its members' paths begin
    name = ""
    for token in _TOKEN.finditer(head):
        mark = token.group()
        if mark in (b"{", b"["):
            base = path[-1] + name if path else ""
            path.append(base + ("[]" if mark == b"[" else "." if base else ""))
            name = ""
        elif mark in (b"}", b"]"):
            if path:
                path.pop()
            name = ""
        elif token.group(2) and path:
            name = token.group(1).decode("utf-8", "replace")
            found.add((path[-1] + name).removeprefix("[]."))
        else:
            name = ""
    return frozenset(found)


def starts(file: File, mark: bytes) -> int:
    """Return how many lines at the beginning of a file start with ``mark``, blank ones aside; at most 2 are counted.

    The second line may begin behind the beginning: it is looked for in the file.
    """
    count = 0
    with file.local().open("rb") as stream:
        for line in stream:
            stripped = line.removeprefix(b"\xef\xbb\xbf").strip()
            if stripped and not stripped.startswith(mark):
                return count
            count += bool(stripped)
            if count == 2:
                break
    return count


def reaches(file: File, *marks: bytes, size: int = 1 << 24) -> bool:
    """Tell whether one of the marks stands in the first ``size`` bytes of a file, which may be many."""
    with file.local().open("rb") as stream:
        tail = b""
        for _ in range(size >> 20):
            chunk = stream.read(1 << 20)
            if any(mark in tail + chunk for mark in marks):
                return True
            if not chunk:
                break
            tail = chunk[-64:]
    return False


def is_log(file: File, line: re.Pattern[bytes], size: int = 1 << 24) -> bool:
    """Tell whether a text that is no JSON has a line with a pattern in its first ``size`` bytes.

    A server says much before it says anything on drafts.
    """
    head = file.head(_SIZE).lstrip(b"\xef\xbb\xbf \t\r\n")
    return not head.startswith((b"{", b"[{", b"data:")) and has_line(file, line, size)


def has_line(file: File, line: re.Pattern[bytes], size: int = 1 << 24) -> bool:
    """Tell whether a text has a line with a pattern in its first ``size`` bytes."""
    if b"\0" in file.head(_SIZE):
        return False
    with file.local().open("rb") as stream:
        tail = b""
        for _ in range(size >> 20):
            chunk = stream.read(1 << 20)
            if line.search(tail + chunk):
                return True
            if not chunk:
                break
            tail = chunk[-1024:]
    return False
