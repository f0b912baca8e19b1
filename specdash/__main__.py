"""``python -m specdash``."""

from specdash.cli import main

main()
