"""Requests of a dashboard's bench: the address that is checked is the address that is connected to."""

from __future__ import annotations

import httpx

from specdash.live.fetch import resolved
from specdash.live.policy import Policy, address
from specdash.schema import InputError


class Guarded(httpx.AsyncHTTPTransport):
    """A transport that asks only what a policy lets pass, and resolves the name of a host once.

    Args:
        policy: What may be asked.
        limits: Of its connections.
    """

    def __init__(self, policy: Policy, limits: httpx.Limits) -> None:
        super().__init__(limits=limits, trust_env=False)
        self._policy = policy
        self._numeric: dict[tuple[str, str, int], str] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to the numeric address of its host.

        Raises:
            httpx.ConnectError: It may not be asked.
        """
        try:
            asked = address(str(request.url))
            self._policy.check(asked)
            if asked.origin not in self._numeric:
                self._numeric[asked.origin] = await resolved(asked, self._policy)
        except InputError as error:
            raise httpx.ConnectError(str(error)) from None
        request.extensions = request.extensions | {"sni_hostname": asked.host}
        request.url = request.url.copy_with(host=self._numeric[asked.origin])  # its header Host stays the name
        return await super().handle_async_request(request)
