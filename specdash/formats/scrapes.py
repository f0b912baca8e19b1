"""Counters that a server exports for Prometheus, as text: one scrape, or the difference of two."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from specdash.formats.base import File, natural
from specdash.formats.collect import MOST
from specdash.formats.jsonlines import lines
from specdash.formats.producer import label_of
from specdash.schema import InputError

Labels = frozenset[tuple[str, str]]
Series = tuple[str, Labels]
"""Name of a sample, with its labels."""

_BEFORE = ("before", "start", "begin", "pre", "baseline0", "t0")
_AFTER = ("after", "end", "stop", "post", "final", "t1")
_WORD = re.compile(r"(?<![A-Za-z])({})(?![A-Za-z])".format("|".join(map(re.escape, _BEFORE + _AFTER))), re.IGNORECASE)


@dataclass(frozen=True)
class Interval:
    """What to count: everything since the server started, or what came between scrapes.

    Attributes:
        label: Name that the files share.
        scrapes: In order of time; a single one counts since the start.
    """

    label: str
    scrapes: tuple[File, ...]


@dataclass(frozen=True)
class Increase:
    """How far counters went up.

    Attributes:
        values: By series; the reset of a counter is not a decrease.
        resets: Names of the counters that were reset in between.
    """

    values: Mapping[Series, float]
    resets: tuple[str, ...]


def read(file: File, *prefixes: str) -> dict[Series, float]:
    """Return the samples of a scrape whose names begin with a prefix.

    Raises:
        InputError: A line that does is no sample.
    """
    from prometheus_client.parser import text_fd_to_metric_families

    wanted, found = tuple(prefix.encode() for prefix in prefixes), {}
    for number, raw in lines(file):
        if not raw.lstrip().startswith(wanted):
            continue
        try:
            text = raw.decode()
            samples = [sample for family in text_fd_to_metric_families(iter([text])) for sample in family.samples]
        except (ValueError, IndexError, KeyError, TypeError, AttributeError, UnicodeDecodeError):
            shown = raw[:80].decode("utf-8", "replace").strip()
            raise InputError("not a Prometheus sample", file=file.path, line=number, found=shown) from None
        for sample in samples:
            series = (sample.name, frozenset(sample.labels.items()))
            if series in found:
                raise InputError("a series stands there twice", file=file.path, line=number, found=text.strip()[:80])
            found[series] = sample.value
    return found


def intervals(files: Sequence[File]) -> list[Interval]:
    """Sort the scrapes of a folder into intervals: pairs by name (before, after), a timeline, and what is alone.

    Returns:
        The intervals, in natural order of their files.
    """
    pairs: dict[str, dict[str, File]] = {}
    alone = []
    for file in files:
        label = label_of(file)
        word = _WORD.search(label)
        if word is None:
            alone.append(file)
        else:
            side = "before" if word.group().lower() in _BEFORE else "after"
            pairs.setdefault(label[: word.start()] + "\0" + label[word.end() :], {})[side] = file
    made = []
    for key, sides in pairs.items():
        label = "_".join(filter(None, (part.strip("-_. ") for part in key.split("\0"))))
        if len(sides) == 2:
            made.append(Interval(label or "counters", (sides["before"], sides["after"])))
        else:
            alone += sides.values()
    times = [file for file in alone if re.fullmatch(r"\d{9,}(\.\d+)?", label_of(file))]
    if len(times) > 1:
        made.append(Interval("timeline", tuple(sorted(times, key=lambda file: natural(file.name)))))
        alone = [file for file in alone if file not in times]
    made += [Interval(label_of(file), (file,)) for file in alone]
    return sorted(made, key=lambda interval: natural(interval.scrapes[0].path))


def increase(scrapes: Sequence[Mapping[Series, float]]) -> Increase:
    """Return how far every counter went up from the first scrape to the last, over resets.

    A counter was reset where its value fell or the time of its creation (``…_created``) changed; from there on it
    counts from 0. What it counted between the scrape before the reset and the reset itself is lost.

    Args:
        scrapes: In order of time; of a single one every value counts.
    """
    if len(scrapes) == 1:
        return Increase(_counters(scrapes[0]), ())
    total: dict[Series, float] = {}
    resets: dict[str, None] = {}
    for before, after in pairwise(scrapes):
        for series, value in _counters(after).items():
            known = before.get(series, 0.0)
            if series in before and (value < known or _recreated(series, before, after)):
                resets[series[0]] = None
                known = 0.0
            total[series] = total.get(series, 0.0) + value - known
    return Increase(total, tuple(resets))


def _counters(scrape: Mapping[Series, float]) -> dict[Series, float]:
    """Leave out the times of creation, which share the beginning of their counters' names."""
    return {series: value for series, value in scrape.items() if not series[0].endswith("_created")}


def _recreated(series: Series, before: Mapping[Series, float], after: Mapping[Series, float]) -> bool:
    created = (series[0].removesuffix("_total") + "_created", series[1])
    return created in before and created in after and before[created] != after[created]


def summed(values: Mapping[Series, float], name: str, path: str, **labels: str) -> int | None:
    """Return a counter added up over all its series that have the given labels, None when there is none.

    Raises:
        InputError: It is no count.
    """
    found = [value for (n, own), value in values.items() if n == name and labels.items() <= dict(own).items()]
    if not found:
        return None
    value = sum(found)
    if not 0 <= value <= MOST or value != int(value):
        raise InputError(f"{name} is not a count", file=path, found=value, expected="a whole number from 0 to 2^53")
    return int(value)


def by_position(values: Mapping[Series, float], name: str, path: str, **labels: str) -> list[int] | None:
    """Return a counter by its label ``position``, a number as text; None when there is none.

    Raises:
        InputError: The positions are not 0, 1, 2, …, or a value is no count.
    """
    found = {dict(own).get("position", "") for n, own in values if n == name and labels.items() <= dict(own).items()}
    if not found:
        return None
    positions = sorted(found, key=natural)
    if positions != [str(i) for i in range(len(positions))]:
        shown = ", ".join(positions)
        raise InputError(f"positions of {name} are not 0, 1, 2, …", file=path, found=shown, expected="every position")
    return [summed(values, name, path, position=position, **labels) or 0 for position in positions]


def label_values(values: Mapping[Series, float], label: str) -> Iterator[str]:
    """Yield the values that a label has, in natural order, each once."""
    yield from sorted({dict(own).get(label, "") for _, own in values}, key=natural)
