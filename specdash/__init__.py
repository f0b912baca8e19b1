"""specdash: acceptance statistics of speculative-decoding evaluations.

``specdash.load("run.zip").table("tau")`` gives a metric of every dataset as a polars frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specdash._version import VERSION as __version__

if TYPE_CHECKING:
    from specdash.loaded import Loaded, load
    from specdash.schema import InputError

__all__ = ["InputError", "Loaded", "__version__", "load"]


def __getattr__(name: str) -> object:
    # Polars and DuckDB take their time to import; whoever asks for the version alone does not wait for them.
    if name in ("load", "Loaded"):
        from specdash import loaded

        return getattr(loaded, name)
    if name == "InputError":
        from specdash.schema import InputError

        return InputError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
