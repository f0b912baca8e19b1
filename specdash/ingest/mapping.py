"""Requests to responses: which prompt and copy each logged request answers.

By request id where the samples carry it, else by position: ids run contiguously over a dataset's responses in the
order of its samples, so a gap in whole-number ids is a response that left no rows. Where gaps do not explain the
counts, and for other ids, the two sequences are aligned on their counts, responses without rows allowed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from statistics import median

import numpy as np
import polars as pl

from specdash.ingest import align
from specdash.ingest.align import Key
from specdash.schema import InputError, Mapping, RunWarning

ACCEPTED_SHARE = 0.95
"""Below this share of matching counts a mapping is refused: it would put answers under the wrong prompts."""

_MOST_OFFSETS = 64  # Responses that may be absent before the first id.
_SHOWN = 3


@dataclass(frozen=True)
class Log:
    """What the mapping knows of a log.

    Attributes:
        requests: Request ids in log order, as text.
        numbers: The same as whole numbers, where all of them are.
        sums: One row a request, in the same order: ``steps``, ``undrafted``, ``drafted``, ``accepted``.
    """

    requests: pl.Series
    numbers: np.ndarray | None
    sums: pl.DataFrame


@dataclass(frozen=True)
class Mapped:
    """A mapping that was tried.

    Attributes:
        sample: Shape (requests,), row of the samples for each request, -1 for none.
        samples: The samples in the order that the rows refer to.
        result: How well it fits.
        warnings: What a reader has to know.
        refused: It fits too badly to be used.
    """

    sample: np.ndarray
    samples: pl.DataFrame
    result: Mapping
    warnings: tuple[RunWarning, ...]
    refused: bool


def assign(log: Log, parts: list[pl.DataFrame], paths: list[str]) -> Mapped:
    """Assign every logged request to a response.

    Args:
        log: The log.
        parts: Samples (formats.samples.SAMPLES), one frame a file.
        paths: Path of each file, for messages.

    Raises:
        InputError: A request id stands on two lines of the samples, or they hold nothing to assign them by.
    """
    keys, columns = _log_keys(log, parts)
    identified = all(part["request"].null_count() == 0 for part in parts)
    if not identified and not columns:
        raise InputError(
            "the samples cannot be assigned: neither request ids nor counts stand on every line",
            file=", ".join(paths),
            expected="one of both on every line",
        )
    tried: list[np.ndarray] = []
    if identified:
        samples = pl.concat(_ordered_by_id(log, parts, paths))
        wanted = _sample_keys(samples, columns)
        tried = [_by_id(log, samples, paths)]
    if columns and (not tried or _share(tried[0], keys, wanted) < ACCEPTED_SHARE):
        samples = pl.concat(_ordered(parts, keys, columns))
        wanted = _sample_keys(samples, columns)
        tried = [_by_id(log, samples, paths)] if identified else []
        tried += _by_position(log, keys, wanted)
    best = max(tried, key=lambda sample: _share(sample, keys, wanted))
    if identified and _share(best, keys, wanted) < ACCEPTED_SHARE:
        best = tried[0]  # When nothing fits, what the ids say is what a reader can check.
    return _judged(log, best, samples, keys, wanted, columns)


def _log_keys(log: Log, parts: list[pl.DataFrame]) -> tuple[list[Key], list[str]]:
    """Return what is compared of each request, and the samples' columns it is compared with.

    Tools disagree on whether a step without a draft counts as a draft, so where the log has such steps the
    convention under which more of the samples are found in the log is taken.
    """
    samples = pl.concat(parts)
    columns = [c for c in ("drafts", "drafted", "accepted") if samples[c].null_count() == 0]
    steps = [log.sums["steps"]]
    if log.sums["undrafted"].sum():
        steps.append(log.sums["steps"] + log.sums["undrafted"])
    wanted = set(_sample_keys(samples, columns))
    conventions = []
    for drafts in steps:
        frame = log.sums.with_columns(drafts=drafts).select(columns)
        conventions.append(frame.rows() if columns else [()] * log.sums.height)
    return max(conventions, key=lambda keys: sum(key in wanted for key in keys)), columns


def _sample_keys(samples: pl.DataFrame, columns: list[str]) -> list[Key]:
    return samples.select(columns).rows() if columns else [()] * samples.height


def _share(sample: np.ndarray, keys: list[Key], wanted: list[Key]) -> float:
    return _matches(sample, keys, wanted) / max(1, len(keys))


def _matches(sample: np.ndarray, keys: list[Key], wanted: list[Key]) -> int:
    return sum(s >= 0 and wanted[s] == key for s, key in zip(sample.tolist(), keys, strict=True))


def _by_id(log: Log, samples: pl.DataFrame, paths: list[str]) -> np.ndarray:
    ids = samples["request"]
    if ids.n_unique() < ids.len():
        twice = ids.filter(ids.is_duplicated())[0]
        raise InputError(f"request {twice} stands on two lines", file=", ".join(paths), expected="a line a request")
    row_of = {request: row for row, request in enumerate(ids)}
    rows = [row_of.get(request, -1) for request in log.requests]
    if log.numbers is not None:
        by_number = {_number(request): row for request, row in row_of.items()}
        rows = [by_number.get(n, -1) if row < 0 else row for row, n in zip(rows, log.numbers.tolist(), strict=True)]
    return np.array(rows, dtype=np.int64)


def _ordered_by_id(log: Log, parts: list[pl.DataFrame], paths: list[str]) -> list[pl.DataFrame]:
    """Put the files in the order in which the log first names one of their requests."""
    if len(parts) == 1:
        return parts
    sample = _by_id(log, pl.concat(parts), paths)
    part_of = np.repeat(np.arange(len(parts)), [part.height for part in parts])
    seen = dict.fromkeys(part_of[sample[sample >= 0]].tolist()) | dict.fromkeys(range(len(parts)))
    return [parts[i] for i in seen]


def _number(request: str) -> int | None:
    return int(request) if re.fullmatch(r"-?[0-9]{1,30}", request) else None


def _ordered(parts: list[pl.DataFrame], keys: list[Key], columns: list[str]) -> list[pl.DataFrame]:
    """Put the files in the order in which the log runs through them.

    Each file votes with its runs of three lines, with shorter ones where it has none of them: where such a run stands
    once in the log, the distance of the two places is where the file starts. The median over a file's runs is robust
    against absent responses.
    """
    if len(parts) == 1:
        return parts
    known = {size: align.places(keys, size) for size in (3, 2, 1)}
    starts = []
    for part in parts:
        wanted, votes = _sample_keys(part, columns), []
        for size, places in known.items():
            votes = votes or [
                places[run][0] - i for i, run in enumerate(align.runs(wanted, size)) if len(places.get(run, ())) == 1
            ]
        starts.append(median(votes) if votes else float("inf"))
    return [parts[i] for i in np.argsort(starts, kind="stable")]


def _by_position(log: Log, keys: list[Key], wanted: list[Key]) -> list[np.ndarray]:
    """Return the mapping by gaps in the ids (whole numbers only), by alignment where gaps do not explain the counts.

    An alignment never matches fewer, a few it may match by chance: where gaps do for 95%, it has to halve what is left.
    """
    gaps = _by_gaps(log.numbers, keys, wanted) if log.numbers is not None and log.numbers.size else None
    if gaps is None:
        return [align.aligned(keys, wanted)]
    left = len(keys) - _matches(gaps, keys, wanted)
    if not left:
        return [gaps]
    alignment = align.aligned(keys, wanted)
    left_aligned = len(keys) - _matches(alignment, keys, wanted)
    by_chance = left <= (1 - ACCEPTED_SHARE) * len(keys) and 2 * left_aligned >= left
    return [gaps] if by_chance else [gaps, alignment]


def _by_gaps(numbers: np.ndarray, keys: list[Key], wanted: list[Key]) -> np.ndarray:
    """Take the distance of an id from the first as the line it belongs to; responses before the first may be absent."""
    place = numbers - numbers[0]
    spare = max(0, len(wanted) - int(place[-1]) - 1)
    shifted = [
        np.where(place + shift < len(wanted), place + shift, -1) for shift in range(min(spare, _MOST_OFFSETS) + 1)
    ]
    return max(shifted, key=lambda sample: _matches(sample, keys, wanted))


def _judged(
    log: Log,
    sample: np.ndarray,
    samples: pl.DataFrame,
    keys: list[Key],
    wanted: list[Key],
    columns: list[str],
) -> Mapped:
    matched, total = _matches(sample, keys, wanted), len(keys)
    absent = samples.height - int((sample >= 0).sum())
    result = Mapping(matched=matched, total=total, absent=absent)
    warnings, refused = [], matched < ACCEPTED_SHARE * total
    first = _first_mismatches(log, sample, keys, wanted, columns)
    if refused:
        warnings.append(
            RunWarning(
                "mapping_refused",
                f"requests could not be assigned to prompts: only {matched:,} of {total:,} match the samples; "
                f"the run is shown without prompts and datasets ({first})",
            )
        )
    elif matched < total:
        warnings.append(
            RunWarning(
                "mapping_incomplete",
                f"{total - matched:,} of {total:,} requests do not match their sample: {first}",
            )
        )
    if not columns:
        warnings.append(
            RunWarning("counts_unchecked", "the samples hold no counts: requests were assigned by id, unchecked")
        )
    if absent and not refused:
        warnings.append(RunWarning("absent_requests", _absent(sample, samples)))
    return Mapped(sample, samples, result, tuple(warnings), refused)


def _first_mismatches(log: Log, sample: np.ndarray, keys: list[Key], wanted: list[Key], columns: list[str]) -> str:
    shown = []
    for request, row, key in zip(log.requests, sample.tolist(), keys, strict=True):
        if row < 0:
            shown.append(f"request {request} has no sample")
        elif wanted[row] != key:
            says = ", ".join(
                f"{c} {a} in the log, {b} in the sample"
                for c, a, b in zip(columns, key, wanted[row], strict=True)
                if a != b
            )
            shown.append(f"request {request}: {says}")
        if len(shown) == _SHOWN:
            break
    return "; ".join(shown)


def _absent(sample: np.ndarray, samples: pl.DataFrame) -> str:
    present = np.zeros(samples.height, dtype=bool)
    present[sample[sample >= 0]] = True
    absent = samples.filter(~present)
    by_dataset = absent.group_by("dataset", maintain_order=True).len().rows()
    listed = ", ".join(f"{count:,} of {dataset}" for dataset, count in by_dataset[:5]) + (
        ", …" if len(by_dataset) > 5 else ""
    )
    empty = (absent["drafts"] == 0).sum() or 0
    return f"{absent.height:,} responses have no rows in the log ({listed}" + (
        f"; {empty:,} drafted nothing)" if empty else ")"
    )
