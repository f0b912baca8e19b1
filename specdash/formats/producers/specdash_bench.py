"""The JSON of ``specdash bench``: arms of an A/B measurement, each a run with its latencies.

An arm whose answers say how their drafting went is a run of responses; one whose server counted drafts meanwhile is a
run of counters; the baseline is a run of latencies alone. Each pass with a number of requests in flight is a run of its
own. Warm-up requests are in the file and in no number.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from specdash.formats import acceptance, aggregate, counting, peek, scrapes
from specdash.formats.base import File, read_json
from specdash.formats.collect import Drafting, Responses, whole
from specdash.formats.producer import Context, Producer
from specdash.schema import Bonus, End, InputError, PerPosition, Run, RunWarning, Semantics, Span, Undrafted

MARK = "specdash_bench"
"""The key that tells such a document from others; its value is the version of its shape."""

SHAPE = 1

_PREFIXES = ("vllm:spec_decode_", "lmdeploy:spec_decode_", "llamacpp:spec_decode_")
_SERVED = "vllm:request_success_total"
_LONGEST = 86_400.0 * 365  # seconds; a longer latency is a mistake

_SEMANTICS = Semantics(
    producer="specdash bench",
    bonus=Bonus.IN,
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.REQUEST,
    end=End.RAW,
    undrafted=Undrafted.OMITTED,
    note="Latencies are from sending a request to chunks with text. What is said of drafting is the server's.",
)


@dataclass(frozen=True)
class _Pass:
    """The requests of one arm with a number of them in flight."""

    arm: str
    concurrency: int
    requests: list[Mapping[str, Any]]
    counters: list[Mapping[str, Any]]


def _read(files: Sequence[File], context: Context) -> list[Run]:
    return [run for file in files for run in runs(read_json(file), file.path, context)]


def runs(document: Any, path: str, context: Context) -> list[Run]:
    """Return the runs of a bench: one an arm and number of requests in flight.

    Args:
        document: The parsed JSON.
        path: For messages.
        context: Of the reader; its workspace gets a folder a run.

    Raises:
        InputError: It is none, or holds nothing.
    """
    shape = document.get(MARK) if isinstance(document, dict) else None
    if shape != SHAPE:
        raise InputError("a bench of another specdash", file=path, found=shape, expected=f"{MARK}: {SHAPE}")
    prompts = _objects(document, "prompts", path)
    passes = _passes(document, path)
    if not passes:
        raise InputError("a bench in which nothing was measured", file=path, expected="requests")
    several = len({one.concurrency for one in passes}) > 1
    told, made = _told(document, passes), []
    for number, one in enumerate(passes):
        workspace = context.workspace / f"pass{number}"
        workspace.mkdir()
        name = f"{one.arm}, {one.concurrency} in flight" if several else one.arm
        run = _run(name, one, prompts, path, replace(context, workspace=workspace))
        settings = _settings(document, one)
        made.append(replace(run, config=settings | run.config, warnings=(*run.warnings, *told)))
    return made


def _objects(document: Mapping[str, Any], name: str, path: str) -> list[Mapping[str, Any]]:
    found = document.get(name)
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise InputError(f"{name} is no list of objects", file=path, found=found, expected="objects")
    return found


def _passes(document: Mapping[str, Any], path: str) -> list[_Pass]:
    """Sort requests and readings by arm and number in flight, in the order of the arms."""
    grouped: dict[tuple[str, int], _Pass] = {}
    for name in ("requests", "counters"):
        for item in _objects(document, name, path):
            arm = _text(item, "arm", path)
            concurrency = whole(item.get("concurrency"), "concurrency", path, most=10**6)
            if arm is None or not concurrency:
                raise InputError(f"one of {name} has no arm or concurrency", file=path, found=item)
            one = grouped.setdefault((arm, concurrency), _Pass(arm, concurrency, [], []))
            getattr(one, name).append(item)
    return [one for one in grouped.values() if one.requests]


def _text(item: Mapping[str, Any], name: str, path: str) -> str | None:
    value = item.get(name)
    if value is not None and (not isinstance(value, str) or not value):
        raise InputError(f"{name} is no text", file=path, found=value, expected="text that is not empty")
    return value


def _told(document: Mapping[str, Any], passes: Sequence[_Pass]) -> list[RunWarning]:
    """Return what a reader has to know of the whole bench."""
    warnings = []
    if document.get("state") != "complete":
        measured = sum(len(one.requests) for one in passes)
        reason = document.get("reason") or document.get("state")
        message = f"the bench did not end by itself ({str(reason)[:200]}): {measured:,} requests were measured"
        warnings.append(RunWarning("bench_unfinished", message))
    if len({one.arm for one in passes}) == 1:
        warnings.append(RunWarning("no_baseline", "one endpoint alone was measured: a speed-up cannot be claimed"))
    return warnings


def _settings(document: Mapping[str, Any], one: _Pass) -> dict[str, Any]:
    arms = document.get("arms")
    of_arm = next((a for a in arms if isinstance(a, dict) and a.get("name") == one.arm), {}) if arms else {}
    settings = document.get("settings")
    wanted = ("max_tokens", "temperature", "warmup", "interleaved", "chat", "ignore_eos")
    kept = {name: settings[name] for name in wanted if name in settings} if isinstance(settings, dict) else {}
    told = {"arm": one.arm, "model": of_arm.get("model"), "url": of_arm.get("base"), "concurrency": one.concurrency}
    return {name: value for name, value in (told | kept).items() if isinstance(value, str | int | float)}


def _run(name: str, one: _Pass, prompts: Sequence[Mapping[str, Any]], path: str, context: Context) -> Run:
    responses, k = Responses(context.workspace, path), None
    for item in one.requests:
        row = _timed(item, prompts, path)
        drafting, longest = _drafting(item, path)
        k = max((n for n in (k, longest) if n is not None), default=None)
        dataset, prompt = row.pop("dataset"), row["prompt"]
        if drafting is not None:
            tokens = row["output_tokens"]
            responses.add(f"{dataset}/{prompt}", drafting, dataset=dataset, prompt=prompt, output_tokens=tokens)
        responses.time(dataset, logged=drafting is not None, **row)
    failed = Counter(item["error"] for item in one.requests if item.get("error"))
    if failed:
        most = failed.most_common(1)[0][0][:200]
        message = f"{sum(failed.values()):,} of {len(one.requests):,} requests failed and have no latency: {most}"
        responses.warnings.append(RunWarning("failed_requests", message))
    run = responses.run(name, k)
    return _with_counters(run, one, path, context)


def _timed(item: Mapping[str, Any], prompts: Sequence[Mapping[str, Any]], path: str) -> dict[str, Any]:
    """Return the row of schema.LATENCIES of a request."""
    index = whole(item.get("prompt"), "prompt", path)
    if index is None or index >= len(prompts):
        raise InputError("a request names no prompt", file=path, found=index, expected=f"0 to {len(prompts) - 1}")
    prompt, dataset = (_text(prompts[index], name, path) for name in ("id", "dataset"))
    if prompt is None or dataset is None:
        raise InputError("a prompt has no id or dataset", file=path, found=prompts[index])
    chunks = item.get("chunks_s")
    times = [_seconds(time, "chunks_s", path) for time in chunks] if isinstance(chunks, list) else None
    if times is None or times != sorted(times):
        raise InputError("chunks_s are no times in order", file=path, found=chunks, expected="seconds that rise")
    error = _text(item, "error", path)
    return {
        "dataset": dataset,
        "prompt": prompt,
        "copy": 0,
        "start_s": _seconds(item.get("start_s"), "start_s", path),
        "ttft_s": times[0] if times else None,
        "e2e_s": times[-1] if times and error is None else None,
        "input_tokens": whole(item.get("input_tokens"), "input_tokens", path),
        "output_tokens": whole(item.get("output_tokens"), "output_tokens", path),
        "gaps_s": [b - a for a, b in pairwise(times)] if times else None,
        "error": error,
    }


def _seconds(value: Any, what: str, path: str) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not 0 <= value < _LONGEST:
        raise InputError(f"{what} is no time", file=path, found=value, expected="seconds, 0 or more")
    return float(value)


def _drafting(item: Mapping[str, Any], path: str) -> tuple[Drafting | None, int | None]:
    """Return how the drafting of a request went and the longest draft, None where its answer does not say."""
    said = item.get("said")
    if not isinstance(said, dict) or item.get("error"):
        return None, None
    vllm, llama = said.get("vllm"), said.get("llama.cpp")
    record = vllm.get("speculative_decoding") if isinstance(vllm, dict) else None
    if isinstance(record, dict):
        return acceptance.drafting(record, path, None)
    if isinstance(llama, dict) and llama.get("draft_n"):
        drafted, accepted = (whole(llama.get(name), name, path) for name in ("draft_n", "draft_n_accepted"))
        if accepted is not None:
            return Drafting(drafted=drafted, accepted=accepted), None
    return None, None


def _with_counters(run: Run, one: _Pass, path: str, context: Context) -> Run:
    """Count the drafts by the server's counters where the answers do not say them, and tell who else was served."""
    values = _increase(one, path, context)
    if values is None:
        return run
    warnings = list(run.warnings)
    served, ours = scrapes.summed(values, _SERVED, path), sum(not item.get("error") for item in one.requests)
    if served is not None and served > ours:
        message = f"the server answered {served:,} requests meanwhile, {ours:,} of them ours: others used it too"
        warnings.append(RunWarning("contaminated", message))
    if run.responses is None:
        rows = (counting.counters(values, prefix, context, path) for prefix in _PREFIXES)
        counted = next((row for row in rows if row is not None), None)
        if counted is not None:
            made = aggregate.run(run.name, [counted], context.k, config=run.config)
            run = replace(made, latencies=run.latencies, semantics=replace(_SEMANTICS, span=Span.DIFFERENCE))
    return replace(run, warnings=tuple(warnings))


def _increase(one: _Pass, path: str, context: Context) -> dict[scrapes.Series, float] | None:
    """How far the server's counters went up over all readings of a pass; None without any."""
    total: dict[scrapes.Series, float] | None = None
    for number, reading in enumerate(one.counters):
        ends = [reading.get(name) for name in ("before", "after")]
        texts = [end.get("text") if isinstance(end, dict) else None for end in ends]
        if not all(isinstance(text, str) for text in texts):
            continue
        parsed = []
        for name, text in zip(("before", "after"), texts, strict=True):
            target = context.workspace / f"{name}{number}.prom"
            target.write_text(text, "utf-8", "replace")
            parsed.append(scrapes.read(_Kept(path, target), *_PREFIXES, _SERVED))
        total = total or {}
        for series, value in scrapes.increase(parsed).values.items():
            total[series] = total.get(series, 0.0) + value
    return total


@dataclass(frozen=True)
class _Kept:
    """A scrape that stands inside the document, as a file."""

    path: str
    target: Path

    @property
    def name(self) -> str:
        """Last part of the document's path."""
        return self.path.rpartition("/")[2]

    def head(self, size: int = 65536) -> bytes:
        """Return the first bytes."""
        return self.target.read_bytes()[:size]

    def local(self) -> Path:
        """Return where it is."""
        return self.target


PRODUCERS = (
    Producer(
        key="specdash-bench",
        tool="specdash",
        what="the JSON of specdash bench",
        looks=lambda file: MARK in peek.names(file),
        read=_read,
        semantics=_SEMANTICS,
    ),
)
