"""Evaluations on disk: the only room that knows paths and the layout of files."""

from specdash.store.local import Store, home
from specdash.store.manifest import Entry

__all__ = ["Entry", "Store", "home"]
