"""Tables of latencies: what one run took, and what a comparison of two found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from specdash.report.tables import Column, Row, Table
from specdash.schema import Granularity
from specdash.speed.latency import MEASURES, Comparison, Verdict
from specdash.speed.latency.bootstrap import Interval
from specdash.speed.latency.summary import STATISTICS

Compared = tuple[Comparison, Verdict]


def latencies() -> Table:
    """What the requests of a run took, by dataset."""

    def of(key: str, scale: float = 1.0) -> Callable[[Row], float | None]:
        return lambda row: None if row.get(key) is None else row[key] * scale

    columns = [
        Column("requests", "requests", decimals=0, derive=of("requests"), help="Measured, failed ones among them."),
        Column("failed", "failed", decimals=0, derive=of("failed"), help="Without a latency."),
        Column("output_tokens", "output tokens", decimals=1, derive=of("output_tokens"), help="Mean of an answer."),
    ]
    columns += [
        Column(
            f"{key}_{name}_ms",
            f"{measure.label} {name}, ms",
            derive=of(f"{key}_{name}", 1000),
            help=f"{measure.definition} Percentiles are of type 7.",
        )
        for key, measure in MEASURES.items()
        for name in STATISTICS
    ]
    return Table("latencies", "Latencies", Granularity.LATENCIES, tuple(columns))


@dataclass(frozen=True)
class Head:
    """A column of a sheet.

    Attributes:
        label: Its head.
        format: Of numbers, as printf; empty for text.
        help: What it is.
    """

    label: str
    format: str = ""
    help: str = ""


@dataclass(frozen=True)
class Sheet:
    """A table whose rows are no datasets.

    Attributes:
        key: Short name.
        title: What it shows.
        frame: Its cells, by column key.
        heads: How its columns are shown, in their order.
        note: One sentence a reader needs.
    """

    key: str
    title: str
    frame: pl.DataFrame
    heads: dict[str, Head]
    note: str = ""


_MS, _RATIO, _T = "%.2f", "%.3f", "%.2f"
_P = "%.2g"


def _sheet(key: str, title: str, rows: Sequence[dict[str, Any]], heads: dict[str, Head], note: str = "") -> Sheet:
    kinds = {name: pl.Float64 if head.format else pl.String for name, head in heads.items()}
    return Sheet(key, title, pl.DataFrame(list(rows), schema=kinds), heads, note)


_INTERVAL = {"low": Head("from", _RATIO, "95 % interval of the speed-up."), "high": Head("to", _RATIO)}


def paired(compared: Sequence[Compared], names: Sequence[str] | None = None) -> Sheet:
    """The paired test, a row a measure; or one measure, a row a name.

    Args:
        compared: Comparisons with their judgements.
        names: Of the rows where they are not measures.
    """
    heads = {
        "name": Head("measure" if names is None else "dataset"),
        "prompts": Head("prompts", "localized", "Answered in both arms."),
        "speedup": Head("speed-up", _RATIO, "Geometric mean over prompts of baseline / speculation."),
        **_INTERVAL,
        "t": Head("t", _T, "Of the log ratios; positive where speculation is faster."),
        "df": Head("df", "%d"),
        "p": Head("p", _P, "Two-sided."),
        "mde": Head("detectable", _RATIO, "Smallest speed-up that 4 of 5 such measurements would find."),
        "judged": Head("judgement"),
    }
    rows = []
    for nth, (one, verdict) in enumerate(compared):
        found = one.paired
        if found is None:
            continue
        numbers = {key: getattr(found, key) for key in heads if key not in ("name", "judged")}
        name = one.measure.label if names is None else names[nth]
        rows.append({"name": name, **numbers, "judged": str(verdict.case)})
    key = "paired" if names is None else "paired_by_dataset"
    title = "Paired by prompt" if names is None else "By dataset"
    note = "t-test on log ratios by prompt, back-transformed."
    if names is not None:
        note += " Each row is a test of its own: of twenty that differ in nothing one is expected to seem to."
    return _sheet(key, title, rows, heads, note)


def welch(compared: Sequence[Compared]) -> Sheet:
    """Welch's test, a row a measure."""
    heads = {
        "name": Head("measure"),
        "n_base": Head("n baseline", "localized"),
        "n_spec": Head("n spec", "localized"),
        "mean_base": Head("baseline mean, ms", _MS),
        "sd_base": Head("± sd", _MS, "Standard deviation (ddof 1)."),
        "mean_spec": Head("spec mean, ms", _MS),
        "sd_spec": Head("± sd ", _MS, "Standard deviation (ddof 1)."),
        "delta": Head("Δ, ms", "%+.2f", "Mean of spec − mean of baseline."),
        "delta_low": Head("Δ from", "%+.2f", "95 % interval of Δ."),
        "delta_high": Head("Δ to", "%+.2f"),
        "change": Head("change, %", "%+.1f", "Δ over the baseline's mean: of the latency, no speed-up."),
        "t": Head("t", _T, "Of baseline − spec."),
        "df": Head("df", "%.2f", "Welch–Satterthwaite."),
        "p": Head("p", _P, "Two-sided."),
        "speedup": Head("speed-up", _RATIO, "Ratio of means."),
        **_INTERVAL,
    }
    rows = []
    for one, _ in compared:
        found = one.welch
        if found is None:
            continue
        ends = {"base": 0, "spec": 1}
        row: dict[str, Any] = {"name": one.measure.label, "change": 100 * found.change}
        row |= {f"n_{arm}": found.n[i] for arm, i in ends.items()}
        row |= {f"mean_{arm}": 1000 * found.mean[i] for arm, i in ends.items()}
        row |= {f"sd_{arm}": 1000 * found.sd[i] for arm, i in ends.items()}
        row |= {key: 1000 * getattr(found, key) for key in ("delta", "delta_low", "delta_high")}
        row |= {key: getattr(found, key) for key in ("t", "df", "p", "speedup", "low", "high")}
        rows.append({key: row[key] for key in heads})
    return _sheet("welch", "Welch, as documented", rows, heads, "Ignores that both arms answered the same prompts.")


def percentiles(compared: Sequence[Compared]) -> Sheet:
    """Percentiles and means with their bootstrap intervals, a row a measure and statistic."""

    def ends(name: str, of: Interval, scale: float) -> dict[str, float]:
        return {name: scale * of.value, f"{name}_low": scale * of.low, f"{name}_high": scale * of.high}

    def heads_of(name: str, label: str, form: str, more: str) -> dict[str, Head]:
        first, last = Head(f"{label} from", form, "95 % interval by bootstrap over prompts."), Head(f"{label} to", form)
        return {name: Head(label + more, form), f"{name}_low": first, f"{name}_high": last}

    heads = {
        "name": Head("measure"),
        "statistic": Head("statistic"),
        **heads_of("base", "baseline", _MS, ", ms"),
        **heads_of("spec", "spec", _MS, ", ms"),
        **heads_of("speedup", "speed-up", _RATIO, ""),
        "note": Head("note"),
    }
    rows, unresolved = [], False
    for one, _ in compared:
        found = one.bootstrap
        for tail in () if found is None else found.percentiles:
            row = {"name": one.measure.label, "statistic": f"p{tail.level * 100:g}"}
            row |= ends("base", tail.base, 1000) | ends("spec", tail.spec, 1000) | ends("speedup", tail.speedup, 1)
            unresolved |= not tail.resolved
            rows.append(row | {"note": "" if tail.resolved else "few requests"})
        if found is not None:
            rows.append(_mean_row(one, found.mean_ratio, ends))
    note = "Type 7; intervals by bootstrap over prompts, both arms with the same ones."
    if unresolved:
        note += " Few requests: none lies beyond the percentile, it is made of the two largest."
    return _sheet("percentiles", "Percentiles", rows, heads, note)


def _mean_row(one: Comparison, ratio: Interval, ends: Callable[[str, Interval, float], dict[str, float]]) -> Row:
    """The row of the means: their own intervals stand with Welch's test."""
    means = {
        "base": 1000 * float(one.pair.base.seconds.mean()),
        "spec": 1000 * float(one.pair.spec.seconds.mean()),
    }
    return {"name": one.measure.label, "statistic": "mean", **means, **ends("speedup", ratio, 1), "note": ""}
