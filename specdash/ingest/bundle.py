"""Files that were given together become one zip, the same one whenever the same files are given."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

_CHUNK = 1 << 20


def bundle(files: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[bytes]:
    """Yield the bytes of a zip of files, whatever their order.

    Args:
        files: Name and bytes of each; of files with the same name the later ones are numbered.
    """
    with tempfile.TemporaryFile() as out:
        with zipfile.ZipFile(out, "w") as archive:
            taken: set[str] = set()
            for name, chunks in sorted(files, key=lambda file: file[0]):
                # Without a date of its own the entry has the first that a zip can hold.
                with archive.open(zipfile.ZipInfo(_free(name, taken)), "w", force_zip64=True) as entry:
                    for chunk in chunks:
                        entry.write(chunk)
        out.seek(0)
        while chunk := out.read(_CHUNK):
            yield chunk


def _free(name: str, taken: set[str]) -> str:
    """Return the name of an entry, with a number where the name is taken."""
    plain = PurePosixPath(name.replace("\\", "/")).name or "file"
    free, number = plain, 1
    while free.lower() in taken:
        number += 1
        path = PurePosixPath(plain)
        free = f"{path.stem} ({number}){path.suffix}"
    taken.add(free.lower())
    return free
