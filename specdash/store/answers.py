"""What people said of tables, by the names of their columns: asked once, it is proposed for the next such table.

A file of the library, ``answers.json``: ``{columns as JSON: what was said}``, newest last.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from specdash.store import files
from specdash.store.workspace import locked, workspace

_MOST = 200  # tables; the oldest are forgotten


class Answers:
    """The answers of a library.

    Args:
        root: Folder of the library.
        temporary: Its folder of workspaces.
    """

    def __init__(self, root: Path, temporary: Path) -> None:
        self._file, self._temporary = root / "answers.json", temporary

    def recall(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return what was said of the last table with these columns, in whatever order; {} when nothing was."""
        found = self._read().get(_key(columns))
        return found if isinstance(found, dict) else {}

    def remember(self, columns: Sequence[str], said: dict[str, Any]) -> None:
        """Keep what was said of a table with these columns, in place of what was said before.

        Raises:
            OSError: It could not be written; what was kept before stays.
        """
        with workspace(self._temporary) as scratch, locked(self._temporary, "answers"):
            kept = self._read()
            kept.pop(_key(columns), None)
            kept[_key(columns)] = said
            newest = dict(list(kept.items())[-_MOST:])
            files.replace(self._file, json.dumps(newest, indent=1) + "\n", scratch)

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def _key(columns: Sequence[str]) -> str:
    return json.dumps(sorted(columns))
