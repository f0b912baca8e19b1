"""The HTML report put together."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from specdash import metrics
from specdash._version import VERSION
from specdash.charts.palette import colours
from specdash.report import methods, soundness
from specdash.report.document import document
from specdash.report.html import figures, formulas
from specdash.report.intervals import notes, with_margins
from specdash.report.lines import lines
from specdash.report.sections import (
    FigurePart,
    Note,
    Part,
    Section,
    Settings,
    Subject,
    TablePart,
    facts,
    printed,
)
from specdash.report.tables import Column
from specdash.report.text import printable
from specdash.schema import Evaluation
from specdash.verdict import Verdict

_HERE = Path(__file__).parent


def render(
    evaluation: Evaluation,
    subjects: Sequence[Subject],
    *,
    link: str | None = None,
    calculator: Settings | None = None,
) -> str:
    """Return runs of an evaluation as an HTML file.

    Args:
        evaluation: The evaluation.
        subjects: Its runs, each over all of its datasets or the same ones.
        link: Address of the dashboard that shows the same.
        calculator: Settings of the throughput calculator; when None it works through an example.
    """
    runs = tuple(subject.run for subject in subjects)
    drawn, sections = figures.Figures(), printed(calculator)
    described = [_run(number, subject, sections, drawn) for number, subject in enumerate(subjects, 1)]
    script = (_HERE / "report.js").read_text("utf-8")
    plotly = get_plotlyjs()
    return _template().render(
        version=VERSION,
        evaluation=evaluation,
        datasets=subjects[0].datasets,
        link=link if link and link.startswith(("http://", "https://")) else None,
        runs=described,
        principles=(methods.PRINCIPLE, methods.INTERVALS),
        methods=[_method(metrics.get(key)) for key in metrics.METRIC_KEYS],
        light=colours("light"),
        dark=colours("dark"),
        style=Markup((_HERE / "report.css").read_text("utf-8")),
        policy=_policy(plotly, script),
        plotly=Markup(plotly),
        script=Markup(script),
        figures=_json({"specs": drawn.specs, "templates": drawn.templates}),
        document=_json(document(evaluation, subjects[0].family_of, runs)),
    )


@cache
def _template() -> Any:
    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Names come from files: whatever is written is one line that shows what it holds, then escaped.
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    return environment.get_template("report.html.j2")


def _policy(*scripts: str) -> str:
    """Return the content security policy that allows these inline scripts and nothing from anywhere else."""
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; img-src data: blob:; style-src 'unsafe-inline'; script-src {allowed}; base-uri 'none'"


def _json(content: Any) -> Markup:
    """Return JSON in ASCII that ends no script element, whatever its texts hold."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _run(number: int, subject: Subject, sections: Sequence[Section], drawn: figures.Figures) -> dict[str, Any]:
    run = subject.run
    return {
        "anchor": f"run{number}",
        "name": run.name,
        "facts": facts(subject),
        "mapping": run.mapping and str(run.mapping),
        "intervals": notes([*subject.rows.datasets, *subject.rows.families]),
        "warnings": [warning.message for warning in run.warnings] if run.checks is None else [],
        "verdict": run.checks and str(Verdict.of(run.checks)),
        "findings": soundness.rows(soundness.worst_first(run.checks or ())),
        "config": [
            (name, value if isinstance(value, str) else json.dumps(value))
            for name, value in run.effective_config.items()
        ],
        "sections": [
            _section(f"run{number}", section, subject, drawn) for section in sections if section.is_about(run)
        ],
    }


def _section(run: str, section: Section, subject: Subject, drawn: figures.Figures) -> dict[str, Any]:
    missing = section.missing(subject)
    described: dict[str, Any] = {"anchor": f"{run}-{section.key}", "title": section.title, "missing": missing}
    parts = [] if missing else section.parts(subject)
    described["parts"] = [_part(run, part, subject, drawn) for part in parts if not _is_aside(part)]
    described["aside"] = [_part(run, part, subject, drawn) for part in parts if _is_aside(part)]
    return described


def _is_aside(part: Part) -> bool:
    return isinstance(part, FigurePart) and part.aside


def _part(run: str, part: Part, subject: Subject, drawn: figures.Figures) -> dict[str, Any]:
    if isinstance(part, Note):
        return {"kind": "note", "heading": part.heading, "text": part.text}
    if isinstance(part, TablePart):
        return {"kind": "table", "heading": part.heading} | _table(part, subject)
    return {"kind": "figure", "heading": part.heading} | drawn.add(f"{run}-{part.name}", part)


def _table(part: TablePart, subject: Subject) -> dict[str, Any]:
    rows = part.rows or subject.rows
    shown = lines(rows.datasets, rows.families, part.extra)
    columns = with_margins(part.table, [line.row for line in shown]).shown
    return {
        "title": part.table.title,
        "note": part.table.note,
        "names": part.table.names,
        "columns": [{"label": c.label, "method": c.metric, "help": _plain(c.help)} for c in columns],
        "lines": [
            {
                "names": line.named(part.table.names),
                "kind": line.kind,
                "cells": [(column.shown(line.row), _whole(column, line.row)) for column in columns],
            }
            for line in shown
        ],
    }


def _plain(help: str) -> str:
    """Return a column's help as the text of a tooltip: without what sets formulas apart."""
    return " ".join(help.replace("$$", " ").split())


def _whole(column: Column, row: dict[str, Any]) -> str:
    """Return a cell at full precision, empty where that tells no more."""
    value = column.value(row)
    return repr(value) if isinstance(value, float) else ""


def _method(metric: metrics.Metric) -> dict[str, Any]:
    return {
        "key": metric.key,
        "label": metric.label,
        "formula": formulas.mathml(metric.formula),
        "definition": metric.definition,
        "provenance": methods.provenance(metric),
    }
