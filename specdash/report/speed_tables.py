"""The calculator's tables as declared columns; their rows come from ``specdash.speed.outlook``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from specdash.report.tables import Column, Row, Table
from specdash.schema import Granularity
from specdash.speed import breakeven, outlook
from specdash.speed.breakeven import BreakEven, Pays
from specdash.speed.lap import lap_seconds
from specdash.speed.pipeline import Drafter, Pipeline

Pair = tuple[int, int]
"""Two block lengths, the longer one first."""


def _column(key: str, label: str, help: str, decimals: int = 2, **how: Any) -> Column:
    return Column(key, label, decimals=decimals, derive=lambda row: row.get(key), carries=key, help=help, **how)


def speeds(block: int) -> Table:
    """Tokens per second of a single stream at K′, beside the ceiling and the fastest K′."""
    columns = (
        _column("tau_block", f"τ(K′={block})", "Tokens a step, implied from the log by truncation below its K."),
        _column("tok_s", "tok/s", "τ(K′) over the time of a lap with K′ drafted tokens."),
        _column("speedup", "speed-up", "Over no speculation on the same pipeline: τ(K′) T(0) / T(K′)."),
        _column("bound_tok_s", "bound", "Latency only, with the τ of the whole block: τ over the sum of latencies."),
        _column("bound_share", "of bound", "tok/s over the bound.", 0, percent=True),
        _column("best_block", "fastest K′", "K′ with the highest tok/s on this pipeline; 0: do not speculate.", 0),
        _column("best_tok_s", "tok/s there", "tok/s at the fastest K′."),
    )
    note = f"{block} drafted tokens a step; one stream that has the pipeline to itself."
    return Table("speeds", "tok/s of one stream", Granularity.RATES, columns, note)


def reaching(goal: float, block: int) -> Table:
    """The share of responses that reach a speed, and the spread of their speeds."""
    columns = (
        _column("timed", "responses", "Responses with an acceptance length at K′.", 0),
        _column(
            "reach", f"reach {goal:g} tok/s", "Share of responses with τ_r / T(K′) at least that.", 1, percent=True
        ),
        _column("tok_s_p10", "p10, tok/s", "Nine in ten responses are at least as fast."),
        _column("tok_s_p50", "p50, tok/s", "Median over responses."),
        _column("tok_s_p90", "p90, tok/s", "One in ten responses is at least as fast."),
    )
    note = f"τ of each response at K′ = {block} over the time of a lap; percentiles of type 7. A response counts once."
    return Table("reaching", "Speeds of responses", Granularity.RESPONSE, columns, note)


def answer_times(tokens: int) -> Table:
    """The time of an answer and its spread."""
    columns = (
        _column("time_s", "mean, s", "T L/τ + T (E X² − E X)/(2 τ²), X = 1 + a: the last step may emit too many."),
        _column("time_sd_s", "sd, s", "√(T² L σ² κ/τ³ + (L/τ) sd_T²) with κ = 1."),
        _column("answer_p5", "p5, tok/s", "One answer in twenty is slower. Log-normal around the mean and sd."),
        _column("answer_p50", "p50, tok/s", "Half of the answers are slower."),
        _column("answer_p95", "p95, tok/s", "One answer in twenty is faster."),
    )
    return Table("answer_times", f"Time of an answer of {tokens:,} tokens", Granularity.AGGREGATE, columns)


def filled(streams: int) -> Table:
    """What many streams get together and each."""
    columns = (
        _column("aggregate", "tok/s together", "min(M τ / T, τ over the time of the busiest device)."),
        _column("per_stream", "tok/s each", "That over the number of streams."),
        _column("cap", "at most", "tok/s that no number of streams exceeds; – where nothing is ever busy."),
        _column("saturation", "M*", "Streams from which on they wait for each other; – where they never do.", 1),
    )
    return Table("filled", f"tok/s of {streams:,} stream{'' if streams == 1 else 's'}", Granularity.RATES, columns)


def no_speculation(pipeline: Pipeline) -> Row:
    """Return the row of the same pipeline without speculation."""
    (row,) = outlook.at_block([{"dataset": "no speculation", "family": None, "tau": 1.0}], pipeline, 1, 0)
    return row | {"best_block": None, "best_tok_s": None}


def pairs(block: int, other: int) -> list[Pair]:
    """Return what is compared: K′ with no speculation, and with another block length."""
    wanted = [(block, 0), (max(block, other), min(block, other))]
    return list(dict.fromkeys(pair for pair in wanted if pair[0] > pair[1]))


def break_even(compared: Sequence[Pair]) -> Table:
    """From which RTT and bandwidth on the longer of two blocks is faster."""
    columns = []
    for more, less in compared:
        against = f"K′={more} beats {f'K′={less}' if less else 'no speculation'}"
        for quantity, what, unit in _QUANTITIES:
            key = f"{quantity}_{less}_{more}"
            help = f"The {what} at which {more} drafted tokens are faster, everything else as chosen."
            columns.append(_column(f"{key}_pays", f"{against}: {quantity}", help, text=True))
            columns.append(_column(f"{key}_{unit}", key, help, hidden=True))
    return Table("break_even", "Where a longer block starts to pay", Granularity.RATES, tuple(columns))


_QUANTITIES = (("RTT", "round-trip time of every hop", "ms"), ("bandwidth", "bandwidth of every link", "mbit_s"))
_UNITS = {"RTT": "ms", "bandwidth": "Mbit/s"}


def with_break_even(rows: Iterable[Row], pipeline: Pipeline, k: int, compared: Sequence[Pair]) -> list[Row]:
    """Return the rows with where the longer of two blocks pays, in words and as numbers."""
    rows = list(rows)
    found = []
    for row, tau in zip(rows, outlook.taus(rows, k), strict=True):
        cells: Row = {}
        for more, less in compared:
            for (quantity, _, unit), at in zip(
                _QUANTITIES, (breakeven.rtt_ms, breakeven.bandwidth_mbit_s), strict=True
            ):
                key = f"{quantity}_{less}_{more}"
                try:
                    point = at(pipeline, tau, less, more)
                except ValueError:  # τ is not known at one of them
                    continue
                cells[f"{key}_pays"] = in_words(point, _UNITS[quantity])
                cells[f"{key}_{unit}"] = point.value if point.pays in (Pays.ABOVE, Pays.BELOW) else None
        found.append(dict(row) | cells)
    return found


def in_words(point: BreakEven, unit: str) -> str:
    """Return where a longer block pays: "always", "never", "above 9.84 ms"."""
    if point.value is None or point.pays in (Pays.ALWAYS, Pays.NEVER):
        return point.pays.value
    digits = max(0, 2 - math.floor(math.log10(abs(point.value)))) if point.value else 0
    return f"{point.pays.value} {point.value:,.{digits}f} {unit}"


def lap_parts(pipeline: Pipeline, k: int) -> dict[str, list[float]]:
    """Return the seconds of a lap by cause, over K′ = 0..k."""
    return {name: values.tolist() for name, values in lap_seconds(pipeline, k)._asdict().items()}


def pipeline_in_words(pipeline: Pipeline) -> str:
    """Return every number of a pipeline with its unit, in one line; what costs nothing is said to."""
    p = pipeline
    listed = None if p.one_way_ms is None else ", ".join(f"{latency:g}" for latency in p.one_way_ms)
    said = [
        f"{p.stages} stages",
        f"RTT of a hop {p.rtt_ms:g} ms" if listed is None else f"one-way latencies {listed} ms",
        f"return hop {'counted' if p.return_hop else 'not counted'}",
        f"bandwidth {'without limit' if p.bandwidth_mbit_s is None else f'{p.bandwidth_mbit_s:,g} Mbit/s'}",
        f"a stage computes {p.stage_ms:g} ms a step and {p.stage_per_token_ms:g} ms a token",
        f"{p.drafter} drafter, {p.draft_ms:g} ms a {'step' if p.drafter is Drafter.BLOCK else 'token'}",
        f"overhead {p.overhead_ms:g} ms a step",
        f"{p.hidden_size:,} values of {p.bytes_per_value:g} bytes a token on a forward hop, {p.residual_streams} times",
        f"{p.return_bytes:,g} bytes a token on the return hop",
        f"{p.streams:,} in flight",
    ]
    return "; ".join(said)
