"""Arms of an A/B measurement, what is measured of a request, and the pairing of two arms by prompt."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from specdash.schema import Run
from specdash.speed.lap import Floats

_CONCURRENCY = ("concurrency", "max_concurrency")
"""Settings that say how many requests were in flight."""

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Measure:
    """What is measured of a request that succeeded.

    Attributes:
        key: Name in JSON, CSV and addresses.
        label: Short name.
        noun: What it is, inside a sentence.
        definition: One or two sentences.
        seconds: From the columns of schema.LATENCIES to seconds, null where it is not defined.
    """

    key: str
    label: str
    noun: str
    definition: str
    seconds: pl.Expr = field(compare=False)


_TOKENS = pl.col("output_tokens")

TPOT = Measure(
    "tpot",
    "TPOT",
    "time per output token",
    "Time per output token after the first: (end to end − TTFT) / (output tokens − 1), from 2 tokens on. It does not "
    "depend on how tokens are bundled into chunks, nor, by itself, on how long an answer is.",
    pl.when(_TOKENS >= 2).then((pl.col("e2e_s") - pl.col("ttft_s")) / (_TOKENS - 1)),
)

E2E = Measure(
    "e2e",
    "end to end",
    "end-to-end latency",
    "From sending the request to the last chunk with content. It compares unequal work where answers differ in length.",
    pl.col("e2e_s"),
)

TTFT = Measure(
    "ttft",
    "TTFT",
    "time to first token",
    "From sending the request to the first chunk with content: queueing and prefill. Speculation hardly changes it.",
    pl.col("ttft_s"),
)

PER_TOKEN = Measure(
    "per_token",
    "end to end per token",
    "end-to-end latency per output token",
    "End to end / output tokens: stands where the first chunk comes so late that TPOT says little.",
    pl.when(_TOKENS >= 1).then(pl.col("e2e_s") / _TOKENS),
)

MEASURES = {measure.key: measure for measure in (TPOT, E2E, TTFT, PER_TOKEN)}
"""By key; the first is the default: what speculation changes, whatever the lengths of prompt and answer."""


@dataclass(frozen=True)
class Arm:
    """One arm of an A/B measurement.

    Attributes:
        name: For people.
        latencies: schema.LATENCIES, a row a request.
        concurrency: Requests in flight at a time; None when not known.
    """

    name: str
    latencies: pl.DataFrame
    concurrency: int | None = None

    @classmethod
    def of(cls, run: Run, name: str | None = None) -> Arm:
        """Return a run as an arm.

        Args:
            run: A run with latencies.
            name: For people; the run's when None.

        Raises:
            ValueError: It has none.
        """
        if run.latencies is None:
            raise ValueError(f"run {run.name!r} has no latencies")
        config = run.effective_config
        known = (config.get(key) for key in _CONCURRENCY)
        concurrency = next((n for n in known if isinstance(n, int) and not isinstance(n, bool) and n > 0), None)
        return cls(run.name if name is None else name, run.latencies, concurrency)

    @property
    def succeeded(self) -> pl.DataFrame:
        """The requests without an error."""
        return self.latencies.filter(pl.col("error").is_null())

    def measured(self, measure: Measure) -> pl.DataFrame:
        """Return ``dataset, prompt, seconds`` of the requests that have the measure; 0 s is no duration."""
        rows = self.succeeded.select("dataset", "prompt", seconds=measure.seconds)
        return rows.filter(pl.col("seconds").is_finite() & (pl.col("seconds") > 0))


@dataclass(frozen=True)
class Sample:
    """The values of one arm.

    Attributes:
        seconds: Shape (n,), ascending.
        prompts: Shape (n,), number of the prompt of each value, 0-based; without pairing each is its own.
    """

    seconds: Floats
    prompts: Indices

    @property
    def mean_log_by_prompt(self) -> Floats:
        """Shape (prompts,), mean over the copies of a prompt of the log of the seconds."""
        return np.bincount(self.prompts, np.log(self.seconds)) / np.bincount(self.prompts)


@dataclass(frozen=True)
class Pair:
    """Two arms as they are compared.

    Attributes:
        base: Without speculation.
        spec: With it.
        prompts: Prompts that both answered; None when they are not paired.
        left_out: Requests that have the measure, but whose prompt the other arm lacks, of (base, spec).
        names: Of the prompts, in the order of their numbers; with the dataset where there are several.
    """

    base: Sample
    spec: Sample
    prompts: int | None
    left_out: tuple[int, int] = (0, 0)
    names: tuple[str, ...] = ()

    @property
    def least(self) -> int:
        """Independent values of the smaller arm: prompts where they are paired, else requests."""
        return self.prompts if self.prompts is not None else min(self.base.seconds.size, self.spec.seconds.size)


def pair(base: Arm, spec: Arm, measure: Measure, *, paired: bool = True) -> Pair:
    """Bring two arms together.

    They are paired by (dataset, prompt) where every request of both says its prompt, by prompt alone where each arm has
    a single dataset: files that name none get one by their own name. A prompt that one arm did not answer is left out
    of both: else an arm would win by failing on the slow ones.

    Args:
        base: Without speculation.
        spec: With it.
        measure: What is compared.
        paired: False to compare them as if they had nothing in common.
    """
    rows = base.measured(measure), spec.measured(measure)
    if not paired or any(one["prompt"].null_count() for one in rows):
        return Pair(_alone(rows[0]), _alone(rows[1]), None)
    key = keys(base, spec)
    shared = rows[0].select(key).unique().join(rows[1].select(key).unique(), on=key).sort(key).with_row_index("number")
    inside = [one.join(shared, on=key).sort("seconds", "number") for one in rows]
    samples = [Sample(one["seconds"].to_numpy(), one["number"].to_numpy().astype(np.intp)) for one in inside]
    dropped = (rows[0].height - inside[0].height, rows[1].height - inside[1].height)
    names = shared.select(pl.concat_str(key, separator="/")).to_series().to_list()
    return Pair(samples[0], samples[1], shared.height, dropped, tuple(names))


def keys(base: Arm, spec: Arm) -> list[str]:
    """Return the columns that tell the prompts of two arms apart."""
    single = all(arm.latencies["dataset"].n_unique() <= 1 for arm in (base, spec))
    return ["prompt"] if single else ["dataset", "prompt"]


def _alone(rows: pl.DataFrame) -> Sample:
    return Sample(rows["seconds"].sort().to_numpy(), np.arange(rows.height))
