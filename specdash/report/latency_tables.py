"""Tables of latencies: what one run took, and what a comparison of two found. Rows come beside their table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from specdash.report.tables import Column, Row, Table
from specdash.schema import Granularity
from specdash.speed.latency import MEASURES, Arm, Comparison, Verdict
from specdash.speed.latency.bootstrap import Interval
from specdash.speed.latency.notes import tokens_per_chunk
from specdash.speed.latency.summary import STATISTICS

Compared = tuple[Comparison, Verdict]


def _column(key: str, label: str, help: str = "", decimals: int = 2, scale: float = 1.0, **how: Any) -> Column:
    """Return the column of a number that stands in its row under ``key``, and is shown ``scale`` times as large."""

    def derive(row: Row) -> Any:
        value = row.get(key)
        return value if value is None or how.get("text") else scale * value

    return Column(f"{key.removesuffix('_s')}_ms" if scale == _MS else key, label, decimals=decimals, derive=derive,
                  help=help, **how)  # fmt: skip


_MS = 1000.0
_INTERVAL = (
    _column("low", "from", "95 % interval of the speed-up.", 3),
    _column("high", "to", "95 % interval of the speed-up.", 3),
)
_PROBABILITY = _column("p", "p", "Two-sided.", significant=True)


def latencies() -> Table:
    """What the requests of a run took, a row a dataset and measure (speed.latency.summary.latency_rows)."""

    def measure(row: Row) -> str:
        return MEASURES[row["measure"]].label

    columns = (
        Column("measure", "measure", derive=measure, text=True, help="What Methods says under Latency."),
        _column("requests", "requests", "Measured, failed ones among them.", 0),
        _column("failed", "failed", "Without a latency.", 0),
        _column("output_tokens", "output tokens", "Mean of an answer.", 1),
        _column("timed", "timed", "Requests that have the measure.", 0),
        *(_column(f"{name}_s", f"{name}, ms", _statistic(name), scale=_MS) for name in STATISTICS),
    )
    return Table("latencies", "Latencies", Granularity.LATENCIES, columns)


def _statistic(name: str) -> str:
    return "Over the requests that have the measure." if name == "mean" else "Of type 7 (linear interpolation)."


def arms() -> Table:
    """What each arm of a comparison is."""
    columns = (
        _column("run", "run", text=True),
        _column("requests", "requests", "Measured, failed ones among them.", 0),
        _column("failed", "failed", "Without a latency.", 0),
        _column("prompts", "prompts", "Different ones, where requests say theirs.", 0),
        _column("concurrency", "in flight", "Requests at a time, where the run says it.", 0),
        _column("input_tokens", "input tokens", "Mean of a request.", 1),
        _column("output_tokens", "output tokens", "Mean of an answer.", 1),
        _column("per_chunk", "tokens a chunk", "Output tokens over the chunks that brought them."),
    )
    return Table("arms", "Arms", Granularity.LATENCIES, columns, names=("arm",))


def arm_rows(found: Comparison) -> list[Row]:
    """Return the rows of ``arms``."""
    return [_arm("baseline", found.base), _arm("with speculation", found.spec)]


def _arm(role: str, arm: Arm) -> Row:
    ok = arm.succeeded
    return {
        **_named(role),
        "run": arm.name,
        "requests": arm.latencies.height,
        "failed": arm.latencies.height - ok.height,
        "prompts": arm.latencies["prompt"].drop_nulls().n_unique() or None,
        "concurrency": arm.concurrency,
        "input_tokens": ok["input_tokens"].mean(),
        "output_tokens": ok["output_tokens"].mean(),
        "per_chunk": tokens_per_chunk(arm),
    }


def paired(names: str = "measure") -> Table:
    """The paired test; its rows are measures, or datasets in one measure."""
    columns = (
        _column("prompts", "prompts", "Answered in both arms.", 0),
        _column("speedup", "speed-up", "Geometric mean over prompts of baseline / speculation.", 3),
        *_INTERVAL,
        _column("t", "t", "Of the log ratios; positive where speculation is faster."),
        _column("df", "df", "Prompts − 1.", 0),
        _PROBABILITY,
        _column("mde", "detectable", "Smallest speed-up that 4 of 5 such measurements would find.", 3),
        _column("judged", "judgement", text=True),
    )
    note = "t-test on log ratios by prompt, back-transformed."
    if names == "measure":
        return Table("paired", "Paired by prompt", Granularity.LATENCIES, columns, note, (names,))
    note += " Each row is a test of its own: of twenty that differ in nothing one is expected to seem to."
    return Table("paired_by_dataset", "By dataset", Granularity.LATENCIES, columns, note, (names,))


def paired_rows(compared: Mapping[str, Compared]) -> list[Row]:
    """Return the rows of ``paired``, by what each is called; none for what is not paired."""
    keys = ("prompts", "speedup", "low", "high", "t", "df", "p", "mde")
    return [
        {**_named(name), **{key: getattr(one.paired, key) for key in keys}, "judged": str(verdict.case)}
        for name, (one, verdict) in compared.items()
        if one.paired is not None
    ]


def welch() -> Table:
    """Welch's test, a row a measure."""
    columns = (
        _column("n_base", "n baseline", "Requests.", 0),
        _column("n_spec", "n spec", "Requests.", 0),
        _column("mean_base_s", "baseline mean, ms", scale=_MS),
        _column("sd_base_s", "baseline sd, ms", "Standard deviation (ddof 1).", scale=_MS),
        _column("mean_spec_s", "spec mean, ms", scale=_MS),
        _column("sd_spec_s", "spec sd, ms", "Standard deviation (ddof 1).", scale=_MS),
        _column("delta_s", "Δ, ms", "Mean of spec − mean of baseline.", scale=_MS, signed=True),
        _column("delta_low_s", "Δ from", "95 % interval of Δ, in ms.", scale=_MS, signed=True),
        _column("delta_high_s", "Δ to", "95 % interval of Δ, in ms.", scale=_MS, signed=True),
        _column(
            "change", "change", "Δ over the baseline's mean: of the latency, no speed-up.", 1, percent=True, signed=True
        ),
        _column("t", "t", "Of baseline − spec."),
        _column("df", "df", "Welch–Satterthwaite."),
        _PROBABILITY,
        _column("speedup", "speed-up", "Ratio of means.", 3),
        *_INTERVAL,
    )
    note = "Ignores that both arms answered the same prompts."
    return Table("welch", "Welch, as documented", Granularity.LATENCIES, columns, note, ("measure",))


def welch_rows(compared: Iterable[Compared]) -> list[Row]:
    """Return the rows of ``welch``; none for a measure without enough values."""
    rows = []
    for one, _ in compared:
        found = one.welch
        if found is None:
            continue
        row = _named(one.measure.label)
        for nth, arm in enumerate(("base", "spec")):
            row |= {f"n_{arm}": found.n[nth], f"mean_{arm}_s": found.mean[nth], f"sd_{arm}_s": found.sd[nth]}
        row |= {f"{key}_s": getattr(found, key) for key in ("delta", "delta_low", "delta_high")}
        row |= {key: getattr(found, key) for key in ("change", "t", "df", "p", "speedup", "low", "high")}
        rows.append(row)
    return rows


def percentiles() -> Table:
    """Percentiles and the mean with their bootstrap intervals, a row a measure and statistic."""
    help = "95 % interval by bootstrap over prompts."
    columns = [_column("statistic", "statistic", text=True)]
    for arm, label in (("base", "baseline"), ("spec", "spec")):
        columns += [
            _column(f"{arm}_s", f"{label}, ms", scale=_MS),
            _column(f"{arm}_low_s", f"{label} from", help, scale=_MS),
            _column(f"{arm}_high_s", f"{label} to", help, scale=_MS),
        ]
    columns += [
        _column("speedup", "speed-up", "Baseline over speculation.", 3),
        _column("low", "from", help, 3),
        _column("high", "to", help, 3),
        _column("note", "note", text=True),
    ]
    note = (
        "Type 7; intervals by bootstrap over prompts, both arms with the same ones. Few requests: none lies beyond the "
        "percentile, it is made of the two largest."
    )
    return Table("percentiles", "Percentiles", Granularity.LATENCIES, tuple(columns), note, ("measure",))


def percentile_rows(compared: Iterable[Compared]) -> list[Row]:
    """Return the rows of ``percentiles``; none for a measure that an arm lacks."""
    rows = []
    for one, _ in compared:
        found, name = one.bootstrap, _named(one.measure.label)
        if found is None:
            continue
        for tail in found.percentiles:
            arms = _ends("base", tail.base) | _ends("spec", tail.spec)
            note = "" if tail.resolved else "few requests"
            rows.append(name | {"statistic": f"p{tail.level * 100:g}"} | arms | _speedup(tail.speedup) | {"note": note})
        # The means' own intervals stand with Welch's test.
        means = {f"{arm}_s": float(getattr(one.pair, arm).seconds.mean()) for arm in ("base", "spec")}
        rows.append(name | {"statistic": "mean"} | means | _speedup(found.mean_ratio) | {"note": ""})
    return rows


def _ends(arm: str, of: Interval) -> Row:
    return {f"{arm}_s": of.value, f"{arm}_low_s": of.low, f"{arm}_high_s": of.high}


def _speedup(of: Interval) -> Row:
    return {"speedup": of.value, "low": of.low, "high": of.high}


def _named(name: str) -> Row:
    """Return the cells that name a row, whatever the rows of its table are."""
    return {"dataset": name, "family": None}
