"""The A/B bench: the same prompts to two endpoints in turns, every answer timed, every reading kept."""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

import httpx

from specdash.live import document as documents
from specdash.live.document import Journal, Settings
from specdash.live.endpoint import Endpoint, model_of, reason, small
from specdash.live.guarded import Guarded
from specdash.live.plan import Block, blocks
from specdash.live.policy import COMMAND_LINE, Policy
from specdash.live.prompts import Prompt
from specdash.live.request import Measured, measure
from specdash.schema import InputError

IN_A_ROW = 5
"""Failures of one arm, one after the other, that end a bench: the server is gone."""

_WARM_UP = "Count from one to fifty in words, one number a line."
_KEPT = ("spec_decode", "request_success", "generation_tokens", "prompt_tokens", "spec_verify", "spec_accept")
"""Parts of the names of the counters that are kept."""

_KEEP_ALIVE_S = 4.0
"""Below the 5 s after which uvicorn closes: a connection must not be closed while a request is on its way."""

Say = Callable[[str, int, int], None]
"""Called with what is going on, the requests done and in all."""


class Bench:
    """One run of a bench, from the state of its document on.

    Args:
        endpoints: The arms, in their order.
        models: Model of each.
        prompts: As in the document.
        settings: As in the document.
        journal: Holds the document.
        headers: Sent with every request; never written down.
        say: Told of the progress.
        policy: Which addresses may be asked.
    """

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        models: Sequence[str],
        prompts: Sequence[Prompt],
        settings: Settings,
        journal: Journal,
        headers: dict[str, str] | None = None,
        say: Say = lambda *_: None,
        policy: Policy = COMMAND_LINE,
    ) -> None:
        self.endpoints, self.models = list(endpoints), dict(zip((e.name for e in endpoints), models, strict=True))
        self.prompts, self.settings, self.journal, self.say = prompts, settings, journal, say
        self.headers, self.policy = headers or {}, policy
        self.total = len(prompts) * len(self.endpoints) * len(settings.concurrency)
        self._done = {(r["concurrency"], r["arm"], r["prompt"]) for r in journal.document["requests"]}
        self._failed: Counter[str] = Counter()
        self._stopped: str | None = None
        # Seconds of the document's clock at 0 of the monotonic one; a bench that was resumed has a gap.
        began = datetime.fromisoformat(journal.document["started"]).timestamp()
        self._offset = time.time() - began - time.perf_counter()

    async def run(self) -> None:
        """Measure what is missing, until all is there, the bench is cancelled, or a server is gone.

        The document says in ``state`` which of them it was. Requests that are in flight when it is cancelled leave no
        record.
        """
        document = self.journal.document
        document |= {"state": "running", "reason": None}
        try:
            with _cancelled_by(signal.SIGTERM):
                async with _client(self.headers, self.policy) as client:
                    for concurrency in self.settings.concurrency:
                        await self._pass(client, concurrency)
            document["state"] = "complete"
        except asyncio.CancelledError:
            document |= {"state": "cancelled", "reason": "cancelled"}
        except _Stopped as stopped:
            document |= {"state": "stopped", "reason": str(stopped)}
        document["finished"] = documents.now()

    async def _pass(self, client: httpx.AsyncClient, concurrency: int) -> None:
        """One pass over the prompts; nothing where all of it is there."""
        names = [at.name for at in self.endpoints]
        planned = blocks(len(self.prompts), names, concurrency, interleaved=self.settings.interleaved)
        missing = [
            Block(block.arm, left)
            for block in planned
            if (left := tuple(i for i in block.prompts if (concurrency, block.arm, i) not in self._done))
        ]
        if not missing:
            return
        await self._warm_up(client, concurrency)
        before = {at.name: await _scrape(client, at) for at in self.endpoints}
        try:
            for block in missing:
                await self._block(client, block, concurrency)
        finally:
            await self._counters_after(client, concurrency, before)

    async def _warm_up(self, client: httpx.AsyncClient, concurrency: int) -> None:
        prompt = Prompt("warm-up", "", ({"role": "user", "content": _WARM_UP},), "")
        for at in self.endpoints:
            self._say(f"warming up {at.name}")
            for _ in range(self.settings.warmup):
                found = await self._measure(client, at, prompt)
                self.journal.add("warmup", {"concurrency": concurrency, "arm": at.name, **found.as_dict()})

    async def _measure(self, client: httpx.AsyncClient, at: Endpoint, prompt: Prompt) -> Measured:
        body = self.settings.body(self.models[at.name], prompt)
        return await measure(client, at.url(self.settings.chat), body, self.settings.timeout_s)

    async def _block(self, client: httpx.AsyncClient, block: Block, concurrency: int) -> None:
        at = next(at for at in self.endpoints if at.name == block.arm)
        waiting = iter(block.prompts)

        async def worker() -> None:
            for index in waiting:
                if self._stopped:
                    return
                start = max(0.0, time.perf_counter() + self._offset)
                found = await self._measure(client, at, self.prompts[index])
                self._keep(concurrency, at.name, index, start, found)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(concurrency, len(block.prompts))):
                    group.create_task(worker())
        except* OSError as failed:  # the journal's disk
            raise failed.exceptions[0] from None
        if self._stopped:
            raise _Stopped(self._stopped)

    def _keep(self, concurrency: int, arm: str, prompt: int, start: float, found: Measured) -> None:
        record = {"concurrency": concurrency, "arm": arm, "prompt": prompt, "start_s": start, **found.as_dict()}
        self.journal.add("requests", record)
        self._done.add((concurrency, arm, prompt))
        self._failed[arm] = self._failed[arm] + 1 if found.error else 0
        if self._failed[arm] >= IN_A_ROW:
            self._stopped = f"{arm} failed {IN_A_ROW} times in a row, last: {found.error}"
        self._say(f"{arm}, {concurrency} in flight")

    def _say(self, doing: str) -> None:
        self.say(doing, len(self._done), self.total)

    async def _counters_after(
        self, client: httpx.AsyncClient, concurrency: int, before: dict[str, dict[str, Any]]
    ) -> None:
        for at in self.endpoints:
            after = await _scrape(client, at)
            reading = {"concurrency": concurrency, "arm": at.name, "before": before[at.name], "after": after}
            self.journal.add("counters", reading)


class _Stopped(Exception):
    """A server is gone; the message says how that showed."""


@contextmanager
def _cancelled_by(number: signal.Signals) -> Iterator[None]:
    """Let a signal cancel the running task, as Ctrl-C does."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    with suppress(NotImplementedError, RuntimeError, ValueError):  # not the main thread, or no signals here
        loop.add_signal_handler(number, task.cancel)
    try:
        yield
    finally:
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.remove_signal_handler(number)


def _client(headers: dict[str, str], policy: Policy) -> httpx.AsyncClient:
    """Return a client that adds nothing to what is measured: no compression, no proxy, no redirects."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=_KEEP_ALIVE_S)
    timeout = httpx.Timeout(None, connect=10.0)
    own = {"accept-encoding": "identity", "user-agent": "specdash"}
    transport = None if policy is COMMAND_LINE else Guarded(policy, limits)
    return httpx.AsyncClient(
        limits=limits, timeout=timeout, headers=own | headers, trust_env=False, transport=transport
    )


async def _scrape(client: httpx.AsyncClient, at: Endpoint) -> dict[str, Any]:
    """Read an endpoint's counters: ``{"at", "text"}``, or ``{"at", "error"}`` where they cannot be had."""
    when = documents.now()
    try:
        status, body = await small(client, at.metrics)
    except (httpx.HTTPError, OSError) as error:
        return {"at": when, "error": reason(error)}
    except InputError as error:
        return {"at": when, "error": str(error)}
    if status != 200:
        return {"at": when, "error": f"HTTP {status}"}
    kept = [line for line in body.splitlines() if not line.startswith("#") and any(part in line for part in _KEPT)]
    return {"at": when, "text": "".join(f"{line}\n" for line in kept)}


async def models_of(
    endpoints: Sequence[Endpoint], headers: dict[str, str] | None = None, policy: Policy = COMMAND_LINE
) -> list[str]:
    """Return the first model that each endpoint lists.

    Raises:
        InputError: One cannot be reached or lists none.
    """
    async with _client(headers or {}, policy) as client:
        return [await model_of(client, at) for at in endpoints]
