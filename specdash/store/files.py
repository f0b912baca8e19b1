"""What the store does with files and folders, whatever is in them."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_LONGEST_NAME = 255
"""Bytes a file name may have on the usual file systems."""

_WINDOWS = os.name == "nt"


def delete(path: Path) -> None:
    """Delete a file or a whole folder as far as that is possible, without complaint."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def size(folder: Path) -> int:
    """Return the bytes of all files below ``folder``."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def settle(folder: Path) -> None:
    """Wait until ``folder`` and everything below it is on the disk.

    Raises:
        OSError: The disk failed or is full.
    """
    for path in folder.rglob("*"):
        sync(path)
    sync(folder)


def sync(path: Path) -> None:
    """Wait until one file, or the list of names of one folder, is on the disk.

    Raises:
        OSError: The disk failed or is full.
    """
    if _WINDOWS and path.is_dir():
        return  # Windows opens no folders and keeps their names safe by itself
    handle = os.open(path, os.O_RDWR if _WINDOWS else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace(target: Path, content: str, scratch: Path) -> None:
    """Put a file with an ASCII content in the place of ``target``, which is old or new at any moment.

    Args:
        target: Where it goes; its folder must be there.
        content: What it holds.
        scratch: A private folder on the same disk.

    Raises:
        FileNotFoundError: The folder of ``target`` is gone.
        OSError: The disk failed or is full.
    """
    new = scratch / target.name
    new.write_text(content, encoding="ascii")
    sync(new)
    new.replace(target)
    sync(target.parent)


@contextmanager
def written(target: Path) -> Iterator[IO[bytes]]:
    """Give a new file that takes the place of ``target`` when the ``with`` block ends well; its folder is made.

    Raises:
        OSError: The disk failed or is full, or ``target`` is a folder.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    new = target.with_name(f".specdash-{secrets.token_hex(8)}.part")
    try:
        with new.open("xb") as out:
            yield out
        sync(new)
        new.replace(target)
    finally:
        delete(new)


def safe_name(name: str) -> str:
    """Return ``name`` when it can name a file in any one folder, else ``input``.

    The name of an upload comes from outside: it may hold separators, be longer than the disk allows or hold
    what the disk cannot spell.
    """
    try:
        length = len(os.fsencode(name))
    except UnicodeEncodeError:
        return "input"
    plain = name not in ("", ".", "..") and Path(name).name == name and not set(name) & set("/\\\0")
    return name if plain and length <= _LONGEST_NAME else "input"


def copy(source: Path, target: Path, *, skip: Path) -> None:
    """Copy the contents of a file or of a folder with all below it; permissions are not copied.

    Links to files are followed, links to folders are left out (they may lead round in a circle or out of the
    folder), and so is whatever is neither file nor folder.

    Args:
        source: What to copy; a link is followed.
        target: Where to; must not exist, its parent must.
        skip: A folder that is left out: the library itself may lie inside a folder that it is to keep.

    Raises:
        OSError: ``source`` does not exist or cannot be read, or ``target`` cannot be written.
    """
    _copy(source.resolve(strict=True), target, skip.resolve())


def _copy(source: Path, target: Path, skip: Path) -> None:
    if source.is_file():
        shutil.copyfile(source, target)
    elif source.is_dir() and not source.is_symlink() and source != skip:
        target.mkdir()
        for path in source.iterdir():
            _copy(path, target / path.name, skip)
