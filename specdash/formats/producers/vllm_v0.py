"""``/metrics`` of vLLM's engine V0 (0.9 and before): two gauges since the start of the server.

Its counters add a running total at every report, so they are inflated without measure, and are not used. The
efficiency is emitted tokens over the most that could be, bonus token included: times K + 1 it is the acceptance
length, for which K has to be said.
source: vllm/engine/metrics.py of V0.
"""

from __future__ import annotations

from collections.abc import Sequence

from specdash.formats import aggregate, counting, scrapes
from specdash.formats.base import File
from specdash.formats.producer import Context, Producer
from specdash.schema import Bonus, End, InputError, NothingToRead, Run, RunWarning, Semantics, Span, Undrafted

_PREFIX = "vllm:spec_decode_"
_RATE, _EFFICIENCY = f"{_PREFIX}draft_acceptance_rate", f"{_PREFIX}efficiency"

_SEMANTICS = Semantics(
    producer="vLLM V0, /metrics",
    bonus=Bonus.IN,
    span=Span.SINCE_START,
    end=End.UNKNOWN,
    undrafted=Undrafted.UNKNOWN,
    note="Gauges alone: the counters of V0 are inflated. An accepted token need not be of an accepted prefix.",
)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    found = {series: value for file in files for series, value in scrapes.read(file, _RATE, _EFFICIENCY).items()}
    path, rows = files[0].path, []
    for model in scrapes.label_values(found, "model_name"):
        rate, efficiency = (_gauge(found, name, model, path) for name in (_RATE, _EFFICIENCY))
        tau = None if efficiency is None or context.k is None else efficiency * (context.k + 1)
        if rate is not None or tau is not None:
            dataset = f"{context.dataset} ({model})" if rows else context.dataset
            rows.append({"dataset": dataset, "tau": tau, "mean_drafted": context.k, "acceptance_ratio": rate})
    if not rows:
        raise NothingToRead("its gauges say nothing", file=path)
    said = "the efficiency of V0 gives an acceptance length only with the draft length (--k)"
    warnings = [RunWarning("k_unknown", said)] if context.k is None else []
    return [aggregate.rates_run("", rows, context.k, warnings)]


def _gauge(found: dict[scrapes.Series, float], name: str, model: str, path: str) -> float | None:
    """Return a ratio, None where it is not there or is NaN, as before the first request."""
    values = [value for (n, own), value in found.items() if n == name and dict(own).get("model_name", "") == model]
    value = values[0] if values else None
    if value is None or value != value:
        return None
    if not 0 <= value <= 1:
        raise InputError(f"{name} is not a ratio", file=path, found=value, expected="0 to 1")
    return value


PRODUCERS = (
    Producer(
        key="vllm-v0-metrics",
        tool="vLLM",
        what="/metrics text of engine V0",
        looks=lambda file: counting.holds(file, _EFFICIENCY, ""),
        read=_read,
        semantics=_SEMANTICS,
    ),
)
