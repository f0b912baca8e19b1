"""Which Chromium there is on this machine."""

import shutil

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def path() -> str:
    """Return the path of the first that is installed."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    assert found, f"a browser is needed, one of {', '.join(NAMES)}"
    return found
