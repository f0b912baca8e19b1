"""The formats specdash reads, one module each, and the registries that tell which one a file is.

``producers`` are files of tools that give whole runs; FORMATS are specdash's own kinds of files, the parts of a run.
"""

from specdash.formats import config, counters, printed, producers, samples, steplog
from specdash.formats.base import File, Format, Role

FORMATS: tuple[Format, ...] = (
    config.ABOUT,
    steplog.FORMAT,
    samples.FORMAT,
    counters.FORMAT,
    printed.FORMAT,
    config.FORMAT,
)
"""Every part of a run; the first that a file's name claims wins, else the first that its content looks like."""


def recognise(file: File) -> tuple[Format, bool] | None:
    """Return a file's format and whether its name claims it; None when it is none that is known."""
    for by_name in (True, False):
        for known in FORMATS:
            if (known.named if by_name else known.looks)(file):
                return known, by_name
    return None


__all__ = ["FORMATS", "File", "Format", "Role", "producers", "recognise"]
