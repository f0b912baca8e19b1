"""The transport of a dashboard's bench: the address that is checked is the one that is connected to."""

import asyncio

import httpx
import pytest

from specdash.live import guarded
from specdash.live.guarded import Guarded
from specdash.live.policy import Policy
from tests.live.serving import answer, saying, serving


def get(url, answers, monkeypatch, times=1):
    """Ask for an address several times; a name resolves to one of ``answers`` after the other."""
    found = iter(answers)

    async def resolve(asked, policy):
        numeric = next(found)
        policy.check_resolved(asked, numeric)
        return numeric

    monkeypatch.setattr(guarded, "resolved", resolve)

    async def ask():
        async with httpx.AsyncClient(transport=Guarded(Policy(), httpx.Limits())) as client:
            return [(await client.get(url)).text for _ in range(times)]

    return asyncio.run(ask())


def test_a_name_leads_where_it_led_first(monkeypatch):
    with serving(saying(answer("counted"))) as (port, requests):
        assert (
            get(f"http://changing:{port}/x", ["127.0.0.1", "169.254.169.254"], monkeypatch, times=2) == ["counted"] * 2
        )
    assert all(f"host: changing:{port}" in request.lower() for request in requests)


def test_a_forbidden_address_is_not_connected_to(monkeypatch):
    with pytest.raises(httpx.ConnectError, match="is a link-local address, which is never asked"):
        get("http://sly/x", ["169.254.169.254"], monkeypatch)
