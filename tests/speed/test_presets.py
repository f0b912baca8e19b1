"""The pipelines to start from stand behind links: none of them may change."""

from specdash.speed.pipeline import LATENCY_ONLY, Drafter, Pipeline
from specdash.speed.presets import DEFAULT, PRESETS
from tests.speed.test_lap import EVERY_COST

FROZEN = {
    "Latency-only bound (the report)": Pipeline(),
    "100 Mbit/s links": Pipeline(bandwidth_mbit_s=100),
    "100 Mbit/s links, 4 residual streams": Pipeline(bandwidth_mbit_s=100, residual_streams=4),
    "Regions: RTT 50 ms, 1 Gbit/s, block drafter": EVERY_COST,
    "Regions: RTT 50 ms, 1 Gbit/s, token by token": Pipeline(
        rtt_ms=50,
        bandwidth_mbit_s=1000,
        stage_ms=4,
        stage_per_token_ms=0.2,
        draft_ms=3,
        drafter=Drafter.AUTOREGRESSIVE,
    ),
    "One site: RTT 1 ms, 10 Gbit/s, slow stages": Pipeline(
        rtt_ms=1, bandwidth_mbit_s=10_000, stage_ms=4, stage_per_token_ms=3, draft_ms=4
    ),
}


def test_presets_are_what_links_say():
    assert {name: preset.pipeline for name, preset in PRESETS.items()} == FROZEN
    assert PRESETS[DEFAULT].pipeline == LATENCY_ONLY


def test_only_the_bound_is_no_made_up_example():
    for name, preset in PRESETS.items():
        assert preset.assumes.startswith("An example, not a measured system: ") == (name != DEFAULT)
        assert preset.assumes.endswith(".")
