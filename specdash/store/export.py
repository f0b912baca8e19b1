"""An evaluation as one zip that another library can take in: the manifest, annotations and tables, not the input."""

from __future__ import annotations

import shutil
import zipfile
from itertools import chain
from pathlib import Path
from typing import IO, Any

from specdash.store import annotations, manifest, tables

_MOMENT = (1980, 1, 1, 0, 0, 0)
"""Time of every member, so that the same evaluation gives the same bytes; zip knows none before."""


def members(runs: list[dict[str, Any]]) -> list[list[str]]:
    """Return the names that the tables of each run of a manifest have in an export."""
    folders = [manifest.run_folder(Path(), run["folder"]) for run in runs]
    return [
        [tables.path(folder, name).as_posix() for name in run["tables"]]
        for folder, run in zip(folders, runs, strict=True)
    ]


def write(folder: Path, out: IO[bytes]) -> None:
    """Write the evaluation in ``folder`` to an empty file.

    Raises:
        FileNotFoundError: There is no manifest, or a table that it names is gone.
        ValueError: The manifest is damaged.
        OSError: A file cannot be read or written.
    """
    runs = manifest.read(folder)["runs"]
    said = annotations.load(folder, [run["name"] for run in runs])
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(_info(manifest.NAME, zipfile.ZIP_DEFLATED), (folder / manifest.NAME).read_bytes())
        if said != annotations.Annotations():
            archive.writestr(_info(annotations.NAME, zipfile.ZIP_DEFLATED), said.text())
        for name in chain(*members(runs)):
            info = _info(name, zipfile.ZIP_STORED)  # Parquet is compressed already.
            info.file_size = (folder / name).stat().st_size  # from it zipfile tells whether zip64 is needed
            with (folder / name).open("rb") as source, archive.open(info, "w") as target:
                shutil.copyfileobj(source, target, 1 << 20)


def _info(name: str, method: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _MOMENT)
    info.compress_type, info.external_attr = method, 0o644 << 16
    return info
