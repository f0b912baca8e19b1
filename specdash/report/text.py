"""The report's tables in a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from specdash._version import VERSION
from specdash.families import FamilyOf
from specdash.metrics import INTERVAL_KEYS, KEYS, Background, run_rows
from specdash.report import latency_tables, meaning, soundness
from specdash.report.headline import counts_steps, headline_table
from specdash.report.intervals import notes, with_margins
from specdash.report.lines import Kind, Line, lines
from specdash.report.tables import NO_SPECULATION, Table, report_tables, throughput_bound
from specdash.schema import LEVEL, Evaluation, Granularity, Run, legible
from specdash.speed.latency import Note, telling
from specdash.speed.latency.roles import against_baseline
from specdash.speed.latency.summary import latency_rows
from specdash.verdict import Outcome, Verdict


def render(
    evaluation: Evaluation, family_of: FamilyOf, runs: tuple[Run, ...], console: Console, *, intervals: bool = False
) -> None:
    """Print the tables of some runs of an evaluation, with ± beside the numbers that have intervals on demand."""
    console.print(_text(evaluation.title, "bold"))
    console.print(
        _text(
            f"specdash {VERSION}   id {evaluation.id}   source {evaluation.source}   sha256 {evaluation.sha256[:16]}…"
        )
    )
    if evaluation.note:
        console.print(_text(evaluation.note, "italic"))
    for run in runs:
        console.print()
        console.print(_heading(run))
        acceptance = _tables(run, family_of, Background.of(evaluation, run), intervals)
        for part in (*acceptance, *_latencies(evaluation, run, family_of)):
            console.print()
            console.print(part)


def _heading(run: Run) -> RenderableType:
    k = "not known" if run.k is None else run.k
    lines = [_text(f"Run {run.name}", "bold underline"), _text(f"granularity {run.granularity}, K {k}")]
    if run.effective_config:
        lines.append(_text("configuration: " + ", ".join(f"{k}={v}" for k, v in run.effective_config.items())))
    if run.semantics:
        lines.append(_text(meaning.paragraph(run.semantics), "dim"))
    if run.mapping:
        lines.append(_text(f"requests to responses: {run.mapping}"))
    return Group(*lines, *_soundness(run))


def _soundness(run: Run) -> list[Text]:
    """Return the verdict of the checks and what is not as it should be; the rest is told by ``specdash check``."""
    if run.checks is None:
        return []
    lines = [_text(f"checks: {Verdict.of(run.checks)}")]
    for finding, line in soundness.told(run.checks):
        style = "red" if finding.outcome is Outcome.FAIL else "yellow"
        lines.append(_text(f"{soundness.MARKS[finding.outcome]} {line}", style))
    return lines


def render_checks(evaluation: Evaluation, runs: tuple[Run, ...], console: Console) -> None:
    """Print what every check found in some runs, the worst first; why, where it is not as it should be."""
    console.print(_text(evaluation.title, "bold"))
    for run in runs:
        console.print()
        console.print(_text(f"Run {run.name}: {Verdict.of(run.checks)}", "bold underline"))
        for row in soundness.rows(soundness.worst_first(run.checks)):
            outcome = Outcome(row["outcome"])
            style = {Outcome.FAIL: "red", Outcome.WARN: "yellow", Outcome.NOT_APPLICABLE: "dim"}.get(outcome, "")
            line = f"{soundness.MARKS[outcome]} {row['outcome']:<{len(Outcome.NOT_APPLICABLE)}}  {row['title']}"
            console.print(_text(f"{line}: {row['figure']}", style))
            if outcome in (Outcome.FAIL, Outcome.WARN):
                why = Text(f"{row['meaning']} Usual cause: {row['cause']}")
                console.print(Padding(why, (0, 0, 0, 18), expand=False))


def _tables(run: Run, family_of: FamilyOf, background: Background, intervals: bool) -> list[RenderableType]:
    if run.granularity is Granularity.LATENCIES:
        return []
    datasets, families = run_rows(run, family_of, [*KEYS, *INTERVAL_KEYS] if intervals else KEYS, background)
    rows = [*datasets, *families]
    others = report_tables(run.k)[1:] if counts_steps(run) else ()
    shown_tables = (headline_table(run), *(others if run.rates is None else [throughput_bound()]))
    extra = {"throughput_bound": [NO_SPECULATION]}
    shown: list[RenderableType] = [
        _table(with_margins(table, rows), lines(datasets, families, extra.get(table.key, ())))
        for table in shown_tables
        if run.granularity.allows(table.needs)
    ]
    if intervals:
        shown.insert(0, _text(f"± is half the width of the {LEVEL:.0%} interval over prompts"))
    return [*shown, *map(_text, notes(rows))]


def _latencies(evaluation: Evaluation, run: Run, family_of: FamilyOf) -> list[RenderableType]:
    """Return what requests took, and how the run compares with its baseline, judged by the first measure."""
    if run.latencies is None:
        return []
    shown: list[RenderableType] = [
        _table(latency_tables.latencies(), lines(latency_rows(run.latencies, family_of), []))
    ]
    compared = against_baseline(evaluation.runs, run)
    if compared:
        first, *others = telling(compared)
        by_measure = latency_tables.paired_rows({one.measure.label: (one, judged) for one, judged in compared})
        said = [f"Against {compared[0][0].base.name}. {first.headline}", *(other.headline for other in others)]
        said += map(_note, first.notes)
        shown += [_table(latency_tables.paired(), lines(by_measure, []))] if by_measure else []
        shown.append(Group(*map(_text, said)))
    return shown


def _note(note: Note) -> str:
    return f"{'!' if note.warns else '·'} {note.message}"


_STYLES = {Kind.DATASET: "", Kind.FAMILY: "dim", Kind.POOLED: "bold", Kind.EXTRA: "dim"}


def _table(table: Table, shown: list[Line]) -> RenderableType:
    grid = RichTable(title=table.title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, caption=None)
    for head, how in zip(table.names, ({"overflow": "fold", "no_wrap": False, "max_width": 48}, {}), strict=False):
        grid.add_column(head, **how)
    for column in table.columns:
        # A head may break between words, a number may not.
        width = max((len(column.shown(line.row)) for line in shown), default=1)
        grid.add_column(column.label, justify="right", min_width=max(width, *map(len, column.label.split())))
    for line in shown:
        cells = [Text(column.shown(line.row)) for column in table.columns]
        grid.add_row(*map(_text, line.named(table.names)), *cells, style=_STYLES[line.kind])
    return Group(grid, Text(table.note, style="italic")) if table.note else grid


def _text(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style)


def printable(text: str) -> str:
    """Return a text from a file as one line without control characters, which a terminal would obey."""
    return legible(text, "�")
