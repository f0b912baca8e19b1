"""A small valid file of every producer's format, by its key: what the test files of the formats declare as EXAMPLES."""

from importlib import import_module
from pathlib import Path

_FILES = sorted(Path(__file__).parent.glob("test_*.py"))
_DECLARING = [path.stem for path in _FILES if "\nEXAMPLES = {" in path.read_text("utf-8")]
_MODULES = [import_module(f"tests.formats.producers.{name}") for name in _DECLARING]

EXAMPLES = {key: content for module in _MODULES for key, content in module.EXAMPLES.items()}

NAMES = {"inferencex-golden": "golden.yaml"}
"""The name that a file has to have, for the formats that ask for one."""
