"""An OpenAI-compatible endpoint: its addresses, and what it says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx

from specdash.schema import InputError

_SMALL = 4 * 2**20  # bytes that an answer which is no stream may have


@dataclass(frozen=True)
class Endpoint:
    """Where requests go.

    Attributes:
        name: Of the arm it is measured in.
        base: Address up to and with the version, such as ``http://localhost:8000/v1``.
        metrics: Address of its counters.
    """

    name: str
    base: str
    metrics: str

    def url(self, chat: bool) -> str:
        """Address of completions."""
        return f"{self.base}/{'chat/completions' if chat else 'completions'}"


def endpoint(name: str, address: str, metrics: str | None = None) -> Endpoint:
    """Return the endpoint of an address with or without ``/v1``; its counters are at ``/metrics`` beside that.

    Args:
        name: Of the arm.
        address: http or https.
        metrics: Address of the counters where they are elsewhere.

    Raises:
        InputError: It is no http or https address.
    """
    found = _parts(name, address)
    path = found.path.rstrip("/")
    root = path.removesuffix("/v1")
    versioned = path if path else "/v1"
    base = urlunsplit((found.scheme, found.netloc, versioned, "", ""))
    if metrics is not None:
        _parts(f"{name} metrics", metrics)
    return Endpoint(name, base, metrics or urlunsplit((found.scheme, found.netloc, f"{root}/metrics", "", "")))


def _parts(name: str, address: str) -> Any:
    try:
        found = urlsplit(address.strip())
        valid = found.scheme in ("http", "https") and bool(found.hostname) and found.port != 0
        if valid and found.username is not None:  # the address is written down
            raise InputError(f"the {name} endpoint holds credentials", expected="--header 'Authorization: …' instead")
    except ValueError:  # a port that is none, brackets that do not close
        valid = False
    if not valid:
        expected = "an address such as http://localhost:8000/v1"
        raise InputError(f"the {name} endpoint is no http address", found=address, expected=expected)
    return found


async def small(client: httpx.AsyncClient, url: str) -> tuple[int, str]:
    """Get an answer of limited size.

    Returns:
        Status and text.

    Raises:
        httpx.HTTPError: It could not be had.
        InputError: It is too large.
    """
    async with client.stream("GET", url, timeout=httpx.Timeout(10.0)) as answer:
        body = b""
        async for part in answer.aiter_bytes():
            body += part
            if len(body) > _SMALL:
                raise InputError("the answer is too large", file=url, expected=f"at most {_SMALL >> 20} MB")
        return answer.status_code, body.decode("utf-8", "replace")


async def model_of(client: httpx.AsyncClient, at: Endpoint) -> str:
    """Return the first model that an endpoint lists.

    Raises:
        InputError: It cannot be reached or lists none.
    """
    import json

    url = f"{at.base}/models"
    try:
        status, body = await small(client, url)
    except httpx.HTTPError as error:
        raise InputError(f"the {at.name} endpoint cannot be reached", file=url, found=reason(error)) from None
    try:
        return str(json.loads(body)["data"][0]["id"])
    except (ValueError, LookupError, TypeError, RecursionError):
        found = f"HTTP {status}, {body[:80]}"
        raise InputError(f"the {at.name} endpoint lists no model", file=url, found=found, expected="--model") from None


def reason(error: Exception) -> str:
    """Say what went wrong on the way, on one line."""
    said = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, httpx.ConnectTimeout):
        return "no connection in time"
    if isinstance(error, httpx.ConnectError):
        return f"no connection: {said[:160]}"
    if isinstance(error, httpx.TimeoutException):
        return "no answer in time"
    if isinstance(error, httpx.RemoteProtocolError | httpx.ReadError):
        return f"the connection broke: {said[:160]}"
    return said[:200]
