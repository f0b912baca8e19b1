"""The tables of an export, which come from outside: columns as declared, values that can be, tables that agree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from specdash.formats import stepload
from specdash.ingest import exported_parquet
from specdash.ingest.source import Limits, Member
from specdash.schema import MAX_DRAFTED, STEPS, InputError
from specdash.store import tables

_MOST = 2**53  # counts up to here are exact as a float too

_REQUIRED = {
    "responses": ("response", "request", "dataset"),
    "counts": ("response", "accepted", "steps"),
    "sums": ("response", "accepted"),
    "counters": ("dataset", "accepted"),
    "rates": ("dataset",),
    "latencies": ("dataset",),
}
"""Columns without nulls."""

_UNIQUE = {
    "responses": ("response",),
    "counts": ("response", "drafted", "accepted"),
    "sums": ("response",),
    "counters": ("dataset",),
    "rates": ("dataset",),
}
"""Columns that no two rows have the same values in."""


@dataclass(frozen=True)
class _Rule:
    """What must hold in every row; a null where nothing is known is no fault.

    Attributes:
        broken: True for a row that breaks it.
        problem: What is wrong then.
        columns: Columns to show.
        expected: What should stand there.
    """

    broken: pl.Expr
    problem: str
    columns: tuple[str, ...]
    expected: str


def _outside(column: str, least: int, most: int) -> _Rule:
    broken = ~pl.col(column).is_between(least, most)
    return _Rule(broken, f"{column} is impossible", (column,), f"a whole number from {least} to {most}")


def _positions() -> tuple[_Rule, ...]:
    """Return what must hold for counts by position."""
    hits, steps, accepted = pl.col("per_position"), pl.col("steps"), pl.col("accepted")
    shown = ("dataset", "per_position")
    return (
        _Rule(
            ~hits.list.len().is_between(1, MAX_DRAFTED) | hits.list.eval(pl.element().is_null()).list.any(),
            "per_position is no list of counts",
            shown,
            f"1 to {MAX_DRAFTED} counts",
        ),
        _Rule(pl.col("exposed").list.min() < 0, "exposed has a negative count", ("dataset", "exposed"), "0 or more"),
        _Rule(
            pl.col("exposed").list.len() != hits.list.len(),
            "exposed is not as long as per_position",
            ("dataset", "exposed", "per_position"),
            "a count a position",
        ),
        _Rule(hits.list.min() < 0, "per_position has a negative count", shown, "0 or more"),
        _Rule(hits.list.diff().list.max() > 0, "per_position rises", shown, "counts that do not rise"),
        _Rule(hits.list.first() > steps, "more steps accepted position 0 than there are", (*shown, "steps"), "no more"),
        _Rule(hits.list.sum() != accepted, "per_position does not sum to accepted", (*shown, "accepted"), "its sum"),
    )


def _totals() -> tuple[_Rule, ...]:
    """Return what must hold among the sums of a dataset."""
    steps, drafted, accepted, block = map(pl.col, ("steps", "drafted", "accepted", "block"))
    shown = ("dataset", "steps", "drafted", "accepted", "block")
    return (
        _Rule(accepted > steps * MAX_DRAFTED, "accepted is impossible", shown, f"at most {MAX_DRAFTED} a step"),
        _Rule(accepted > drafted, "more accepted than drafted", shown, "no more"),
        _Rule(drafted > steps * MAX_DRAFTED, "drafted is impossible", shown, f"at most {MAX_DRAFTED} a step"),
        _Rule((block > 0).fill_null(True) & (drafted < steps), "less drafted than steps", shown, "at least one a step"),
        _Rule(block.cast(pl.Int64) * steps != drafted, "drafted is not block a step", shown, "block × steps"),
        _Rule(
            block != pl.col("per_position").list.len(),
            "per_position is not as long as block",
            ("dataset", "block", "per_position"),
            "a count a position",
        ),
    )


def _printable(number: pl.Expr) -> pl.Expr:
    return number.is_finite() & (number >= 0)


_RULES = {
    "responses": (_outside("copy", 0, 2**31), _outside("output_tokens", 0, _MOST)),
    "counts": (
        _outside("drafted", 0, MAX_DRAFTED),
        _outside("accepted", 0, MAX_DRAFTED),
        _Rule(pl.col("accepted") > pl.col("drafted"), "more accepted than drafted", ("drafted", "accepted"), "no more"),
        _outside("steps", 1, _MOST),
    ),
    "sums": (
        *(_outside(column, 0, _MOST) for column in ("steps", "drafted", "accepted")),
        _Rule(pl.col("accepted") > pl.col("drafted"), "more accepted than drafted", ("drafted", "accepted"), "no more"),
    ),
    "counters": (
        *(_outside(column, 0, _MOST) for column in ("responses", "steps", "drafted", "accepted")),
        _outside("block", 0, MAX_DRAFTED),
        *_positions(),
        *_totals(),
    ),
    "rates": (
        *(
            _Rule(~_printable(pl.col(column)), f"{column} is impossible", ("dataset", column), "0 or more")
            for column in ("tau", "verify_rate", "mean_drafted", "acceptance_ratio")
        ),
        *(
            _Rule(
                pl.col(column).list.eval(~_printable(pl.element())).list.any(),
                f"{column} is impossible",
                ("dataset", column),
                "0 or more each",
            )
            for column in ("p_exposed", "p", "c", "outcome")
        ),
    ),
    "latencies": (
        *(
            _Rule(~_printable(pl.col(column)), f"{column} is impossible", (column,), "seconds, 0 or more")
            for column in ("start_s", "ttft_s", "e2e_s")
        ),
        _Rule(pl.col("ttft_s") > pl.col("e2e_s"), "the first token came after the last", ("ttft_s", "e2e_s"), "before"),
        _Rule(
            pl.col("gaps_s").list.eval(pl.element().is_null() | ~_printable(pl.element())).list.any(),
            "gaps_s is impossible",
            ("gaps_s",),
            "seconds, 0 or more each",
        ),
        _outside("copy", 0, 2**31),
        _outside("input_tokens", 0, _MOST),
        _outside("output_tokens", 0, _MOST),
    ),
}


def load(run: dict[str, Any], members: dict[str, Member], folder: Path, limits: Limits) -> dict[str, Any]:
    """Read the tables of a run.

    Args:
        run: Its part of the manifest, checked.
        members: Where they are, by their names: those of the run's granularity.
        folder: Is made; the ordered steps stay in it.
        limits: What a table may unpack to.

    Returns:
        Frames by name, and ``steps`` for granularity step.

    Raises:
        InputError: A table is damaged, too large, has other columns, a value that cannot be, or contradicts another.
        OSError: The machine ran out of disk or memory.
    """
    folder.mkdir()
    files = {name: exported_parquet.copy(name, member, folder, limits) for name, member in members.items()}
    found: dict[str, Any] = {name: _table(name, files[name], members[name]) for name in files if name != "steps"}
    if "responses" in found:
        _check_responses(run, found, members)
    if "latencies" in found:
        _check_timed(found["latencies"], found.get("responses"), members["latencies"])
    _check_k(run, found, members)
    if "steps" in files:
        _check_steps(files["steps"], found["responses"], found["counts"], members)
        found["steps"] = files["steps"]
    return found


def _table(name: str, file: Path, member: Member) -> pl.DataFrame:
    """Read one table and check it by itself."""
    frame = tables.completed(name, tables.load(file))
    if frame.is_empty():
        raise InputError("has no rows", file=member.path)
    for column in _REQUIRED[name]:
        _check(frame, _Rule(pl.col(column).is_null(), f"{column} is missing", _REQUIRED[name], "a value"), member)
    for rule in _RULES[name]:
        _check(frame, rule, member)
    if name in _UNIQUE:
        _check_unique(frame, _UNIQUE[name], member)
    return frame


def _check(frame: pl.DataFrame, rule: _Rule, member: Member) -> None:
    broken = frame.with_row_index("row", offset=1).filter(rule.broken.fill_null(False)).head(1)
    for row in broken.iter_rows(named=True):
        found = ", ".join(f"{column} {row[column]}" for column in rule.columns)
        raise InputError(rule.problem, file=member.path, line=row["row"], found=found, expected=rule.expected)


def _check_unique(frame: pl.DataFrame, columns: tuple[str, ...], member: Member) -> None:
    again = ~pl.struct(columns).is_first_distinct()
    _check(frame, _Rule(again, f"two rows have the same {', '.join(columns)}", columns, "one row"), member)


def _check_responses(run: dict[str, Any], found: dict[str, pl.DataFrame], members: dict[str, Member]) -> None:
    """Check that counts, sums and responses are of each other."""
    responses, counted = found["responses"]["response"], []
    for name in ("counts", "sums"):
        if name not in found:
            continue
        frame = found[name]
        if frame["steps"].cast(pl.Float64).sum() > _MOST:
            raise InputError("has too many steps", file=members[name].path, expected=f"at most {_MOST}")
        strange = ~pl.col("response").is_in(responses.implode())
        rule = _Rule(strange, "a response is not among the responses", ("response",), members["responses"].path)
        _check(frame, rule, members[name])
        counted.append(frame["response"])
    if run.get("semantics") is None:  # a log has no response without steps, a tool's file may
        empty = ~pl.col("response").is_in(pl.concat(counted).implode())
        rule = _Rule(empty, "a response has no steps", ("response",), "counts or sums of it")
        _check(found["responses"], rule, members["responses"])
    if "counts" in found:
        _check_drafted(found, members)


def _check_drafted(found: dict[str, pl.DataFrame], members: dict[str, Member]) -> None:
    """Check that the drafted tokens of a response are known either by step or, at most, in sum."""
    summed = found["sums"]["response"] if "sums" in found else pl.Series("response", [], dtype=pl.Int32)
    wrong = pl.col("drafted").is_null() != pl.col("response").is_in(summed.implode())
    rule = _Rule(wrong, "drafted is not known, or known twice", ("response", "drafted"), "a count, or null beside sums")
    _check(found["counts"], rule, members["counts"])


def _check_timed(latencies: pl.DataFrame, responses: pl.DataFrame | None, member: Member) -> None:
    """Check that every response that was timed is there."""
    known = pl.Series(dtype=pl.Int32) if responses is None else responses["response"]
    strange = ~pl.col("response").is_in(known.implode())
    _check(latencies, _Rule(strange, "a response is not among the responses", ("response",), "one that is"), member)


def _check_k(run: dict[str, Any], found: dict[str, pl.DataFrame], members: dict[str, Member]) -> None:
    """Check that the run's K is that of its tables."""
    name = next((name for name in ("counts", "counters", "rates") if name in found), None)
    if name is None and "responses" not in found and run["k"] is not None:
        raise InputError("the manifest says a k of latencies", file=members["latencies"].path, found=f"k = {run['k']}")
    if name is None or (name == "counts" and "sums" in found):
        return  # what is known in sum does not say how long the longest draft was
    frame = found[name]
    lists = [frame[column].list.len().max() for column in ("p_exposed", "p", "c")] if name == "rates" else []
    k = {
        "counts": lambda: frame["drafted"].max(),
        "counters": lambda: frame.select(pl.coalesce(pl.col("per_position").list.len(), "block").max()).item(),
        "rates": lambda: max((n for n in lists if n), default=None),
    }[name]()
    said_more = run.get("semantics") is not None and (k is None or (run["k"] or -1) > k)  # a tool says its K
    if run["k"] != k and not said_more:
        raise InputError(
            f"the manifest says k = {run['k']} of run {run['folder']}", file=members[name].path, found=f"k = {k}"
        )
    if name == "rates":
        _check_lengths(frame, run["k"] or 0, members[name])


def _check_lengths(rates: pl.DataFrame, k: int, member: Member) -> None:
    for column, wanted in (("p_exposed", k), ("p", k), ("c", k), ("outcome", k + 1)):
        wrong = pl.col(column).list.len() != wanted
        _check(rates, _Rule(wrong, f"{column} is not as long as k", ("dataset", column), f"{wanted}"), member)


def _check_steps(file: Path, responses: pl.DataFrame, counts: pl.DataFrame, members: dict[str, Member]) -> None:
    """Check that the ordered steps, grouped, are the counts."""
    _check_unique(responses, ("request",), members["responses"])
    path, steps = members["steps"].path, stepload.scan(file)
    rows, total = steps.select(pl.len()).collect().item(), counts["steps"].sum()
    if rows != total:
        raise InputError("has not the steps that were counted", file=path, found=f"{rows:,}", expected=f"{total:,}")
    numbers = pl.col("drafted", "accepted").cast(pl.Int64, strict=False)
    key = (pl.col("request").cast(pl.String), numbers)
    grouped = steps.group_by(STEPS).agg(steps=pl.len().cast(pl.Int64)).collect().with_columns(key)
    # As many steps in all, and every count found: so there is none besides.
    counted = counts.join(responses, on="response").select(*key, "steps")
    missing = counted.join(grouped, on=[*STEPS, "steps"], how="anti")
    for request, drafted, accepted, number in missing.head(1).iter_rows():
        raise InputError(
            "has not the steps of a request that were counted",
            file=path,
            found=f"request {request}",
            expected=f"{number:,} that drafted {drafted} and accepted {accepted}",
        )
