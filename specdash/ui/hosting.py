"""Who reaches the dashboard, and what is said of that: on start, and in the sidebar."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

import streamlit as st

from specdash.ui import library

_PROXIED = ("X-Forwarded-For", "X-Real-Ip", "Forwarded")
"""Headers that a reverse proxy adds and that nobody behind one can take away."""

_told = False


def is_loopback(host: str | None) -> bool:
    """Tell whether a host or address is this machine's own; None, for a server, is every address it has."""
    if host is None:
        return False
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def is_shared() -> bool:
    """Tell whether others than who sits at this machine reach the dashboard, directly or through a proxy."""
    headers: Mapping[str, str] = st.context.headers
    proxied = any(name in headers for name in _PROXIED)
    asked = urlsplit(f"//{headers.get('Host', 'localhost')}").hostname
    return proxied or not (is_loopback(asked) and is_loopback(st.get_option("server.address")))


def consequence(*, read_only: bool) -> str:
    """Return what it means that others reach the dashboard, in a sentence."""
    if read_only:
        return "Whoever reaches this dashboard can read every evaluation; the library is read-only."
    return "Whoever reaches this dashboard can read, add, change and remove evaluations."


def announce(address: str | None, *, read_only: bool) -> None:
    """Say once, where the server's operator looks, that others reach it.

    Args:
        address: What the server is bound to, None for every address of this machine.
        read_only: Whether the library is.
    """
    global _told
    if _told or is_loopback(address):
        return
    _told = True
    bound = f"to {address}" if address else "to every address of this machine"
    hint = (
        "" if read_only else " SPECDASH_READ_ONLY=1 forbids changes; docs/hosting.md tells how to ask for a password."
    )
    print(f"specdash: bound {bound}. {consequence(read_only=read_only)}{hint}", file=sys.stderr, flush=True)


def note() -> None:
    """Say in the sidebar what others can do here, where others reach the dashboard or nobody may change anything."""
    read_only = library.store().read_only
    announce(st.get_option("server.address"), read_only=read_only)
    if read_only or is_shared():
        with st.sidebar:
            st.caption(consequence(read_only=read_only))
