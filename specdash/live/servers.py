"""What a scrape says of its server: which one it is, which counters of drafts it has, what it has served."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from specdash.schema import InputError


@dataclass(frozen=True)
class Server:
    """A server and the names of its metrics.

    Attributes:
        name: For people.
        prefix: Of all of its metrics.
        counters: Those that speculation is read from.
        served: Counter of the requests it has answered; "" where it has none.
        always: Whether it exports the counters when it does not speculate too.
    """

    name: str
    prefix: str
    counters: tuple[str, ...]
    served: str = ""
    always: bool = False


_NAMES = (
    "num_drafts_total",
    "num_draft_tokens_total",
    "num_accepted_tokens_total",
    "num_accepted_tokens_per_pos_total",
)


def _counting(prefix: str) -> tuple[str, ...]:
    return tuple(f"{prefix}spec_decode_{name}" for name in _NAMES)


SERVERS = (
    Server("vLLM", "vllm:", _counting("vllm:"), "vllm:request_success_total"),
    Server(
        "SGLang",
        "sglang:",
        ("sglang:spec_verify_calls_total", "sglang:spec_accept_length"),
        "sglang:num_requests_total",
    ),
    Server(
        "TensorRT-LLM",
        "trtllm_",
        ("trtllm_spec_decode_num_draft_tokens_total", "trtllm_spec_decode_num_accepted_tokens_total"),
        "trtllm_request_success_total",
    ),
    Server("llama.cpp", "llamacpp:", _counting("llamacpp:"), always=True),
    Server("LMDeploy", "lmdeploy:", _counting("lmdeploy:")),
)


@dataclass(frozen=True)
class Told:
    """What a scrape tells of its server.

    Attributes:
        server: Which one it is.
        missing: Counters of drafts that it lacks.
        older: Whether it has the gauges of vLLM's engine V0 instead.
    """

    server: Server
    missing: tuple[str, ...]
    older: bool = False

    @property
    def speculates(self) -> bool:
        """Whether it has any of the counters; of a server that always has them it says nothing."""
        return len(self.missing) < len(self.server.counters) or self.older

    @property
    def sentence(self) -> str | None:
        """What a reader has to know of the counters, None where all are there."""
        if self.older:
            return (
                "vLLM's engine V0: its counters add up what was counted before, so its gauges are read; accepted "
                "tokens count whatever their prefix"
            )
        if not self.speculates:
            return f"{self.server.name} exports no counter of drafts ({self.missing[0]} …): it does not speculate"
        if self.missing:
            return f"{self.server.name} does not export {', '.join(self.missing)}: what follows from it is not known"
        return None


def told(text: str, where: str) -> Told:
    """Return what a scrape tells of its server.

    Args:
        text: The scrape.
        where: Its address or file, for messages.

    Raises:
        InputError: It is of no server that is known.
    """
    names = set(re.findall(r"^\s*([A-Za-z_:][\w:]*)[ {]", text, re.MULTILINE))
    for server in SERVERS:
        if any(name.startswith(server.prefix) for name in names):
            missing = tuple(name for name in server.counters if name not in names)
            older = server.name == "vLLM" and "vllm:spec_decode_efficiency" in names
            return Told(server, missing, older)
    known = ", ".join(server.name for server in SERVERS)
    found = ", ".join(sorted(names)[:3]) or text.strip()[:60] or "nothing"
    raise InputError("holds no metrics of a server that is known", file=where, found=found, expected=known)


def served(values: Mapping[tuple[str, frozenset[tuple[str, str]]], float], server: Server) -> int | None:
    """Return how many requests were answered, None where that is not counted.

    Args:
        values: How far counters went up, by series.
        server: The server.
    """
    found = [value for (name, _), value in values.items() if name == server.served]
    return int(sum(found)) if found else None
