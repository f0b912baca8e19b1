"""SGLang's log of requests (``--log-requests``): its "Finish: obj=…, out={…}" lines, each with an answer's meta_info.

They are Python as ``repr`` writes it, not JSON, and long texts and lists in them are cut; the numbers of ``meta_info``
mean what they do in answers. Where a log has such lines, its "Decode batch" lines, windows without counts, are not
needed. Checks of the server's health are no requests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from specdash.formats import answers, jsonlines, peek
from specdash.formats.answers import Object
from specdash.formats.base import File
from specdash.formats.producer import Context, Producer
from specdash.formats.producers import sglang_answers
from specdash.schema import Run

_MARK, _META = b"Finish: obj=", b"'meta_info': {"
_LINE = re.compile(rb"Finish: obj=.*'(?:" + "|".join(sglang_answers.STEPS).encode() + rb")': \d")
_FIELD = re.compile(
    rb"'(id|completion_tokens|(?:spec|num|verify|accept)_\w{1,60})': "
    rb"(?:'([^'\\\n]{0,200})'|\[([\d, ]*)\]|(\d{1,18})(?![\d.e])|(\d+\.\d*(?:e[+-]?\d+)?))"
)
_HEALTH = "HEALTH_CHECK"

_SEMANTICS = replace(sglang_answers.SEMANTICS, producer="SGLang, requests in the log")


def is_requests(file: File) -> bool:
    """Tell whether a file is a log whose lines say how requests were drafted."""
    return peek.is_log(file, _LINE)


def _objects(file: File, cut: Callable[[int], None]) -> Iterator[tuple[int, Object]]:
    """Yield the meta_info of every request that finished."""
    for number, raw in jsonlines.lines(file):
        if _MARK not in raw:
            continue
        if not raw.endswith(b"\n") and not raw.rstrip().endswith(b"}"):
            cut(number)
            return
        found = _fields(raw[raw.rfind(_META) :]) if _META in raw else {}
        if not str(found.get("id", "")).startswith(_HEALTH):
            yield number, {"meta_info": found}


def _fields(text: bytes) -> dict[str, Any]:
    """Return the texts, counts, lists of counts and ratios of a dictionary as Python writes it."""
    found: dict[str, Any] = {}
    for name, word, listed, count, ratio in _FIELD.findall(text):
        value: Any = word.decode("utf-8", "replace")
        if count:
            value = int(count)
        elif ratio:
            value = float(ratio)
        elif not word:
            value = [int(part) for part in listed.decode().replace(" ", "").split(",") if 0 < len(part) < 19]
        found[name.decode()] = value
    return found


def _read(files: Sequence[File], context: Context) -> list[Run]:
    run = answers.read(files, context, "", sglang_answers.DIALECT, _objects)
    return [sglang_answers.finish(run, context)]


PRODUCERS = (
    Producer(
        key="sglang-requests",
        tool="SGLang",
        what='server log ("Finish" lines of --log-requests)',
        looks=is_requests,
        read=_read,
        semantics=_SEMANTICS,
    ),
)
