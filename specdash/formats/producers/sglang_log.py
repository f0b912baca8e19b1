"""SGLang's server log: its "Decode batch" lines, each a window of decode iterations (40 by default).

``accept len`` counts the bonus token. A line says neither steps nor tokens, so windows cannot be pooled, and the mean
of their lengths is not the run's: shown are the lowest, the median, the highest and the last window, as printed.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from specdash.formats import aggregate, jsonlines, peek, sglang_rate
from specdash.formats.base import File, natural
from specdash.formats.producer import Context, Producer
from specdash.formats.producers.sglang_requests import is_requests
from specdash.schema import MAX_DRAFTED, Bonus, NothingToRead, Run, RunWarning, Semantics, Span

_LINE = re.compile(rb"Decode batch[.,].*?accept len: ([\d.]+)(?:, accept rate: ([\d.]+))?")
_RANK = re.compile(rb"\bDP(\d+)\b[^\]]*\] Decode batch")

_SEMANTICS = Semantics(
    producer="SGLang, Decode batch lines of the log",
    bonus=Bonus.IN,
    span=Span.WINDOWS,
    note="Windows of 40 decode iterations without counts: they cannot be pooled.",
)


@dataclass
class _Windows:
    """The windows of one rank, in order; texts are as printed."""

    lengths: array[float] = field(default_factory=lambda: array("d"))
    texts: dict[float, tuple[str, str]] = field(default_factory=dict)
    last: tuple[str, str] = ("", "")

    def add(self, length: str, rate: str) -> None:
        """Add a window."""
        self.lengths.append(float(length))
        self.last = self.texts[float(length)] = (length, rate)

    def chosen(self) -> dict[str, tuple[str, str]]:
        """Return the windows that stand for all of them, by what they are."""
        ordered = sorted(self.lengths)
        # An even number of windows has two in the middle: the lower one was printed, their mean was not.
        places = {"lowest": 0, "median": (len(ordered) - 1) // 2, "highest": -1}
        return {what: self.texts[ordered[place]] for what, place in places.items()} | {"last": self.last}


def _read(files: Sequence[File], context: Context) -> list[Run]:
    ranks: dict[str, _Windows] = {}
    for file in files:
        for _, raw in jsonlines.lines(file):
            found = _LINE.search(raw)
            if found is None:
                continue
            length, rate = found.group(1).decode(), (found.group(2) or b"").decode()
            if not _is_number(length) or not 1 <= float(length) <= MAX_DRAFTED + 1:
                continue  # 0: nothing was verified in this window
            rank = _RANK.search(raw)
            ranks.setdefault(rank.group(1).decode() if rank else "", _Windows()).add(length, rate)
    if not ranks:
        raise NothingToRead("no window of its log verified anything", file=files[0].path)
    rows, opaque = [], False
    for rank, windows in sorted(ranks.items(), key=lambda item: natural(item[0])):
        number = f"{len(windows.lengths):,} windows" + (f", DP {rank}" if len(ranks) > 1 else "")
        for what, (length, rate) in windows.chosen().items():
            meant = sglang_rate.meanings(length, rate, context.k) if _is_number(rate) else {}
            opaque |= bool(rate) and not meant
            row: dict[str, Any] = {"dataset": f"{what} of {number}", "tau": float(length)}
            rows.append(row | meant)
    pooled = RunWarning(
        "windows_not_pooled",
        "lines of the log say no counts: these are single windows, and no mean of them is the acceptance length of the "
        "run (meta_info of the answers tells it)",
    )
    return [aggregate.rates_run("", rows, context.k, [pooled, *([sglang_rate.OPAQUE] if opaque else [])])]


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d+(\.\d+)?", text) is not None


PRODUCERS = (
    Producer(
        key="sglang-log",
        tool="SGLang",
        what='server log ("Decode batch" lines)',
        looks=lambda file: peek.is_log(file, _LINE) and not is_requests(file),
        read=_read,
        semantics=_SEMANTICS,
    ),
)
