"""The numbers of an evaluation as JSON, text and CSV."""

from specdash.report.csvfiles import csv_text, table_frame
from specdash.report.csvfiles import write as write_csv
from specdash.report.document import checks_document, document, run_document
from specdash.report.soundness import told
from specdash.report.text import printable, render_checks
from specdash.report.text import render as render_text

__all__ = [
    "checks_document",
    "csv_text",
    "document",
    "printable",
    "render_checks",
    "render_text",
    "run_document",
    "table_frame",
    "told",
    "write_csv",
]
