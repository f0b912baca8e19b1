"""What a pipeline makes of a run's acceptance lengths: rows of numbers in, the same rows with speeds out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from specdash.speed.lap import Floats, best_k, lap_seconds, over, with_no_speculation
from specdash.speed.pipeline import Pipeline

Row = Mapping[str, Any]
"""A row of a run: "dataset", "family", "tau" in tokens a step, "tau_at_k" over K′ = 1..k or None."""


def taus(rows: Iterable[Row], k: int) -> Floats:
    """Return τ(K′) of some rows.

    Args:
        rows: Rows of one run.
        k: Its block length K.

    Returns:
        Shape (rows, k), for K′ = 1..k; nan where it is not known. A row without counts by position knows its τ at K
        only.
    """
    known = [row.get("tau_at_k") or [*[None] * (k - 1), row.get("tau")] for row in rows]
    return np.array([[*t[:k], *[None] * (k - len(t))] for t in known], dtype=np.float64).reshape(-1, k)


def bound(pipeline: Pipeline, tau: float) -> float | None:
    """Tokens per second if nothing but the latencies cost time; None in a pipeline without any.

    With the return hop counted and all hops alike this is the report's bound, 2τ / (N · RTT).
    """
    return tau / pipeline.latency_s if pipeline.latency_s > 0 else None


def at_block(rows: Sequence[Row], pipeline: Pipeline, k: int, block: int) -> list[dict[str, Any]]:
    """Return the rows with what the pipeline makes of them when it drafts ``block`` tokens a step.

    Args:
        rows: Rows of one run.
        pipeline: The pipeline, for a single stream.
        k: The run's block length K.
        block: K′, 0 for no speculation.

    Returns:
        The rows with "tau_block" (tokens a step at K′), "tok_s" (tokens per second), "speedup" (over no speculation on
        the same pipeline), "plain_tok_s" (without speculation), "bound_tok_s" (latency only, with the τ of the whole
        block, the report's bound), "bound_share" (tok_s over it), "best_block" (the K′ with the highest rate, None
        unless τ is known at all of them), "best_tok_s" (that rate), and "tok_s_at_k" over K′ = 0..k. None where
        undefined. Where a row has the interval of its τ, what follows from it has one too: "tau_block_ci", "tok_s_ci",
        "speedup_ci", "bound_tok_s_ci", [low, high], and "tok_s_at_k_ci", a list of such.
    """
    tau = with_no_speculation(taus(rows, k))
    total = lap_seconds(pipeline, k).total
    rates, gains = over(tau, total), tau * over(total[0], total)
    best = best_k(rates)
    whole = ~np.isnan(tau).any(axis=1)
    found = []
    for row, t, rate, gain, at, known in zip(rows, tau, rates, gains, best, whole, strict=True):
        ceiling = None if row.get("tau") is None else bound(pipeline, row["tau"])
        tok_s = _defined(rate[block])
        found.append(
            dict(row)
            | {
                "tau_block": _defined(t[block]),
                "tok_s": tok_s,
                "speedup": _defined(gain[block]),
                "plain_tok_s": _defined(rate[0]),
                "bound_tok_s": ceiling,
                "bound_share": None if tok_s is None or not ceiling else tok_s / ceiling,
                "best_block": int(at) if known and math.isfinite(rate[at]) else None,
                "best_tok_s": _defined(rate[at]) if known else None,
                "tok_s_at_k": [_defined(v) for v in rate],
            }
            | _intervals(row, rate, gain, ceiling, k, block)
        )
    return found


def ends_of(row: Row, k: int, at: int, value: float | None) -> list[float] | None:
    """Return the interval of a multiple of τ(K′): that multiple of the interval of τ(K′).

    Args:
        row: A row with "tau_ci" and "tau_at_k_ci", or without.
        k: The run's block length K.
        at: K′.
        value: The multiple of τ(K′), None where it is not defined.

    Returns:
        Its lower and upper end; None without an interval, and for K′ = 0, which is exact.
    """
    tau, ends = _at(row, k, at)
    if value is None or tau is None or ends is None:
        return None
    return [float(end * value / tau) for end in ends]


def _at(row: Row, k: int, at: int) -> tuple[float | None, list[float] | None]:
    """Return τ(K′) of a row and its interval."""
    if at == 0:
        return 1.0, None
    if at == k:  # Counters may have this interval alone.
        return row.get("tau"), row.get("tau_ci")
    cut, ends = row.get("tau_at_k"), row.get("tau_at_k_ci")
    return cut[at - 1] if cut else None, ends[at - 1] if ends else None


def _intervals(row: Row, rate: Floats, gain: Floats, ceiling: float | None, k: int, block: int) -> dict[str, Any]:
    """Return the intervals of speeds.

    Args:
        row: A row with "tau_ci" and "tau_at_k_ci", or without.
        rate: Shape (k + 1,), tokens per second over K′ = 0..k.
        gain: Shape (k + 1,), speed-ups.
        ceiling: Latency-only bound in tokens per second.
        k: The run's block length K.
        block: K′.
    """
    whole = row.get("tau_ci")
    return {
        "tau_block_ci": _at(row, k, block)[1],
        "tok_s_ci": ends_of(row, k, block, _defined(rate[block])),
        "speedup_ci": ends_of(row, k, block, _defined(gain[block])),
        "bound_tok_s_ci": None if ceiling is None or not whole else [end * ceiling / row["tau"] for end in whole],
        "tok_s_at_k_ci": [ends_of(row, k, at, _defined(rate[at])) for at in range(k + 1)],
    }


def _defined(value: float) -> float | None:
    """Return a number, None for one that is not finite: a lap that takes no time has no speed."""
    return float(value) if math.isfinite(value) else None
