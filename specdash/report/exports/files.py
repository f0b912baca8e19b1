"""The formats of a sheet."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from specdash.report.exports import markup
from specdash.report.exports.csvtext import csv_text
from specdash.report.exports.sheets import Sheet


@dataclass(frozen=True)
class Format:
    """A format of exported tables.

    Attributes:
        label: What it is called.
        suffix: Of the file, without the dot.
        mime: Media type.
        write: A sheet as the content of a file.
        exact: Whether numbers keep their full precision, instead of the report's decimals.
    """

    label: str
    suffix: str
    mime: str
    write: Callable[[Sheet], bytes]
    exact: bool = True


def _csv(sheet: Sheet) -> bytes:
    origin = {name: pl.lit(value) for name, value in sheet.origin.columns().items() if name not in sheet.frame.columns}
    return csv_text(sheet.frame.with_columns(**origin)).encode()


def _json(sheet: Sheet) -> bytes:
    document = sheet.origin.document() | {
        "name": sheet.name,
        "title": sheet.title,
        "columns": {name: sheet.about.get(name, {}) for name in sheet.frame.columns},
        "rows": sheet.frame.with_columns(_finite()).rows(named=True),
    }
    return json.dumps(document, indent=1, allow_nan=False).encode()


def _finite() -> pl.Expr:
    """Return the numbers with null for those that JSON has no word for."""
    numbers = pl.selectors.float()
    return pl.when(numbers.is_finite()).then(numbers).otherwise(None).name.keep()


def _parquet(sheet: Sheet) -> bytes:
    buffer = io.BytesIO()
    sheet.frame.write_parquet(buffer, metadata=sheet.origin.metadata() | {"name": sheet.name, "title": sheet.title})
    return buffer.getvalue()


FRAME_FORMATS = (
    Format("CSV", "csv", "text/csv", _csv),
    Format("JSON", "json", "application/json", _json),
    Format("Parquet", "parquet", "application/vnd.apache.parquet", _parquet),
)
"""Formats of any sheet."""

TABLE_FORMATS = (
    *FRAME_FORMATS,
    Format("Markdown", "md", "text/markdown", lambda sheet: markup.markdown(sheet).encode(), False),
    Format("LaTeX", "tex", "application/x-tex", lambda sheet: markup.latex(sheet).encode(), False),
)
"""Formats of a table of the report: those of any sheet, and those that print it with the report's decimals."""
