"""Tell by the exit code whether the dashboard on this machine serves: 0 it does, 1 it does not."""

from __future__ import annotations

import os
import sys
import urllib.request


def address() -> str:
    """Return where Streamlit answers for its health; under the base path only, where there is one."""
    base = os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "").strip("/")
    port = os.environ.get("STREAMLIT_SERVER_PORT", "8501")
    return f"http://127.0.0.1:{port}/{base}{'/' if base else ''}_stcore/health"


def main() -> int:
    """Ask once."""
    try:
        with urllib.request.urlopen(address(), timeout=4) as answer:
            return 0 if answer.read() == b"ok" else 1
    except OSError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
