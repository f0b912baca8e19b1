"""What an evaluation's files are: a folder's or a zip's entries, told apart from litter and checked, none unpacked."""

from __future__ import annotations

import copy
import io
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from specdash.schema import InputError

MAX_MEMBERS = 100_000
MAX_DIRECTORY = 320 * MAX_MEMBERS  # of a zip: zipfile loads it as a whole before its entries can be counted
GZ = b"\x1f\x8b"
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # zipfile does not bound the memory of the others
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_ENDLESS = 1 << 62
_JUNK = (".ds_store", "thumbs.db", "desktop.ini")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OverflowError, RuntimeError, ValueError)


@dataclass(frozen=True)
class Entry:
    """A regular file as a folder or a zip lists it; ``file`` is where it lies on disk, if it does."""

    path: str
    size: int
    stored: int
    opener: Callable[[], IO[bytes]]
    file: Path | None = None


def _file_entry(name: str, file: Path) -> Entry:
    size = file.stat().st_size
    return Entry(name, size, size, partial(file.open, "rb"), file)


@contextmanager
def explained(file: str, problem: str = "cannot be read") -> Iterator[None]:
    """Turn what the system or a decompressor complains about into an InputError that names ``file``."""
    try:
        yield
    except OSError as error:
        raise InputError(problem, file=file, found=error.strerror or str(error)) from error
    except _BROKEN as error:
        raise InputError("is damaged or cut off", file=file, found=str(error) or "an early end") from error


def is_folder(path: Path, name: str) -> bool:
    """Tell a folder from a file that is not empty, and refuse everything else."""
    with explained(name):
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            raise InputError("does not exist", file=str(path), expected="a zip, a folder or a file") from None
    if stat.S_ISDIR(status.st_mode):
        return True
    if not stat.S_ISREG(status.st_mode):
        raise InputError("is neither a file nor a folder", file=name, found=stat.filemode(status.st_mode))
    if status.st_size == 0:
        raise InputError("is empty", file=name, found="0 bytes", expected="a zip, a folder or a file")
    return False


def listed(path: Path, name: str, folder: bool, opened: ExitStack) -> tuple[list[Entry], list[Entry]]:
    """Return the input's files on disk and the evaluation's files: the same, unless the input is a zip."""
    files = _folder_entries(path, name) if folder else [_file_entry(name, path)]
    if folder or not _is_zip(path, name):
        entries = files
    else:
        entries = _zip_entries(opened.enter_context(_archive(path, name)), name)
    if not entries:
        raise InputError("holds no files", file=name)
    return files, entries


def _is_zip(path: Path, name: str) -> bool:
    with explained(name), path.open("rb") as stream:
        magic = stream.read(4)
        # What looks like an end record may stand in the last 64 kB of other binary files by chance.
        binary = magic.startswith(GZ) or magic == b"PAR1"
        found = magic in ZIP or (not binary and zipfile.is_zipfile(stream))
    if not found and name.lower().endswith(".zip"):
        raise InputError("is not a zip archive", file=name, found=magic, expected=f"{ZIP[0]!r} at its start")
    return found


class _BoundedReader(io.BufferedReader):
    """Keeps zipfile from loading a huge directory into memory."""

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > MAX_DIRECTORY:
            raise zipfile.BadZipFile(f"a directory of {size:,} bytes")
        return super().read(size)


@contextmanager
def _archive(path: Path, name: str) -> Iterator[zipfile.ZipFile]:
    with ExitStack() as opened:
        with explained(name):
            file = opened.enter_context(_BoundedReader(io.FileIO(path)))
            archive = opened.enter_context(zipfile.ZipFile(file))
        yield archive


def _zip_entries(archive: zipfile.ZipFile, name: str) -> list[Entry]:
    """Return the files that the archive lists, sorted by path; none of them is opened yet."""
    infos = archive.infolist()
    _check_count(name, len(infos))
    found: dict[str, Entry] = {}
    for info in infos:
        path = _safe_path(name, info.orig_filename)
        if info.orig_filename.endswith("/") or _is_junk(path):
            continue
        _check_info(path, info)
        if path in found:
            raise InputError("stands in the archive twice", file=path)
        endless = copy.copy(info)
        endless.file_size = _ENDLESS  # zipfile would stop at the declared size and hide that there is more
        opener = partial(archive.open, endless)
        found[path] = Entry(path, info.file_size, info.compress_size, opener)
    return [found[path] for path in sorted(found)]


def _safe_path(archive: str, name: str) -> str:
    """Return the name of a zip's entry as a relative path without needless parts, or refuse it."""
    path = PurePosixPath(name)
    absolute = path.is_absolute() or re.match(r"[A-Za-z]:", name)
    if absolute or not path.parts or ".." in path.parts or "\\" in name or _CONTROL.search(name):
        plain = "a relative path with / between its parts, without .."
        raise InputError("holds a file with an unsafe name", file=archive, found=name or "''", expected=plain)
    return str(path)


def _check_info(path: str, info: zipfile.ZipInfo) -> None:
    mode = info.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):  # 0: packed on a system without such modes
        found = stat.filemode(mode)
        raise InputError("is not a regular file", file=path, found=found, expected="files and folders")
    if info.header_offset < 0:
        raise InputError("is damaged or cut off", file=path, found="a place before the start of the archive")
    if info.flag_bits & _ENCRYPTED:
        raise InputError("is encrypted", file=path, expected="an archive without a password")
    if info.compress_type not in _METHODS:
        method = f"{zipfile.compressor_names.get(info.compress_type, 'unknown')} ({info.compress_type})"
        raise InputError("is packed by an unsupported method", file=path, found=method, expected="deflate")


def _folder_entries(root: Path, name: str) -> list[Entry]:
    """Return the regular files below ``root``, sorted by path."""
    found: list[Entry] = []
    real, pending = root.resolve(), [root]
    while pending:
        folder = pending.pop()
        with explained(folder.relative_to(root.parent).as_posix()):
            children = list(folder.iterdir())
        for child in children:
            path = child.relative_to(root).as_posix()
            with explained(path):
                if _is_junk(path) or (_is_junk(f"{path}/") and child.is_dir()):
                    continue
                _check_child(child, path, real)
                if not child.is_dir():
                    found.append(_file_entry(path, child))
                elif not child.is_symlink():  # else it is listed where it really is, and could be a loop
                    pending.append(child)
        _check_count(name, len(found) + len(pending))
    return sorted(found, key=lambda entry: entry.path)


def _check_child(child: Path, path: str, root: Path) -> None:
    if _CONTROL.search(child.name):
        raise InputError("is an unsafe name", found=path, expected="no control characters")
    mode = child.stat().st_mode  # first, as it refuses links that lead nowhere or in circles
    if child.is_symlink() and not child.resolve().is_relative_to(root):
        raise InputError("is a link that leads out of the folder", file=path)
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise InputError("is neither a file nor a folder", file=path, found=stat.filemode(mode))


def _check_count(name: str, count: int) -> None:
    if count > MAX_MEMBERS:
        most = f"at most {MAX_MEMBERS:,}"
        raise InputError("holds too many files", file=name, found=f"{count:,}", expected=most)


def _is_junk(path: str) -> bool:
    """Recognise the litter of operating systems and hidden folders; a folder's path ends with a slash."""
    *folders, name = path.split("/")
    hidden = any(folder.startswith(".") or folder == "__MACOSX" for folder in folders)
    return hidden or name.startswith("._") or name.lower() in _JUNK


def bytes_of(entry: Entry, step: int) -> Iterator[bytes]:
    """Yield the bytes of the file as it is, ``step`` at a time; InputError unless they are as declared."""
    done = 0
    with explained(entry.path), entry.opener() as stream:
        for piece in iter(partial(stream.read, step), b""):
            done += len(piece)
            if done > entry.size:
                break
            yield piece
    if done != entry.size:
        found = f"{done:,} bytes{' or more' if done > entry.size else ''}"
        declared = f"{entry.size:,} bytes, as declared"
        raise InputError("lies about its size", file=entry.path, found=found, expected=declared)


def gunzip(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Yield the content of gz streams that follow each other, at most ``size`` bytes at a time.

    Raises:
        zlib.error: A stream is damaged, or followed by something else.
        EOFError: The last one is cut off.
    """
    inflater = None
    for piece in pieces:
        while piece:
            inflater = inflater or zlib.decompressobj(wbits=31)
            yield inflater.decompress(piece, size)
            piece = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
            inflater = None if inflater.eof else inflater
    if inflater:
        raise EOFError("the gz data ends too early")
