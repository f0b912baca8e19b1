"""What the cells of a table's row say, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from specdash.formats import rows
from specdash.formats.table.columns import listed
from specdash.schema import MAX_DRAFTED, Bonus, InputError

MOST = 2**53
"""Counts up to here are exact as a float too."""


class Cells:
    """A row's cells by what they are.

    Args:
        path: Of the file, for messages.
        line: Of the row.
        cells: By what they are.
    """

    def __init__(self, path: str, line: int, cells: Mapping[str, Any]) -> None:
        self.path, self.line, self._cells = path, line, cells

    def raw(self, what: str) -> Any:
        """Return a cell as it is, None where there is none or it is empty."""
        cell = self._cells.get(what)
        return None if cell is None or (isinstance(cell, str) and not cell.strip(rows.BLANK)) else cell

    def whole(self, what: str, most: int = MOST) -> int | None:
        """Return a cell's count, None where it is empty.

        Raises:
            InputError: It is no whole number from 0 to ``most``.
        """
        return None if (cell := self.raw(what)) is None else self._count(cell, what, most)

    def needed(self, what: str, most: int = MOST) -> int:
        """Return a cell's count; see ``whole``.

        Raises:
            InputError: It is empty.
        """
        if (found := self.whole(what, most)) is None:
            raise self.wrong(f"{what} is empty", expected="a whole number")
        return found

    def wholes(self, what: str, most: int) -> list[int] | None:
        """Return the counts of a cell that holds a list, None where it holds none; see ``whole``."""
        found = listed(self.raw(what))
        return None if found is None else [self._count(cell, what, most) for cell in found]

    def number(self, what: str) -> float | None:
        """Return a cell's number, with a decimal point or comma; None where it is empty.

        Raises:
            InputError: It is none.
        """
        cell = self.raw(what)
        text = str(cell).strip(rows.BLANK).replace(",", ".")
        if cell is None or text.lower() == "nan":
            return None
        if isinstance(cell, bool) or not rows.is_number(text) or not math.isfinite(float(text)):
            raise self.wrong(f"{what} is not a number", found=cell, expected="a number")
        return float(text)

    def text(self, what: str) -> str | None:
        """Return a cell as a name, None where it is empty.

        Raises:
            InputError: It is a list.
        """
        cell = self.raw(what)
        if isinstance(cell, float) and cell.is_integer():
            cell = int(cell)
        if isinstance(cell, list | tuple | dict):
            raise self.wrong(f"{what} is no name", found=cell, expected="text or a number")
        return None if cell is None else str(cell).strip(rows.BLANK)

    def wrong(self, problem: str, *, found: Any = None, expected: str | None = None) -> InputError:
        """Return the error of this row."""
        return InputError(problem, file=self.path, line=self.line, found=found, expected=expected)

    def _count(self, cell: Any, what: str, most: int) -> int:
        value = count(cell)
        if value is None or value > most:
            problem = f"{what} is empty" if cell is None else f"{what} is not a count"
            raise self.wrong(problem, found=cell, expected=f"a whole number from 0 to {most}")
        return value


def count(cell: Any) -> int | None:
    """Return the count that a cell spells, None where it spells none or one above 2^53."""
    if isinstance(cell, str):
        cell = cell.strip(rows.BLANK)
        if not rows.is_whole(cell) or float(cell) > MOST:  # a float first: int() refuses thousands of digits
            return None
        return int(cell.partition(".")[0])
    if isinstance(cell, bool) or not isinstance(cell, int | float) or not 0 <= cell <= MOST:
        return None
    return int(cell) if float(cell).is_integer() else None


def check_step(accepted: int, drafted: int | None, bonus: Bonus, row: Cells) -> None:
    """Let a step pass that can be.

    Args:
        accepted: Its accepted draft tokens.
        drafted: Its drafted tokens, None when not known.
        bonus: Whether the file counts the bonus token.
        row: Where it stands.

    Raises:
        InputError: It cannot be.
    """
    most = MAX_DRAFTED if drafted is None else drafted
    if 0 <= accepted <= most:
        return
    more = 1 if bonus is Bonus.IN else 0
    why = f"{'the most tokens' if drafted is None else drafted} drafted{' and the bonus token' if more else ''}"
    found, expected = accepted + more, f"{more} to {most + more}: {why}"
    raise row.wrong("an accepted length cannot be", found=found, expected=expected)


def named(columns: Sequence[str], cells: Sequence[Any], path: str, line: int) -> Cells:
    """Return a row's cells by what its columns are."""
    return Cells(path, line, dict(zip(columns, cells, strict=True)))
