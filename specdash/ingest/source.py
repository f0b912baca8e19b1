"""An evaluation as it arrives (a zip, a folder or a single file) as members that are safe to read.

No header is believed: bytes are counted while they stream, and a member's name never becomes a path on disk.
Whatever is wrong is an InputError of one line. All sizes are in bytes.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import IO, Any, Self

from specdash.ingest.entries import GZ, ZIP, Entry, bytes_of, explained, gunzip, is_folder, listed
from specdash.schema import InputError

Progress = Callable[[str, int, int | None], None]
"""Called with a stage ("hash", "extract"), the bytes done and the bytes in all (None: not known)."""

CHUNK = 1 << 20
GZ_STEP = 1 << 14  # small: what follows a gz stream is copied once a stream, and streams can be tiny
RESERVE = 200 * 10**6  # never filled on the disk of the workspace
_SUFFIX = re.compile(r"(\.(zip|csv|tsv|jsonl|ndjson|json|txt|log|prom|sse|ya?ml|parquet))?(\.gz)?$", re.IGNORECASE)


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

    def __init__(self, entry: Entry, spool: _Spool) -> None:
        self.path, self.size, self.stored = entry.path, entry.size, entry.stored
        self.name = PurePosixPath(entry.path).name
        self._entry, self._spool = entry, spool
        self.gz = False  # so that the next line sees the file as it is
        self.gz = _head(self, 4).startswith(GZ)
        self._local = None if self.gz else entry.file
        if self.name.lower().endswith(".zip"):
            raise _nested(self)

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
        # Only a member that is read as a log is refused: .npz, .docx and .pt files are zips too and do no harm.
        if self.head(4) in ZIP:
            raise _nested(self)
        if self._local is None:
            self._local = self._spool.write(self)
        return self._local

    def chunks(self, size: int = CHUNK) -> Iterator[bytes]:
        """Yield the content, at most ``size`` bytes at a time.

        Raises:
            InputError: It is damaged or lies about its size.
        """
        step = GZ_STEP if self.gz else size
        with explained(self.path), closing(bytes_of(self._entry, step)) as pieces:
            yield from gunzip(pieces, size) if self.gz else pieces


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
    folder = is_folder(path, name)
    with ExitStack() as opened:
        files, entries = listed(path, name, folder, opened)
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
            with explained(member.path, "cannot be written to the workspace"):
                out.write(chunk)
                out.flush()
            self.ticker.add(len(chunk))

    def _check_room(self, member: Member, size: int) -> None:
        free = self.disk_usage(self.workspace).free
        if free - RESERVE < size:
            found, expected = f"{free:,} bytes free", f"{size + RESERVE:,} bytes or more"
            raise InputError("finds no room on the disk", file=member.path, found=found, expected=expected)


def _nested(member: Member) -> InputError:
    return InputError("is a zip inside of the evaluation; unpack it first", file=member.path)


def _head(member: Member, size: int) -> bytes:
    head = b""
    with closing(member.chunks(size)) as chunks:
        for chunk in chunks:
            head += chunk
            if len(head) >= size:
                break
    return head[:size]


def _sha256(files: list[Entry], folder: bool, ticker: _Ticker) -> str:
    """Return the hex digest of the one file, or that of a folder's "path NUL digest-of-file LF" lines."""
    lines = hashlib.sha256()
    for file in files:
        digest = hashlib.sha256()
        with closing(bytes_of(file, CHUNK)) as pieces:
            for piece in pieces:
                digest.update(piece)
                ticker.add(len(piece))
        lines.update(f"{file.path}\0{digest.hexdigest()}\n".encode())
    return lines.hexdigest() if folder else digest.hexdigest()


def _check_declared(name: str, entries: list[Entry], stored: int, limits: Limits) -> None:
    for entry in entries:
        limits.check(entry.path, entry.size, entry.stored)
    limits.check(name, sum(entry.size for entry in entries), stored)
