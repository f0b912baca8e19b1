"""The throughput calculator by questions: what a pipeline makes of a run's acceptance lengths.

A function takes what is asked and returns tables and figures. Nothing here reads steps: speeds follow from τ(K′).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from specdash import charts
from specdash.charts import Along
from specdash.metrics import Row, response_taus
from specdash.report import speed_tables
from specdash.report.sections.base import FigurePart, Note, Part, Rows, Subject, TablePart
from specdash.report.sections.declared import throughput
from specdash.schema import POOLED
from specdash.speed import answers, outlook, sweep
from specdash.speed.fill import UNBATCHED
from specdash.speed.lap import Floats, lap_seconds, with_no_speculation
from specdash.speed.pipeline import MAX_STAGES, Pipeline
from specdash.speed.response_time import APPROXIMATE

_RTTS_MS = tuple(np.geomspace(1, 500, 41).tolist())
_MBIT_S = tuple(np.geomspace(1, 100_000, 41).tolist())
_STAGES = tuple(range(1, MAX_STAGES + 1))


def names(rows: Rows) -> dict[str, Row]:
    """Return the rows that a figure of one row can be about, by what they are called, the pooled one first."""
    pooled = [row for row in rows.datasets if row["dataset"] == POOLED and row["family"] is None]
    named = {row["dataset"]: row for row in [*pooled, *rows.datasets]}
    return named | {f"all {row['dataset']}": row for row in rows.families if f"all {row['dataset']}" not in named}


@dataclass(frozen=True)
class Asked:
    """What is asked of the calculator.

    Attributes:
        subject: The run, whose block length K is known and at least 1.
        pipeline: The pipeline.
        block: K′, drafted tokens a step; 0 for no speculation.
        other: K′ that it is compared with.
        of: Name of the row that figures of one row are about, one of ``names``.
        tokens: Length of an answer in tokens.
        goal: Speed to reach in tok/s.
        jitter_ms: Standard deviation of a traversal in ms.
        split_model: Whether more stages share one model's compute, instead of being a larger model.
    """

    subject: Subject
    pipeline: Pipeline
    block: int
    other: int
    of: str
    tokens: int = 500
    goal: float = 20.0
    jitter_ms: float = 0.0
    split_model: bool = True

    @property
    def k(self) -> int:
        """The run's block length K."""
        return self.subject.k

    @cached_property
    def rows(self) -> Rows:
        """The run's rows with their speeds at K′ (speed.outlook.at_block)."""
        rows = self.subject.rows
        return Rows(
            *(outlook.at_block(part, self.pipeline, self.k, self.block) for part in (rows.datasets, rows.families))
        )

    @property
    def one(self) -> Row:
        """The row that figures of one row are about."""
        return names(self.rows)[self.of]

    @property
    def order_invented(self) -> bool:
        """Whether the order of the run's steps means nothing."""
        return any(warning.code == "order_invented" for warning in self.subject.run.warnings)

    @property
    def lap_s(self) -> float:
        """Seconds of a lap at K′."""
        return float(lap_seconds(self.pipeline, self.k).total[self.block])


def speed(asked: Asked) -> list[Part]:
    """Tokens per second of every dataset at K′."""
    table = speed_tables.speeds(asked.block)
    bars = partial(charts.speed_bars, asked.rows.datasets, block=asked.block, families=asked.rows.families)
    return [
        TablePart(table, table.title, (speed_tables.no_speculation(asked.pipeline),), rows=asked.rows),
        FigurePart("speed", bars),
    ]


def depth(asked: Asked) -> list[Part]:
    """The fastest K′: speed over K′, over K′ and RTT, and where a longer block pays."""
    rows, pipeline = asked.rows, asked.pipeline
    tau = outlook.taus([asked.one], asked.k)[0]
    ceiling = [None if math.isnan(t) else outlook.bound(pipeline, t) for t in with_no_speculation(tau)]
    by_block = partial(
        charts.speed_by_block,
        rows.datasets,
        chosen=asked.block,
        ceiling=(asked.of, ceiling),
        families=rows.families,
    )
    swept = sweep.over_rtt(pipeline, tau, _RTTS_MS)
    cells = partial(
        charts.block_rtt_map,
        asked.of,
        rtts_ms=_RTTS_MS,
        tok_s=_cells(swept.tok_s),
        best=swept.best_k.tolist(),
        chosen=(pipeline.rtt_ms, asked.block),
    )
    return [
        FigurePart("speed_by_block", by_block, "tok/s by block length"),
        FigurePart("block_and_rtt", cells, f"The fastest block length by RTT: {asked.of}"),
        *_break_even(asked),
    ]


def _break_even(asked: Asked) -> list[Part]:
    compared = speed_tables.pairs(asked.block, asked.other)
    if not compared:
        return [Note("K′ = 0 is no speculation: there is no break-even to compare.")]
    table = speed_tables.break_even(compared)
    rows = Rows(
        *(
            speed_tables.with_break_even(part, asked.pipeline, asked.k, compared)
            for part in (asked.rows.datasets, asked.rows.families)
        )
    )
    return [TablePart(table, table.title, rows=rows)]


def network(asked: Asked) -> list[Part]:
    """Tokens per second against the number of stages, the bandwidth and the round-trip time."""
    pipeline, tau = asked.pipeline, asked.one["tau"]
    even = replace(pipeline, one_way_ms=None)
    widths = _with(_MBIT_S, pipeline.bandwidth_mbit_s)
    rtts = _with(_RTTS_MS, pipeline.rtt_ms)
    share = (
        "One model is split among the stages: more of them compute less each."
        if asked.split_model
        else "Every stage computes as long as one does now: more stages are a larger model."
    )
    return [
        _against(
            asked,
            Along("stages", "Stages N", "N = {}", _STAGES, pipeline.stages, share),
            lambda taus: sweep.over_stages(pipeline, taus, _STAGES, split_model=asked.split_model),
            [outlook.bound(replace(even, stages=n), tau) for n in _STAGES],
            "tok/s by number of stages",
        ),
        _against(
            asked,
            Along("mbit_s", "Bandwidth of a link (Mbit/s)", "{} Mbit/s", widths, pipeline.bandwidth_mbit_s),
            lambda taus: sweep.over_bandwidth(pipeline, taus, widths),
            [asked.one["bound_tok_s"]] * len(widths),
            "tok/s by bandwidth",
        ),
        _against(
            asked,
            Along("rtt_ms", "RTT of a hop (ms)", "RTT {} ms", rtts, pipeline.rtt_ms),
            lambda taus: sweep.over_rtt(pipeline, taus, rtts),
            [outlook.bound(replace(even, rtt_ms=rtt), tau) for rtt in rtts],
            "tok/s by RTT",
        ),
    ]


def _with(values: Sequence[float], chosen: float | None) -> list[float]:
    """Return the values with the chosen one among them."""
    return sorted({*values, *([] if chosen is None else [chosen])})


def _against(
    asked: Asked, along: Along, over: Callable[[Floats], sweep.Sweep], ceiling: Sequence[float | None], heading: str
) -> FigurePart:
    """Return the figure of the speeds at K′ against a property of the pipeline."""

    def swept(rows: list[Row]) -> list[Row]:
        speeds = over(outlook.taus(rows, asked.k)).tok_s[:, asked.block]
        return [row | {"tok_s_over": cells} for row, cells in zip(rows, _cells(speeds), strict=True)]

    families = swept(asked.rows.families) if asked.rows.families else []
    drawn = partial(
        charts.speed_lines, swept(asked.rows.datasets), along=along, ceiling=(asked.of, ceiling), families=families
    )
    return FigurePart(f"speed_by_{along.key}", drawn, heading)


def lap(asked: Asked) -> list[Part]:
    """Where the time of a lap goes."""
    parts = speed_tables.lap_parts(asked.pipeline, asked.k)
    return [FigurePart("lap", partial(charts.lap_split, parts, chosen=asked.block), "The parts of a lap")]


def responses(asked: Asked) -> list[Part]:
    """The share of responses that reach a speed, and the time of an answer with its spread."""
    if not asked.lap_s:
        return [Note("A lap takes no time here, so every response is infinitely fast.")]
    return [*_reaching(asked), *_answer_times(asked)]


def _reaching(asked: Asked) -> list[Part]:
    subject, goal = asked.subject, asked.goal
    if not subject.has_responses:
        return [Note("The share of responses that reach a speed needs responses; this run holds none one by one.")]
    taus = response_taus(subject.run, asked.block)
    by_dataset = {name: part["tau"].to_numpy() for (name,), part in taus.partition_by("dataset", as_dict=True).items()}
    # As far as the fastest response of any row, and the goal within.
    fastest = max((float(tau.max()) for tau in by_dataset.values()), default=1.0) / asked.lap_s
    speeds = np.linspace(0, max(fastest, goal) * 1.02, 120).tolist()

    def of_dataset(row: Row) -> Floats:
        return taus["tau"].to_numpy() if row["family"] is None else by_dataset.get(row["dataset"], np.empty(0))

    def of_family(row: Row) -> Floats:
        members = [tau for name, tau in by_dataset.items() if subject.family_of(name) == row["family"]]
        return np.concatenate([np.empty(0), *members])

    parts = ((subject.rows.datasets, of_dataset), (subject.rows.families, of_family))
    rows = Rows(*(answers.reaching(part, map(found, part), asked.lap_s, goal, speeds) for part, found in parts))
    table = speed_tables.reaching(goal, asked.block)
    lines = partial(charts.share_reaching, rows.datasets, speeds=speeds, goal=goal, families=rows.families)
    return [TablePart(table, table.title, rows=rows), FigurePart("share_reaching", lines)]


def _answer_times(asked: Asked) -> list[Part]:
    rows = Rows(
        *(
            answers.answer_times(part, asked.pipeline, asked.block, asked.tokens, asked.jitter_ms)
            for part in (asked.rows.datasets, asked.rows.families)
        )
    )
    table = speed_tables.answer_times(asked.tokens)
    about = f"{_INVENTED if asked.order_invented else _ASSUMED} {APPROXIMATE}"
    times = partial(charts.answer_times, rows.datasets, tokens=asked.tokens, about=about, families=rows.families)
    return [TablePart(table, table.title, rows=rows), FigurePart("answer_spread", times)]


_ASSUMED = "Steps are taken for independent (κ = 1): stretches of easy or hard text would widen the spread."
_INVENTED = "The order of steps is invented, so κ is not known: steps are taken for independent (κ = 1)."


def streams(asked: Asked) -> list[Part]:
    """Many streams in one pipeline: together, each, and from how many on they wait for each other."""
    number = asked.pipeline.streams
    rows = Rows(
        *(
            answers.filled(part, asked.pipeline, asked.k, asked.block)
            for part in (asked.subject.rows.datasets, asked.subject.rows.families)
        )
    )
    table = speed_tables.filled(number)
    full = names(rows)[asked.of]["saturation"]
    last = max(16, number, *([] if full is None else [math.ceil(4 * full)]))
    grid = sorted({*np.unique(np.geomspace(1, min(last, 4096), 40).round().astype(int)).tolist(), number})
    cells = answers.over_streams(names(asked.subject.rows)[asked.of], asked.pipeline, asked.k, asked.block, grid)
    curves = partial(charts.stream_fill, asked.of, streams=grid, cells=cells, chosen=number, caveat=UNBATCHED)
    return [
        TablePart(table, table.title, rows=rows),
        FigurePart("stream_fill", curves, f"Streams in flight: {asked.of}"),
    ]


def bound(asked: Asked) -> list[Part]:
    """The report's bound: its table, and its figure 7."""
    return throughput(asked.subject, stages=asked.pipeline.stages, rtt_ms=asked.pipeline.rtt_ms)


def _cells(values: Floats) -> list[list[float | None]]:
    """Return the numbers of a grid, None for those that are not finite."""
    return [[v if math.isfinite(v) else None for v in row] for row in values.tolist()]


QUESTIONS: dict[str, Callable[[Asked], list[Part]]] = {
    "Speed": speed,
    "Block length": depth,
    "Network": network,
    "Lap": lap,
    "Responses": responses,
    "Streams": streams,
    "Report’s bound": bound,
}
"""By what they are called on the page and in links."""
