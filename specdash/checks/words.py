"""Figures as people read them: counts, shares, lists that end."""

from __future__ import annotations

from collections.abc import Iterable

_SHOWN = 5
_NAME = 60


def plural(count: int, noun: str) -> str:
    """Return "1 response", "2 responses"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def share(part: float, whole: float) -> str:
    """Return a share in percent; a small one keeps two digits, and only nothing is 0%."""
    percent = 100 * part / whole
    return f"{percent:.1f}%" if percent >= 0.1 or not percent else f"{percent:.1g}%"


def name(text: str) -> str:
    """Return the name of a dataset or prompt, cut where it is very long."""
    return text if len(text) <= _NAME else text[: _NAME - 1] + "…"


def listed(items: Iterable[str]) -> str:
    """Return the first items and how many more there are."""
    found = list(items)
    more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    return "; ".join(found[:_SHOWN]) + more
