"""The lists, an element a request, that ``vllm bench serve`` and the benchmarks after its model save in detail.

Times are seconds. A failed request has an error that is not "", and times of 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from specdash.formats.collect import numbers, whole
from specdash.schema import LATENCIES, InputError


def latencies(record: Mapping[str, Any], dataset: str, path: str, line: int | None) -> pl.DataFrame | None:
    """Return LATENCIES of a detailed result, None where it holds no lists.

    Raises:
        InputError: A list is of the wrong kind, or they are not of one length.
    """

    def column(name: str, read: Any = numbers) -> list[Any] | None:
        return read(record.get(name), name, path, line)

    first, ends, starts = column("ttfts"), column("latencies"), column("start_times")
    taken, made = column("input_lens"), column("output_lens")
    gaps, errors = record.get("itls"), record.get("errors")
    lists = [found for found in (first, ends, starts, taken, made, gaps, errors) if found is not None]
    if first is None and ends is None:
        return None
    size = len(first if first is not None else ends or [])
    if any(not isinstance(found, list) or len(found) != size for found in lists):
        found = ", ".join(str(len(x)) if isinstance(x, list) else repr(x)[:20] for x in lists)
        raise InputError("lists by request are not of one length", file=path, line=line, found=found)
    rows = []
    for i in range(size):
        between = numbers(gaps[i], "itls", path, line) if gaps else None
        error = str(errors[i]) if errors and errors[i] else None
        ttft = first[i] if first and not error and first[i] else None
        whole_time = ends[i] if ends else None if ttft is None or between is None else ttft + sum(between)
        rows.append(
            {
                "dataset": dataset,
                "prompt": str(i),  # results stand in the order of the prompts, which a seed fixes
                "start_s": starts[i] - min(starts) if starts else None,
                "ttft_s": ttft,
                "e2e_s": None if error else whole_time,
                "input_tokens": None if taken is None else whole(taken[i], "input_lens", path, line),
                "output_tokens": None if made is None or error else whole(made[i], "output_lens", path, line),
                "gaps_s": between or None,
                "error": error,
            }
        )
    return pl.DataFrame(rows, schema=LATENCIES)
