"""Temporary folders that are removed even when the process that made them was killed.

Beside each folder ``<name>`` lies ``<name>.lock``, which its process holds from before the folder exists
until after it is gone. The system drops the lock of a process that dies, so whoever can take a lock may
delete the folder beside it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import FileLock

from specdash.store import files

_LOCK = ".lock"

_PATIENCE = 30.0
"""Seconds to wait for another process that holds a lock for a moment."""

_POLL = 0.005
"""Seconds between two looks at a lock that is held."""


@contextmanager
def workspace(parent: Path) -> Iterator[Path]:
    """Give a new private folder inside ``parent``, first sweeping what dead processes left there.

    Raises:
        OSError: The folder cannot be made.
    """
    parent.mkdir(parents=True, exist_ok=True)
    _sweep(parent)
    folder, lock = _claim(parent)
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        _drop(folder, lock)


@contextmanager
def locked(parent: Path, name: str) -> Iterator[None]:
    """Let one process, and one thread in it, at a time into the ``with`` block of that name.

    Args:
        parent: The folder of the workspaces; it has to be there.
        name: Not one that a workspace may have.

    Raises:
        OSError: Others held the lock for too long.
    """
    lock = _lock(parent / name)
    lock.acquire(timeout=_PATIENCE, poll_interval=_POLL)
    try:
        yield
    finally:
        _drop(parent / name, lock)


def _claim(parent: Path) -> tuple[Path, FileLock]:
    """Return the path of a folder still to be made and its lock, held."""
    while True:
        folder = parent / secrets.token_hex(8)
        lock = _lock(folder)
        # A sweeper that sees the new file before it is locked may win it; then another name is tried.
        with suppress(TimeoutError):  # filelock's Timeout is one
            lock.acquire(blocking=False)
            return folder, lock


def _sweep(parent: Path) -> None:
    """Delete the folders and locks of dead processes; those of living ones are locked."""
    names = {path.name.removesuffix(_LOCK) for path in parent.iterdir()} - {""}
    for name in names:
        lock = _lock(parent / name)
        try:
            lock.acquire(blocking=False)
        except OSError:  # held by a living process, or belongs to another user
            continue
        _drop(parent / name, lock)


def _drop(folder: Path, lock: FileLock) -> None:
    """Delete ``folder``, then its lock file, then let go of the lock."""
    files.delete(folder)
    # Only the holder unlinks a lock file, and filelock does not accept a lock on a file that is unlinked. So
    # a lock, once held, is the one that everybody else finds under its name. What could not be deleted keeps
    # its lock file and is tried again by the next sweep.
    if not folder.exists():
        files.delete(Path(lock.lock_file))
    lock.release()


def _lock(folder: Path) -> FileLock:
    # A job may leave its workspace in another thread than it entered; and a soft lock, which filelock takes
    # where the system has none, would outlive its process.
    # Imported where it is needed: readers never lock, and its import is a tenth of a report's time.
    from filelock import FileLock

    return FileLock(folder.with_name(folder.name + _LOCK), thread_local=False, fallback_to_soft=False)
