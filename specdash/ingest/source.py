"""An evaluation as it arrives (a zip, a folder or a single file) as members that are safe to read.

No header is believed: bytes are counted while they stream, and a member's name never becomes a path on disk.
Whatever is wrong is an InputError of one line. All sizes are in bytes.
"""

from __future__ import annotations

import copy
import hashlib
import io
import re
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, Self

from specdash.schema import InputError

Progress = Callable[[str, int, int | None], None]
"""Called with a stage ("hash", "extract"), the bytes done and the bytes in all (None: not known)."""

CHUNK = 1 << 20
GZ_STEP = 1 << 14  # small: what follows a gz stream is copied once a stream, and streams can be tiny
MAX_MEMBERS = 100_000
MAX_DIRECTORY = 320 * MAX_MEMBERS  # of a zip: zipfile loads it as a whole before its entries can be counted
RESERVE = 200 * 10**6  # never filled on the disk of the workspace

_GZ = b"\x1f\x8b"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # zipfile does not bound the memory of the others
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_ENDLESS = 1 << 62
_JUNK = (".ds_store", "thumbs.db", "desktop.ini")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_SUFFIX = re.compile(r"(\.(zip|csv|jsonl|json|txt|log|parquet))?(\.gz)?$", re.IGNORECASE)
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OverflowError, RuntimeError, ValueError)


@dataclass(frozen=True)
class Limits:
    """What one evaluation may unpack to.

    Attributes:
        max_bytes: Uncompressed bytes in all.
        max_ratio: Uncompressed to compressed bytes, of each member and in all.
        ratio_floor: Uncompressed bytes up to which no ratio is checked: small logs repeat themselves a lot.
    """

    max_bytes: int = 20 * 10**9
    max_ratio: float = 500.0
    ratio_floor: int = 64 * 10**6

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Limits:
        """Return the limits with SPECDASH_MAX_BYTES and SPECDASH_MAX_RATIO, where ``env`` has them.

        Raises:
            InputError: One of them is not a positive, finite number.
        """
        values: dict[str, Any] = {}
        for name, number in (("max_bytes", int), ("max_ratio", float)):
            variable = f"SPECDASH_{name.upper()}"
            text = env.get(variable, str(getattr(cls, name)))
            try:
                values[name] = number(text)
            except ValueError:
                values[name] = 0
            if not 0 < values[name] < float("inf"):
                kind = f"{number.__name__} above 0"
                raise InputError("is not a usable limit", file=variable, found=repr(text), expected=kind)
        return cls(**values)

    def check(self, file: str, out: int, stored: int) -> None:
        """Let ``out`` bytes, read or declared, of ``file`` pass that take ``stored`` bytes in the input.

        Raises:
            InputError: They are too many, or too many for ``stored``.
        """
        if out > self.max_bytes:
            most = f"at most {self.max_bytes:,} (SPECDASH_MAX_BYTES)"
            raise InputError("is too large unpacked", file=file, found=f"{out:,} bytes", expected=most)
        if out > self.ratio_floor and out > self.max_ratio * stored:
            most = f"at most {self.max_ratio:g} to 1 (SPECDASH_MAX_RATIO)"
            found = f"{out:,} bytes from {stored:,}"
            raise InputError("unpacks to suspiciously much", file=file, found=found, expected=most)


DEFAULT_LIMITS = Limits()


class Member:
    """A regular file of the evaluation.

    Attributes:
        path: Posix path relative to the evaluation's root; for a single file its name.
        name: Last part of it.
        size: Bytes of the file: of a zip member uncompressed, of a gz file as it is.
        stored: Bytes it takes in the input.
        gz: Whether the file is gz, so that its content is something else.
    """

    def __init__(self, entry: _Entry, spool: _Spool) -> None:
        self.path, self.size, self.stored = entry.path, entry.size, entry.stored
        self.name = PurePosixPath(entry.path).name
        self._entry, self._spool = entry, spool
        self.gz = False  # so that the next line sees the file as it is
        self.gz = (start := _head(self, 4)).startswith(_GZ)
        self._local = None if self.gz else entry.file
        if self.name.lower().endswith(".zip") or (_head(self, 4) if self.gz else start) in _ZIP:
            raise InputError("is a zip inside of the evaluation; unpack it first", file=self.path)

    def head(self, size: int = 65536) -> bytes:
        """Return the first ``size`` bytes of the content (of a gz file uncompressed), or what there is.

        Raises:
            InputError: They cannot be read.
        """
        return self._spool.head(self, size)

    def local(self) -> Path:
        """Return a file on disk with the whole content; the first call may have to unpack it.

        Raises:
            InputError: It is damaged, lies about its size, passes a limit, or the disk is too small.
        """
        if self._local is None:
            self._local = self._spool.write(self)
        return self._local

    def chunks(self, size: int = CHUNK) -> Iterator[bytes]:
        """Yield the content, at most ``size`` bytes at a time.

        Raises:
            InputError: It is damaged or lies about its size.
        """
        step = GZ_STEP if self.gz else size
        with _explained(self.path), closing(_bytes_of(self._entry, step)) as pieces:
            yield from _gunzip(pieces, size) if self.gz else pieces


class Source:
    """An evaluation, opened. Close it; what it spooled stays in the workspace, which is the caller's.

    Attributes:
        name: File or folder name of the input.
        stem: The name without .zip, .csv.gz and the like.
        sha256: Hex digest of the input's bytes; of a folder that of its lines "path NUL sha256-of-file LF".
        members: The files, sorted by path, without the litter of operating systems and hidden folders.
    """

    def __init__(self, name: str, stem: str, sha256: str, members: list[Member], opened: ExitStack) -> None:
        self.name, self.stem, self.sha256, self.members = name, stem, sha256, tuple(members)
        self._opened = opened

    def close(self) -> None:
        """Close what is open; files that ``Member.local()`` returned remain."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_source(
    path: Path,
    workspace: Path,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
    *,
    disk_usage: Callable[[Path], Any] = shutil.disk_usage,
) -> Source:
    """Open an evaluation, check what can be checked without unpacking it, and hash it.

    Args:
        path: A zip (told by its content, not its name), a folder or a single file.
        workspace: Folder to unpack into; made when it is needed.
        limits: What the evaluation may unpack to.
        progress: Called about once a MB; what it raises comes out of here and of ``Member.local()``.
        disk_usage: Returns an object with ``free`` bytes for a folder.

    Raises:
        InputError: It is not there, unreadable, empty, damaged, unsafe or too large.
    """
    name = path.name if path.name not in ("", "..") else path.resolve().name
    folder = _is_folder(path, name)
    with ExitStack() as opened:
        files, entries = _listed(path, name, folder, opened)
        stored = sum(file.size for file in files)
        _check_declared(name, entries, stored, limits)
        spool = _Spool(name, stored, workspace, limits, disk_usage)
        members = [Member(entry, spool) for entry in entries]
        total = None if any(member.gz for member in members) else sum(member.size for member in members)
        spool.ticker = _Ticker("extract", total, progress)
        sha256 = _sha256(files, folder, _Ticker("hash", stored, progress))
        stem = name if folder else _SUFFIX.sub("", name, count=1) or name
        return Source(name, stem, sha256, members, opened.pop_all())


class _Ticker:
    """Reports progress whenever another CHUNK is done, and at the end where that is known."""

    def __init__(self, stage: str, total: int | None, report: Progress | None) -> None:
        self.stage, self.total, self.report, self.done = stage, total, report, 0

    def add(self, size: int) -> None:
        """Count ``size`` more bytes."""
        before, self.done = self.done, self.done + size
        if self.report and (self.done // CHUNK > before // CHUNK or self.done == self.total):
            self.report(self.stage, self.done, self.total)


class _Spool:
    """Writes contents into the workspace and counts them, over all members of one source."""

    ticker: _Ticker

    def __init__(
        self, name: str, stored: int, workspace: Path, limits: Limits, disk_usage: Callable[[Path], Any]
    ) -> None:
        self.name, self.stored, self.workspace = name, stored, workspace
        self.limits, self.disk_usage = limits, disk_usage
        self.head = lru_cache(maxsize=512)(_head)  # bounded: 100,000 heads would fill the memory

    def write(self, member: Member) -> Path:
        """Write the content of ``member`` to a new file; on any failure nothing of it remains."""
        self.workspace.mkdir(parents=True, exist_ok=True)
        self._check_room(member, member.size)
        with tempfile.NamedTemporaryFile(dir=self.workspace, prefix="member-", delete=False) as out:
            try:
                with closing(member.chunks()) as chunks:
                    self._copy(member, chunks, out)
            except BaseException:
                Path(out.name).unlink()
                raise
        return Path(out.name)

    def _copy(self, member: Member, chunks: Iterable[bytes], out: IO[bytes]) -> None:
        written = 0
        for chunk in chunks:
            written += len(chunk)
            self.limits.check(member.path, written, member.stored)
            self.limits.check(self.name, self.ticker.done + len(chunk), self.stored)
            self._check_room(member, len(chunk))
            with _explained(member.path, "cannot be written to the workspace"):
                out.write(chunk)
                out.flush()
            self.ticker.add(len(chunk))

    def _check_room(self, member: Member, size: int) -> None:
        free = self.disk_usage(self.workspace).free
        if free - RESERVE < size:
            found, expected = f"{free:,} bytes free", f"{size + RESERVE:,} bytes or more"
            raise InputError("finds no room on the disk", file=member.path, found=found, expected=expected)


def _head(member: Member, size: int) -> bytes:
    head = b""
    with closing(member.chunks(size)) as chunks:
        for chunk in chunks:
            head += chunk
            if len(head) >= size:
                break
    return head[:size]


def _gunzip(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
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


def _sha256(files: list[_Entry], folder: bool, ticker: _Ticker) -> str:
    """Return the hex digest of the one file, or that of a folder's "path NUL digest-of-file LF" lines."""
    lines = hashlib.sha256()
    for file in files:
        digest = hashlib.sha256()
        with closing(_bytes_of(file, CHUNK)) as pieces:
            for piece in pieces:
                digest.update(piece)
                ticker.add(len(piece))
        lines.update(f"{file.path}\0{digest.hexdigest()}\n".encode())
    return lines.hexdigest() if folder else digest.hexdigest()


@dataclass(frozen=True)
class _Entry:
    """A regular file as a folder or a zip lists it; ``file`` is where it lies on disk, if it does."""

    path: str
    size: int
    stored: int
    opener: Callable[[], IO[bytes]]
    file: Path | None = None


def _file_entry(name: str, file: Path) -> _Entry:
    size = file.stat().st_size
    return _Entry(name, size, size, partial(file.open, "rb"), file)


@contextmanager
def _explained(file: str, problem: str = "cannot be read") -> Iterator[None]:
    """Turn what the system or a decompressor complains about into an InputError that names ``file``."""
    try:
        yield
    except OSError as error:
        raise InputError(problem, file=file, found=error.strerror or str(error)) from error
    except _BROKEN as error:
        raise InputError("is damaged or cut off", file=file, found=str(error) or "an early end") from error


def _is_folder(path: Path, name: str) -> bool:
    """Tell a folder from a file that is not empty, and refuse everything else."""
    with _explained(name):
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


def _listed(path: Path, name: str, folder: bool, opened: ExitStack) -> tuple[list[_Entry], list[_Entry]]:
    """Return the input's files on disk and the evaluation's files: the same, unless the input is a zip."""
    files = _folder_entries(path, name) if folder else [_file_entry(name, path)]
    if folder or not _is_zip(path, name):
        entries = files
    else:
        entries = _zip_entries(opened.enter_context(_archive(path, name)), name)
    if not entries:
        raise InputError("holds no files", file=name)
    return files, entries


def _check_declared(name: str, entries: list[_Entry], stored: int, limits: Limits) -> None:
    for entry in entries:
        limits.check(entry.path, entry.size, entry.stored)
    limits.check(name, sum(entry.size for entry in entries), stored)


def _is_zip(path: Path, name: str) -> bool:
    with _explained(name), path.open("rb") as stream:
        magic = stream.read(4)
        # What looks like an end record may stand in the last 64 kB of other binary files by chance.
        binary = magic.startswith(_GZ) or magic == b"PAR1"
        found = magic in _ZIP or (not binary and zipfile.is_zipfile(stream))
    if not found and name.lower().endswith(".zip"):
        raise InputError("is not a zip archive", file=name, found=magic, expected=f"{_ZIP[0]!r} at its start")
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
        with _explained(name):
            file = opened.enter_context(_BoundedReader(io.FileIO(path)))
            archive = opened.enter_context(zipfile.ZipFile(file))
        yield archive


def _zip_entries(archive: zipfile.ZipFile, name: str) -> list[_Entry]:
    """Return the files that the archive lists, sorted by path; none of them is opened yet."""
    infos = archive.infolist()
    _check_count(name, len(infos))
    found: dict[str, _Entry] = {}
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
        found[path] = _Entry(path, info.file_size, info.compress_size, opener)
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


def _folder_entries(root: Path, name: str) -> list[_Entry]:
    """Return the regular files below ``root``, sorted by path."""
    found: list[_Entry] = []
    real, pending = root.resolve(), [root]
    while pending:
        folder = pending.pop()
        with _explained(folder.relative_to(root.parent).as_posix()):
            children = list(folder.iterdir())
        for child in children:
            path = child.relative_to(root).as_posix()
            with _explained(path):
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


def _bytes_of(entry: _Entry, step: int) -> Iterator[bytes]:
    """Yield the bytes of the file as it is, ``step`` at a time; InputError unless they are as declared."""
    done = 0
    with _explained(entry.path), entry.opener() as stream:
        for piece in iter(partial(stream.read, step), b""):
            done += len(piece)
            if done > entry.size:
                break
            yield piece
    if done != entry.size:
        found = f"{done:,} bytes{' or more' if done > entry.size else ''}"
        declared = f"{entry.size:,} bytes, as declared"
        raise InputError("lies about its size", file=entry.path, found=found, expected=declared)
