"""Start the dashboard: ``python -m specdash.ui``, with the options of ``streamlit run``."""

from __future__ import annotations

import sys
from pathlib import Path

from streamlit import config
from streamlit.web import cli

from specdash.store import is_read_only
from specdash.ui import hosting

APP = Path(__file__).resolve().parents[2] / "app.py"
READINGS_MB = 16
"""What a read-only dashboard takes from a browser at most: readings of counters, which it does not keep."""


def main(arguments: list[str]) -> None:
    """Serve the dashboard, and tell who will reach it once its settings are read.

    Args:
        arguments: Options of ``streamlit run``.
    """
    # Asked for earlier, the settings would be read without those options, and Streamlit would warn that they changed.
    config.on_config_parsed(_announce)
    if is_read_only():
        arguments = ["--server.maxUploadSize", str(READINGS_MB), *arguments]
    sys.argv = ["streamlit", "run", str(APP), *arguments]
    cli.main()


def _announce() -> None:
    hosting.announce(config.get_option("server.address"), read_only=is_read_only())


if __name__ == "__main__":
    main(sys.argv[1:])
