"""The library of evaluations on a local disk.

::

    <root>/evaluations/<id>/runs/<n>/{responses,counts,counters,rates,steps}.parquet
    <root>/evaluations/<id>/original/<source>      the input, when it was to be kept
    <root>/evaluations/<id>/manifest.json          a folder without one does not exist
    <root>/families.toml                           the user's families of datasets
    <root>/started                                 a dashboard has served this library
    <root>/tmp/<name>, <root>/tmp/<name>.lock      workspaces

An evaluation is prepared in a workspace and moved in with one rename; it is moved out the same way. So it is
whole or not there, at any moment and after any crash, and readers need no lock.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime
from pathlib import Path

import platformdirs

from specdash.schema import Evaluation, InputError
from specdash.store import files, manifest, tables
from specdash.store.manifest import Entry
from specdash.store.workspace import workspace

_ID = re.compile(r"[0-9a-f]{12}")

_TAKEN = {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}
"""What the system says when a rename finds something under the new name."""

_TRIES = 3
"""A table may be missing because its evaluation was removed and added again just then; hardly three times."""


def home(env: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the user's library: ``SPECDASH_HOME``, else the system's place for user data."""
    return Path(env.get("SPECDASH_HOME") or platformdirs.user_data_dir("specdash")).expanduser()


class Store:
    """Evaluations in a folder; any number of processes may read and write them at once.

    Args:
        root: Folder of the library. Nothing is created before something is written.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(root).absolute()

    def workspace(self) -> AbstractContextManager[Path]:
        """Give a private temporary folder on the library's disk, removed when the ``with`` block ends.

        What processes that died have left behind is removed before it is given.

        Raises:
            OSError: The folder cannot be made.
        """
        return workspace(self._temporary)

    def add(self, evaluation: Evaluation, *, original: Path | None = None) -> Evaluation:
        """Store an evaluation as a whole or, when anything fails, not at all.

        A steps file that lies in a workspace is moved into the library, any other is copied.

        Args:
            evaluation: Tables may hold more columns than the schema; those are not stored. ``added`` is set.
            original: The input, a file or a folder, of which a copy is to be kept.

        Returns:
            The evaluation as stored. When there is one of that id already, it stays and is returned.

        Raises:
            ValueError: The evaluation is malformed: its id, the names of its runs, a table, or something in
                it that JSON has no word for (NaN and infinity among it).
            OSError: It could not be written, for instance because the disk is full.
            InputError: The one of that id that there is already cannot be read, or was removed just then.
        """
        if not _ID.fullmatch(evaluation.id):
            raise ValueError(f"not an id: {evaluation.id!r}")
        if len({run.name for run in evaluation.runs}) < len(evaluation.runs):
            raise ValueError(f"two runs of evaluation {evaluation.id} have the same name")
        with self.workspace() as folder:
            if not self._is_whole(evaluation.id):
                self._prepare(evaluation, original, folder / "new")
                self._move_in(evaluation.id, folder)
        return self.open(evaluation.id)

    def list(self) -> list[Entry]:
        """Return what there is, oldest first; only manifests are read.

        What cannot be read, is damaged, was stored by a newer specdash or is removed meanwhile is left out.
        """
        try:
            folders = [path for path in self._evaluations.iterdir() if _ID.fullmatch(path.name)]
        except FileNotFoundError:
            return []
        entries = []
        for folder in folders:
            with suppress(OSError, ValueError, InputError):
                entries.append(manifest.entry(folder))
        return sorted(entries, key=lambda entry: (entry.added, entry.id))

    def open(self, id: str) -> Evaluation:
        """Return an evaluation with its tables in memory and ``Run.steps`` as paths in the library.

        Raises:
            InputError: There is none of that id, it is damaged, or a newer specdash stored it.
        """
        folder = self._folder(id)
        for _ in range(_TRIES):
            try:
                return manifest.evaluation(folder)
            except FileNotFoundError as error:
                if id not in self:  # never there, or removed while it was read
                    raise _unknown(id) from None
                problem: Exception = error
            except ValueError as error:
                problem = error
                break
        raise InputError(
            "the stored evaluation is damaged; remove it and load it again", file=id, found=str(problem)
        ) from problem

    def __contains__(self, id: object) -> bool:
        """Tell whether there is an evaluation of that id that can be opened."""
        try:
            manifest.read(self._folder(id))
        except (FileNotFoundError, ValueError, InputError):
            return False
        return True

    def remove(self, id: str) -> None:
        """Remove an evaluation; it is gone at once, also when deleting its files takes a while.

        Raises:
            InputError: There is none of that id, or a newer specdash stored it.
            OSError: It cannot be removed.
        """
        folder = self._folder(id)
        try:
            with suppress(ValueError):  # a damaged one can still be removed
                manifest.read(folder)
            with self.workspace() as grave:
                folder.rename(grave / "removed")
        except FileNotFoundError:
            raise _unknown(id) from None
        files.sync(self._evaluations)

    def families_file(self) -> Path:
        """Return where the user's families of datasets are; the file may not exist."""
        return self.root / "families.toml"

    def is_started(self) -> bool:
        """Tell whether a dashboard has served this library before."""
        return self._started.exists()

    def set_started(self) -> None:
        """Note that a dashboard has served this library; what a first start brings is then not brought again."""
        self.root.mkdir(parents=True, exist_ok=True)
        self._started.touch()

    @property
    def _started(self) -> Path:
        return self.root / "started"

    @property
    def _evaluations(self) -> Path:
        return self.root / "evaluations"

    @property
    def _temporary(self) -> Path:
        return self.root / "tmp"

    def _folder(self, id: object) -> Path:
        """Return the folder of an evaluation; anything but an id must never become part of a path."""
        if not isinstance(id, str) or not _ID.fullmatch(id):
            raise _unknown(id)
        return self._evaluations / id

    def _is_whole(self, id: str) -> bool:
        """Tell whether there is a readable manifest.

        Raises:
            InputError: There is one, but of a newer specdash; it must not be replaced.
        """
        try:
            manifest.read(self._folder(id))
        except (FileNotFoundError, ValueError):
            return False
        return True

    def _prepare(self, evaluation: Evaluation, original: Path | None, folder: Path) -> None:
        """Write everything of an evaluation into the new folder ``folder``, the manifest last."""
        folder.mkdir()
        # The input first: it may lie beside the steps, which are moved, and it is what fills a disk.
        if original is not None:
            kept = folder / "original"
            kept.mkdir()
            files.copy(original, kept / files.safe_name(evaluation.source), skip=self.root)
        stored = [
            tables.write(run, manifest.run_folder(folder, number), spent=self._temporary)
            for number, run in enumerate(evaluation.runs)
        ]
        added = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        content = manifest.text(evaluation, stored, size=files.size(folder), added=added)
        (folder / manifest.NAME).write_text(content, encoding="ascii")
        files.settle(folder)

    def _move_in(self, id: str, folder: Path) -> None:
        """Move what was prepared in the workspace to its place, unless another process was faster."""
        self._evaluations.mkdir(exist_ok=True)
        target = self._evaluations / id
        while True:
            try:
                (folder / "new").rename(target)
            except OSError as error:
                if error.errno not in _TAKEN:
                    raise
            else:
                self._confirm(target, folder)
                return
            if self._is_whole(id):
                return
            # A damaged evaluation, or none: it makes room, so that loading it again repairs the library.
            with suppress(FileNotFoundError):
                target.rename(folder / "damaged")
            files.delete(folder / "damaged")

    def _confirm(self, target: Path, folder: Path) -> None:
        """Wait until ``target`` is in its place for good; take it back when the disk refuses."""
        try:
            files.sync(self._evaluations)
        except OSError:
            target.rename(folder / "refused")
            raise


def _unknown(id: object) -> InputError:
    return InputError("no such evaluation in the library", found=f"'{id}'")
