"""SGLang's ``/metrics``: gauges of the last window, and two counters from which a length follows.

``sglang:spec_accept_length`` (bonus token in) and ``sglang:spec_accept_rate`` are gauges of the last decode iterations
and keep their last value while the server idles: shown as printed, never pooled. A rank is a row, ranks do not add up.

``sglang:spec_verify_calls_total`` and ``sglang:generation_tokens_total`` count when a request finishes; their ratio is
tokens per step. Requests that did not speculate are among the tokens.
source: SGLang, the metrics collector of scheduler and tokenizer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from specdash.formats import aggregate, counting, scrapes, sglang_rate
from specdash.formats.base import File
from specdash.formats.producer import Context, Producer, Together
from specdash.formats.scrapes import Interval, Series
from specdash.schema import MAX_DRAFTED, Bonus, End, NothingToRead, Run, RunWarning, Semantics, Span, Undrafted

_PREFIX = "sglang:spec_"
_TOKENS = "sglang:generation_tokens_total"

_SEMANTICS = Semantics(
    producer="SGLang, /metrics",
    bonus=Bonus.IN,
    span=Span.SINCE_START,
    end=End.TOKENS,
    undrafted=Undrafted.UNKNOWN,
    note="Gauges are of the last window, counters of the requests that finished.",
)

_FROM_TOKENS = RunWarning(
    "accepted_from_tokens",
    "accepted tokens are generated tokens less verify calls: the token of each prompt, and requests that did not "
    "speculate, are in them",
)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    made = []
    for interval in scrapes.intervals(files):
        parsed = [scrapes.read(file, _PREFIX, _TOKENS) for file in interval.scrapes]
        models = list(scrapes.label_values(parsed[-1], "model_name"))
        for model in models:
            label = f"{interval.label}/{model}" if len(models) > 1 else interval.label
            own = {"model_name": model} if model else {}
            config = {"model": model} if model else {}
            gauges = {series: value for series, value in parsed[-1].items() if own.items() <= dict(series[1]).items()}
            counted, window = _counted(parsed, interval, context, own), _window(gauges, context)
            if counted is not None:
                made.append(replace(counted, name=label, config=config))
            if window is not None:
                made.append(replace(window, name=f"{label} (gauges)" if counted else label, config=config))
    if not made:
        raise NothingToRead("its gauges and counters say that nothing was verified", file=files[0].path)
    return made


def _window(gauges: Mapping[Series, float], context: Context) -> Run | None:
    """Return the run of the gauges, a row a rank; None where none has a value yet."""
    ranks: dict[str, dict[str, float]] = {}
    for (name, labels), value in gauges.items():
        known = ranks.setdefault(dict(labels).get("dp_rank", ""), {})
        known[name.removeprefix(_PREFIX)] = value or known.get(name.removeprefix(_PREFIX), 0.0)
    rows, opaque = [], False
    for rank, values in sorted(ranks.items()):
        length, rate = values.get("accept_length", 0.0), values.get("accept_rate", 0.0)
        if not 1 <= length <= MAX_DRAFTED + 1:
            continue  # 0: no window is over yet
        meant = sglang_rate.meanings(str(length), str(rate), _k(values, context)) if rate else {}
        opaque |= bool(rate) and not meant
        dataset = f"last window, DP {rank}" if len(ranks) > 1 else "last window"
        rows.append({"dataset": dataset, "tau": length} | meant)
    if not rows:
        return None
    window = RunWarning("last_window", "gauges: the last window of decode iterations before the scrape, not a run")
    warnings = [window, *([sglang_rate.OPAQUE] if opaque else [])]
    return aggregate.rates_run("", rows, context.k, warnings, semantics=replace(_SEMANTICS, span=Span.WINDOWS))


def _k(values: Mapping[str, float], context: Context) -> int | None:
    """Return the draft tokens of a step by a gauge, else by the user."""
    tokens = values.get("num_draft_tokens", 0.0)
    return int(tokens) - 1 if 1 < tokens <= MAX_DRAFTED + 1 else context.k


def _counted(
    parsed: Sequence[Mapping[Series, float]], interval: Interval, context: Context, own: Mapping[str, str]
) -> Run | None:
    """Return the run of the counters; None where they do not count both steps and tokens."""
    path = interval.scrapes[-1].path
    found = scrapes.increase([_totals(scrape) for scrape in parsed])
    steps = scrapes.summed(found.values, f"{_PREFIX}verify_calls_total", path, **own)
    tokens = scrapes.summed(found.values, _TOKENS, path, **own)
    if not steps or tokens is None or tokens < steps:
        return None
    row: dict[str, Any] = aggregate.row(
        context.dataset, path, steps=steps, drafted=None, accepted=tokens - steps, k=context.k
    )
    span = Span.DIFFERENCE if len(parsed) > 1 else Span.SINCE_START
    warnings = [*counting.resets(found.resets, path), _FROM_TOKENS]
    return aggregate.run("", [row], context.k, warnings, semantics=replace(_SEMANTICS, span=span))


def _totals(scrape: Mapping[Series, float]) -> dict[Series, float]:
    return {series: value for series, value in scrape.items() if series[0].endswith(("_total", "_created"))}


PRODUCERS = (
    Producer(
        key="sglang-metrics",
        tool="SGLang",
        what="/metrics text",
        looks=lambda file: counting.holds(file, _PREFIX, r"(accept_\w+|verify_calls_total)"),
        read=_read,
        semantics=_SEMANTICS,
        together=Together.FOLDER,
    ),
)
