"""Evaluations on disk: the only room that knows paths and the layout of files."""

from specdash.store.local import READ_ONLY, Store, home, is_read_only
from specdash.store.manifest import Entry

__all__ = ["READ_ONLY", "Entry", "Store", "home", "is_read_only"]
