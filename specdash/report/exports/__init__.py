"""Tables as files that go elsewhere: CSV, JSON, Parquet, Markdown, LaTeX. Each names where its numbers come from.

A CSV has the origin in its last columns, JSON and Parquet in their metadata, Markdown and LaTeX beside the table, and
every file, pictures included, in its name.
"""

from specdash.report.exports.csvtext import csv_text
from specdash.report.exports.files import FRAME_FORMATS, TABLE_FORMATS, Format
from specdash.report.exports.markup import latex, markdown
from specdash.report.exports.origin import Origin, safe
from specdash.report.exports.sheets import Sheet

__all__ = ["FRAME_FORMATS", "TABLE_FORMATS", "Format", "Origin", "Sheet", "csv_text", "latex", "markdown", "safe"]
