"""One streamed request, timed.

Times are seconds on a monotonic clock from just before the request is sent. A chunk counts where it holds generated
text, reasoning included, so that the empty first chunk with the role does not pass for the first token.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import asdict, dataclass, field
from typing import Any

import httpx

from specdash.formats.base import finite
from specdash.live.endpoint import reason
from specdash.live.sse import Events, TooLarge

_TEXTS = ("content", "reasoning_content", "reasoning", "text")
_LONGEST = 200  # characters of a message of the server, which may hold more than a reason
_DONE = "[DONE]"


@dataclass
class Measured:
    """What one request gave.

    Attributes:
        status: Of HTTP, None without an answer.
        error: Why it failed, None when it did not.
        chunks_s: When each chunk with text arrived, in s after sending.
        done_s: When the stream ended, in s after sending; None when it did not.
        input_tokens: As the server counts them.
        output_tokens: As the server counts them.
        finish_reason: Why the server stopped.
        said: What else the server says, as it came: its ``metrics`` as "vllm", its ``timings`` as "llama.cpp".
    """

    status: int | None = None
    error: str | None = None
    chunks_s: list[float] = field(default_factory=list)
    done_s: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish_reason: str | None = None
    said: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)


class _BadAnswer(Exception):
    """An answer that is no stream of completions; its message says why."""


async def measure(client: httpx.AsyncClient, url: str, body: dict[str, Any], timeout_s: float) -> Measured:
    """Send a request and time the chunks of its answer.

    Args:
        client: Its connections are kept from request to request.
        url: Address of the completions.
        body: The request, ``stream`` among it.
        timeout_s: Seconds that the whole of it may take.

    Returns:
        What came, with the reason where it failed; nothing is raised for what a server does.
    """
    found = Measured()
    content = json.dumps(body).encode()
    headers = {"content-type": "application/json", "accept": "text/event-stream"}
    request = client.build_request("POST", url, content=content, headers=headers)
    start = time.perf_counter()
    try:
        async with asyncio.timeout(timeout_s):
            answer = await client.send(request, stream=True)
            try:
                await _read(answer, found, start)
            finally:
                await answer.aclose()
    except TimeoutError:
        found.error = f"no end within {timeout_s:g} s"
    except TooLarge:
        found.error = "the answer is too large"
    except _BadAnswer as error:
        found.error = str(error)
    except (httpx.HTTPError, httpx.StreamError, OSError) as error:
        found.error = reason(error)
    return found


async def _read(answer: httpx.Response, found: Measured, start: float) -> None:
    found.status = answer.status_code
    if answer.status_code != 200:
        raise _BadAnswer(f"HTTP {answer.status_code}: {await _beginning(answer)}")
    kind = answer.headers.get("content-type", "")
    if "event-stream" not in kind:
        raise _BadAnswer(f"no event stream but {kind[:60] or 'nothing that says its type'}: {await _beginning(answer)}")
    events, ended = Events(), False
    # Compressed answers are not asked for, so these are the bytes as the network brought them.
    async for received in answer.aiter_raw():
        now = time.perf_counter() - start
        for data in events.feed(received):
            ended = _take(data, found, now) or ended
    found.done_s = time.perf_counter() - start
    for data in events.end():
        ended = _take(data, found, found.done_s) or ended
    if not ended and found.finish_reason is None:
        raise _BadAnswer("the stream ended early")


async def _beginning(answer: httpx.Response) -> str:
    """Return the beginning of an answer that is no stream, on one line."""
    body = b""
    async for part in answer.aiter_raw():
        body += part
        if len(body) > 4096:
            break
    text = body.decode("utf-8", "replace")
    return short(text) or "nothing"


def short(text: str) -> str:
    """Return a text of a server on one line, printable, cut."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _take(data: str, found: Measured, now: float) -> bool:
    """Take an event; tell whether it is the end.

    Raises:
        _BadAnswer: It is no completion, or says that something failed.
    """
    if data.strip() == _DONE:
        return True
    try:
        event = json.loads(data, parse_constant=lambda _: None, parse_float=finite)
    except (ValueError, RecursionError):
        raise _BadAnswer(f"an event is no JSON: {short(data)}") from None
    if not isinstance(event, dict):
        raise _BadAnswer(f"an event is no JSON object: {short(data)}")
    if event.get("error"):
        raise _BadAnswer(f"the server says: {short(_message(event['error']))}")
    if any(_has_text(choice) for choice in _objects(event.get("choices"))):
        found.chunks_s.append(now)
    for choice in _objects(event.get("choices")):
        if isinstance(choice.get("finish_reason"), str):
            found.finish_reason = short(choice["finish_reason"])
        if (stats := _object(choice.get("speculative_decoding_stats"))) is not None:  # before it moved to ``metrics``
            found.said["vllm"] = {"speculative_decoding": stats}
    usage = event.get("usage")
    if isinstance(usage, dict):
        found.input_tokens = _count(usage.get("prompt_tokens"))
        found.output_tokens = _count(usage.get("completion_tokens"))
    for name, server in (("metrics", "vllm"), ("timings", "llama.cpp")):
        if (held := _object(event.get(name))) is not None:
            found.said[server] = held
    return False


def _object(value: Any) -> dict[str, Any] | None:
    """Return an object that can be written down again; one nested thousandfold cannot."""
    if not isinstance(value, dict):
        return None
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    return value


def _message(error: Any) -> str:
    return str(error.get("message", error)) if isinstance(error, dict) else str(error)


def _objects(choices: Any) -> list[dict[str, Any]]:
    return [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []


def _has_text(choice: dict[str, Any]) -> bool:
    holder = choice["delta"] if isinstance(choice.get("delta"), dict) else choice
    return any(isinstance(holder.get(name), str) and holder[name] for name in _TEXTS)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None
