"""A file of an evaluation, for the readers."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath


@dataclass(frozen=True)
class Stored:
    """A file on disk under the path it has inside the evaluation."""

    path: str
    at: Path

    @property
    def name(self):
        return PurePosixPath(self.path).name

    def head(self, size=65536):
        with self.at.open("rb") as stream:
            return stream.read(size)

    def local(self):
        return self.at


def stored(folder, path, content):
    """Put a file into ``folder``, over one that was there."""
    at = folder / path.replace("/", "_")
    at.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Stored(path, at)
