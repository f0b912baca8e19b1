"""Pipelines to start from. The first is the report's bound; the others are made up, and each says what it assumes."""

from __future__ import annotations

from dataclasses import dataclass

from specdash.speed.pipeline import LATENCY_ONLY, Drafter, Pipeline


@dataclass(frozen=True)
class Preset:
    """A pipeline to start from.

    Attributes:
        pipeline: Its numbers. They stand behind links that name the preset, so they never change; a better idea is a
            new preset.
        assumes: What it takes for granted, in a sentence or two.
    """

    pipeline: Pipeline
    assumes: str


_MADE_UP = "An example, not a measured system: "

PRESETS: dict[str, Preset] = {
    "Latency-only bound (the report)": Preset(
        LATENCY_ONLY,
        "10 stages, RTT 25 ms. Compute, drafting, bandwidth and overhead cost nothing: whatever a real system "
        "achieves lies below.",
    ),
    "100 Mbit/s links": Preset(
        Pipeline(bandwidth_mbit_s=100),
        _MADE_UP + "the bound's pipeline whose links carry 100 Mbit/s. Each token sends 7,168 values of 2 bytes over "
        "every forward hop and a token id of 4 bytes back.",
    ),
    "100 Mbit/s links, 4 residual streams": Preset(
        Pipeline(bandwidth_mbit_s=100, residual_streams=4),
        _MADE_UP + "as before, with four copies of the hidden state on every forward hop, as hyper-connections send "
        "them uncompressed.",
    ),
    "Regions: RTT 50 ms, 1 Gbit/s, block drafter": Preset(
        Pipeline(rtt_ms=50, bandwidth_mbit_s=1000, stage_ms=4, stage_per_token_ms=0.2, draft_ms=3),
        _MADE_UP + "a stage computes 4 ms and 0.2 ms a token, and a pass of the drafter takes 3 ms and drafts the "
        "whole block.",
    ),
    "Regions: RTT 50 ms, 1 Gbit/s, token by token": Preset(
        Pipeline(
            rtt_ms=50,
            bandwidth_mbit_s=1000,
            stage_ms=4,
            stage_per_token_ms=0.2,
            drafter=Drafter.AUTOREGRESSIVE,
            draft_ms=3,
        ),
        _MADE_UP + "as before, with a drafter that takes 3 ms for every token it drafts.",
    ),
    "One site: RTT 1 ms, 10 Gbit/s, slow stages": Preset(
        Pipeline(rtt_ms=1, bandwidth_mbit_s=10_000, stage_ms=4, stage_per_token_ms=3, draft_ms=4),
        _MADE_UP + "the network is nearly free, but a stage computes 4 ms and 3 ms more for every token that it "
        "verifies, so long blocks cost more than they bring.",
    ),
}
"""By name in the interface and in links."""

DEFAULT = next(iter(PRESETS))

EXAMPLE = "Regions: RTT 50 ms, 1 Gbit/s, block drafter"
"""The one that a report works through where no other is asked for: every cost is in it, so block lengths differ."""
