"""AIPerf's artifact directory: the records of requests are one run, the server's counters another.

``profile_export.jsonl`` has a record a request with the drafting of its response: histogram sparse, bonus token out,
zero bins dropped; the mean counts it. ``server_metrics_export.json`` has the increase of the server's counters over the
same time, where cancelled requests are too. ``profile_export_aiperf.json`` has sums of the run: it is read where there
are no records, and else lends its settings. Its acceptance length is a mean over requests, the token-weighted one is τ.
source: AIPerf documentation; files written by 0.13.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from specdash.formats import acceptance, aggregate, aiperf_sums, counting, jsonlines, peek
from specdash.formats.base import File, read_json
from specdash.formats.collect import Responses, number, numbers, scalars, whole
from specdash.formats.producer import Context, Producer, Together
from specdash.formats.scrapes import Series
from specdash.schema import (
    Bonus,
    End,
    Granularity,
    InputError,
    NothingToRead,
    PerPosition,
    Run,
    RunWarning,
    Semantics,
    Span,
    Undrafted,
)

_RECORD = {"metadata.x_request_id", "metadata.request_start_ns"}
_SUMMARY = {"aiperf_version", "request_latency.avg"}
_SERVER = {"aiperf_version", "metrics_phase"}

_SEMANTICS = Semantics(
    producer="AIPerf, records of requests",
    bonus=Bonus.IN,
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.REQUEST,
    end=End.RAW,
    undrafted=Undrafted.OMITTED,
    note="As the server said of each request; cancelled requests are not in it.",
)
_OF_SERVER = replace(
    _SEMANTICS,
    producer="AIPerf, counters of the server",
    bonus=None,
    span=Span.DIFFERENCE,
    note="Increase of the server's counters over the profiling phase: cancelled requests are in it.",
)
_OF_SUMMARY = replace(_SEMANTICS, producer="AIPerf, summary of the run", span=Span.RUN)


def _is_records(file: File) -> bool:
    names = peek.names(file)
    return names >= _RECORD and not any(name.startswith("responses") for name in names)


def _is_server(file: File) -> bool:
    return peek.names(file) >= _SERVER


def _is_summary(file: File) -> bool:
    names = peek.names(file)
    return names >= _SUMMARY and "metrics_phase" not in names


def _read(files: Sequence[File], context: Context) -> list[Run]:
    records = [file for file in files if _is_records(file)]
    servers = [file for file in files if _is_server(file)]
    summaries = [file for file in files if _is_summary(file)]
    config = {name: value for file in (*servers, *summaries) for name, value in _settings(read_json(file)).items()}
    tables = [file for file in files if aiperf_sums.is_table(file)]
    runs, nothing = [], []
    sums = [] if records else summaries or tables
    for read, found in ((_records, records), (_summary, sums), (_server, servers)):
        try:
            runs += [read(found, context)] if found else []
        except NothingToRead as problem:
            nothing.append(problem)
    if not runs:
        raise nothing[0]
    runs = [replace(run, config=config | run.config) for run in runs]
    return _compared(runs)


def _compared(runs: list[Run]) -> list[Run]:
    """Tell of counters that differ from the sum of the records: both are kept, neither is wrong."""
    by_producer = {run.semantics: run for run in runs}
    of_records, server = by_producer.get(_SEMANTICS), by_producer.get(_OF_SERVER)
    if of_records is None or server is None or of_records.granularity is Granularity.LATENCIES:
        return runs
    ours = _totals(of_records)
    theirs = tuple(server.counters[name].sum() for name in ("steps", "drafted", "accepted"))
    if ours == theirs:
        return runs
    said = "; ".join(
        f"{name} {a:,} by the records, {b:,} by the server's counters"
        for name, a, b in zip(("steps", "drafted", "accepted"), ours, theirs, strict=True)
        if a != b
    )
    message = f"{said}: the counters hold cancelled requests, and those of other clients"
    warning = RunWarning("server_disagrees", message)
    return [aggregate.with_warnings(run, warning) if run in (of_records, server) else run for run in runs]


def _totals(run: Run) -> tuple[int, int, int]:
    parts = []
    if run.counts is not None:
        known = run.counts.drop_nulls("drafted")
        steps = known["steps"]
        parts.append((steps.sum(), (steps * known["drafted"]).sum(), (steps * known["accepted"]).sum()))
    if run.sums is not None:
        parts.append(tuple(run.sums[name].sum() for name in ("steps", "drafted", "accepted")))
    return tuple(map(sum, zip(*parts, strict=True)))  # type: ignore[return-value]


def _settings(document: Any) -> dict[str, Any]:
    """Return the settings of a run from AIPerf's own copy of its configuration."""
    found = document if isinstance(document, dict) else {}
    given = found.get("input_config") if isinstance(found.get("input_config"), dict) else {}
    endpoint = given.get("endpoint") if isinstance(given.get("endpoint"), dict) else {}
    extra = endpoint.get("extra") if isinstance(endpoint.get("extra"), dict) else {}
    phases = [phase for phase in given.get("phases") or [] if isinstance(phase, dict)]
    models = given.get("models") if isinstance(given.get("models"), dict) else {}
    names = [str(item.get("name")) for item in models.get("items") or [] if isinstance(item, dict)]
    kept = {name: phases[-1].get(name) for name in ("concurrency", "request_rate", "requests") if phases}
    named = {"model": ", ".join(names), "endpoint_type": endpoint.get("type"), "streaming": endpoint.get("streaming")}
    versions = {name: found.get(name) for name in ("aiperf_version", "benchmark_id")}
    return scalars(named | extra | kept | versions)


@dataclass
class _Told:
    """What is told of requests that cannot be used."""

    failed: int = 0
    without: int = 0
    cut: list[int] = field(default_factory=list)
    ratios: list[str] = field(default_factory=list)

    def warnings(self, known: int) -> list[RunWarning]:
        found = []
        if self.failed:
            message = f"{self.failed:,} requests were cancelled or failed and are in no acceptance number"
            found.append(RunWarning("failed_requests", message))
        if self.without and known:
            message = f"{self.without:,} answers carry no record of their drafting and are in no acceptance number"
            found.append(RunWarning("responses_without_metrics", message))
        if self.cut:
            found.append(RunWarning("cut_off", f"line {self.cut[0]} is cut off and was left out"))
        if self.ratios:
            more = f" and {len(self.ratios) - 3} more" if len(self.ratios) > 3 else ""
            found.append(RunWarning("ratio_disagrees", f"stored ratios differ: {'; '.join(self.ratios[:3])}{more}"))
        return found


def _records(files: Sequence[File], context: Context) -> Run:
    """Read the records of requests; without any drafting they are the latencies of a baseline."""
    told, k = _Told(), None
    responses = Responses(context.workspace, files[0].path)
    for file in files:
        for line, record in jsonlines.objects(file, cut=told.cut.append):
            about, measured = _part(record, "metadata", file, line), _part(record, "metrics", file, line)
            if about.get("benchmark_phase", "profiling") != "profiling":
                continue
            dataset, prompt = _labels(about, context)
            sent = number(about.get("request_start_ns"), "request_start_ns", file.path, line)
            found = record.get("spec_decode_acceptance")
            failed = bool(about.get("was_cancelled")) or record.get("error") is not None
            if isinstance(found, dict) and not failed:
                drafting, longest = acceptance.drafting(found, file.path, line)
                k = max((n for n in (k, longest) if n is not None), default=None)
                request = str(about.get("x_request_id") or f"{file.name}:{line}")
                tokens = whole(found.get("completion_tokens"), "completion_tokens", file.path, line)
                told.ratios += [f"{request}: {text}" for text in acceptance.stored_ratios(found, drafting)]
                responses.add(request, drafting, dataset=dataset, prompt=prompt, output_tokens=tokens, line=line)
            told.failed += failed
            told.without += not failed and not isinstance(found, dict)
            times = _times(measured, record, failed, file.path, line)
            sent_s = None if sent is None else sent / 1e9
            responses.time(
                dataset, logged=isinstance(found, dict) and not failed, prompt=prompt, start_s=sent_s, **times
            )
    responses.warnings += told.warnings(len(responses))
    return replace(responses.run("records", k), semantics=_SEMANTICS)


def _part(record: Mapping[str, Any], name: str, file: File, line: int) -> dict[str, Any]:
    found = record.get(name)
    if not isinstance(found, dict):
        raise InputError(f"a record has no {name}", file=file.path, line=line, expected="an object")
    return found


def _labels(about: Mapping[str, Any], context: Context) -> tuple[str, str | None]:
    """Return the dataset (SPEED-Bench's category where there is one) and the prompt of a request."""
    kind = about.get("source_kind")
    session, turn = about.get("conversation_id") or about.get("session_num"), about.get("turn_index") or 0
    prompt = None if session is None else f"{session}" + (f"/{turn}" if turn else "")
    return (str(kind) if isinstance(kind, str) and kind else context.dataset), prompt


def _times(
    measured: Mapping[str, Any], record: Mapping[str, Any], failed: bool, path: str, line: int
) -> dict[str, Any]:
    """Return what schema.LATENCIES holds of a request; AIPerf measures in milliseconds."""

    def value(name: str) -> Any:
        entry = measured.get(name)
        return entry.get("value") if isinstance(entry, dict) else entry

    def seconds(name: str) -> float | None:
        found = number(value(name), name, path, line)
        return None if found is None else found / 1000

    error = record.get("error")
    said = error.get("message") or error.get("type") if isinstance(error, dict) else error
    gaps = value("inter_chunk_latency")
    tokens = value("usage_completion_tokens")
    return {
        "ttft_s": None if failed else seconds("time_to_first_token"),
        "e2e_s": None if failed else seconds("request_latency"),
        "input_tokens": whole(value("usage_prompt_tokens") or value("input_sequence_length"), "tokens", path, line),
        "output_tokens": whole(value("output_sequence_length") if tokens is None else tokens, "tokens", path, line),
        "gaps_s": [gap / 1000 for gap in numbers(gaps, "inter_chunk_latency", path, line) or []] or None
        if isinstance(gaps, list) and not failed
        else None,
        "error": (str(said or "cancelled")[:200]) if failed else None,
    }


def _summary(files: Sequence[File], context: Context) -> Run:
    """Read the sums of a run without its records."""
    return replace(aiperf_sums.read(files[0], context), semantics=_OF_SUMMARY)


def _server(files: Sequence[File], context: Context) -> Run:
    """Read the increase of the server's counters, over all endpoints and engines."""
    values: dict[Series, float] = {}
    for file in files:
        metrics = read_json(file).get("metrics")
        for name, metric in (metrics if isinstance(metrics, dict) else {}).items():
            if ":spec_decode_num_" not in name or not isinstance(metric, dict):
                continue
            for place, series in enumerate(metric.get("series") or []):
                labels = series.get("labels") if isinstance(series, dict) else None
                stats = series.get("stats") if isinstance(series, dict) else None
                total = number(stats.get("total") if isinstance(stats, dict) else None, name, file.path)
                if total is None:
                    continue
                own = {str(a): str(b) for a, b in (labels if isinstance(labels, dict) else {}).items()}
                own |= {"endpoint": str(series.get("endpoint_url")), "place": f"{file.path}/{place}"}
                values[f"{name}_total", frozenset(own.items())] = total
    prefixes = dict.fromkeys(name.partition("num_")[0] for name, _ in values)
    for prefix in prefixes:
        row = counting.counters(values, prefix, context, files[0].path)
        if row is not None:
            told = counting.engines(values, prefix)
            return aggregate.run("server", [row], context.k, told, semantics=_OF_SERVER)
    raise NothingToRead("the server's counters hold no drafting", file=files[0].path)


PRODUCERS = (
    Producer(
        key="aiperf",
        tool="AIPerf",
        what="artifact directory",
        looks=lambda file: _is_records(file) or _is_server(file) or _is_summary(file) or aiperf_sums.is_table(file),
        read=_read,
        semantics=_SEMANTICS,
        together=Together.FOLDER,
    ),
)
