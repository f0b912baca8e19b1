"""What only the order of a response's steps tells: how it ends, where it was not drafting, if it is another's twin."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from specdash.schema import MAX_DRAFTED

_AT_ONCE = 10_000_000  # steps held in memory at a time
_BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, so that its powers never vanish


def sequences(steps: pl.LazyFrame, responses: pl.DataFrame) -> pl.DataFrame:
    """Summarise the ordered steps of every response.

    Args:
        steps: schema.STEPS in log order; the steps of a response need not stand together.
        responses: ``response, request, steps, undrafted``, one row a response.

    Returns:
        One row a response that has steps: ``response``; ``signature``, equal for equal sequences of (K_s, a_s);
        ``zero_tail``, final steps that drafted and accepted nothing; ``zero_tail_from``, tokens emitted before them,
        prefill's included; ``full_tail``, final steps that accepted all they drafted; ``idle``, most steps in a row
        that drafted nothing.
    """
    request = steps.collect_schema()["request"]
    sized = responses.select(
        "response", pl.col("request").cast(request), size=pl.col("steps") + pl.col("undrafted").fill_null(0)
    )
    parts = []
    for block in _blocks(sized):
        own = steps.join(block.lazy(), on="request", maintain_order="left").select("response", "drafted", "accepted")
        parts.append(_summarised(own.collect().sort("response", maintain_order=True)))
    return pl.concat(parts)


def _blocks(sized: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the responses in blocks that do not have too many steps together."""
    block = pl.col("size").cum_sum() // _AT_ONCE
    for part in sized.with_columns(block=block).partition_by("block", maintain_order=True):
        yield part.select("response", "request")


def _summarised(steps: pl.DataFrame) -> pl.DataFrame:
    """Summarise steps that are sorted by response, in log order within one."""
    response, drafted, accepted = (steps[name].to_numpy() for name in ("response", "drafted", "accepted"))
    if not response.size:
        starts = np.zeros(0, dtype=np.int64)
    else:
        starts = np.flatnonzero(np.append(True, response[1:] != response[:-1]))
    ends = np.append(starts[1:], response.size)
    zero = _tails((drafted > 0) & (accepted == 0), starts, ends)
    emitted = np.append(0, np.cumsum(1 + accepted.astype(np.int64)))
    return pl.DataFrame(
        {
            "response": response[starts],
            "signature": _signatures(drafted, accepted, starts, ends),
            "zero_tail": zero,
            "zero_tail_from": 1 + emitted[ends - zero] - emitted[starts],
            "full_tail": _tails((drafted > 0) & (accepted == drafted), starts, ends),
            "idle": _longest(drafted == 0, starts),
        }
    )


def _tails(holds: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return how many final steps of each response hold, given where each starts and ends."""
    if not starts.size:
        return np.zeros(0, dtype=np.int64)
    last_that_does_not = np.maximum.reduceat(np.where(holds, -1, np.arange(holds.size)), starts)
    return ends - 1 - np.maximum(last_that_does_not, starts - 1)


def _longest(holds: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the most steps in a row that hold, for each response."""
    if not starts.size:
        return np.zeros(0, dtype=np.int64)
    # Each step's distance to the last one before it that does not hold, or to the start of its response.
    place = np.arange(holds.size)
    origin = np.where(holds, -1, place)
    origin[starts] = np.where(holds[starts], starts - 1, starts)
    return np.maximum.reduceat(place - np.maximum.accumulate(origin), starts)


def _signatures(drafted: np.ndarray, accepted: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return a polynomial over each response's steps, modulo 2^64: different sequences give different ones."""
    if not starts.size:
        return np.zeros(0, dtype=np.uint64)
    sizes = ends - starts
    powers = np.multiply.accumulate(np.full(int(sizes.max()), _BASE))
    place = np.arange(drafted.size) - np.repeat(starts, sizes)
    codes = drafted.astype(np.uint64) * np.uint64(MAX_DRAFTED + 1) + accepted.astype(np.uint64) + np.uint64(1)
    return np.add.reduceat(codes * powers[place], starts)
