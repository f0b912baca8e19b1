"""The report's tables as declared columns, shared by text, dashboard and exports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from specdash import metrics
from specdash.schema import Granularity, Run
from specdash.speed import bound

Row = dict[str, Any]

UNDEFINED = "–"

NO_SPECULATION: Row = {"dataset": "no speculation", "family": None, "tau": 1.0}
"""The row of a pipeline without speculation: one token a lap."""


@dataclass(frozen=True)
class Column:
    """A column of a table: one number a row.

    Attributes:
        key: Column name in CSV: the metric's key, with the index for an element of a list metric.
        label: Head of the column.
        metric: Key of the metric it shows, None for derived columns.
        index: Element of a list metric.
        decimals: Decimals shown.
        percent: Shown in percent.
        signed: Shown with its sign.
        derive: How a derived column follows from a row.
        carries: Metric that a derived column rises with and depends on alone; its interval carries over.
        bounds: How the interval of a derived column follows from a row where it does not carry over; None: it has none.
        help: What a derived column is.
        text: Whether its values are words.
        hidden: Whether it stands in exports only.
        significant: Whether ``decimals`` counts significant digits, as of numbers that run over many powers of ten.
    """

    key: str
    label: str
    metric: str | None = None
    index: int | None = None
    decimals: int = 2
    percent: bool = False
    signed: bool = False
    derive: Any = None
    carries: str | None = None
    bounds: Any = None
    help: str = ""
    text: bool = False
    hidden: bool = False
    significant: bool = False

    def value(self, row: Row) -> Any:
        """Return the number at full precision, None when undefined."""
        if self.derive is not None:
            return self.derive(row)
        found = row.get(self.metric)
        if self.index is None or found is None:
            return found
        return found[self.index] if self.index < len(found) else None

    def ends(self, row: Row) -> list[float] | None:
        """Return the lower and the upper end of the number's interval, None where the row has none."""
        if self.bounds is not None:
            return self.bounds(row)
        found = row.get(f"{self.carries or self.metric}_ci")
        if found is None or (self.derive is not None and self.carries is None):
            return None
        if self.derive is not None:
            return [self.derive({self.carries: end}) for end in found]
        if self.index is None:
            return found
        return found[self.index] if self.index < len(found) else None

    def margin(self, row: Row) -> float | None:
        """Return half the width of the number's interval, None where the row has none.

        Of an interval that reaches to one side only, as where every step had the same outcome, the whole width: half of
        it would seem to leave out what it holds.
        """
        ends, value = self.ends(row), self.value(row)
        if ends is None:
            return None
        width = ends[1] - ends[0]
        return width if value in ends else width / 2

    def shown(self, row: Row) -> str:
        """Return the number as the report prints it, – when undefined."""
        value = self.value(row)
        if value is None:
            return UNDEFINED
        if isinstance(value, str):
            return value
        scaled = value * 100 if self.percent else value
        kind = "g" if self.significant else "f"
        text = f"{scaled:{'+' if self.signed else ''},.{self.decimals}{kind}}"
        return text + ("%" if self.percent and self.index is None else "")


@dataclass(frozen=True)
class Table:
    """One table of the report.

    Attributes:
        key: Short name.
        title: What it shows.
        needs: The coarsest granularity that can fill it.
        columns: Its columns after those that name a row.
        note: One sentence a reader needs.
        names: Heads of the columns that name a row: what it is about and, of a dataset, its family.
    """

    key: str
    title: str
    needs: Granularity
    columns: tuple[Column, ...]
    note: str = ""
    names: tuple[str, ...] = ("dataset", "family")

    @property
    def shown(self) -> tuple[Column, ...]:
        """The columns that stand on a page; exports hold the others too."""
        return tuple(column for column in self.columns if not column.hidden)


def metric_column(key: str, index: int | None = None, label: str | None = None) -> Column:
    """Return the column of a declared metric."""
    metric = metrics.get(key)
    name = metric.label if label is None else label
    return Column(
        key=key if index is None else f"{key}_{index}",
        label=name,
        metric=key,
        index=index,
        decimals=metric.decimals,
        percent=metric.percent,
    )


def _subscript(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def _difference(key: str, minuend: int, subtrahend: int) -> Any:
    def derive(row: Row) -> float | None:
        values = row.get(key) or []
        if max(minuend, subtrahend) >= len(values):
            return None
        a, b = values[minuend], values[subtrahend]
        return None if a is None or b is None else a - b

    return derive


def acceptance_length() -> Table:
    """Table 1: acceptance length and its spread."""
    keys = "steps tau step_std response_mean response_p10 response_p50 response_p90 implied_alpha"
    return Table(
        "acceptance_length", "Acceptance length", Granularity.AGGREGATE, tuple(map(metric_column, keys.split()))
    )


def tau_errors() -> Table:
    """The standard error of τ by every method there is."""
    keys = (
        "prompts tau tau_se tau_se_linear tau_se_bootstrap tau_se_copies tau_se_naive "
        "steps design_effect effective_steps"
    )
    return Table(
        "tau_errors",
        "The error of τ by several methods",
        Granularity.RESPONSE,
        tuple(map(metric_column, keys.split())),
        "Jackknife, linearisation and bootstrap estimate the same: the error for another sample of prompts. The one "
        "for these prompts is for runs that share them; the naive one takes steps for independent and is wrong.",
    )


_MEANING = {
    "p": "p over all steps that drafted",
    "p_exposed": "p over the steps that drafted the position",
    "c": "c over the steps that accepted the position before",
}
"""Printed rates by draft position, and what they are relative to."""


def printed_rates(run: Run) -> Table:
    """What a run of printed ratios says: the columns that any of its rows has."""
    held = {name for name in run.rates.columns if run.rates[name].null_count() < run.rates.height}
    if run.semantics is None:  # the table of an evaluation's own, which has all of these
        held |= {"verify_rate", "p_exposed"}
    several = len(held & {"p", "p_exposed"}) > 1
    columns = [metric_column("tau")]
    columns += [metric_column(name) for name in ("verify_rate", "acceptance_ratio") if name in held]
    for name in [name for name in _MEANING if name in held]:
        label = "c" if name == "c" else "p, exposed " if several and name == "p_exposed" else "p"
        columns += [metric_column(name, i, f"{label}{_subscript(i)}") for i in range(run.k or 0)]
    if "outcome" in held:
        columns += [metric_column("outcome", j, f"P(a={j})") for j in range((run.k or 0) + 1)]
    meanings = [text for name, text in _MEANING.items() if name in held and run.k]
    note = "; ".join(["Ratios as printed, without the counts they were made of", *meanings])
    return Table("printed_rates", "Acceptance length", Granularity.RATES, tuple(columns), f"{note}.")


def token_counts() -> Table:
    """What is known of a run whose source counts tokens and no verify steps."""
    keys = "responses drafted accepted acceptance_ratio"
    return Table(
        "token_counts",
        "Drafted and accepted tokens",
        Granularity.AGGREGATE,
        tuple(map(metric_column, keys.split())),
        "Verify steps are not counted, so there is no acceptance length.",
    )


def draft_positions(k: int) -> tuple[Table, Table]:
    """Tables 2 and 3: unconditional and conditional acceptance by draft position."""
    p = tuple(metric_column("p", i, f"p{_subscript(i)}") for i in range(k))
    c = [metric_column("c", i, f"c{_subscript(i)}") for i in range(k)]
    if k > 1:
        label = f"c₀ − c{_subscript(k - 1)}"
        c.append(
            Column("c_drop", label, decimals=3, derive=_difference("c", 0, k - 1), help="Fall of c over the block.")
        )
    note = "Draft position 0 is the first drafted token."
    return (
        Table("unconditional", "Unconditional acceptance by draft position", Granularity.AGGREGATE, p, note),
        Table("conditional", "Conditional acceptance by draft position", Granularity.AGGREGATE, tuple(c), note),
    )


def varying_positions(k: int) -> tuple[Table, Table]:
    """Two other readings of acceptance by position, which differ from p where steps draft different numbers."""
    exposed = tuple(metric_column("p_exposed", i, f"p{_subscript(i)}") for i in range(k))
    survival = tuple(metric_column("p_km", i, f"p{_subscript(i)}") for i in range(k))
    return (
        Table(
            "exposed",
            "Acceptance by draft position over the steps that drafted it",
            Granularity.AGGREGATE,
            exposed,
            "As DeepSpec prints it; it may rise with the position where long drafts are the easy ones.",
        ),
        Table(
            "survival",
            "Acceptance by draft position if every step had drafted that far (Kaplan–Meier)",
            Granularity.AGGREGATE,
            survival,
            "Holds if shortening a draft says nothing about its difficulty; biased up under a confidence threshold.",
        ),
    )


def step_outcomes(k: int) -> Table:
    """Table 4: share of steps by number of accepted draft tokens, in percent."""
    columns = tuple(metric_column("outcome", j, str(j)) for j in range(k + 1))
    return Table("outcomes", "Step outcomes (% of steps by accepted tokens)", Granularity.AGGREGATE, columns)


def shorter_blocks(k: int) -> Table:
    """Table 5: implied acceptance length at shorter blocks."""
    columns = [metric_column("tau_at_k", i, f"K′={i + 1}") for i in range(k)]
    if k > 2:
        columns.append(
            Column(
                "gain",
                f"gain {k - 2}→{k}",
                signed=True,
                derive=_difference("tau_at_k", k - 1, k - 3),
                help=f"τ(K′={k}) − τ(K′={k - 2}).",
            )
        )
    return Table(
        "shorter_blocks",
        "Implied acceptance length at shorter blocks",
        Granularity.AGGREGATE,
        tuple(columns),
        f"Implied from the K={k} log by truncation: a lower bound where difficulty comes in stretches.",
    )


def at_block(k: int, chosen: int) -> Table:
    """What a block of ``chosen`` tokens gives of what K gives: implied τ, share of it, and what is lost."""

    def share(row: Row) -> float | None:
        values = row.get("tau_at_k")
        return None if not values or values[chosen - 1] is None else values[chosen - 1] / values[k - 1]

    columns = (
        metric_column("tau_at_k", chosen - 1, f"τ(K′={chosen})"),
        Column("share", f"share of τ({k})", decimals=1, percent=True, derive=share, help=f"τ(K′)/τ(K′={k})."),
        Column(
            "loss",
            f"against K={k}",
            signed=True,
            derive=_difference("tau_at_k", chosen - 1, k - 1),
            help="Tokens a step.",
        ),
        metric_column("p", chosen - 1, f"p at position {chosen - 1}"),
    )
    return Table("at_block", f"A block of K′ = {chosen}", Granularity.AGGREGATE, columns)


def prompt_difficulty() -> Table:
    """Table 6: prompt difficulty against sampling noise."""
    keys = "response_std within_share within_share_corrected copy_std copy_range copy_max copy_min corr_tau_tokens"
    return Table(
        "prompt_difficulty",
        "Prompt difficulty and sampling noise",
        Granularity.RESPONSE,
        tuple(map(metric_column, keys.split())),
    )


def throughput_bound(stages: int = bound.REPORT_STAGES, rtts_ms: tuple[float, ...] = bound.REPORT_RTTS_MS) -> Table:
    """Table 7: upper bound on tokens per second over RTT."""

    def at(rtt: float) -> Any:
        return lambda row: None if row.get("tau") is None else bound.tokens_per_second(row["tau"], rtt, stages)

    columns = [metric_column("tau")]
    columns += [
        Column(f"tok_s_rtt{rtt:g}", f"RTT {rtt:g} ms", decimals=1, derive=at(rtt), carries="tau", help="2τ/(N·RTT)")
        for rtt in rtts_ms
    ]
    columns.append(Column("speedup", "speed-up", decimals=2, metric="tau", help="Over one token a lap; equals τ."))
    return Table(
        "throughput_bound",
        f"Upper bound on tok/s, {stages} stages, latency only",
        Granularity.RATES,
        tuple(columns),
        "Compute, drafting, serialisation and bandwidth cost nothing here: whatever a real system achieves lies below.",
    )


def report_tables(k: int | None) -> tuple[Table, ...]:
    """Return the report's tables for a run whose largest block is ``k``, in the report's order."""
    by_k = () if not k else (*draft_positions(k), step_outcomes(k), shorter_blocks(k))
    return (acceptance_length(), *by_k, prompt_difficulty(), throughput_bound())
