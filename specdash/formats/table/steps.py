"""Reads a table with a row a verify step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from specdash.formats.producer import Context
from specdash.formats.steprows import StepRows, Whose
from specdash.formats.table import cells
from specdash.formats.table.cells import Cells
from specdash.formats.table.columns import Reading
from specdash.formats.table.opened import Row, Table
from specdash.schema import MAX_DRAFTED, Bonus, InputError, Run, RunWarning

_BATCH = 50_000  # rows
_WHOSE = ("dataset", "request", "prompt", "copy")


class _Counts(dict[Any, int]):
    """The count that a cell spells, -1 where it spells none; each spelling is looked at once."""

    def __missing__(self, cell: Any) -> int:
        found = cells.count(cell)
        if len(self) > _BATCH:
            self.clear()
        self[cell] = -1 if found is None else found
        return self[cell]


class _Numbers(dict[Any, int]):
    """The number of the response that some cells name; each combination is looked at once."""

    def __init__(self, reader: StepTable) -> None:
        super().__init__()
        self.reader = reader

    def __missing__(self, found: tuple[Any, ...]) -> int:
        if len(self) > 10 * _BATCH:
            self.clear()
        self[found] = self.reader.number(found)
        return self[found]


class StepTable:
    """Tables of the same columns, a row a step.

    Args:
        tables: The shards of one table.
        how: Which column is what.
        context: What the user says.
    """

    def __init__(self, tables: Sequence[Table], how: Reading, context: Context) -> None:
        self.tables, self.how, self.context = tables, how, context
        self.found = StepRows(context.workspace, tables[0].path)
        self._whose = [what for what in _WHOSE if what in how.columns]
        self._counts, self._numbers = _Counts(), _Numbers(self)
        self._last: dict[int, int] = {}
        self._turns: dict[int, int] = {}
        self._names: dict[int, Whose] = {}
        self._at: tuple[Table, int] = (tables[0], 0)

    def run(self, warnings: Sequence[RunWarning]) -> Run:
        """Read them.

        Raises:
            InputError: The first row that is wrong, by its line.
        """
        steps = 0
        for table in self.tables:
            wanted = [table.columns.index(self.tables[0].columns[i]) for i in self.how.columns.values()]
            read = table.read(wanted)
            while batch := list(islice(read, _BATCH)):
                self._add(table, batch)
                steps += len(batch)
        said, path = list(warnings), self.tables[0].path
        if not {"request", "prompt", "step"} & self.how.columns.keys():
            message = f"{path}: no column tells which response a step belongs to: only totals are known"
            said.append(RunWarning("responses_unknown", message))
            return self.found.totals("", self.context.k, warnings=tuple(said))
        if steps == len(self.found.responses) > 1:
            names = ", ".join(self.tables[0].columns[self.how.columns[what]] for what in self._whose)
            message = f"{path}: every row is a response of its own, of one step: does {names} number the rows?"
            said.append(RunWarning("one_step_each", message))
        return self.found.run("", self.context.k, warnings=tuple(said))

    def number(self, found: tuple[Any, ...]) -> int:
        """Return the number of the response that cells name."""
        row = self._named(self._whose, found)
        dataset = row.text("dataset") or self.context.dataset
        whose = Whose(dataset, row.text("request"), row.text("prompt"), row.whole("copy", 2**31 - 1))
        number = self.found.number(whose)
        self._names[number] = whose
        return number

    def _named(self, columns: Sequence[str], found: Sequence[Any]) -> Cells:
        table, line = self._at
        return cells.named(columns, found, table.path, line)

    def _add(self, table: Table, batch: list[Row]) -> None:
        """Add rows; where one cannot be, it is looked for one by one."""
        self._at = table, batch[0][0]
        columns = dict(zip(self.how.columns, zip(*(row for _, row in batch), strict=True), strict=True))
        try:
            accepted = self._wholes(columns["accepted"]) - (1 if self.how.bonus is Bonus.IN else 0)
            drafted = self._drafted(columns, len(batch))
            of_whom = zip(*(columns[what] for what in self._whose), strict=True) if self._whose else [()] * len(batch)
            responses = [self._numbers[found] for found in of_whom]
            numbers = self._wholes(columns["step"]).tolist() if "step" in columns else []
        except (TypeError, ValueError, InputError):  # a list as a cell, or a cell that is no count
            self._explain(table, batch)
        most = np.where(drafted < 0, MAX_DRAFTED, drafted)
        if ((accepted < 0) | (accepted > most) | (most > MAX_DRAFTED)).any():
            self._explain(table, batch)
        if numbers:
            responses = self._turned(responses, numbers)
        self.found.extend(responses, drafted.tolist(), accepted.tolist())
        if "output_tokens" in columns:
            lines = (line for line, _ in batch)
            self._tell_tokens(
                table, dict(zip(responses, zip(lines, columns["output_tokens"], strict=True), strict=True))
            )

    def _wholes(self, column: Sequence[Any]) -> np.ndarray:
        """Return a column of counts.

        Raises:
            TypeError: A cell is a list.
            ValueError: A cell spells no count.
        """
        found = np.fromiter(map(self._counts.__getitem__, column), dtype=np.int64, count=len(column))
        if (found < 0).any() or bool in set(map(type, column)):  # True is 1 to a dictionary
            raise ValueError("a cell is no count")
        return found

    def _drafted(self, columns: dict[str, Sequence[Any]], size: int) -> np.ndarray:
        if "drafted" not in columns:
            return np.full(size, -1 if self.context.k is None else self.context.k, dtype=np.int64)
        return self._wholes(columns["drafted"])

    def _turned(self, responses: list[int], steps: Sequence[int]) -> list[int]:
        """Return the responses of steps that are numbered in each: a number that does not rise begins a new one."""
        turned = []
        for number, step in zip(responses, steps, strict=True):
            if step <= self._last.get(number, -1):
                self._turns[number] = self._turns.get(number, 0) + 1
            self._last[number] = step
            turn = self._turns.get(number)
            turned.append(self.found.number(self._names[number]._replace(turn=turn)) if turn else number)
        return turned

    def _tell_tokens(self, table: Table, told: dict[int, tuple[int, Any]]) -> None:
        for number, (line, cell) in told.items():
            row = Cells(table.path, line, {"output_tokens": cell})
            if (tokens := row.whole("output_tokens")) is not None:
                self.found.told_tokens(number, tokens)

    def _explain(self, table: Table, batch: list[Row]) -> None:
        """Raise the error that names the first row of a batch that cannot be."""
        for line, found in batch:
            self._at = table, line
            row = self._named(list(self.how.columns), found)
            drafted = row.needed("drafted", MAX_DRAFTED) if "drafted" in self.how.columns else self.context.k
            length = row.needed("accepted", MAX_DRAFTED + 1)
            cells.check_step(length - (1 if self.how.bonus is Bonus.IN else 0), drafted, self.how.bonus, row)
            if "step" in self.how.columns:
                row.needed("step")
            self.number(tuple(row.raw(what) for what in self._whose))
        raise AssertionError("no row is wrong")


def rows_of(tables: Sequence[Table], how: Reading) -> Iterator[Cells]:
    """Yield the rows of the shards of a table, their cells by what they are."""
    for table in tables:
        wanted = [table.columns.index(tables[0].columns[i]) for i in how.columns.values()]
        for line, found in table.read(wanted):
            yield cells.named(list(how.columns), found, table.path, line)
