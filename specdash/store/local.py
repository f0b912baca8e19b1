"""The library of evaluations on a local disk.

::

    <root>/evaluations/<id>/runs/<n>/{responses,counts,counters,rates,steps}.parquet
    <root>/evaluations/<id>/original/<source>      the input, when it was to be kept
    <root>/evaluations/<id>/annotations.json       what people say of it, once they do
    <root>/evaluations/<id>/checks.json            what the checks found, made again where it does not count any more
    <root>/evaluations/<id>/manifest.json          a folder without one does not exist
    <root>/families.toml                           the user's families of datasets
    <root>/answers.json                            what people said of tables by their columns
    <root>/started                                 a dashboard has served this library
    <root>/tmp/<name>, <root>/tmp/<name>.lock      workspaces
    <root>/tmp/<id>.lock                           while its annotations are changed

An evaluation is prepared in a workspace and moved in with one rename; it is moved out the same way, and so are its
annotations. So each is whole or not there, at any moment and after any crash, and readers need no lock.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TypeVar

import platformdirs

from specdash.schema import Evaluation, InputError
from specdash.store import adding, annotations, export, files, findings, manifest
from specdash.store.annotations import Annotations, Scalar
from specdash.store.answers import Answers
from specdash.store.manifest import Entry
from specdash.store.workspace import locked, workspace

Found = TypeVar("Found")

_ID = re.compile(r"[0-9a-f]{12}")

_TRIES = 3
"""A table may be missing because its evaluation was removed and added again just then; hardly three times."""


READ_ONLY = "SPECDASH_READ_ONLY"
"""Environment variable: 1 forbids whoever uses the dashboard to add, change or remove anything."""


def is_read_only(env: Mapping[str, str] = os.environ) -> bool:
    """Tell whether the library is only to be looked at, as READ_ONLY says."""
    return env.get(READ_ONLY, "").strip().lower() not in ("", "0", "false", "no")


def home(env: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the user's library: ``SPECDASH_HOME``, else the system's place for user data."""
    return Path(env.get("SPECDASH_HOME") or platformdirs.user_data_dir("specdash")).expanduser()


class Store:
    """Evaluations in a folder; any number of processes may read and write them at once.

    Args:
        root: Folder of the library. Nothing is created before something is written.
        read_only: Whether all that adds, changes or removes an evaluation is refused.
    """

    def __init__(self, root: Path, *, read_only: bool = False) -> None:
        self.root = Path(root).absolute()
        self.read_only = read_only

    def check_writable(self) -> None:
        """Let pass who is about to add, change or remove something.

        Raises:
            InputError: The library is only to be looked at.
        """
        if self.read_only:
            raise InputError("this library is read-only: nothing can be added, changed or removed here")

    def workspace(self) -> AbstractContextManager[Path]:
        """Give a private temporary folder on the library's disk, removed when the ``with`` block ends.

        What processes that died have left behind is removed before it is given.

        Raises:
            OSError: The folder cannot be made.
        """
        return workspace(self._temporary)

    def add(
        self, evaluation: Evaluation, *, original: Path | None = None, said: Annotations | None = None
    ) -> Evaluation:
        """Store an evaluation as a whole or, when anything fails, not at all.

        A steps file that lies in a workspace is moved into the library, any other is copied.

        Args:
            evaluation: Tables may hold more columns than the schema; those are not stored. ``added`` is set.
            original: The input, a file or a folder, of which a copy is to be kept.
            said: What people say of it; when None, the notes and tags of ``evaluation``.

        Returns:
            The evaluation as stored. When there is one of that id already, it stays and is returned.

        Raises:
            ValueError: The evaluation is malformed: its id, the names of its runs, a table, or something in
                it that JSON has no word for (NaN and infinity among it).
            OSError: It could not be written, for instance because the disk is full.
            InputError: The one of that id that there is already cannot be read, or was removed just then; or the
                library is read-only.
        """
        self.check_writable()
        if not _ID.fullmatch(evaluation.id):
            raise ValueError(f"not an id: {evaluation.id!r}")
        if len({run.name for run in evaluation.runs}) < len(evaluation.runs):
            raise ValueError(f"two runs of evaluation {evaluation.id} have the same name")
        with self.workspace() as folder:
            target = self._folder(evaluation.id)
            if not manifest.is_whole(target):
                said = said or Annotations(notes=evaluation.notes, tags=evaluation.tags)
                adding.prepare(
                    evaluation, said, folder / "new", original=original, root=self.root, spent=self._temporary
                )
                adding.move_in(folder / "new", target)
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

        Its title, notes, tags and the settings of its runs are those that people gave it, where they did.

        Raises:
            InputError: There is none of that id, it is damaged, or a newer specdash stored it.
        """
        return self._read(id, manifest.evaluation)

    def annotate(
        self,
        id: str,
        *,
        title: str | None = None,
        notes: str | None = None,
        tags: Collection[str] | None = None,
        config: Mapping[str, Mapping[str, Scalar | None]] | None = None,
    ) -> None:
        """Change what people say of an evaluation; what is not given stays. Of two at once, the last one wins.

        Args:
            id: Of the evaluation.
            title: Shown instead of the one that was read.
            notes: Free text.
            tags: Short words, in place of those there are.
            config: Settings by the name of a run, added to those there are; None or "" takes one away.

        Raises:
            InputError: There is no such evaluation or run, or something is empty, too long or of the wrong kind, or
                the library is read-only.
            OSError: It could not be written; what was said before stays.
        """
        self.check_writable()
        self._read(id, manifest.entry)  # before anything is written for an id that may not exist
        with self.workspace() as scratch, locked(self._temporary, id):

            def change(folder: Path) -> None:
                runs = manifest.entry(folder).runs
                said = annotations.load(folder, runs)
                said = said.changed(runs, title=title, notes=notes, tags=tags, config=config)
                files.replace(folder / annotations.NAME, said.text(), scratch)

            self._read(id, change)

    def keep_checks(self, evaluation: Evaluation) -> None:
        """Keep what the checks found in a stored evaluation, in place of what they found before.

        Args:
            evaluation: As ``open`` returned it, with the findings of its runs.

        Raises:
            InputError: There is none of that id, it is damaged, or a newer specdash stored it.
            OSError: It could not be written.
            ValueError: A run was not checked.
        """
        self.check_writable()
        content = findings.text(evaluation, findings.settings_of(evaluation))
        if content is None:
            raise ValueError(f"evaluation {evaluation.id} was not checked")
        self._read(evaluation.id, manifest.entry)  # before anything is written for an id that may not exist
        with self.workspace() as scratch:
            self._read(evaluation.id, lambda folder: files.replace(folder / findings.NAME, content, scratch))

    def export(self, id: str, target: Path) -> Path:
        """Write an evaluation as one zip that ``specdash add`` takes in, annotations and all, without the kept input.

        Args:
            id: Of the evaluation.
            target: The zip; one that is there is replaced, but only by a whole one.

        Returns:
            ``target``.

        Raises:
            InputError: There is none of that id, it is damaged, or a newer specdash stored it.
            OSError: It cannot be written.
        """
        self.open(id)  # one that is damaged must not be given away
        with files.written(target) as out:

            def write(folder: Path) -> None:
                out.truncate(out.seek(0))  # it is called again where the evaluation was replaced meanwhile
                export.write(folder, out)

            self._read(id, write)
        return target

    def _read(self, id: str, of: Callable[[Path], Found]) -> Found:
        """Return what ``of`` finds in the folder of an evaluation; it may be called again.

        Raises:
            InputError: There is none of that id, it is damaged, or a newer specdash stored it.
        """
        folder = self._folder(id)
        for _ in range(_TRIES):
            try:
                return of(folder)
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
            InputError: There is none of that id, a newer specdash stored it, or the library is read-only.
            OSError: It cannot be removed.
        """
        self.check_writable()
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

    @property
    def answers(self) -> Answers:
        """What people said of tables, by their columns."""
        return Answers(self.root, self._temporary)

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


def _unknown(id: object) -> InputError:
    return InputError("no such evaluation in the library", found=f"'{id}'")
