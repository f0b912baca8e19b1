"""Start the dashboard: ``python -m specdash.ui``, with the options of ``streamlit run``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from streamlit import config
from streamlit.web import cli

from specdash.store import is_read_only
from specdash.ui import hosting

APP = Path(__file__).resolve().parents[2] / "app.py"


def main(arguments: list[str]) -> None:
    """Tell who will reach the dashboard, and serve it.

    Args:
        arguments: Options of ``streamlit run``.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--server.address", dest="address", default=config.get_option("server.address"))
    hosting.announce(parser.parse_known_args(arguments)[0].address, read_only=is_read_only())
    sys.argv = ["streamlit", "run", str(APP), *arguments]
    cli.main()


if __name__ == "__main__":
    main(sys.argv[1:])
