"""Counters of drafts as several servers export them under the same names, each with its own prefix.

``<prefix>num_drafts_total`` (steps that drafted), ``num_draft_tokens_total``, ``num_accepted_tokens_total`` (bonus out)
and ``num_accepted_tokens_per_pos_total{position="0"}`` (0-based, over all steps), since the start of the server.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from specdash.formats import aggregate, scrapes
from specdash.formats.base import File
from specdash.formats.producer import Context
from specdash.formats.scrapes import Series
from specdash.schema import NothingToRead, Run, RunWarning, Semantics, Span


def runs(
    files: Sequence[File], prefix: str, context: Context, semantics: Semantics, *, model_label: str = "model_name"
) -> list[Run]:
    """Read the scrapes of a folder.

    Args:
        files: Scrapes, in natural order.
        prefix: Of the counters' names, as ``vllm:spec_decode_``.
        context: Of the reader.
        semantics: Of a run since the start of the server.
        model_label: Label that tells models apart; over all others the counters are added up.

    Returns:
        A run an interval and a model.

    Raises:
        InputError: A sample is wrong.
        NothingToRead: Nothing was drafted in any interval.
    """
    made, empty = [], []
    for interval in scrapes.intervals(files):
        parsed = [scrapes.read(file, prefix) for file in interval.scrapes]
        found = scrapes.increase(parsed)
        path = interval.scrapes[-1].path
        several = len(interval.scrapes) > 1
        span = Span.DIFFERENCE if several else Span.SINCE_START
        warnings = resets(found.resets, path)
        models = list(scrapes.label_values(found.values, model_label))
        for model in models:
            own = {model_label: model} if model else {}
            row = counters(found.values, prefix, context, path, **own)
            if row is None:
                empty.append(path)
                continue
            label = f"{interval.label}/{model}" if len(models) > 1 else interval.label
            config = {"model": model} if model else {}
            said = replace(semantics, span=span)
            made.append(aggregate.run(label, [row], context.k, warnings, config=config, semantics=said))
    if not made:
        raise NothingToRead("its counters say that nothing was drafted", file=", ".join(empty[:3]) or files[0].path)
    return made


def resets(names: Sequence[str], path: str) -> list[RunWarning]:
    """Return what is told of counters that were reset between scrapes."""
    if not names:
        return []
    message = f"{path}: the server was restarted between scrapes ({names[0]} fell): what it counted just before is lost"
    return [RunWarning("counter_reset", message)]


def counters(
    values: Mapping[Series, float], prefix: str, context: Context, path: str, **labels: str
) -> dict[str, Any] | None:
    """Return the row of schema.COUNTERS that counters make, None when nothing was drafted.

    Raises:
        InputError: They contradict each other.
        NothingToRead: Accepted tokens are not among them.
    """

    def total(name: str) -> int | None:
        return scrapes.summed(values, f"{prefix}{name}_total", path, **labels)

    steps, drafted, accepted = map(total, ("num_drafts", "num_draft_tokens", "num_accepted_tokens"))
    if not steps and not drafted:
        return None
    if accepted is None:
        expected = f"{prefix}num_accepted_tokens_total"
        raise NothingToRead("the counters lack the accepted tokens", file=path, expected=expected)
    return aggregate.row(
        context.dataset,
        path,
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        per_position=scrapes.by_position(values, f"{prefix}num_accepted_tokens_per_pos_total", path, **labels),
        exposed=scrapes.by_position(values, f"{prefix}num_draft_tokens_per_pos_total", path, **labels),
        k=context.k,
    )


def holds(file: File, prefix: str, names: str = r"num_\w+_total") -> bool:
    """Tell whether a file is a scrape with such counters; they may stand behind hundreds of others.

    Args:
        file: The file.
        prefix: Of their names.
        names: What follows it, as a regular expression; "" for a prefix that is the whole name.
    """
    head = file.head(4096).lstrip()
    if not re.match(rb"#|[A-Za-z_:][\w:]*(\{[^}]*\})? [-+0-9.naNIief]+", head):
        return False
    start = re.compile(rb"^\s*" + re.escape(prefix.encode()) + names.encode() + rb"[{ ]", re.MULTILINE)
    with file.local().open("rb") as stream:
        return any(start.search(chunk) for chunk in iter(lambda: b"".join(stream.readlines(1 << 20)), b""))
