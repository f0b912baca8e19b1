"""Collects responses one by one into the canonical tables, in little memory however many there are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from specdash.formats.growing import Numbers, Rows
from specdash.schema import (
    COUNTS,
    LATENCIES,
    MAX_DRAFTED,
    RESPONSES,
    SUMS,
    Granularity,
    InputError,
    NothingToRead,
    Run,
    RunWarning,
)

MOST = 2**53
"""Counts up to here are exact as a float too."""

_LONGEST = 200  # A setting is short; anything longer may be a prompt, and no prompt text is stored.

_LARGEST = 1e19  # nanoseconds since 1970 are below it
_MOST_GAPS = 20_000_000
"""Gaps between chunks that are kept of a run: 160 MB."""

STEP_ROWS = pl.Schema({"response": pl.Int32, "drafted": pl.Int16, "accepted": pl.Int16})
"""Ordered steps before their responses have names."""


@dataclass(frozen=True)
class Drafting:
    """How the drafting of one response went, as its source says it.

    Attributes:
        outcomes: Steps by (drafted, accepted); drafted is None where the source does not say it by step.
        steps: Drafted steps; with ``drafted`` and ``accepted`` only needed where ``outcomes`` do not tell them.
        drafted: Sum of K_s; None when not known.
        accepted: Sum of a_s.
        ordered: The steps in order, (drafted, accepted) each; None where only counts are known.
    """

    outcomes: Mapping[tuple[int | None, int], int] | None = None
    steps: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    ordered: Sequence[tuple[int, int]] | None = None

    @property
    def by_step(self) -> bool:
        """Whether the drafted tokens of every step are known."""
        return self.outcomes is not None and all(drafted is not None for drafted, _ in self.outcomes)


class Responses:
    """The responses of one run.

    Args:
        workspace: Folder for the ordered steps.
        path: Of the file they come from, for messages.
    """

    def __init__(self, workspace: Path, path: str) -> None:
        self.workspace, self.path = workspace, path
        self.warnings: list[RunWarning] = []
        self._texts = Rows(pl.Schema(dict.fromkeys(("request", "dataset", "prompt"), pl.String())), workspace)
        self._numbers = Numbers(pl.Schema({"copy": pl.Int32, "output_tokens": pl.Int64}))
        self._counts, self._sums, self._steps = Numbers(COUNTS), Numbers(SUMS), Numbers(STEP_ROWS, workspace)
        self._latencies, self._gaps = Rows(LATENCIES, workspace), 0
        self._unordered = 0

    def __len__(self) -> int:
        return self._texts.height

    def add(
        self,
        request: str,
        drafting: Drafting,
        *,
        dataset: str,
        prompt: str | None = None,
        copy: int | None = None,
        output_tokens: int | None = None,
        line: int | None = None,
    ) -> None:
        """Add a response.

        Raises:
            InputError: Its counts cannot be.
        """
        number = len(self)
        check(drafting, self.path, line)
        self._texts.add(request, dataset, prompt)
        self._numbers.add(copy, output_tokens)
        for drafted, accepted in sorted(drafting.outcomes or (), key=lambda outcome: (outcome[0] or 0, outcome[1])):
            if steps := drafting.outcomes[drafted, accepted]:
                self._counts.add(number, drafted, accepted, steps)
        if not drafting.by_step:
            self._sums.add(number, drafting.steps, drafting.drafted, drafting.accepted)
        if drafting.ordered is not None:
            drafted, accepted = zip(*drafting.ordered, strict=True) if drafting.ordered else ((), ())
            self._steps.extend([number] * len(drafted), drafted, accepted)
        elif drafting.steps != 0:
            self._unordered += 1

    def time(self, dataset: str, *, logged: bool, **times: Any) -> None:
        """Add how long a request took.

        Args:
            dataset: Its dataset.
            logged: Whether it is that of the response added last; else it left none.
            times: Other columns of schema.LATENCIES; ``start_s`` by any clock.
        """
        row = {"dataset": dataset, "response": len(self) - 1 if logged else None} | times
        self._gaps += len(row.get("gaps_s") or ())
        if self._gaps > _MOST_GAPS:
            row["gaps_s"] = None
        self._latencies.add(*(row.get(column) for column in LATENCIES))

    def _timed(self) -> pl.DataFrame | None:
        """Return schema.LATENCIES; without gaps between chunks where there are too many to hold all."""
        if not self._latencies.height:
            return None
        start = pl.col("start_s") - pl.col("start_s").min()  # requests stand in the order in which they ended
        frame = self._latencies.frame().with_columns(start_s=start)
        if self._gaps <= _MOST_GAPS:
            return frame
        said = f"{self._gaps:,} gaps between chunks are left out: at most {_MOST_GAPS:,} are kept"
        self.warnings.append(RunWarning("gaps_left_out", said))
        return frame.with_columns(gaps_s=pl.lit(None, LATENCIES["gaps_s"]))

    def run(self, name: str, k: int | None, config: Mapping[str, Any] | None = None, *, k_listed: bool = True) -> Run:
        """Return the run of all responses, with ordered steps where every response has them.

        Args:
            name: Its label.
            k: Largest number of drafted tokens in a step, where the source says it.
            config: What the files say of the run.
            k_listed: Whether the source lists all positions, so that the deepest one that was accepted tells K.

        Without responses it is a run of the latencies alone, as of a baseline.

        Raises:
            NothingToRead: There are neither responses nor latencies.
        """
        if not len(self) and not self._latencies.height:
            raise NothingToRead("holds no response", file=self.path)
        said = dict(config or {})
        if not len(self):
            latencies = self._timed()
            return Run(
                name, Granularity.LATENCIES, None, config=said, warnings=tuple(self.warnings), latencies=latencies
            )
        responses = self._responses()
        counts, sums = self._counts.frame(), self._sums.frame()
        steps = write_steps(self._steps, responses, self.workspace) if not self._unordered and counts.height else None
        latencies = self._timed()  # last, as the largest that stays in memory
        return Run(
            name=name,
            granularity=Granularity.STEP if steps else Granularity.RESPONSE,
            k=longest(counts, 0 if k is None and k_listed and counts.height else k),
            config=said,
            warnings=tuple(self.warnings),
            responses=responses,
            counts=counts if counts.height or sums.is_empty() else None,
            sums=sums if sums.height else None,
            steps=steps,
            latencies=latencies,
        )

    def _responses(self) -> pl.DataFrame:
        frame = pl.concat([self._texts.frame(), self._numbers.frame()], how="horizontal")
        frame = with_copies(self._distinct(frame)).with_row_index("response")
        return frame.select(pl.col(column).cast(kind) for column, kind in RESPONSES.items())

    def _distinct(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Give a request that is there again a name of its own, and tell."""
        repeated = frame.height - frame["request"].n_unique()
        if not repeated:
            return frame
        again = pl.int_range(pl.len()).over("request")
        twice = frame["request"].filter(frame["request"].is_duplicated())[0]
        said = (
            f"{repeated:,} responses repeat a request id ({twice}): all of them are counted, as responses of their own"
        )
        self.warnings.append(RunWarning("requests_repeat", said))
        named = pl.col("request") + pl.when(again > 0).then(pl.format(" ({})", again + 1)).otherwise(pl.lit(""))
        return frame.with_columns(request=named)


def with_copies(responses: pl.DataFrame) -> pl.DataFrame:
    """Number the copies of a prompt by their order, where the source does not."""
    order = pl.int_range(pl.len()).over("dataset", "prompt")
    copies = pl.when(pl.col("prompt").is_not_null()).then(pl.coalesce("copy", order))
    return responses.with_columns(copy=copies.cast(pl.Int32))


def write_steps(rows: Numbers, responses: pl.DataFrame, workspace: Path) -> Path:
    """Write ordered steps (schema.STEPS), streaming, and return the Parquet file.

    Args:
        rows: Steps by the number of their response, batched into files; they are used up.
        responses: ``response, request``.
        workspace: Where the file goes.
    """
    rows.flush()
    target = workspace / "steps.parquet"
    requests = responses.select("response", "request").lazy()
    batches = pl.scan_parquet(rows.files, glob=False)
    named = batches.join(requests, on="response", how="left", maintain_order="left")
    named.select("request", "drafted", "accepted").sink_parquet(target, compression="zstd", maintain_order=True)
    for file in rows.files:
        file.unlink()
    return target


def longest(counts: pl.DataFrame, k: int | None) -> int | None:
    """Return the K of outcome counts: no step drafted more, and none accepted more.

    It is not known where the source says the length of no draft: the most tokens that happened to be accepted are no K.

    Args:
        counts: schema.COUNTS.
        k: Where the source says it.
    """
    if k is None and counts["drafted"].null_count() == counts.height:
        return None
    return max((n for n in (k, counts["drafted"].max(), counts["accepted"].max()) if n is not None), default=None)


def check(drafting: Drafting, path: str, line: int | None) -> None:
    """Let counts pass that can be.

    Raises:
        InputError: A count is negative or too large, more is accepted than drafted, or a step is too long.
    """
    for (drafted, accepted), steps in (drafting.outcomes or {}).items():
        most = MAX_DRAFTED if drafted is None else min(drafted, MAX_DRAFTED)
        if not 0 <= accepted <= most or not 0 <= steps <= MOST or (drafted or 0) > MAX_DRAFTED:
            found = f"{steps} steps that drafted {'?' if drafted is None else drafted} and accepted {accepted}"
            expected = f"accepted up to drafted, and drafted up to {MAX_DRAFTED}"
            raise InputError("an outcome cannot be", file=path, line=line, found=found, expected=expected)
    sums = {"steps": drafting.steps, "drafted": drafting.drafted, "accepted": drafting.accepted}
    for name, value in sums.items():
        if value is not None and not 0 <= value <= MOST:
            raise InputError(f"{name} is not a count", file=path, line=line, found=value, expected="0 to 2^53")
    if drafting.drafted is not None and (drafting.accepted or 0) > drafting.drafted:
        found = f"{drafting.accepted} of {drafting.drafted}"
        raise InputError("more tokens accepted than drafted", file=path, line=line, found=found, expected="no more")


def whole(value: Any, what: str, path: str, line: int | None = None, most: int = MOST) -> int | None:
    """Return a count from JSON, None for null.

    Raises:
        InputError: It is no whole number from 0 to ``most``.
    """
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise InputError(
            f"{what} is not a count", file=path, line=line, found=value, expected=f"a whole number from 0 to {most}"
        )
    return value


def wholes(values: Any, what: str, path: str, line: int | None = None, most: int = MOST) -> list[int] | None:
    """Return a list of counts from JSON, None for null.

    Raises:
        InputError: It is no list of counts.
    """
    if values is None:
        return None
    if not isinstance(values, list) or None in values:
        raise InputError(f"{what} is not a list of counts", file=path, line=line, found=values, expected="counts")
    if set(map(type, values)) <= {int} and min(values, default=0) >= 0 and max(values, default=0) <= most:
        return values
    return [whole(value, what, path, line, most) for value in values]  # type: ignore[misc]


def histogram(found: Any, what: str, path: str, line: int | None = None) -> dict[int, int] | None:
    """Return steps by accepted tokens from a dense list or a sparse object with keys as text; None for null.

    Raises:
        InputError: It is neither.
    """
    if found is None:
        return None
    pairs: Iterable[tuple[Any, Any]]
    if isinstance(found, dict):
        pairs = [
            (int(key), value) if key.isdecimal() and len(key) < 4 else (key, value) for key, value in found.items()
        ]
    elif isinstance(found, list):
        pairs = enumerate(found)
    else:
        raise InputError(f"{what} is no histogram", file=path, line=line, found=found, expected="a list or an object")
    made: dict[int, int] = {}
    for key, value in pairs:
        if not isinstance(key, int) or key > MAX_DRAFTED:
            expected = f"whole numbers up to {MAX_DRAFTED}"
            raise InputError(f"{what} has an impossible bin", file=path, line=line, found=key, expected=expected)
        steps = whole(value, what, path, line)
        if steps:
            made[key] = steps
    return made


def stepwise(pairs: Iterable[tuple[int, int]]) -> dict[tuple[int | None, int], int]:
    """Return outcome counts of ordered steps."""
    made: dict[tuple[int | None, int], int] = {}
    for pair in pairs:
        made[pair] = made.get(pair, 0) + 1
    return made


def number(value: Any, what: str, path: str, line: int | None = None) -> float | None:
    """Return a finite number from JSON, None for null and for what is not finite.

    Raises:
        InputError: It is no number.
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _LARGEST:
        raise InputError(f"{what} is not a number", file=path, line=line, found=value, expected="a number")
    return float(value)


def numbers(values: Any, what: str, path: str, line: int | None = None) -> list[float] | None:
    """Return a list of finite numbers from JSON, None for null.

    Raises:
        InputError: It is none.
    """
    if values is None:
        return None
    if isinstance(values, list) and set(map(type, values)) <= {float} and abs(sum(values)) < _LARGEST:
        return values  # the sum of numbers that are not finite is not finite either
    found = [number(value, what, path, line) for value in values] if isinstance(values, list) else None
    if found is None or None in found:
        raise InputError(f"{what} is not a list of numbers", file=path, line=line, found=values, expected="numbers")
    return found  # type: ignore[return-value]


def scalars(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings among the fields of an object: finite numbers, flags and short texts."""
    return {
        str(name): value
        for name, value in found.items()
        if isinstance(value, bool | int)
        or (isinstance(value, float) and math.isfinite(value))
        or (isinstance(value, str) and 0 < len(value) <= _LONGEST)
    }
