"""CSV for people who open it with a spreadsheet."""

from __future__ import annotations

import polars as pl


def csv_text(frame: pl.DataFrame) -> str:
    """Return a frame as CSV that no spreadsheet takes for commands.

    A text that begins like a formula gets an apostrophe before it: names come from files, and a cell ``=cmd()`` would
    be run when the CSV is opened.
    """
    formula = pl.selectors.string().str.contains(r"^[=+\-@\t\r]")
    return frame.with_columns(
        pl.when(formula).then(pl.lit("'") + pl.selectors.string()).otherwise(pl.selectors.string()).name.keep()
    ).write_csv()
