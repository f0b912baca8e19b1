"""The formats of tools, one module a producer: each declares a ``PRODUCERS`` tuple. CONTRIBUTING.md shows how."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from specdash.formats.base import File
from specdash.formats.producer import Producer


def _declared() -> tuple[Producer, ...]:
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    found = [producer for module in modules for producer in getattr(module, "PRODUCERS", ())]
    return tuple(sorted(found, key=lambda producer: (producer.last, producer.key)))


PRODUCERS = _declared()
"""Every producer's format, those without marks of their own last."""


def recognise(file: File) -> Producer | None:
    """Return the producer whose format a file is of, None when it is of none."""
    return next((producer for producer in PRODUCERS if producer.looks(file)), None)


__all__ = ["PRODUCERS", "recognise"]
