"""What the run is a sample of: prompts, datasets, the order in which they came, and whether it is a log at all."""

from __future__ import annotations

import numpy as np
import polars as pl

from specdash.checks import words
from specdash.checks.registry import Result, check, idle, passed, warned
from specdash.checks.subject import Subject
from specdash.metrics import FEW
from specdash.metrics.intervals import NO_PROMPTS, few_of_equal_length
from specdash.schema import Granularity

_DOMINANT = {2: 2 / 3}
_DOMINANT_OF_MORE = 1 / 2

_DRIFT_ERRORS = 4.0
_DRIFT_SHARE = 0.05


def _prompts(subject: Subject) -> dict[str, int]:
    """Return the number of prompts by dataset, of those where prompts are known."""
    if subject.prompted is None:
        return {}
    counted = subject.prompted.group_by("dataset", maintain_order=True).agg(pl.col("prompt").n_unique())
    return dict(counted.rows())


@check(
    "several_prompts",
    title="One prompt only",
    meaning="Copies of one prompt say how it is answered again, nothing about other prompts: there is no interval.",
    cause="A smoke test, or a prompt id that is the same on every line.",
    needs=Granularity.RESPONSE,
)
def _several_prompts(subject: Subject) -> Result:
    prompts = _prompts(subject)
    if not prompts:
        return idle(NO_PROMPTS)
    single = [words.name(dataset) for dataset, count in prompts.items() if count == 1]
    if single:
        return warned(f"one prompt in {words.listed(single)}")
    return passed(f"{words.plural(sum(prompts.values()), 'prompt')} in {words.plural(len(prompts), 'dataset')}")


@check(
    "enough_prompts",
    title="Few prompts",
    meaning="Prompts differ far more than copies or steps of one: with few of them the numbers are of these prompts, "
    "and an interval over prompts is rough, below 5 refused. So it is where a few of many have most of the steps.",
    cause="A subset taken to save time; a prompt or two with very long responses.",
    needs=Granularity.RESPONSE,
)
def _enough_prompts(subject: Subject) -> Result:
    prompts = _prompts(subject)
    if not prompts:
        return idle(NO_PROMPTS)
    weigh = _few_of_equal_length(subject)
    few = [f"{words.name(dataset)}: {count}" for dataset, count in prompts.items() if count < FEW]
    few += [
        f"{words.name(dataset)}: {count:,} that weigh like {weigh[dataset]:.1f} of equal length"
        for dataset, count in prompts.items()
        if count >= FEW and dataset in weigh
    ]
    return warned(words.listed(few)) if few else passed(f"{min(prompts.values()):,} or more in every dataset")


def _few_of_equal_length(subject: Subject) -> dict[str, float]:
    """Return, for datasets of which few prompts have most of the steps, as how many of equal length they weigh."""
    known = subject.responses.filter(pl.col("prompt").is_not_null() & (pl.col("steps") > 0))
    steps = known.group_by("dataset", "prompt").agg(pl.col("steps").cast(pl.Float64).sum())
    found = {name: few_of_equal_length(part["steps"].to_numpy()) for (name,), part in steps.group_by("dataset")}
    return {name: equal for name, equal in found.items() if equal is not None}


@check(
    "balanced_pool",
    title="Dominating dataset",
    meaning="The pooled row weighs datasets by their steps. Where one has most of them, the row is about that one: "
    "give it by dataset, or weigh datasets as they are used.",
    cause="A dataset with long responses, hard to draft, so that it takes many steps.",
    needs=Granularity.AGGREGATE,
)
def _balanced_pool(subject: Subject) -> Result:
    steps = {name: tally.steps for name, tally in subject.tallies.items() if tally.steps}
    if len(steps) < 2:
        return idle("one dataset")
    total = sum(steps.values())
    largest = max(steps, key=steps.__getitem__)
    figure = f"{words.name(largest)} has {words.share(steps[largest], total)} of the steps of {len(steps)} datasets"
    most = _DOMINANT.get(len(steps), _DOMINANT_OF_MORE)
    return warned(figure) if steps[largest] > most * total else passed(figure)


@check(
    "order_drift",
    title="Drift over requests",
    meaning="Acceptance changed over the run, within datasets, by more than prompts explain: the numbers are of a "
    "system that was not the same at its start and its end.",
    cause="A cache of earlier answers that fills (suffix decoding), a drafter or load that changed, prompts sorted by "
    "difficulty.",
    needs=Granularity.RESPONSE,
    ordered=True,
)
def _order_drift(subject: Subject) -> Result:
    measured = (
        subject.responses.sort("response")
        .filter(pl.col("tau").is_not_null())
        .with_columns(
            place=(pl.int_range(pl.len()).over("dataset") + 0.5) / pl.len().over("dataset") - 0.5,
            rest=pl.col("tau") - pl.col("tau").mean().over("dataset"),
            unit=pl.coalesce(pl.col("prompt"), pl.col("response").cast(pl.String)),
        )
    )
    # An interval over prompts rests on their number; with few of them any sorted list of prompts is a drift.
    units = measured.select(pl.struct("dataset", "unit").n_unique()).item() if measured.height else 0
    if units < FEW:
        return idle(f"needs {FEW} prompts")
    slope, error = _slope(measured)
    if slope is None:
        return idle("one response a dataset")
    level = measured["tau"].mean()
    figure = (
        f"τ_r changes by {slope:+.3f} ± {error:.3f} (standard error over prompts) from the first request to the last"
    )
    drifts = abs(slope) > _DRIFT_ERRORS * error and abs(slope) > _DRIFT_SHARE * level
    return (warned if drifts else passed)(figure.replace("-", "−"))


def _slope(measured: pl.DataFrame) -> tuple[float | None, float]:
    """Regress τ_r, less its dataset's mean, on the place in its dataset; the error is clustered by prompt.

    Args:
        measured: ``dataset, unit, place`` (−0.5 to 0.5 over a dataset), ``rest``.

    Returns:
        Change over the whole length and its standard error; None when places do not vary.
    """
    x, y = measured["place"].to_numpy(), measured["rest"].to_numpy()
    spread = float(x @ x)
    if spread <= 0:
        return None, 0.0
    slope = float(x @ y) / spread
    scored = measured.select("dataset", "unit", score=pl.Series(x * (y - slope * x)))
    scores = scored.group_by("dataset", "unit").agg(pl.col("score").sum())["score"].to_numpy()
    units = scores.size
    return slope, float(np.sqrt(units / (units - 1) * (scores @ scores))) / spread


@check(
    "order_recorded",
    title="Order of steps",
    meaning="Nothing that depends on the order of steps is shown: no trend, no autocorrelation, no replay.",
    cause="Steps rebuilt from counts.",
    needs=Granularity.STEP,
)
def _order_recorded(subject: Subject) -> Result:
    return passed("recorded") if subject.order_recorded else warned("invented")


@check(
    "original_log",
    title="Origin",
    meaning="Its numbers are those it was built to have; what it was not built for, it cannot show.",
    cause="Data built from printed tables.",
    needs=Granularity.LATENCIES,
)
def _original_log(subject: Subject) -> Result:
    if subject.reconstruction:
        return warned("a reconstruction from printed tables, not the original log")
    return passed("a log")
