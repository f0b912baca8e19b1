"""One request against a real server over a real socket: the times are right, and every failure is told."""

import asyncio
import json
import statistics
import time

import httpx
import pytest

from specdash.live import sse
from specdash.live.request import measure, short
from tests.live.server import SPEC

TOLERANCE_S = 0.005
"""How far a time may be off on a machine that does other things too; most are off by a tenth of it."""


def ask(server, *scripts, timeout=20.0, path="/v1/chat/completions", begun=None):
    """Send requests one after the other over one client; ``begun`` gets when each was sent."""
    begun = [] if begun is None else begun

    async def run():
        async with httpx.AsyncClient(trust_env=False, headers={"accept-encoding": "identity"}) as client:
            found = []
            for script in scripts:
                prompt = json.dumps(script)
                body = {"stream": True} | (
                    {"prompt": prompt} if path.endswith("/v1/completions") else {"messages": [{"content": prompt}]}
                )
                begun.append(time.monotonic())
                found.append(await measure(client, server.url + path, body, timeout))
            return found

    return asyncio.run(run())


def test_times_are_those_of_the_server(baseline):
    """Against what the server wrote down on the same clock: a chunk is seen just after it was sent."""
    script, begun = {"ttft": 0.04, "gap": 0.015, "chunks": 6}, []
    found = ask(baseline, *[script] * 12, begun=begun)
    late = []
    for start, measured, entry in zip(begun, found, baseline.log(), strict=True):
        sent = [at - start for at in entry["sent"]]
        assert measured.error is None and len(measured.chunks_s) == len(sent) == 6
        late += [seen - was for seen, was in zip(measured.chunks_s, sent, strict=True)]
        assert measured.chunks_s[0] >= 0.04 and measured.chunks_s[-1] >= 0.04 + 5 * 0.015
        assert measured.done_s >= measured.chunks_s[-1]
    assert statistics.median(map(abs, late)) < TOLERANCE_S


def test_the_empty_first_chunk_is_not_the_first_token(baseline):
    (found,) = ask(baseline, {"ttft": 0.1, "chunks": 1})
    assert found.chunks_s[0] >= 0.1 and len(found.chunks_s) == 1


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions"])
def test_what_an_answer_says(spec, path):
    (found,) = ask(spec, {"tokens": 14, "ttft": 0}, path=path)
    assert (found.status, found.error, found.output_tokens) == (200, None, 14)
    assert len(found.chunks_s) == 5  # three tokens a chunk
    assert found.input_tokens == len(json.dumps({"tokens": 14, "ttft": 0}))
    assert found.finish_reason == "stop"
    assert found.said["vllm"]["speculative_decoding"] == SPEC


def test_a_server_that_does_not_count_tokens(baseline):
    (found,) = ask(baseline, {"mode": "no usage"})
    assert (found.error, found.output_tokens, found.said) == (None, None, {})
    assert len(found.chunks_s) == 9


@pytest.mark.parametrize(
    ("mode", "chunks", "error"),
    [
        ("500", 0, "HTTP 500: the engine is dead for good"),
        ("json", 0, 'no event stream but application/json: {"choices": []}'),
        ("reset", 0, "the connection broke"),
        ("break", 2, "the connection broke"),
        ("early", 2, "the stream ended early"),
        ("garbage", 2, "an event is no JSON: {garbage"),
        ("error", 2, "the server says: out of memory"),
        ("stall", 2, "no end within 0.4 s"),
        ("never", 0, "no end within 0.4 s"),
    ],
)
def test_failures(baseline, mode, chunks, error):
    """What came before the failure is kept."""
    found, after = ask(baseline, {"mode": mode, "ttft": 0.01}, {"ttft": 0.01}, timeout=0.4)
    assert found.error.startswith(error)
    assert len(found.chunks_s) == chunks
    assert after.error is None  # the connection does not stay in disorder


def test_an_endless_answer_is_cut(baseline, monkeypatch):
    monkeypatch.setattr(sse, "_MOST_PENDING", 2**20)
    (found,) = ask(baseline, {"mode": "endless", "ttft": 0})
    assert found.error == "the answer is too large"


def test_nobody_there(baseline):
    baseline.kill()
    (found,) = ask(baseline, {})
    assert found.status is None
    assert found.error.startswith("no connection")


def test_texts_of_servers_are_cut_and_on_one_line():
    assert short("a\n\x1b[31m b\t" + "x" * 300) == "a [31m b " + "x" * 190 + "…"
