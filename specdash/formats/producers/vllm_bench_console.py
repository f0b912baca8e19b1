"""What ``vllm bench serve`` prints: totals of the run, all of its rates in percent with two decimals.

Counts by position are recovered from the rates: exactly where two decimals tell, else as near as they do.
source: vllm/benchmarks/serve.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from specdash.formats import aggregate, peek, recover
from specdash.formats.base import File, decimal, read_text, spelled
from specdash.formats.producer import Context, Producer, label_of
from specdash.formats.producers import vllm_bench
from specdash.schema import InputError, NothingToRead, Run, RunWarning

_HEAD = "Serving Benchmark Result"
_MARK = "Speculative Decoding-"
_FIELDS = {
    "responses": r"Successful requests: +(\d+)",
    "rate": r"Acceptance rate \(%\): +([\d.]+)",
    "length": r"Acceptance length: +([\d.]+)",
    "steps": r"Drafts: +(\d+)",
    "drafted": r"Draft tokens: +(\d+)",
    "accepted": r"Accepted tokens: +(\d+)",
}
_POSITION = re.compile(r"^\s*Position (\d{1,3}): +([\d.]+)", re.MULTILINE)

_SEMANTICS = replace(vllm_bench.SEMANTICS, producer="vllm bench serve, console")


def _read(files: Sequence[File], context: Context) -> list[Run]:
    runs, path = [], files[0].path
    for file in files:
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", read_text(file))
        blocks = text.split(_HEAD)[1:]
        for number, block in enumerate(blocks, start=1):
            label = label_of(file) if len(blocks) == 1 else f"{label_of(file)}/{number}"
            runs += [_run(label, block, file.path, context)] if _MARK in block else []
    if not runs:
        raise NothingToRead("no block on speculative decoding", file=path)
    return runs


def _run(label: str, block: str, path: str, context: Context) -> Run:
    found = {name: match[1] for name, pattern in _FIELDS.items() if (match := re.search(pattern, block))}
    if missing := [name for name in ("steps", "drafted", "accepted") if name not in found]:
        expected = "Drafts, Draft tokens and Accepted tokens"
        raise InputError(f"the block lacks its {', '.join(missing)}", file=path, expected=expected)
    steps, drafted, accepted = (spelled(found[name]) for name in ("steps", "drafted", "accepted"))
    printed = [(int(i), share / 100) for i, rate in _POSITION.findall(block) if (share := decimal(rate)) is not None]
    if [i for i, _ in printed] != list(range(len(printed))):
        raise InputError("positions are not 0, 1, 2, …", file=path, found=", ".join(str(i) for i, _ in printed))
    rates = [rate for _, rate in printed]
    recovered = recover.hits(rates, 4, steps, accepted) if rates else None
    warnings = _doubts(recovered, bool(rates), steps, path)
    row = aggregate.row(
        context.dataset,
        path,
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        per_position=None if recovered is None else recovered.counts,
        k=context.k,
        responses=spelled(found["responses"]) if "responses" in found else None,
    )
    stored = aggregate.stored(
        context.dataset,
        tau=("Acceptance length", _ratio(found.get("length"))),
        acceptance_ratio=("Acceptance rate (%)", _ratio(found.get("rate"), 100)),
    )
    return replace(aggregate.run(label, [row], context.k, warnings), printed=(stored,) if stored["decimals"] else ())


def _ratio(text: str | None, divisor: float = 1) -> float | None:
    value = None if text is None else decimal(text)
    return None if value is None else round(value / divisor, 4)


def _doubts(found: recover.Recovered | None, printed: bool, steps: int, path: str) -> list[RunWarning]:
    if found is None:
        said = f"{path}: the printed rates by position do not fit the counts"
        return [RunWarning("positions_unknown", said)] if printed else []
    if not found.doubt:
        return []
    said = f"counts by position are recovered from rates of two decimals: off by {found.doubt} of {steps:,} at most"
    return [RunWarning("positions_recovered", said)]


PRODUCERS = (
    Producer(
        key="vllm-bench-console",
        tool="vLLM",
        what="vllm bench serve, what it prints",
        looks=lambda file: peek.is_log(file, re.compile(_MARK.encode())),
        read=_read,
        semantics=_SEMANTICS,
    ),
)
