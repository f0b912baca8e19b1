"""The numbers of an evaluation as JSON, text and CSV."""

from specdash.report.csvfiles import csv_text
from specdash.report.csvfiles import write as write_csv
from specdash.report.document import document, run_document
from specdash.report.text import printable
from specdash.report.text import render as render_text

__all__ = ["csv_text", "document", "printable", "render_text", "run_document", "write_csv"]
