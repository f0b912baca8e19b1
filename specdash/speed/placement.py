"""Other arrangements than a drafter inside the pipeline: one at the client, and the cost model of the DSD paper."""

from __future__ import annotations

from typing import NamedTuple


def client_drafter_rtt_limit_s(tau: float, verify_s: float, draft_s: float) -> float:
    """Round-trip time below which a drafter at the client beats a server without speculation: (τ − 1) T_v − T_d.

    A client that drafts adds one round trip to every step, so it never beats a drafter beside the target at equal τ.

    Args:
        tau: Acceptance length in tokens a step.
        verify_s: Time of one target step in s, T_v.
        draft_s: Time of drafting a block in s, T_d.

    Returns:
        The limit in s; not positive: it never pays.

    source: (RTT + T_d + T_v) / τ < T_v, the time of a token with and without the drafter.
    """
    return (tau - 1) * verify_s - draft_s


class DecentralizedTime(NamedTuple):
    """Time for the tokens of one block by the DSD paper.

    Attributes:
        standard_s: One token a lap.
        speculative_s: One lap for the block.
        speedup: Their ratio.
        communication_share: Share of ``standard_s`` that is communication saved.
    """

    standard_s: float
    speculative_s: float
    speedup: float
    communication_share: float


def decentralized_time(tau: float, stages: int, compute_s: float, hop_s: float) -> DecentralizedTime:
    """T_std = k (t0 + (N − 1) t1), T_DSD = k t0 + (N − 1) t1, R = (N − 1) t1 (k − 1) / T_std.

    It differs from the lap model: the return hop is not counted, and compute grows with the tokens emitted, so
    speculation saves communication only.

    Args:
        tau: Tokens a block yields, the paper's k.
        stages: Nodes of the pipeline, N.
        compute_s: Compute for one token over all nodes in s, t0.
        hop_s: One-way latency of a hop in s, t1.

    source: DSD, arXiv 2511.11733.
    """
    latency = (stages - 1) * hop_s
    standard = tau * (compute_s + latency)
    speculative = tau * compute_s + latency
    return DecentralizedTime(standard, speculative, standard / speculative, latency * (tau - 1) / standard)
