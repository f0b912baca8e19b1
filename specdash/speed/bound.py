"""The latency-only bound: tokens per second of a pipeline whose every hop costs half a round trip."""

from __future__ import annotations

REPORT_STAGES = 10
"""Stages of the pipeline in the report's table."""

REPORT_RTTS_MS = (10, 25, 50, 100, 200)
"""Per-hop round-trip times of the report's table, in ms."""


def lap_seconds(rtt_ms: float, stages: int) -> float:
    """Seconds of one lap: ``stages`` one-way traversals, each half a round trip; everything else is free.

    Args:
        rtt_ms: Round-trip time of a hop in ms.
        stages: Stages of the pipeline, N.

    source: acceptance report, section 7.
    """
    return stages * rtt_ms / 2 / 1000


def tokens_per_second(tau: float, rtt_ms: float, stages: int) -> float:
    """Upper bound on single-stream tokens per second: τ / T_lap = 2τ / (N · RTT).

    Args:
        tau: Acceptance length in tokens a step; 1 for no speculation.
        rtt_ms: Round-trip time of a hop in ms.
        stages: Stages of the pipeline, N.

    source: acceptance report, section 7.
    """
    return tau / lap_seconds(rtt_ms, stages)
