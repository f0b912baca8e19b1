"""GuideLLM's ``benchmarks.json``: requests with the metrics that vLLM put into its answers, passed through.

Every benchmark of the file (a rate, a concurrency) is a run. Tokens per iteration beside them are tokens per chunk
that the client saw, no acceptance length, and are not used. A baseline's requests carry no metrics: it is a run of
latencies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from specdash.formats import acceptance, peek
from specdash.formats.base import File, read_json
from specdash.formats.collect import Responses, number, scalars, whole
from specdash.formats.producer import Context, Producer, label_of
from specdash.schema import (
    Bonus,
    End,
    InputError,
    NothingToRead,
    PerPosition,
    Run,
    RunWarning,
    Semantics,
    Span,
    Undrafted,
)

_SEMANTICS = Semantics(
    producer="GuideLLM, vLLM's metrics of each response",
    bonus=Bonus.IN,
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.REQUEST,
    end=End.RAW,
    undrafted=Undrafted.OMITTED,
    note="Successful requests; a file that was written with a sample size holds a sample of them.",
)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    runs, nothing = [], NothingToRead("holds no benchmark", file=files[0].path)
    for file in files:
        document = read_json(file)
        found = document.get("benchmarks") if isinstance(document, dict) else None
        if not isinstance(found, list) or not all(isinstance(benchmark, dict) for benchmark in found):
            raise InputError("benchmarks are no list of objects", file=file.path, found=found)
        for place, benchmark in enumerate(found):
            workspace = context.workspace / f"{len(runs)}"
            workspace.mkdir()
            try:
                run = _run(benchmark, file, context, workspace)
            except NothingToRead as problem:
                nothing = problem
                continue
            runs.append(replace(run, name=_label(benchmark, file, place, len(found))))
    if not runs:
        raise nothing
    return runs


def _label(benchmark: Mapping[str, Any], file: File, place: int, count: int) -> str:
    if count == 1:
        return ""
    strategy = _part(_part(benchmark, "config"), "strategy")
    sizes = [strategy.get(name) for name in ("streams", "max_concurrency", "rate") if strategy.get(name) is not None]
    kind = str(strategy.get("type_") or strategy.get("kind") or "benchmark")
    return f"{label_of(file)}/{place}_{kind}" + (
        f"_{sizes[0]:g}" if sizes and isinstance(sizes[0], int | float) else ""
    )


def _run(benchmark: Mapping[str, Any], file: File, context: Context, workspace: Path) -> Run:
    responses, k, without, ratios = Responses(workspace, file.path), None, 0, []
    for request, failed in _requests(benchmark, file):
        name = str(request.get("response_id") or request.get("request_id") or f"request {len(responses)}")
        record = _part(request, "response_metrics").get("speculative_decoding")
        tokens = whole(request.get("output_tokens"), "output_tokens", file.path)
        logged = isinstance(record, dict) and not failed
        if logged:
            drafting, longest = acceptance.drafting(record, file.path, None)
            k = max((n for n in (k, longest) if n is not None), default=None)
            ratios += [f"{name}: {text}" for text in acceptance.stored_ratios(record, drafting)]
            responses.add(name, drafting, dataset=context.dataset, output_tokens=tokens)
        without += not logged and not failed
        times = _times(request, failed, file.path)
        responses.time(context.dataset, logged=logged, output_tokens=tokens, **times)
    if without and len(responses):
        said = f"{without:,} answers carry no acceptance metrics and are in no acceptance number"
        responses.warnings.append(RunWarning("responses_without_metrics", said))
    if ratios:
        responses.warnings.append(RunWarning("ratio_disagrees", f"stored ratios differ: {'; '.join(ratios[:3])}"))
    return responses.run("", k, scalars(_part(_part(benchmark, "config"), "strategy")))


def _part(found: Mapping[str, Any], name: str) -> dict[str, Any]:
    part = found.get(name)
    return part if isinstance(part, dict) else {}


def _requests(benchmark: Mapping[str, Any], file: File) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield the requests in the order in which they were sent, and whether each failed or was not finished."""
    found = []
    for status in ("successful", "errored", "incomplete"):
        requests = _part(benchmark, "requests").get(status) or []
        if not isinstance(requests, list) or not all(isinstance(request, dict) for request in requests):
            raise InputError(f"{status} requests are no list of objects", file=file.path, found=requests)
        found += [(request, status != "successful") for request in requests]
    yield from sorted(found, key=lambda pair: number(pair[0].get("request_start_time"), "time", file.path) or 0.0)


def _times(request: Mapping[str, Any], failed: bool, path: str) -> dict[str, Any]:
    first = number(request.get("time_to_first_token_ms"), "time_to_first_token_ms", path)
    return {
        "start_s": number(request.get("request_start_time"), "request_start_time", path),
        "ttft_s": None if first is None or failed else first / 1000,
        "e2e_s": None if failed else number(request.get("request_latency"), "request_latency", path),
        "input_tokens": whole(request.get("prompt_tokens"), "prompt_tokens", path),
        "error": "failed or not finished" if failed else None,
    }


PRODUCERS = (
    Producer(
        key="guidellm",
        tool="GuideLLM",
        what="benchmarks.json",
        looks=lambda file: "metadata.guidellm_version" in peek.names(file),
        read=_read,
        semantics=_SEMANTICS,
    ),
)
