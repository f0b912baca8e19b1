"""The formats specdash reads, one module each, and the registry that tells which one a file is."""

from specdash.formats import config, counters, printed, samples, steplog
from specdash.formats.base import File, Format, Role

FORMATS: tuple[Format, ...] = (
    config.ABOUT,
    steplog.FORMAT,
    samples.FORMAT,
    counters.FORMAT,
    printed.FORMAT,
    config.FORMAT,
)
"""Every format; the first that a file's name claims wins, else the first that its content looks like."""


def recognise(file: File) -> tuple[Format, bool] | None:
    """Return a file's format and whether its name claims it; None when it is none that is known."""
    for by_name in (True, False):
        for known in FORMATS:
            if (known.named if by_name else known.looks)(file):
                return known, by_name
    return None


__all__ = ["FORMATS", "File", "Format", "Role", "recognise"]
