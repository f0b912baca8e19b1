"""Reads a table into a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from specdash.formats.base import File
from specdash.formats.producer import Context
from specdash.formats.table import columns
from specdash.formats.table.columns import Rows
from specdash.formats.table.opened import Table, needed
from specdash.formats.table.responses import ResponseTable
from specdash.formats.table.steps import StepTable
from specdash.schema import InputError, Run, Semantics, Undrafted


def read(files: Sequence[File], context: Context) -> list[Run]:
    """Read the shards of one table.

    Raises:
        Unsaid: It does not tell which column is what, or whether lengths count the bonus token.
        InputError: A row is wrong, or a shard has other columns.
    """
    found = list(map(needed, files))
    for table in found[1:]:
        if sorted(table.columns) != sorted(found[0].columns):
            expected = f"those of {found[0].path}: {', '.join(found[0].columns)}"
            shown = "columns " + ", ".join(table.columns)
            raise InputError("a shard has other columns", file=table.path, found=shown, expected=expected)
    return [read_tables(found, context)]


def read_tables(tables: Sequence[Table], context: Context) -> Run:
    """Read opened tables of the same columns; see ``read``."""
    how = columns.reading(tables[0], context)
    drafts = "drafted" in how.columns
    why = "no column tells how many tokens a step drafted"
    warnings = [] if drafts else context.without_k(tables[0].path, why)
    reader = StepTable if how.rows is Rows.STEP else ResponseTable
    semantics = Semantics(
        producer="a table",
        bonus=how.bonus,
        undrafted=Undrafted.COUNTED if drafts and how.rows is Rows.STEP else Undrafted.UNKNOWN,
        note=f"Columns: {how.said}.",
    )
    return replace(reader(tables, how, context).run(warnings), semantics=semantics)
