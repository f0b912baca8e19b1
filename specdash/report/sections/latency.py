"""The section of latencies: what a run took, and how it compares with its baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from specdash import charts
from specdash.report import latency_tables as tables
from specdash.report.latency_tables import Compared
from specdash.report.sections.base import FigurePart, Note, Part, Rows, Subject, TablePart
from specdash.report.tables import Row, Table
from specdash.speed.latency import Comparison, telling
from specdash.speed.latency.summary import latency_rows

NO_BASELINE = "Without a baseline no speed-up can be claimed."


def of_run(subject: Subject, heading: str | None = None) -> TablePart:
    """Return what the requests of a run took, by dataset."""
    return _table(tables.latencies(), latency_rows(subject.run.latencies, subject.family_of), heading)


def comparison(every: Sequence[Compared], chosen: Compared, by_dataset: Mapping[str, Compared]) -> list[Part]:
    """Return what two arms differ by, but for the verdict.

    Args:
        every: The comparison in every measure.
        chosen: That in the measure that is looked at.
        by_dataset: The same by dataset, where there are several.
    """
    found, _ = chosen
    parts: list[Part] = []
    if rows := tables.paired_rows({one[0].measure.label: one for one in every}):
        parts.append(_table(tables.paired(), rows))
    parts += [
        _table(tables.percentiles(), tables.percentile_rows([chosen])),
        FigurePart("ecdf", partial(_ecdf, found), "Distribution"),
        FigurePart("by_prompt", partial(_by_prompt, found), "Prompt by prompt"),
    ]
    if rows := tables.paired_rows(by_dataset):
        parts.append(_table(tables.paired("dataset"), rows))
    return [*parts, _table(tables.welch(), tables.welch_rows(every)), _table(tables.arms(), tables.arm_rows(found))]


def latency(subject: Subject) -> list[Part]:
    """Return the latencies of a run and, where its evaluation holds its baseline, how it compares with that."""
    own = of_run(subject)
    if not subject.compared:
        return [Note(NO_BASELINE), own]
    verdicts = telling(subject.compared)
    said = [Note(text) for text in (*(v.headline for v in verdicts), *(note.message for note in verdicts[0].notes))]
    chosen = next(one for one in subject.compared if one[1] is verdicts[-1])
    return [own, *said, *comparison(subject.compared, chosen, {})]


def _table(table: Table, rows: list[Row], heading: str | None = None) -> TablePart:
    return TablePart(table, heading or table.title, name=f"latency_{table.key}", rows=Rows(rows, []))


def _names(found: Comparison) -> tuple[str, str]:
    return f"baseline: {found.base.name}", f"spec: {found.spec.name}"


def _ecdf(found: Comparison, theme: charts.Theme) -> charts.Chart:
    base, spec = _names(found)
    sides = charts.Side(base, found.pair.base.seconds), charts.Side(spec, found.pair.spec.seconds)
    return charts.latency_ecdf(*sides, theme, measure=found.measure.noun)


def _by_prompt(found: Comparison, theme: charts.Theme) -> charts.Chart:
    pair, prompts = found.pair, None
    if pair.prompts:
        base, spec = (np.exp(side.mean_log_by_prompt).tolist() for side in (pair.base, pair.spec))
        prompts = charts.Prompts(pair.names, base, spec)
    return charts.latency_by_prompt(prompts, theme, measure=found.measure.noun, names=_names(found))
