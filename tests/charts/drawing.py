"""What the tests of figures share: runs as rows and frames, every chart by name, what a figure says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

from specdash import charts
from specdash.metrics import ERROR_KEYS, INTERVAL_KEYS, KEYS, difficulty, geometric, response_sums, run_rows
from specdash.speed import answers, outlook
from specdash.speed.bound import tokens_per_second
from specdash.speed.lap import lap_seconds
from specdash.speed.pipeline import Pipeline
from specdash.speed.sweep import over_rtt
from tests.helpers import Response, log_run

FAMILIES = {"gsm8k": "math", "mbpp": "code", "alpaca": "chat"}

SMALL = (
    Response(((2, 2), (2, 1)), "gsm8k", "q", 0),
    Response(((2, 0), (2, 1)), "gsm8k", "q", 1),
    Response(((2, 0), (2, 0), (2, 1)), "alpaca", "r", 0),
)
"""gsm8k: S = 4, Σa = 4; alpaca: S = 3, Σa = 1."""


class Drawn:
    """A run as charts take it, with its intervals or without."""

    def __init__(self, responses, families=FAMILIES.get, *, intervals=False):
        run = log_run(responses)
        keys = [*KEYS, *INTERVAL_KEYS, *ERROR_KEYS] if intervals else KEYS
        self.rows, self.families = run_rows(run, families, keys)
        family = [families(name) or "other" for name in run.responses["dataset"]]
        self.responses = response_sums(run).with_columns(family=pl.Series(family, dtype=pl.String))


STEPS = pl.DataFrame({"drafted": [3, 3, 0, 2], "accepted": [3, 0, 0, 1]})
"""The steps of a response in order."""


def prompts_of(responses):
    """The prompts of some responses by difficulty, with the family of their dataset."""
    if responses.is_empty():
        return difficulty.SCHEMA.to_frame()
    families = responses.select("dataset", "family").unique(maintain_order=True)
    return difficulty.difficulty(responses, None).join(families, on="dataset", how="left", maintain_order="left")


def mle_of(row, k):
    """The geometric model at the maximum-likelihood α of a row whose steps all draft ``k``."""
    return geometric.outcome(row["alpha_mle"], np.eye(k + 1)[k])


def every(rows, families, responses, theme="light") -> Iterator[tuple[str, Callable[[], charts.Chart]]]:
    """Every chart function with every kind of argument, by name, not yet called."""
    last = rows[-1] if rows else {}
    bound = {"rate": tokens_per_second, "stages": 10}
    real = [charts.Measured("a real run", [1, 2, 4], [1.5, None, 2.5], "math")]
    yield from {
        "tau": lambda: charts.tau_by_dataset(rows, theme),
        "tau, families": lambda: charts.tau_by_dataset(rows, theme, families=families),
        "sure": lambda: charts.tau_intervals(rows, theme, families=families),
        "sigma": lambda: charts.sigma_against_geometric(rows, theme, families=families),
        "length": lambda: charts.length_against_tau(responses, theme),
        "gap": lambda: charts.gap_split(responses, theme),
        "p": lambda: charts.acceptance_by_position(rows, theme, families=families),
        "c": lambda: charts.acceptance_by_position(rows, theme, "c", pooled=False),
        "p_km": lambda: charts.acceptance_by_position(rows, theme, "p_km"),
        "positions": lambda: charts.position_heatmap(rows, theme, "c", families=families),
        "exposed": lambda: charts.position_heatmap(rows, theme, "p_exposed", pooled=False),
        "outcomes": lambda: charts.outcome_heatmap(rows, theme, families=families),
        "fit": lambda: charts.geometric_fit(last, theme, mle=last.get("geometric_outcome")),
        "fit, moment": lambda: charts.geometric_fit(last, theme),
        "violins": lambda: charts.tau_violins(responses, theme),
        "within": lambda: charts.within_share(rows, theme, families=families),
        "rtt": lambda: charts.rtt_lines(rows, theme, chosen_ms=25, families=families, **bound),
        "speeds": lambda: charts.rtt_bars(rows, theme, rtts_ms=(10, 100), families=families, **bound),
        **_calculator(rows, families, theme),
        **_latency(responses, theme),
        "blocks": lambda: charts.tau_by_block(rows, theme, chosen=2, measured=real, families=families),
        "blocks, km": lambda: charts.tau_by_block(rows, theme, "tau_at_k_km"),
        "gains": lambda: charts.position_gains(rows, theme, chosen=1, families=families),
        "prompts": lambda: charts.prompt_caterpillar(prompts_of(responses), theme, ends=3),
        "steps": lambda: charts.step_strip(STEPS if responses.height else STEPS.clear(), theme, family="math"),
    }.items()


PIPELINE = Pipeline(rtt_ms=50, bandwidth_mbit_s=1000, stage_ms=4, stage_per_token_ms=0.2, draft_ms=3)
"""Every part of a lap takes time, but the overhead."""

_RTTS_MS = [1.0, 10.0, 100.0]
_SPEEDS = [1.0, 5.0]


def _calculator(rows, families, theme):
    """The charts of the throughput calculator, of a pipeline in which every part of a lap takes time."""
    k = max([len(row.get("tau_at_k") or ()) for row in rows] or [0])
    block = max(k - 1, 0)
    fast, fast_families = (
        [row | {"tok_s_over": row["tok_s_at_k"][:2]} for row in outlook.at_block(part, PIPELINE, k, block)] if k else []
        for part in (rows, families)
    )
    name = fast[-1]["dataset"] if fast else "nothing"
    cells = over_rtt(PIPELINE, outlook.taus(fast[-1:], k)[0], _RTTS_MS) if fast else None
    along = charts.Along("stages", "Stages N", "N = {}", [1, 2], 2, "A sentence.")
    reached = answers.reaching(rows, [[2.0, 4.0] if k else []] * len(rows), 1.0, 3.0, _SPEEDS)
    parts = lap_seconds(PIPELINE, k)._asdict() if k else {part: [0.0] for part in charts.PARTS}
    return {
        "bars": lambda: charts.speed_bars(fast, theme, block=block, families=fast_families),
        "by block": lambda: charts.speed_by_block(
            fast, theme, chosen=block, ceiling=(name, [1.0, None]), families=fast_families
        ),
        "map": lambda: charts.block_rtt_map(
            name,
            theme,
            rtts_ms=_RTTS_MS,
            tok_s=[[v if np.isfinite(v) else None for v in row] for row in cells.tok_s] if fast else [],
            best=cells.best_k.tolist() if fast else [],
            chosen=(50, block),
        ),
        "over": lambda: charts.speed_lines(
            fast, theme, along=along, ceiling=(name, [2.0, 1.0]), families=fast_families
        ),
        "reach": lambda: charts.share_reaching(
            reached,
            theme,
            speeds=_SPEEDS,
            goal=3.0,
            families=answers.reaching(families, [[]] * len(families), 1, 3, _SPEEDS),
        ),
        "times": lambda: charts.answer_times(
            answers.answer_times(fast, PIPELINE, block, 100, 1.0), theme, tokens=100, about="A sentence."
        ),
        "fill": lambda: charts.stream_fill(
            name,
            theme,
            streams=[1, 8],
            cells=answers.over_streams(fast[-1], PIPELINE, k, block, [1, 8]) if fast else [],
            chosen=8,
            caveat="A sentence.",
        ),
        "lap": lambda: charts.lap_split({k: list(v) for k, v in parts.items()}, theme, chosen=block),
    }


def _latency(responses, theme):
    """The charts of two arms, whose latencies are acceptance lengths: they are as many and named as oddly."""
    columns = ["tau", "prompt", "dataset"]
    known = responses.drop_nulls(columns[:2]) if responses.width else pl.DataFrame(schema=columns)
    seconds, names = known["tau"].to_list(), known["prompt"].to_list()
    arms = [charts.Side(name, seconds) for name in (known["dataset"].head(1).to_list() * 2 or ["a", "b"])]
    prompts = charts.Prompts(names, seconds, [s / 2 for s in seconds])
    return {
        "latencies": lambda: charts.latency_ecdf(*arms, theme, measure="end-to-end latency"),
        "latencies by prompt": lambda: charts.latency_by_prompt(
            prompts, theme, measure="TTFT", names=(arms[0].name, arms[1].name)
        ),
    }


def spec(chart):
    """The figure as a browser gets it."""
    return json.loads(chart.figure.to_json())


def texts(value, keys=("text", "ticktext", "name", "customdata", "meta", "hovertext")):
    """Every string of a figure that plotly may take for markup, hover templates apart."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _strings(inner) if key in keys else texts(inner, keys)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner, keys)


def _strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def trace(chart, name):
    """The trace of that name."""
    return next(t for t in chart.figure.data if t.name == name)


def is_empty(chart):
    """Tell whether a chart is the one that says what is missing."""
    return not chart.figure.data and chart.data.is_empty() and len(chart.figure.layout.annotations) == 1
