"""The numbers of an evaluation as JSON, text and files."""

from specdash.report.csvfiles import write as write_files
from specdash.report.document import checks_document, document, run_document
from specdash.report.exports import csv_text, latex, markdown
from specdash.report.frames import table_frame
from specdash.report.headline import headline
from specdash.report.soundness import told
from specdash.report.text import printable, render_checks
from specdash.report.text import render as render_text

__all__ = [
    "checks_document",
    "csv_text",
    "document",
    "headline",
    "latex",
    "markdown",
    "printable",
    "render_checks",
    "render_text",
    "run_document",
    "table_frame",
    "told",
    "write_files",
]
