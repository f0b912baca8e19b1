"""What the user says of an evaluation while reading it, and the id that follows from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from specdash.schema import Bonus, Unsaid


@dataclass(frozen=True)
class Options:
    """What the user says of an evaluation while reading it; part of its id.

    Attributes:
        config: Settings of its runs, winning over what stands in the files.
        bonus: Whether the acceptance lengths of files that do not say it count the bonus token.
        columns: Column of a table by our name for it, where the table's own names do not tell.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    bonus: Bonus | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the options as stored."""
        said = {"config": dict(self.config), "bonus": self.bonus and str(self.bonus), "map": dict(self.columns)}
        return {name: value for name, value in said.items() if value}

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Options:
        """Return what ``as_dict`` gave.

        Raises:
            ValueError: The bonus is neither in nor out.
        """
        bonus = stored.get("bonus")
        return cls(stored.get("config", {}), None if bonus is None else Bonus(bonus), stored.get("map", {}))


@dataclass(frozen=True)
class Question:
    """What only the user can say of an evaluation; see schema.Unsaid.

    Attributes:
        asks: What is asked: "k", "bonus" or "map".
        problem: Why.
        file: Of which file.
        columns: Columns of the file, where it is a table.
        known: What the names of its columns tell: the column by what it is.
        rows: Its first rows, line and cells.
    """

    asks: str
    problem: str
    file: str = ""
    columns: tuple[str, ...] = ()
    known: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[tuple[int, tuple[Any, ...]], ...] = ()

    @classmethod
    def of(cls, unsaid: Unsaid) -> Question:
        """Return the question of an error."""
        return cls(unsaid.asks, unsaid.problem, unsaid.file or "", unsaid.columns, unsaid.known, unsaid.rows)

    @classmethod
    def told(cls, found: Mapping[str, Any]) -> Question:
        """Return the question that a child process told as JSON."""
        rows = tuple((line, tuple(cells)) for line, cells in found["rows"])
        return cls(**{**found, "columns": tuple(found["columns"]), "rows": rows})


def evaluation_id(sha256: str, options: Options) -> str:
    """Return the id of an input read with some options: 12 hex digits, the same wherever it is read."""
    said = json.dumps(options.as_dict(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{sha256}\n{said}".encode()).hexdigest()[:12]
