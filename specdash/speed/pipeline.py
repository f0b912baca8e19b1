"""A pipeline of stages over a network: every input of the lap model, checked, with its unit in its name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from numbers import Real

from specdash.schema import InputError
from specdash.speed.bound import REPORT_STAGES

MAX_STAGES = 64
"""Largest number of stages."""


class Drafter(StrEnum):
    """How the drafter's cost grows with the number of drafted tokens."""

    BLOCK = "block"  # one pass drafts the whole block: a cost a step
    AUTOREGRESSIVE = "autoregressive"  # one pass drafts one token: a cost a token


_RANGES: dict[str, tuple[float, float]] = {
    "stages": (1, MAX_STAGES),
    "rtt_ms": (0, 1e6),
    "stage_ms": (0, 1e6),
    "stage_per_token_ms": (0, 1e6),
    "draft_ms": (0, 1e6),
    "hidden_size": (1, 1e6),
    "bytes_per_value": (0, 64),
    "residual_streams": (1, 64),
    "return_bytes": (0, 1e9),
    "overhead_ms": (0, 1e6),
    "streams": (1, 1e6),
}
_WHOLE = {"stages", "hidden_size", "residual_streams", "streams"}
_BANDWIDTH = (1e-3, 1e9)


@dataclass(frozen=True)
class Pipeline:
    """The stages of a target model and the links between them. As it stands: the report's latency-only bound.

    A lap goes forward over N − 1 hops and back over the return hop. Times are per step unless they say otherwise.

    Attributes:
        stages: Number of stages N, 1..64.
        rtt_ms: Round-trip time of every hop in ms; a traversal takes half of it.
        one_way_ms: One-way latencies in ms, one a traversal, the return hop last; given, they replace ``rtt_ms``. Half
            a round trip is a guess where the two directions differ; the sum around the whole ring is not.
        return_hop: Whether the way back to the first stage belongs to the lap: N traversals, else N − 1.
        stage_ms: Compute of one stage that does not depend on the number of tokens.
        stage_per_token_ms: Compute of one stage for each of the K + 1 tokens of a step.
        drafter: Whether ``draft_ms`` is the cost of a step or of a token.
        draft_ms: Drafting, in ms a step (block) or a drafted token (autoregressive); nothing at K = 0.
        hidden_size: Values a token has at a stage boundary. The default is an example, not a measured model.
        bytes_per_value: Bytes of one value; 2 for 16 bits.
        residual_streams: Copies of the hidden state sent on, as hyper-connections do (``hc_mult``).
        bandwidth_mbit_s: Bandwidth of every link in Mbit/s; None: infinite.
        return_bytes: Bytes a token on the return hop; 4 for a token id.
        overhead_ms: What else a step costs: scheduling, sampling, framing.
        streams: Streams in flight at once, M.

    Raises:
        InputError: A value is outside its range, or there is not one latency a traversal.
    """

    stages: int = REPORT_STAGES
    rtt_ms: float = 25.0
    one_way_ms: tuple[float, ...] | None = None
    return_hop: bool = True
    stage_ms: float = 0.0
    stage_per_token_ms: float = 0.0
    drafter: Drafter = Drafter.BLOCK
    draft_ms: float = 0.0
    hidden_size: int = 7168
    bytes_per_value: float = 2.0
    residual_streams: int = 1
    bandwidth_mbit_s: float | None = None
    return_bytes: float = 4.0
    overhead_ms: float = 0.0
    streams: int = 1

    def __post_init__(self) -> None:
        for name, limits in _RANGES.items():
            _check(name, getattr(self, name), *limits, whole=name in _WHOLE)
        if self.bandwidth_mbit_s is not None:
            _check("bandwidth_mbit_s", self.bandwidth_mbit_s, *_BANDWIDTH)
        if self.drafter not in list(Drafter):
            raise InputError("no such drafter", found=self.drafter, expected=" or ".join(Drafter))
        if self.one_way_ms is not None:
            if len(self.one_way_ms) != self.traversals:
                count = len(self.one_way_ms)
                raise InputError("one_way_ms needs one latency a traversal", found=count, expected=str(self.traversals))
            for latency in self.one_way_ms:
                _check("one_way_ms", latency, *_RANGES["rtt_ms"])

    @property
    def forward_hops(self) -> int:
        """Hops from stage to stage, N − 1."""
        return self.stages - 1

    @property
    def traversals(self) -> int:
        """One-way traversals of a lap: N, or N − 1 without the return hop."""
        return self.forward_hops + self.return_hop

    @property
    def latency_s(self) -> float:
        """Σ one-way latencies of a lap in s: all that a single stream feels of them."""
        if self.one_way_ms is not None:
            return math.fsum(self.one_way_ms) / 1000
        return self.traversals * self.rtt_ms / 2 / 1000

    @property
    def forward_bytes(self) -> float:
        """Bytes a token on a forward hop."""
        return self.hidden_size * self.bytes_per_value * self.residual_streams

    @property
    def returned_bytes(self) -> float:
        """Bytes a token on the return hop; 0 when it does not belong to the lap."""
        return self.return_bytes if self.return_hop else 0.0


def _check(name: str, value: float, low: float, high: float, *, whole: bool = False) -> None:
    """Raise InputError unless ``value`` is within ``low`` and ``high``, and whole where it has to be."""
    within = isinstance(value, Real) and math.isfinite(value) and low <= value <= high
    if not within or (whole and value != int(value)):
        kind = "a whole number" if whole else "a number"
        raise InputError(f"{name} is out of range", found=value, expected=f"{kind} from {low:.12g} to {high:.12g}")


LATENCY_ONLY = Pipeline()
"""The report's bound: only the one-way latencies of N stages cost anything."""


def one_way_ms(said: str, traversals: int) -> tuple[float, ...] | None:
    """Return the one-way latencies that a text lists, None when it lists none.

    Args:
        said: Latencies in ms, separated by commas, semicolons or blanks; the return hop last.
        traversals: How many there have to be.

    Raises:
        InputError: One is no latency, or there are more or fewer.
    """
    words = said.replace(",", " ").replace(";", " ").split()
    if not words:
        return None
    found = []
    for place, word in enumerate(words, 1):
        try:
            found.append(float(word))
            _check("one_way_ms", found[-1], *_RANGES["rtt_ms"])
        except (ValueError, InputError):
            most = _RANGES["rtt_ms"][1]
            wanted = f"a latency in ms from 0 to {most:,.0f}, with a decimal point"
            raise InputError(f"one-way latency {place} is none", found=word, expected=wanted) from None
    if len(found) != traversals:
        wanted = f"{traversals}, one for each traversal of a lap"
        raise InputError("not as many one-way latencies as traversals", found=str(len(found)), expected=wanted)
    return tuple(found)
