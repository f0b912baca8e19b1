"""Tables as a format: asked after all others, as nothing marks them but their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from specdash.formats import rows
from specdash.formats.base import File, has_suffix
from specdash.formats.producer import Producer
from specdash.formats.table import columns, read
from specdash.formats.table.opened import Table, opened
from specdash.schema import InputError, Semantics, Unsaid


def _opened(file: File) -> Table | None:
    try:
        return opened(file)
    except InputError:
        return None


def speaks(file: File) -> bool:
    """Tell whether a file is a table whose columns' names say which is what."""
    table = _opened(file)
    return table is not None and columns.suffices(table)


def holds(file: File, said: Mapping[str, str]) -> bool:
    """Tell whether a file is a table that has all columns which the user names."""
    table = _opened(file)
    return table is not None and columns.holds(table, said)


def outdoes_log(file: File, samples: bool) -> bool:
    """Tell whether what looks like a step log is a table that says more, or something else.

    Args:
        file: The file, of which the columns of a step log are known.
        samples: Whether there are samples, which say what the steps of the log belong to.
    """
    table = _opened(file)
    found = columns.known(table) if table is not None else {}
    return "steps" in found or (not samples and bool({"dataset", "prompt"} & found.keys()))


def question(files: Sequence[File]) -> Unsaid | None:
    """Return what has to be asked of the first file that may be a table of steps or responses."""
    for file in files:
        table = _opened(file)
        if table is not None and _may_be(file, table):
            return columns.asking(table, "which column is what is not clear")
    return None


def _may_be(file: File, table: Table) -> bool:
    """Tell whether there are rows with numbers; one JSON object is a document unless its name says otherwise."""
    head = table.head(20)
    if file.head(4) != b"PAR1" and len(head) < 2 and not has_suffix(file, ".csv", ".tsv", ".jsonl", ".ndjson"):
        return False
    return any(_is_number(cell) for _, cells in head for cell in cells)


def _is_number(cell: object) -> bool:
    if isinstance(cell, str):
        return rows.is_number(cell) or columns.listed(cell) is not None
    return isinstance(cell, int | float | list) and not isinstance(cell, bool)


TABLE = Producer(
    key="table",
    tool="any other tool",
    what="a table: CSV, TSV, JSON lines or Parquet, a row a step or a response",
    looks=speaks,
    read=read.read,
    semantics=Semantics("a table"),
    last=True,
)
