"""Which addresses a dashboard may fetch: it must not become a way into its server's network.

Whoever reaches a dashboard can make it ask other servers for something. One that only its own machine reaches may ask
any http address but those that are never a server of metrics; one that others reach asks the hosts that its owner has
listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import SplitResult, urlsplit

from specdash.schema import InputError

HOSTS = "SPECDASH_METRICS_HOSTS"
"""Environment variable: hosts (``name`` or ``name:port``) that a dashboard others can reach may ask, by commas."""

_METADATA = frozenset(map(ip_address, ("100.100.100.200", "192.0.0.192", "fd00:ec2::254")))
"""Addresses beside the link-local ones at which clouds tell a machine its credentials."""

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Address:
    """An http address, taken apart.

    Attributes:
        url: As it was given.
        scheme: http or https.
        host: Name or literal address, in lower case.
        port: Port.
        target: Path and query.
    """

    url: str
    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """What the header Host says."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == _PORTS[self.scheme] else f"{name}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        """What a redirect must not leave."""
        return self.scheme, self.host, self.port


def address(url: str) -> Address:
    """Take an http address apart.

    Raises:
        InputError: It is none, or holds credentials.
    """
    expected = "an address such as http://localhost:8000/metrics"
    try:
        found: SplitResult = urlsplit(url.strip())
        host, port = found.hostname, found.port
    except ValueError:
        raise InputError("is no http address", file=url, expected=expected) from None
    if found.scheme not in _PORTS:
        raise InputError("is no http address", file=url, found=f"scheme {found.scheme or 'missing'}", expected=expected)
    if not host or port == 0:
        raise InputError("is no http address", file=url, expected=expected)
    if found.username is not None or found.password is not None:
        # Not repeated in the message: it would be shown and logged.
        raise InputError("the address holds a name or password", file=host, expected=expected)
    target = (found.path or "/") + (f"?{found.query}" if found.query else "")
    return Address(url.strip(), found.scheme, host.lower(), port or _PORTS[found.scheme], target)


@dataclass(frozen=True)
class Policy:
    """What may be fetched.

    Attributes:
        listed: The only hosts that may be asked, as (host, port or None for any); None: all may.
        metadata: Whether link-local addresses may be asked too: only on a command line, whose user could ask himself.
    """

    listed: frozenset[tuple[str, int | None]] | None = None
    metadata: bool = False

    def check(self, asked: Address) -> None:
        """Let an address pass, before its name is resolved.

        Raises:
            InputError: Its host is not listed.
        """
        if self.listed is None or not self.listed.isdisjoint({(asked.host, None), (asked.host, asked.port)}):
            return
        shown = ", ".join(sorted(f"{host}:{port}" if port else host for host, port in self.listed)) or "none"
        raise InputError(
            "is not among the hosts that this dashboard may ask, as others can reach it",
            file=asked.url,
            found=asked.authority,
            expected=f"one of {HOSTS}: {shown}",
        )

    def check_resolved(self, asked: Address, resolved: str) -> None:
        """Let the numeric address of a host pass: the one that is connected to.

        Raises:
            InputError: It is one at which no server of metrics stands.
        """
        ip = _plain(resolved)
        kind = None if self.metadata else _forbidden(ip)
        if self.listed is not None and (ip.is_loopback or ip.is_unspecified) and not _means_here(asked.host):
            kind = "this machine itself under another name"
        if kind:
            found = resolved if resolved == asked.host else f"{asked.host} is {resolved}"
            raise InputError(f"is {kind}, which is never asked", file=asked.url, found=found)


COMMAND_LINE = Policy(metadata=True)
"""Of somebody who could as well use another program."""


def of_dashboard(*, local: bool, env: Mapping[str, str]) -> Policy:
    """Return the policy of a dashboard.

    Args:
        local: Whether only its own machine reaches it.
        env: Holds HOSTS.

    Raises:
        InputError: HOSTS is no list of hosts.
    """
    return Policy() if local else Policy(frozenset(map(_listed, env.get(HOSTS, "").replace(",", " ").split())))


def _listed(text: str) -> tuple[str, int | None]:
    try:
        found = urlsplit(f"//{text}")
        host, port = found.hostname, found.port
    except ValueError:
        host = port = None
    if not host or "/" in text or "@" in text:
        raise InputError("is no list of hosts", file=HOSTS, found=text, expected="name or name:port, by commas")
    return host.lower(), port


def _plain(resolved: str) -> IPv4Address | IPv6Address:
    """Return a numeric address; an IPv4 address in the clothes of IPv6 leads where the plain one does."""
    ip = ip_address(resolved.partition("%")[0])
    if isinstance(ip, IPv4Address):
        return ip
    return ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None) or _nat64(ip) or ip


def _means_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _forbidden(ip: IPv4Address | IPv6Address) -> str | None:
    """Say what kind of address one is that is never asked, None for others."""
    if ip.is_link_local:
        return "a link-local address"
    if ip in _METADATA:
        return "an address at which clouds tell credentials"
    if ip.is_multicast or ip == IPv4Address("255.255.255.255"):
        return "an address of many machines"
    return None


def _nat64(ip: IPv6Address) -> IPv4Address | None:
    return IPv4Address(int(ip) & 0xFFFFFFFF) if int(ip) >> 32 == int(IPv6Address("64:ff9b::")) >> 32 else None
