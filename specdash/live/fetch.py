"""Fetching a server's counters over http, under a policy and within limits of time and size."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urljoin

import httpx

from specdash.live.policy import Address, Policy, address
from specdash.schema import InputError

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Numeric addresses of (host, port)."""

_REDIRECTS = 3  # from /metrics to /metrics/, say


@dataclass(frozen=True)
class Limits:
    """How long and how large an answer may be.

    Attributes:
        seconds: From the resolving of the name to the last byte.
        size: Bytes.
    """

    seconds: float = 10.0
    size: int = 16 * 2**20


DEFAULT_LIMITS = Limits()


async def resolve(host: str, port: int) -> list[str]:
    """Return the numeric addresses of a host, as the system knows them."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(entry[4][0] for entry in found))


def fetch(url: str, policy: Policy, limits: Limits = DEFAULT_LIMITS, *, resolve: Resolve = resolve) -> str:
    """Return the text at an address.

    The name is resolved once, and what it resolved to is checked and connected to: a name that changes its mind in
    between leads nowhere else. Redirects are followed within the same origin only; nothing goes through a proxy.

    Args:
        url: Address.
        policy: What may be fetched.
        limits: How long and how large the answer may be.
        resolve: Numeric addresses of a host.

    Raises:
        InputError: It may not be fetched, cannot be reached, is no text, takes too long or is too large.
    """
    asked = address(url)
    policy.check(asked)

    async def within() -> str:
        async with asyncio.timeout(limits.seconds):
            return await _follow(asked, policy, limits, resolve)

    try:
        return asyncio.run(within())
    except TimeoutError:
        raise InputError("does not answer in time", file=url, expected=f"an answer in {limits.seconds:g} s") from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise InputError("cannot be reached", file=url, found=_reason(error)) from None


async def _follow(asked: Address, policy: Policy, limits: Limits, resolve: Resolve) -> str:
    numeric = await resolved(asked, policy, resolve)
    # Not from the environment: a proxy would resolve the name again.
    async with httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=limits.seconds) as client:
        at = asked
        for _ in range(_REDIRECTS + 1):
            found = await _get(client, at, numeric, limits)
            if isinstance(found, str):
                return found
            if found.origin != asked.origin:
                raise InputError("redirects elsewhere, which is not followed", file=asked.url, found=found.url)
            at = found
    raise InputError("redirects in circles", file=asked.url)


async def resolved(asked: Address, policy: Policy, resolve: Resolve = resolve) -> str:
    """Return the numeric address to connect to; a host with a forbidden one among several is not asked at all.

    Raises:
        InputError: The host is not known, or may not be asked.
    """
    try:
        found = await resolve(asked.host, asked.port)
    except (OSError, UnicodeError):
        found = []
    if not found:
        raise InputError("has a host that is not known", file=asked.url, found=asked.host)
    for numeric in found:
        policy.check_resolved(asked, numeric)
    return found[0]


async def _get(client: httpx.AsyncClient, at: Address, numeric: str, limits: Limits) -> str | Address:
    """Return the text of an answer, or where it redirects to."""
    host = f"[{numeric}]" if ":" in numeric else numeric
    request = client.build_request(
        "GET",
        f"{at.scheme}://{host}:{at.port}{at.target}",
        # Not compressed: a small answer could unpack to any size.
        headers={"Host": at.authority, "Accept": "text/plain", "Accept-Encoding": "identity"},
        extensions={"sni_hostname": at.host},
    )
    answer = await client.send(request, stream=True)
    try:
        if answer.has_redirect_location:
            return address(urljoin(at.url, answer.headers["Location"]))
        if answer.status_code != httpx.codes.OK:
            raise InputError("gives no counters", file=at.url, found=f"HTTP {answer.status_code}")
        if answer.headers.get("Content-Encoding", "identity") != "identity":
            raise InputError("is compressed though not asked to", file=at.url, found=answer.headers["Content-Encoding"])
        return await _text(answer, at, limits)
    finally:
        await answer.aclose()


async def _text(answer: httpx.Response, at: Address, limits: Limits) -> str:
    expected = f"at most {limits.size / 2**20:g} MB"
    declared = answer.headers.get("Content-Length", "")
    if declared.isdecimal() and int(declared) > limits.size:
        raise InputError("is too large", file=at.url, found=f"{int(declared):,} bytes", expected=expected)
    body = bytearray()
    async for part in answer.aiter_raw():
        body += part
        if len(body) > limits.size:
            raise InputError("is too large", file=at.url, found="more", expected=expected)
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise InputError("is no text", file=at.url, found=bytes(body[error.start : error.start + 8])) from None


def _reason(error: Exception) -> str:
    """Say what went wrong on the way, on one line."""
    return " ".join(str(error).split()) or type(error).__name__
