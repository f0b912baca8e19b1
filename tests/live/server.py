"""A server that streams completions at known times and fails in every way a server can; run it as a module.

It speaks HTTP over a real socket, written out with asyncio streams so that it may also break the rules. What it does
with a request stands in the request: a prompt that is a JSON object is its script. It writes down when it received
each request and when it sent each chunk, on the clock that all processes of the machine share, at ``/log``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from typing import Any

SPEC = {
    "mean_acceptance_length": 2.5,
    "draft_acceptance_rate": 0.5,
    "acceptance_histogram": [1, 1, 1, 1],
    "num_spec_steps": 4,
    "num_accepted_draft_tokens": 6,
    "num_draft_tokens": 12,
    "num_spec_tokens": 3,
    "per_step_accepted": [3, 0, 2, 1],
    "per_step_drafted": [3, 3, 3, 3],
}
"""What vLLM puts into the last chunk of a response with speculation, in detail."""


class State:
    """What the server has seen."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.log: list[dict[str, Any]] = []
        self.counted = {"requests": 0, "drafts": 0, "drafted": 0, "accepted": 0}

    def metrics(self) -> str:
        """The counters as vLLM writes them."""
        c, labels = self.counted, '{engine="0",model_name="m"}'
        lines = [f'vllm:request_success_total{{engine="0",finished_reason="stop",model_name="m"}} {c["requests"]}.0']
        if self.arguments.spec:
            lines += [
                f"vllm:spec_decode_num_drafts_total{labels} {c['drafts']}.0",
                f"vllm:spec_decode_num_draft_tokens_total{labels} {c['drafted']}.0",
                f"vllm:spec_decode_num_accepted_tokens_total{labels} {c['accepted']}.0",
            ]
        return "# HELP something else\nprocess_cpu_seconds_total 3.5\n" + "\n".join(lines) + "\n"


async def handle(state: State, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve the requests of one connection."""
    try:
        while request := await _request(reader):
            method, path, body = request
            if path == "/v1/models":
                await _answer(writer, 200, "application/json", json.dumps({"data": [{"id": "m"}]}))
            elif path == "/metrics" and not state.arguments.no_metrics:
                await _answer(writer, 200, "text/plain; version=1.0.0", state.metrics())
            elif path == "/log":
                await _answer(writer, 200, "application/json", json.dumps(state.log))
            elif method == "POST" and path in ("/v1/chat/completions", "/v1/completions"):
                await _complete(state, json.loads(body), writer, path)
            else:
                await _answer(writer, 404, "text/plain", "no such page")
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def _request(reader: asyncio.StreamReader) -> tuple[str, str, bytes] | None:
    line = await reader.readline()
    if not line:
        return None
    method, path, _ = line.decode().split()
    length = 0
    while (header := await reader.readline()) not in (b"\r\n", b""):
        name, _, value = header.decode().partition(":")
        if name.lower() == "content-length":
            length = int(value)
    return method, path, await reader.readexactly(length)


async def _answer(writer: asyncio.StreamWriter, status: int, kind: str, text: str) -> None:
    content = text.encode()
    head = f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {len(content)}\r\n\r\n"
    writer.write(head.encode() + content)
    await writer.drain()


async def _complete(state: State, body: dict[str, Any], writer: asyncio.StreamWriter, path: str) -> None:
    prompt = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
    script = json.loads(prompt) if prompt.startswith("{") else {}
    mode = script.get(f"mode_{state.arguments.name}", script.get("mode", "ok"))
    entry = {"received": time.monotonic(), "prompt": prompt, "body": body, "sent": []}
    state.log.append(entry)
    if mode == "500":
        return await _answer(writer, 500, "text/plain", "the engine is dead\nfor good")
    if mode == "json":
        return await _answer(writer, 200, "application/json", '{"choices": []}')
    if mode == "reset":
        writer.transport.abort()
        raise ConnectionError
    if mode == "exit":
        os._exit(1)
    if mode == "never":
        await asyncio.sleep(3600)
    writer.write(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    await _stream(state, script, mode, entry, _Chunked(writer), "text" if path == "/v1/completions" else "delta")


class _Chunked:
    """Chunked transfer of bytes."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer

    async def send(self, content: bytes) -> None:
        self.writer.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
        await self.writer.drain()

    async def end(self) -> None:
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()


async def _stream(
    state: State, script: dict[str, Any], mode: str, entry: dict[str, Any], out: _Chunked, shape: str
) -> None:
    speed = state.arguments.speed
    tokens = script.get("tokens", 9)
    chunks = script.get("chunks", -(-tokens // (3 if state.arguments.spec else 1)))
    role = {"index": 0, "delta": {"role": "assistant", "content": ""}} if shape == "delta" else {"text": ""}
    await _event(out, {"choices": [role]})
    for number in range(chunks):
        await asyncio.sleep(script.get("ttft", 0.02) if number == 0 else script.get("gap", 0.01) / speed)
        if mode == "stall" and number == 2:
            await asyncio.sleep(3600)
        if mode == "break" and number == 2:
            out.writer.transport.abort()
            raise ConnectionError
        if mode == "early" and number == 2:
            return await out.end()
        if mode == "garbage" and number == 2:
            return await out.send(b"data: {garbage\n\n")
        if mode == "error" and number == 2:
            return await _event(out, {"error": {"message": "out of memory", "code": 500}})
        if mode == "endless" and number == 2:
            while True:
                await out.send(b"x" * 65536)
        choice = {"index": 0, "delta": {"content": f" w{number}"}} if shape == "delta" else {"text": f" w{number}"}
        entry["sent"].append(time.monotonic())
        await _event(out, {"choices": [choice]})
    await _event(out, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    last: dict[str, Any] = {"choices": []}
    if mode != "no usage":
        last["usage"] = {"prompt_tokens": len(entry["prompt"]), "completion_tokens": tokens}
    if state.arguments.spec and mode != "no usage":
        last["metrics"] = {"speculative_decoding": SPEC, "time_to_first_token_ms": None}
    await _event(out, last)
    await out.send(b"data: [DONE]\n\n")
    await out.end()
    _count(state)


def _count(state: State) -> None:
    state.counted["requests"] += 1
    if state.arguments.spec:
        added = {"drafts": "num_spec_steps", "drafted": "num_draft_tokens", "accepted": "num_accepted_draft_tokens"}
        for name, of in added.items():
            state.counted[name] += SPEC[of]


async def _event(out: _Chunked, content: dict[str, Any]) -> None:
    await out.send(b"data: " + json.dumps(content).encode() + b"\n\n")


async def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="")
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--spec", action="store_true")
    parser.add_argument("--no-metrics", action="store_true")
    parser.add_argument("--port", type=int, default=0)
    state = State(parser.parse_args())
    server = await asyncio.start_server(lambda r, w: handle(state, r, w), "127.0.0.1", state.arguments.port)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_main())
