"""What DFlash's benchmarks on TPUs print: the console of the standalone one, and the tables made of its results.

Lengths count the bonus token, samples that warm up are left out, and position 0 is the token known before a block,
always 1: draft position 0 is their position 1. The console prints three decimals by position and the number of steps:
the counts follow from them, as long as there are few enough steps. So they do from a sample's length of two decimals.
The table of metrics is of a run on vLLM, whose position 0 is the first drafted token.
source: aaronzhfeng/tpu-spec-decode, benchmarks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from specdash.formats import aggregate, jsonlines, peek, recover
from specdash.formats.base import File, decimal, spelled
from specdash.formats.collect import Drafting, Responses
from specdash.formats.producer import Context, Producer
from specdash.formats.producers.dflash import SEMANTICS
from specdash.formats.table.cells import Cells, named
from specdash.formats.table.opened import needed
from specdash.schema import MAX_DRAFTED, InputError, NothingToRead, PerPosition, Run, RunWarning, Semantics, Span

_TAU = re.compile(rb"^Tau \(avg acceptance length\): ([\d.]+)")
_STEPS = re.compile(rb"^Total drafts: (\d+)")
_DATASET = re.compile(rb"^\[INFO\] Dataset: ([^,\s]+)")
_POSITION = re.compile(rb"^\s+pos\s+(\d{1,2}): ([\d.]+)")
_ANCHORED = re.compile(rb"^dataset,tau,pos_0,[^\n]*\n[^,\n]*,[\d.]+,1(?:\.0*)?,")
_ANY = re.compile(_TAU.pattern, re.MULTILINE)
_SAMPLES = {"sample_index", "is_warmup", "dflash_tpot_ms", "tau", "num_drafts"}
_METRICS = (b"num_drafts,", b"num_accepted_tokens,")

_CONSOLE = replace(SEMANTICS, producer="DFlash, what the standalone benchmark prints", span=Span.RUN)
_ON_VLLM = Semantics(
    producer="DFlash, metrics of a run on vLLM",
    bonus=SEMANTICS.bonus,
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.DIFFERENCE,
    end=SEMANTICS.end,
)


@dataclass
class _Result:
    """What is printed on a dataset."""

    dataset: str
    tau: str = ""
    steps: int = 0
    rates: tuple[str, ...] = ()


def _results(files: Sequence[File], default: str) -> Iterator[_Result]:
    dataset, current = default, None
    for file in files:
        for _, raw in jsonlines.lines(file):
            if found := _DATASET.match(raw):
                dataset = found[1].decode("utf-8", "replace")
            elif found := _TAU.match(raw):
                if current is not None:
                    yield current
                current = _Result(dataset, found[1].decode())
            elif current is not None and (found := _STEPS.match(raw)):
                current.steps = spelled(found[1])
            elif current is not None and (found := _POSITION.match(raw)) and spelled(found[1]) == len(current.rates):
                current.rates += (found[2].decode(),)
    if current is not None:
        yield current


def _read_console(files: Sequence[File], context: Context) -> list[Run]:
    path = files[0].path
    counted, printed = dict[str, dict[str, Any]](), dict[str, dict[str, Any]]()
    for found in _results(files, context.dataset):
        tau, rates = decimal(found.tau), [decimal(text) for text in found.rates[1:]]
        if tau is None or not 1 <= tau <= MAX_DRAFTED + 1 or any(rate is None or rate > 1 for rate in rates):
            expected = "lengths from 1 on, and rates from 0 to 1"
            raise InputError(f"{found.dataset}: what is printed cannot be", file=path, found=found, expected=expected)
        row = _counted(found.dataset, path, tau, found.steps, rates, 3)
        if row is None:
            printed[found.dataset] = {"dataset": found.dataset, "tau": tau, "p": rates or None}
        else:
            counted[found.dataset] = row
    if not counted and not printed:
        raise NothingToRead("no dataset has a length", file=path)
    both = bool(counted) and bool(printed)
    runs = [aggregate.run("counts" if both else "", list(counted.values()), context.k)] if counted else []
    ratios = [aggregate.rates_run("ratios" if both else "", list(printed.values()), context.k)] if printed else []
    return runs + ratios


def _counted(
    dataset: str, path: str, tau: float, steps: int, rates: Sequence[Any], decimals: int
) -> dict[str, Any] | None:
    """Return the row of schema.COUNTERS behind ratios; None where they do not tell the counts, or not one another."""
    if not rates or not 0 < steps < 10**decimals:
        return None
    hits = [round(rate * steps) for rate in rates]
    recovered = recover.hits(rates, decimals, steps, sum(hits))
    if recovered is None or recovered.doubt or abs(1 + sum(hits) / steps - tau) > 0.00501:
        return None
    drafted = len(rates) * steps
    return aggregate.row(dataset, path, steps=steps, drafted=drafted, accepted=sum(hits), per_position=recovered.counts)


def _rows(files: Sequence[File]) -> Iterator[Cells]:
    for file in files:
        table = needed(file)
        for line, cells in table.read(range(len(table.columns))):
            yield named(table.columns, cells, file.path, line)


def _read_anchored(files: Sequence[File], context: Context) -> list[Run]:
    rows = []
    for row in _rows(files):
        tau, rates = row.number("tau"), list[float | None]()
        while (rate := row.number(f"pos_{len(rates)}")) is not None and len(rates) <= MAX_DRAFTED:
            rates.append(rate)
        if rates[:1] != [1.0] or tau is None or not 1 <= tau <= len(rates) or not all(0 <= n <= 1 for n in rates if n):
            raise row.wrong("rates that cannot be", found=f"{tau}, {rates[:3]}", expected="pos_0 of 1, tau within pos")
        rows.append({"dataset": row.text("dataset") or context.dataset, "tau": tau, "p": rates[1:] or None})
    if not rows:
        raise NothingToRead("holds no dataset", file=files[0].path)
    if len({row["dataset"] for row in rows}) < len(rows):
        raise InputError("a dataset stands there twice", file=files[0].path)
    return [aggregate.rates_run("", rows, context.k)]


def _read_samples(files: Sequence[File], context: Context) -> list[Run]:
    responses, warm, unsure = Responses(context.workspace, files[0].path), 0, 0
    for row in _rows(files):
        if (row.text("is_warmup") or "").lower() in ("true", "1"):
            warm += 1
            continue
        steps, tau = row.needed("num_drafts"), row.number("tau")
        if tau is None or not 1 <= tau <= MAX_DRAFTED + 1:
            raise row.wrong("tau is no acceptance length", found=tau, expected=f"1 to {MAX_DRAFTED + 1}")
        accepted = round((tau - 1) * steps) if steps < 100 else None
        unsure += accepted is None
        dataset, prompt = row.text("dataset") or context.dataset, row.text("sample_index")
        drafting = Drafting(None, steps, None, accepted)
        responses.add(f"{dataset}/{prompt}", drafting, dataset=dataset, prompt=prompt, line=row.line)
    if not len(responses):
        raise NothingToRead("holds no sample", file=files[0].path, found=f"warm-up samples alone: {warm}")
    if warm:
        responses.warnings.append(RunWarning("warmup_left_out", f"warm-up samples are left out: {warm:,}"))
    if unsure:
        said = f"the accepted tokens of {unsure:,} samples do not follow from a length of two decimals"
        responses.warnings.append(RunWarning("accepted_unknown", said))
    return [responses.run("", context.k, k_listed=False)]


def _read_metrics(files: Sequence[File], context: Context) -> list[Run]:
    path = files[0].path
    rows = {row.text("metric") or "": row for row in _rows(files)}
    steps, drafted, accepted = (
        rows[name].needed("value") if name in rows else None
        for name in ("num_drafts", "num_draft_tokens", "num_accepted_tokens")
    )
    if not steps or accepted is None:
        raise NothingToRead("no drafts are counted", file=path)
    rates = list[float]()
    while (row := rows.get(f"acceptance_pos_{len(rates)}")) is not None and len(rates) < MAX_DRAFTED:
        rates.append(row.number("value") or 0.0)
    recovered = recover.hits(rates, 4, steps, accepted) if rates else None
    doubt = recovered.doubt if recovered is not None else 0
    said = f"counts by position are recovered from rates of four decimals: off by {doubt:,} at most"
    warnings = [RunWarning("positions_recovered", said)] if doubt else []
    row = aggregate.row(
        context.dataset,
        path,
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        per_position=recovered.counts if recovered else None,
    )
    tau = rows["tau"].number("value") if "tau" in rows else None
    stored = aggregate.stored(context.dataset, tau=("tau", tau))
    return [aggregate.run("", [row], context.k, warnings, printed=(stored,) if stored["decimals"] else ())]


def _heads(wanted: Callable[[set[str]], bool]) -> Callable[[File], bool]:
    """Return what tells that the columns of a CSV are wanted."""

    def looks(file: File) -> bool:
        first = file.head(8192).removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("utf-8", "replace")
        return wanted({cell.strip(' "\r') for cell in first.split(",")})

    return looks


def _producer(name: str, what: str, looks: Any, read: Any, semantics: Semantics = _CONSOLE) -> Producer:
    return Producer(key=f"dflash-{name}", tool="DFlash on TPUs", what=what, looks=looks, read=read, semantics=semantics)


PRODUCERS = (
    _producer("console", "console of the standalone benchmark", lambda file: peek.has_line(file, _ANY), _read_console),
    _producer(
        "positions",
        "rates by position, a row a dataset",
        lambda file: bool(_ANCHORED.match(file.head(8192).removeprefix(b"\xef\xbb\xbf").replace(b"\r", b""))),
        _read_anchored,
    ),
    _producer("samples", "lengths, a row a sample", _heads(lambda columns: columns >= _SAMPLES), _read_samples),
    _producer(
        "metrics",
        "metrics of a run on vLLM, a row each",
        lambda file: file.head(8192).startswith(b"metric,value") and all(m in file.head(8192) for m in _METRICS),
        _read_metrics,
        _ON_VLLM,
    ),
)
