"""The numbers that the calculator asks for."""

from __future__ import annotations

import math

from specdash.speed.pipeline import MAX_STAGES, Pipeline
from specdash.ui.dial import Quantity

_MS = (0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200)

RTT = Quantity(
    "rtt",
    "RTT of a hop (ms)",
    (1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 250, 300, 400, 500),
    "Round-trip time of every hop; a traversal takes half of it.",
)
STAGES = Quantity("stages", "Stages N", tuple(range(1, MAX_STAGES + 1)), "Stages of the pipeline.", whole=True)
BANDWIDTH = Quantity(
    "mbit_s",
    "Bandwidth (Mbit/s)",
    (1, 2, 5, 10, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 2000, 5000, 10_000, 40_000, 100_000, math.inf),
    "Of every link. Without a limit, sending takes no time.",
    step=10,
)
JITTER = Quantity(
    "jitter_ms",
    "Jitter of a traversal (ms)",
    _MS,
    "Standard deviation of a one-way latency, each traversal by itself. It widens the spread of an answer's time.",
    step=0.1,
)
STAGE_MS = Quantity(
    "stage_ms", "Compute of a stage (ms a step)", _MS, "The part that does not depend on the tokens.", step=0.1
)
TOKEN_MS = Quantity(
    "token_ms", "Compute of a stage (ms a token)", _MS, "A step verifies the K′ drafted tokens and one more.", step=0.1
)
OVERHEAD = Quantity("overhead_ms", "Overhead (ms a step)", _MS, "Scheduling, sampling, framing.", step=0.1)
HIDDEN = Quantity(
    "hidden",
    "Hidden size (values)",
    (256, 512, 1024, 2048, 2880, 3072, 4096, 5120, 6144, 7168, 8192, 12_288, 16_384, 32_768),
    "Values that a token sends over a forward hop. The default is an example, not a measured model.",
    whole=True,
    step=128,
)
VALUE_BYTES = Quantity("value_bytes", "Bytes of a value", (0.25, 0.5, 1, 2, 4), "2 for 16 bits, 1 for 8.", step=0.5)
RESIDUAL = Quantity(
    "residual",
    "Residual streams",
    tuple(range(1, 17)),
    "Copies of the hidden state on a hop, as hyper-connections send them uncompressed.",
    whole=True,
)
RETURN_BYTES = Quantity(
    "return_bytes",
    "Return hop (bytes a token)",
    (0, 1, 2, 4, 8, 16, 64, 256, 1024, 4096, 14_336, 57_344),
    "4 for a token id; more where hidden states go back to the drafter.",
)
DRAFT_MS = Quantity("draft_ms", "Drafting (ms)", _MS, "A step with a block drafter, else a token.", step=0.1)
STREAMS = Quantity(
    "streams",
    "Streams in flight",
    (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512),
    "Requests that are in the pipeline at once.",
    whole=True,
)
TOKENS = Quantity(
    "answer_tokens",
    "Length of an answer (tokens)",
    (10, 20, 50, 100, 200, 300, 500, 700, 1000, 1500, 2000, 4000, 8000, 16_000, 32_000),
    "Tokens that steps have to emit; the first one, from prefill, is not among them.",
    whole=True,
    step=10,
)
GOAL = Quantity(
    "goal_tok_s",
    "Speed to reach (tok/s)",
    (0.5, 1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200, 300, 500, 1000),
    "Which share of the responses has at least this, one stream at a time.",
)


def block_length(k: int) -> Quantity:
    """Return K′ of a run whose block length is ``k``."""
    about = f"Drafted tokens a step; 0 is no speculation. Below the log's K = {k}, τ is implied by truncation."
    return Quantity("k_prime", "Block length K′", tuple(range(k + 1)), about, whole=True)


def other_block(k: int) -> Quantity:
    """Return the K′ that another one is compared with, of a run whose block length is ``k``."""
    return Quantity(
        "other_k_prime", "Compare with K′", tuple(range(k + 1)), "For the break-even of two blocks.", whole=True
    )


FIELDS = {
    RTT: "rtt_ms",
    STAGES: "stages",
    BANDWIDTH: "bandwidth_mbit_s",
    STAGE_MS: "stage_ms",
    TOKEN_MS: "stage_per_token_ms",
    OVERHEAD: "overhead_ms",
    HIDDEN: "hidden_size",
    VALUE_BYTES: "bytes_per_value",
    RESIDUAL: "residual_streams",
    RETURN_BYTES: "return_bytes",
    DRAFT_MS: "draft_ms",
    STREAMS: "streams",
}
"""Fields of the pipeline that a quantity sets."""


def value_of(pipeline: Pipeline, quantity: Quantity) -> float:
    """Return what a quantity is in a pipeline."""
    value = getattr(pipeline, FIELDS[quantity])
    return math.inf if value is None else value


def field_of(quantity: Quantity, value: float) -> float | None:
    """Return a quantity's value as the pipeline has it."""
    return None if math.isinf(value) else quantity.typed(value)
