"""How an evaluation gets into the library: written as a whole beside it, then moved in with one rename."""

from __future__ import annotations

import errno
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from specdash.schema import Evaluation
from specdash.store import annotations, files, findings, manifest, tables
from specdash.store.annotations import Annotations

_TAKEN = {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}
"""What the system says when a rename finds something under the new name."""


def prepare(
    evaluation: Evaluation, said: Annotations, folder: Path, *, original: Path | None, root: Path, spent: Path
) -> None:
    """Write everything of an evaluation, the manifest last.

    Args:
        evaluation: What to write.
        said: What people say of it.
        folder: Is made, in a workspace.
        original: The input, of which a copy is to be kept.
        root: The library.
        spent: Its folder of workspaces: steps files below it are moved.

    Raises:
        ValueError: The evaluation is malformed.
        OSError: It could not be written.
    """
    folder.mkdir()
    # The input first: it may lie beside the steps, which are moved, and it is what fills a disk.
    if original is not None:
        kept = folder / "original"
        kept.mkdir()
        files.copy(original, kept / files.safe_name(evaluation.source), skip=root)
    stored = [
        tables.write(run, manifest.run_folder(folder, number), spent=spent)
        for number, run in enumerate(evaluation.runs)
    ]
    added = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    content = manifest.text(evaluation, stored, size=files.size(folder), added=added)
    if said != Annotations():
        (folder / annotations.NAME).write_text(said.text(), encoding="ascii")
    if checked := findings.text(evaluation, findings.settings_of(said.applied(evaluation))):
        (folder / findings.NAME).write_text(checked, encoding="ascii")
    (folder / manifest.NAME).write_text(content, encoding="ascii")
    files.settle(folder)


def move_in(new: Path, target: Path) -> None:
    """Move what was prepared in the workspace to its place, unless another process was faster.

    Raises:
        InputError: A newer specdash has stored it meanwhile.
        OSError: It could not be moved.
    """
    target.parent.mkdir(exist_ok=True)
    while True:
        try:
            new.rename(target)
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
        else:
            _confirm(target, new.with_name("refused"))
            return
        if manifest.is_whole(target):
            return
        # A damaged evaluation, or none: it makes room, so that loading it again repairs the library.
        damaged = new.with_name("damaged")
        with suppress(FileNotFoundError):
            target.rename(damaged)
        _keep_said(damaged, new)
        files.delete(damaged)


def _keep_said(damaged: Path, new: Path) -> None:
    """Take over what people said of an evaluation whose manifest is damaged."""
    said = damaged / annotations.NAME
    if said.is_file():
        said.replace(new / annotations.NAME)
        files.sync(new)


def _confirm(target: Path, refused: Path) -> None:
    """Wait until ``target`` is in its place for good; take it back when the disk refuses."""
    try:
        files.sync(target.parent)
    except OSError:
        target.rename(refused)
        raise
