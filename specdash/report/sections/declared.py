"""The sections of the report: which tables and figures each shows, declared once for pages and for the HTML report.

A function takes the subject and the section's controls, which stand at their defaults in a report.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from specdash import charts
from specdash.metrics import Row
from specdash.report import tables
from specdash.report.headline import headline_table
from specdash.report.sections import latency, prompts, speedup
from specdash.report.sections.base import FigurePart, Note, Outcomes, Part, Section, Subject, TablePart
from specdash.report.sections.blocks import shorter_blocks
from specdash.report.sections.drafting import DEFAULT_K, Drafting
from specdash.schema import LEVEL, Granularity
from specdash.speed import bound

REPORT_RTT_MS = 25
"""The round trip that the throughput section speaks of at first, in ms."""

GEOMETRIC = "Observed outcomes against the constant-α model"


def headline(subject: Subject) -> TablePart:
    """Return table 1, or what a printed table says where there is nothing else."""
    return TablePart(headline_table(subject.run))


def facts(subject: Subject) -> list[tuple[str, str]]:
    """Return the large figures of a run, by their label."""
    run = subject.run
    pooled = subject.rows.datasets[-1] if subject.has_counts and subject.rows.datasets else {}
    tau = tables.metric_column("tau")
    ends = tau.ends(pooled)
    interval = f"{LEVEL:.0%} interval" + (", borrowed" if pooled.get("interval_from") else "")
    found = [
        ("τ, pooled", tau.shown(pooled)),
        *([(interval, " – ".join(tau.shown({"tau": end}) for end in ends))] if ends else []),
        ("verify steps", f"{pooled['steps']:,}" if pooled.get("steps") is not None else tables.UNDEFINED),
        ("responses", f"{pooled['responses']:,}" if pooled.get("responses") else tables.UNDEFINED),
    ]
    if run.latencies is not None:
        found.append(("requests timed", f"{run.latencies.height:,}"))
    return [
        *found,
        ("block length K", tables.UNDEFINED if run.k is None else str(run.k)),
        ("granularity", str(run.granularity)),
    ]


def acceptance_length(subject: Subject) -> list[Part]:
    """Table 1, figures 1 and 2, the error of τ."""
    rows, families = subject.rows.datasets, subject.rows.families
    parts: list[Part] = [headline(subject)]
    if not subject.has_length:
        return parts
    if subject.has_counts:
        spread = partial(charts.tau_by_dataset, rows, families=families)
        model = partial(charts.sigma_against_geometric, rows, families=families)
        parts += [
            FigurePart("figure1_tau", spread, "Acceptance length with the spread over steps"),
            FigurePart("figure1_sigma", model, "Spread against the geometric model"),
        ]
    if subject.intervals and subject.has_responses and any(row["tau_ci"] for row in rows):
        errors, table = subject.errors, tables.tau_errors()
        sure = partial(charts.tau_intervals, errors.datasets, families=errors.families)
        parts += [FigurePart("tau_intervals", sure, "How sure τ is"), TablePart(table, table.title, rows=errors)]
    if subject.has_responses:
        length = partial(charts.length_against_tau, subject.responses)
        gap = partial(charts.gap_split, subject.responses)
        parts += [
            FigurePart("figure2_length", length, "Response length against acceptance length"),
            FigurePart("figure2_gap", gap, "Why the mean over responses differs from τ"),
        ]
    return parts


def draft_positions(subject: Subject, *, by_family: bool = False, pooled: bool = True) -> list[Part]:
    """Tables 2 and 3 and figure 3, for each reading of acceptance by position."""
    readings = dict(zip("pc", tables.draft_positions(subject.k), strict=True))
    if subject.varies:
        readings |= dict(zip(("p_exposed", "p_km"), tables.varying_positions(subject.k), strict=True))
    shown = {"families": subject.rows.families if by_family else (), "pooled": pooled}
    parts: list[Part] = []
    for rate, table in readings.items():
        lines = partial(charts.acceptance_by_position, subject.rows.datasets, rate=rate, **shown)
        cells = partial(charts.position_heatmap, subject.rows.datasets, rate=rate, **shown)
        parts += [
            TablePart(table, table.title),
            FigurePart(f"figure3_{rate}", lines),
            FigurePart(f"figure3_heatmap_{rate}", cells),
        ]
    return parts


def step_outcomes(subject: Subject) -> list[Part]:
    """The table of section 4 and figure 4."""
    cells = partial(charts.outcome_heatmap, subject.rows.datasets, families=subject.rows.families)
    return [TablePart(tables.step_outcomes(subject.k)), FigurePart("figure4_outcomes", cells)]


def geometric_choices(subject: Subject) -> dict[str, tuple[Row, list[float] | None]]:
    """Return what figure 5 can be drawn of, by name: the pooled run, the datasets from the last, the families.

    A choice is its row and its outcomes under the model at the maximum-likelihood α.
    """

    def found(rows: list[Row], fits: Outcomes, name: str) -> dict[str, tuple[Row, list[float] | None]]:
        return {name.format(row["dataset"]): (row, fits[row["dataset"]]) for row in rows}

    by_dataset, by_family = subject.fits
    return found(subject.rows.datasets[::-1], by_dataset, "{}") | found(subject.rows.families, by_family, "all {}")


def geometric_fit(row: Row, mle: list[float] | None) -> FigurePart:
    """Return figure 5 of one of ``geometric_choices``."""
    return FigurePart("figure5_geometric", partial(charts.geometric_fit, row, mle=mle))


def _outcomes_and_model(subject: Subject) -> list[Part]:
    """Return step outcomes and figure 5 of everything there is, the pooled run first."""
    (_, pooled), *others = geometric_choices(subject).items()
    return [
        *step_outcomes(subject),
        replace(geometric_fit(*pooled), heading=GEOMETRIC),
        *(
            replace(geometric_fit(*choice), name=f"figure5_geometric_{number}", heading=name, aside=True)
            for number, (name, choice) in enumerate(others, 1)
        ),
    ]


def prompt_difficulty(subject: Subject) -> list[Part]:
    """The table of section 6 and figure 6."""
    share = partial(charts.within_share, subject.rows.datasets, families=subject.rows.families)
    parts = [
        TablePart(tables.prompt_difficulty()),
        FigurePart("figure6_violins", partial(charts.tau_violins, subject.responses), "Acceptance length of responses"),
        FigurePart("figure6_share", share, "Share of the spread that is sampling noise"),
    ]
    prompts = subject.responses["prompt"]
    if prompts.null_count() == prompts.len():
        missing = "No samples say which prompt a response answers, so difficulty cannot be told from noise here."
        return [Note(missing), *parts]
    return parts


def throughput(subject: Subject, *, stages: int = bound.REPORT_STAGES, rtt_ms: float = REPORT_RTT_MS) -> list[Part]:
    """Table and figure of section 7, with a round trip that is marked."""
    table = tables.throughput_bound(stages, tuple(sorted({*bound.REPORT_RTTS_MS, rtt_ms})))
    drawn = {"rate": bound.tokens_per_second, "stages": stages, "families": subject.rows.families}
    return [
        TablePart(table, table.title, extra=(tables.NO_SPECULATION,)),
        FigurePart("figure7_rtt", partial(charts.rtt_lines, subject.rows.datasets, chosen_ms=rtt_ms, **drawn)),
        FigurePart("figure7_bars", partial(charts.rtt_bars, subject.rows.datasets, rtts_ms=(rtt_ms,), **drawn)),
    ]


def _speed_up(subject: Subject) -> list[Part]:
    """Return the speed-up of the pooled run, by a block drafter whose cost is assumed."""
    drafting = Drafting(subject.k or DEFAULT_K)
    note = f"Nobody timed drafter and target of this run: a draft cost of c = {drafting.c:g} is assumed here."
    return [Note(note), *speedup.parts(subject, drafting, subject.rows.datasets[-1])]


_COUNTS = {"needs": Granularity.AGGREGATE, "by_position": True}

ACCEPTANCE_LENGTH = Section("acceptance_length", "Acceptance length", acceptance_length)
DRAFT_POSITIONS = Section("draft_positions", "Draft positions", draft_positions, **_COUNTS)
STEP_OUTCOMES = Section("step_outcomes", "Step outcomes", _outcomes_and_model, **_COUNTS)
SHORTER_BLOCKS = Section("shorter_blocks", "Shorter blocks", shorter_blocks, **_COUNTS)
PROMPTS = Section("prompts", "Prompts", prompts.prompts, Granularity.RESPONSE, by_length=True)
PROMPT_DIFFICULTY = Section(
    "prompt_difficulty", "Prompt difficulty", prompt_difficulty, Granularity.RESPONSE, by_length=True
)
THROUGHPUT = Section("throughput", "Throughput", throughput, by_length=True)
SPEED_UP = Section("speed_up", "Speed-up", _speed_up, by_length=True)
LATENCY = Section("latency_ab", "Latency A/B", latency.latency, Granularity.LATENCIES, timed=True)

SECTIONS = (
    ACCEPTANCE_LENGTH,
    DRAFT_POSITIONS,
    STEP_OUTCOMES,
    SHORTER_BLOCKS,
    PROMPTS,
    PROMPT_DIFFICULTY,
    THROUGHPUT,
    SPEED_UP,
    LATENCY,
)
"""Every section, in the order of the report."""
