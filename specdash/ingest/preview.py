"""What an answer to a question would give: the first rows of a table read as the whole would be."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from specdash.formats.producer import Context
from specdash.formats.table.opened import Row, Table
from specdash.formats.table.read import read_tables
from specdash.ingest.options import Options, Question
from specdash.schema import Run


def preview(question: Question, options: Options) -> Run:
    """Read the rows that came with a question.

    Args:
        question: About a table.
        options: The answer.

    Returns:
        The run of those rows; its ordered steps are gone.

    Raises:
        Unsaid: The answer does not say enough.
        InputError: A row cannot be, as the answer has it.
    """

    def read(wanted: Sequence[int]) -> Iterator[Row]:
        for line, cells in question.rows:
            yield line, [cells[i] for i in wanted]

    with tempfile.TemporaryDirectory(prefix="specdash-") as workspace:
        context = Context(
            dataset=question.file,
            workspace=Path(workspace),
            k=options.config.get("k"),
            bonus=options.bonus,
            columns=options.columns,
        )
        return read_tables([Table(question.file, question.columns, read)], context)
