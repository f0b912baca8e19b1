"""A table of the report as Markdown and as LaTeX, with the report's decimals. Names are text in both."""

from __future__ import annotations

import re
from collections.abc import Iterable

from specdash.report.exports.sheets import Sheet
from specdash.report.lines import Kind
from specdash.schema import legible

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~$&!:#@])")
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "α": r"$\alpha$",
    "σ": r"$\sigma$",
    "τ": r"$\tau$",
    "Σ": r"$\Sigma$",
    "κ": r"$\kappa$",
    "′": "$'$",
    "→": r"$\to$",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "·": r"$\cdot$",
} | {digit: f"$_{number}$" for number, digit in enumerate("₀₁₂₃₄₅₆₇₈₉")}


def markdown(sheet: Sheet) -> str:
    """Return a sheet of a table as a Markdown table, its title above and its origin below.

    source: GitHub Flavored Markdown, tables.
    """
    columns = sheet.table.shown
    names = sheet.table.names
    head = _row([*names, *(_markdown(column.label) for column in columns)])
    rule = _row([*(":--" for _ in names), *("--:" for _ in columns)])
    body = []
    for line in sheet.lines:
        cells = [*line.named(names), *(column.shown(line.row) for column in columns)]
        bold = "**{}**" if line.kind is Kind.POOLED else "{}"
        body.append(_row(bold.format(_markdown(cell)) if cell else "" for cell in cells))
    parts = [_markdown(sheet.title), "\n".join([head, rule, *body])]
    parts += [_markdown(sheet.table.note)] if sheet.table.note else []
    return "\n\n".join([*parts, _markdown(str(sheet.origin))]) + "\n"


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", legible(text))


def latex(sheet: Sheet) -> str:
    """Return a sheet of a table as a tabular with the rules of the package booktabs, its origin in comments above."""
    columns, names = sheet.table.shown, sheet.table.names
    head = [*names, *(_latex(column.label) for column in columns)]
    lines = [
        f"% {sheet.origin}",
        f"% {legible(sheet.title)}. In the preamble: \\usepackage{{booktabs}}",
        rf"\begin{{tabular}}{{{'l' * len(names)}{'r' * len(columns)}}}",
        r"\toprule",
        " & ".join(head) + r" \\",
    ]
    kind = None
    for line in sheet.lines:
        if line.kind is not kind:
            lines.append(r"\midrule")
            kind = line.kind
        cells = [*line.named(names), *(column.shown(line.row) for column in columns)]
        lines.append(" & ".join(map(_latex, cells)) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _latex(text: str) -> str:
    """Return text that LaTeX prints as it stands; letters beyond Latin need XeLaTeX or LuaLaTeX and a font."""
    escaped = "".join(_LATEX.get(c, c) for c in legible(text))
    # A cell that begins with a bracket would be read as the option of the line break before it.
    return "{}" + escaped if escaped.startswith("[") else escaped
