"""Tables that grow by rows, in little memory however many there are."""

from __future__ import annotations

import pickle
import shutil
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

import polars as pl

T = TypeVar("T")

_BATCH = 500_000  # values that wait in memory before they become a frame or a file


class Numbers:
    """A table of counts that grows by rows; a batch of them becomes a frame, or a file where there is a folder.

    Args:
        schema: Its columns.
        folder: Where the batches go, None to keep them in memory.
    """

    def __init__(self, schema: pl.Schema, folder: Path | None = None) -> None:
        self.schema, self.folder = schema, folder
        self.frames: list[pl.DataFrame] = []
        self.files: list[Path] = []
        self._columns = [array("q") for _ in schema]

    def add(self, *row: int | None) -> None:
        """Add a row."""
        for column, value in zip(self._columns, row, strict=True):
            column.append(-1 if value is None else value)
        if len(self._columns[0]) >= _BATCH:
            self.flush()

    def extend(self, *columns: Iterable[int]) -> None:
        """Add rows, -1 standing for null."""
        for column, values in zip(self._columns, columns, strict=True):
            column.extend(values)
        if len(self._columns[0]) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Put away what has come since the last batch."""
        series = (
            pl.Series(name, found, dtype=pl.Int64) for name, found in zip(self.schema, self._columns, strict=True)
        )
        known = (pl.when(pl.col(name) >= 0).then(pl.col(name)).cast(kind) for name, kind in self.schema.items())
        frame = pl.DataFrame(list(series)).select(known)
        self._columns = [array("q") for _ in self.schema]
        if self.folder is None:
            self.frames.append(frame)
        elif frame.height:
            self.files.append(self.folder / f"batch{len(self.files)}.parquet")
            frame.write_parquet(self.files[-1], compression="zstd", compression_level=1)

    def frame(self) -> pl.DataFrame:
        """Return all rows."""
        self.flush()
        return pl.concat(self.frames)


class Rows:
    """A table of any kinds that grows by rows; batches of them wait in files.

    Many small frames with texts and lists between the objects of Python would take several times the memory of one.

    Args:
        schema: Its columns.
        folder: Where the files go.
    """

    def __init__(self, schema: pl.Schema, folder: Path) -> None:
        self.schema = schema
        self.height = 0
        self._folder = folder
        self._rows: list[tuple[Any, ...]] = []
        self._files: list[Path] = []

    def add(self, *row: Any) -> None:
        """Add a row."""
        self._rows.append(row)
        self.height += 1
        if len(self._rows) >= _BATCH // 25:
            self._flush()

    def _flush(self) -> None:
        frame, self._rows = self._waiting(), []
        if not self._files:
            self._folder = Path(tempfile.mkdtemp(prefix="rows", dir=self._folder))
        self._files.append(self._folder / f"{len(self._files)}.parquet")
        frame.write_parquet(self._files[-1], compression="zstd", compression_level=1)

    def _waiting(self) -> pl.DataFrame:
        return pl.DataFrame(self._rows, schema=self.schema, orient="row")

    def frame(self) -> pl.DataFrame:
        """Return all rows; none can be added afterwards."""
        if not self._files:
            return self._waiting()
        self._flush()
        frame = pl.read_parquet(self._files, glob=False)
        shutil.rmtree(self._folder)
        return frame


class Many(Generic[T]):
    """Objects that are gone through again and again, in order; all but the last of them wait in a file."""

    def __init__(self) -> None:
        self._waiting: list[T] = []
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 (it goes with the object)
        self._length = 0

    def append(self, item: T) -> None:
        """Add an object."""
        self._waiting.append(item)
        self._length += 1
        if len(self._waiting) >= _BATCH // 50:
            self._file.seek(0, 2)
            pickle.dump(self._waiting, self._file, protocol=pickle.HIGHEST_PROTOCOL)
            self._waiting = []

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[T]:
        end, at = self._file.seek(0, 2), 0
        while at < end:
            self._file.seek(at)
            items = pickle.load(self._file)
            at = self._file.tell()
            yield from items
        yield from self._waiting
