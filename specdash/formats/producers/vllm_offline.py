"""What vLLM's offline example prints, and ``LLM.get_metrics()``: counters since the engine was made.

The example prints counts, a mean acceptance length and rates by position of two decimals; an older one the ratios
alone. Whether the mean counts the bonus token differs between versions: the rates by position tell, as their sum is
the mean without it.
source: vllm examples/offline_inference/spec_decode.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from specdash.formats import aggregate, peek, recover
from specdash.formats.base import File, decimal, read_text, spelled
from specdash.formats.producer import Context, Producer
from specdash.schema import (
    Bonus,
    End,
    InputError,
    PerPosition,
    Run,
    RunWarning,
    Semantics,
    Span,
    Undrafted,
    Unsaid,
)

_MARK = re.compile(rb"acceptance at token 0|name='vllm:spec_decode_num_accepted_tokens_per_pos'")
_NUMBER = r"\s*[:=]\s*([\d.]+)"
_FIELDS = {
    "steps": rf"(?:num_drafts|number of drafts){_NUMBER}",
    "drafted": rf"(?:num_draft_tokens|number of draft tokens|draft tokens){_NUMBER}",
    "accepted": rf"(?:num_accepted_tokens|number of accepted tokens|accepted tokens){_NUMBER}",
    "length": rf"mean acceptance length(?: \(([^)]*)\))?{_NUMBER}",
}
_POSITION = re.compile(r"acceptance at token (\d{1,3})\s*:\s*([\d.]+)", re.IGNORECASE)
_OBJECT = re.compile(r"Counter\(.*?name='vllm:spec_decode_(\w+)'.*?value=(\d+)")
_VECTOR = re.compile(r"Vector\(.*?name='vllm:spec_decode_num_accepted_tokens_per_pos'.*?values=\[([\d, ]*)\]")

_SEMANTICS = Semantics(
    producer="vLLM, offline example",
    bonus=Bonus.IN,
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.SINCE_START,
    end=End.RAW,
    undrafted=Undrafted.OMITTED,
)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    text, path = "".join(map(read_text, files)), files[0].path
    objects = {name: spelled(value) for name, value in _OBJECT.findall(text)}
    if "num_drafts" in objects:
        vector = _VECTOR.search(text)
        hits = [spelled(n.strip()) for n in vector[1].split(",") if n.strip()] if vector else None
        totals = [objects.get(name) for name in ("num_drafts", "num_draft_tokens", "num_accepted_tokens")]
        return [_counted(totals, hits, context, path)]
    found = {name: m for name, pattern in _FIELDS.items() if (m := re.search(pattern, text, re.IGNORECASE))}
    rates = _rates(text, path)
    if "steps" in found and "accepted" in found:
        totals = [_total(found.get(name), path) for name in ("steps", "drafted", "accepted")]
        recovered = recover.hits(rates, 2, totals[0] or 0, totals[2] or 0) if rates else None
        run = _counted(totals, None if recovered is None else list(recovered.counts), context, path)
        if recovered is None or not recovered.doubt:
            return [run]
        said = f"counts by position are recovered from rates of two decimals: off by {recovered.doubt:,} at most"
        return [aggregate.with_warnings(run, RunWarning("positions_recovered", said))]
    return [_ratios(found, rates, context, path)]


def _total(match: re.Match[str] | None, path: str) -> int | None:
    """Return a count, which may be printed with a point."""
    value = None if match is None else decimal(match[1])
    if match is not None and (value is None or not value.is_integer()):
        raise InputError("not a count", file=path, found=match[0], expected="a whole number")
    return None if value is None else int(value)


def _rates(text: str, path: str) -> list[float]:
    found = [(int(i), rate) for i, said in _POSITION.findall(text) if (rate := decimal(said)) is not None]
    if [i for i, _ in found] != list(range(len(found))):
        raise InputError("positions are not 0, 1, 2, …", file=path, found=", ".join(str(i) for i, _ in found))
    return [rate for _, rate in found]


def _counted(totals: list[int | None], hits: list[int] | None, context: Context, path: str) -> Run:
    steps, drafted, accepted = totals
    if accepted is None:
        raise InputError("the counts lack the accepted tokens", file=path, expected="num_accepted_tokens")
    row = aggregate.row(
        context.dataset, path, steps=steps, drafted=drafted, accepted=accepted, per_position=hits or None, k=context.k
    )
    return aggregate.run("", [row], context.k)


def _ratios(found: dict[str, re.Match[str]], rates: list[float], context: Context, path: str) -> Run:
    """Return the run of printed ratios; the mean with its bonus token."""
    tau = None
    if "length" in found:
        printed, said = decimal(found["length"][2]), (found["length"][1] or "").lower()
        if printed is None:
            raise InputError("not a length", file=path, found=found["length"][0], expected="a number")
        tau = printed + (_without_bonus(printed, said, rates, context, path))
    return aggregate.rates_run("", [{"dataset": context.dataset, "tau": tau, "p": rates or None}], context.k)


def _without_bonus(printed: float, said: str, rates: list[float], context: Context, path: str) -> int:
    """Return what is to be added to a printed mean: 1 where it leaves out the bonus token.

    Raises:
        Unsaid: Nothing tells.
    """
    if "bonus" in said:
        return 0 if "includ" in said else 1
    slack = 0.005 * (len(rates) + 1) + 1e-9
    if rates and abs(printed - 1 - sum(rates)) <= slack:
        return 0
    if rates and abs(printed - sum(rates)) <= slack:
        return 1
    if context.bonus is None:
        raise Unsaid.about("bonus", "does the mean acceptance length count the bonus token?", file=path, found=printed)
    return 0 if context.bonus is Bonus.IN else 1


PRODUCERS = (
    Producer(
        key="vllm-offline",
        tool="vLLM",
        what="offline example, what it prints",
        looks=lambda file: peek.is_log(file, _MARK),
        read=_read,
        semantics=_SEMANTICS,
    ),
)
