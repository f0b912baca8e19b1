"""Counters of drafts as several servers export them under the same names, each with its own prefix.

``<prefix>num_drafts_total`` (steps that drafted), ``num_draft_tokens_total``, ``num_accepted_tokens_total`` (bonus out)
and ``num_accepted_tokens_per_pos_total{position="0"}`` (0-based, over all steps), since the start of the server.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from specdash.formats import aggregate, scrapes
from specdash.formats.base import File, natural
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
            told = [*warnings, *engines(found.values, prefix, **own)]
            said = replace(semantics, span=span)
            made.append(aggregate.run(label, [row], context.k, told, config=config, semantics=said))
    if not made:
        raise NothingToRead("its counters say that nothing was drafted", file=", ".join(empty[:3]) or files[0].path)
    return made


def resets(names: Sequence[str], path: str) -> list[RunWarning]:
    """Return what is told of counters that were reset between scrapes."""
    if not names:
        return []
    message = f"{path}: the server was restarted between scrapes ({names[0]} fell): what it counted just before is lost"
    return [RunWarning("counter_reset", message)]


_PLACES = ("engine", "instance", "endpoint")
"""Labels that tell engines apart: of several servers each has an engine 0."""

_TOLD = 8  # engines that are told one by one


def engines(values: Mapping[Series, float], prefix: str, **labels: str) -> list[RunWarning]:
    """Return what is told of counters that several engines drafted for: what one of them alone would say.

    Args:
        values: Increase of the counters.
        prefix: Of their names.
        labels: Those that the counters have that are meant.
    """
    drafts, accepted = (_by_place(values, f"{prefix}{name}_total", labels) for name in _NEEDED)
    drafts = {place: drafts[place] for place in sorted(drafts, key=_in_order) if drafts[place]}
    if len(drafts) < 2:
        return []
    alone = [
        f"{1 + accepted.get(place, 0.0) / steps:.3f} of {name}"
        for place, (steps, name) in zip(drafts, zip(drafts.values(), _named(drafts), strict=True), strict=True)
    ]
    together = 1 + sum(accepted.values()) / sum(drafts.values())
    more = f" and {len(alone) - _TOLD} more" if len(alone) > _TOLD else ""
    message = f"{len(alone)} engines, added up: τ = {together:.3f}; alone {', '.join(alone[:_TOLD])}{more}"
    return [RunWarning("several_engines", message)]


_NEEDED = ("num_drafts", "num_accepted_tokens")
_Place = tuple[str, ...]


def _by_place(values: Mapping[Series, float], name: str, labels: Mapping[str, str]) -> dict[_Place, float]:
    """Return a counter by the values of ``_PLACES``, empty where a series has no such label."""
    found: dict[_Place, float] = {}
    for (of, own), value in values.items():
        known = dict(own)
        if of == name and labels.items() <= known.items():
            place = tuple(known.get(label, "") for label in _PLACES)
            found[place] = found.get(place, 0.0) + value
    return found


def _in_order(place: _Place) -> list[object]:
    return [natural(part) for part in place]


def _named(places: Iterable[_Place]) -> list[str]:
    """Return what places are called: by what differs between them."""
    by_label = list(zip(*places, strict=True))
    differing = [(label, of) for label, of in zip(_PLACES, by_label, strict=True) if len(set(of)) > 1]
    parts = [[f"engine {value}" if label == "engine" else value for value in of] for label, of in differing]
    return [" of ".join(filter(None, named)) for named in zip(*parts, strict=True)]


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
