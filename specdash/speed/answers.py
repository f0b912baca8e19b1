"""What a user gets: the share of responses that reach a speed, the time of an answer, the speed of many streams."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from specdash.speed.fill import fill
from specdash.speed.lap import lap_seconds
from specdash.speed.outlook import Row, ends_of, taus
from specdash.speed.pipeline import Pipeline
from specdash.speed.response_time import lap_sd_seconds, response_time, share_reaching

_LEVELS = (0.05, 0.5, 0.95)


def reaching(
    rows: Iterable[Row], response_taus: Iterable[ArrayLike], lap_s: float, goal: float, speeds: Sequence[float]
) -> list[dict[str, Any]]:
    """Return the rows with the share of their responses whose single stream reaches a speed: P(τ_r / T >= x).

    Args:
        rows: Rows of one run.
        response_taus: For each row the τ_r at K′ of its responses.
        lap_s: Time of a lap at K′ in s, above 0.
        goal: Speed to reach in tok/s.
        speeds: Shape (n,), further speeds in tok/s.

    Returns:
        The rows with "timed" (responses that have a τ_r), "reach" (share of them that reach the goal), "reach_over"
        (the share at each further speed) and "tok_s_p10", "tok_s_p50", "tok_s_p90" (percentiles of τ_r / T, type 7).
        None where a row has no response.
    """
    found = []
    for row, given in zip(rows, response_taus, strict=True):
        tau = np.asarray(given, dtype=np.float64)
        shares = share_reaching(tau, lap_s, [goal, *speeds])
        low, middle, high = (np.percentile(tau, (10, 50, 90)) / lap_s).tolist() if tau.size else (None,) * 3
        cells = {"timed": tau.size, "tok_s_p10": low, "tok_s_p50": middle, "tok_s_p90": high}
        reach = {"reach": None, "reach_over": None}
        if shares is not None:
            reach = {"reach": float(shares[0]), "reach_over": shares[1:].tolist()}
        found.append(dict(row) | cells | reach)
    return found


def step_std(row: Row, block: int) -> float | None:
    """Return σ of the tokens that a step accepts when cut at K′, from P(a = j); None where that is not known.

    Args:
        row: A row; "outcome" over j = 0..K.
        block: K′.
    """
    outcome = row.get("outcome")
    if not outcome or any(share is None for share in outcome):
        return None
    shares, accepted = np.array(outcome), np.minimum(np.arange(len(outcome)), block)
    return math.sqrt(max(0.0, float(shares @ accepted**2 - (shares @ accepted) ** 2)))


def answer_times(
    rows: Iterable[Row], pipeline: Pipeline, block: int, tokens: int, jitter_ms: float
) -> list[dict[str, Any]]:
    """Return the rows with the time of an answer and its spread; steps are taken for independent (κ = 1).

    Args:
        rows: Rows of ``outlook.at_block`` at K′.
        pipeline: The pipeline, for a single stream.
        block: K′.
        tokens: Tokens that steps have to emit, above 0.
        jitter_ms: Standard deviation of a traversal in ms.

    Returns:
        The rows with "time_s" (mean) and "time_sd_s", and "time_p5_s", "time_p50_s", "time_p95_s" and the speeds
        "answer_p5", "answer_p50", "answer_p95" in tok/s, a slow answer being one of low speed. None where τ or σ is not
        known.
    """
    lap_s = float(lap_seconds(pipeline, block).total[block])
    lap_sd_s = lap_sd_seconds(pipeline.traversals, jitter_ms)
    found = []
    for row in rows:
        tau, sigma = row.get("tau_block"), step_std(row, block)
        if tau is None or sigma is None or not lap_s:
            found.append(dict(row) | dict.fromkeys(_TIMES))
            continue
        time = response_time(tokens, tau, sigma, lap_s, lap_sd_s=lap_sd_s)
        speeds = time.tok_s_quantiles(_LEVELS).tolist()
        values = (float(time.mean_s), float(time.sd_s), *(tokens / v for v in speeds[::-1]), *speeds)
        found.append(dict(row) | dict(zip(_TIMES, values, strict=True)))
    return found


_TIMES = "time_s time_sd_s time_p5_s time_p50_s time_p95_s answer_p5 answer_p50 answer_p95".split()


def filled(rows: Sequence[Row], pipeline: Pipeline, k: int, block: int) -> list[dict[str, Any]]:
    """Return the rows with what ``pipeline.streams`` streams get of the pipeline at K′.

    Args:
        rows: Rows of one run.
        pipeline: The pipeline, with its streams in flight.
        k: The run's block length K.
        block: K′.

    Returns:
        The rows with "aggregate" and "per_stream" (tok/s), "cap" (tok/s that no number of streams exceeds) and
        "saturation" (streams from which on they wait for each other). None where undefined, and for the last two where
        nothing is ever busy. The first three are multiples of τ(K′): where a row has its interval they have one,
        "aggregate_ci", "per_stream_ci" and "cap_ci", [low, high].
    """
    found = fill(pipeline, taus(rows, k))
    cells = zip(found.aggregate, found.per_stream, found.cap, strict=True)
    made = []
    for row, speeds in zip(rows, cells, strict=True):
        known = {name: _finite(of[block]) for name, of in zip(_FILLED, speeds, strict=True)}
        ends = {f"{name}_ci": ends_of(row, k, block, value) for name, value in known.items()}
        made.append(dict(row) | known | {"saturation": _finite(found.saturation[block])} | ends)
    return made


_FILLED = ("aggregate", "per_stream", "cap")


def over_streams(row: Row, pipeline: Pipeline, k: int, block: int, streams: Sequence[int]) -> list[dict[str, Any]]:
    """Return what ``filled`` makes of one row, for several numbers of streams."""
    return [filled([row], replace(pipeline, streams=number), k, block)[0] for number in streams]


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
