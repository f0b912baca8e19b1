"""Make the README's pictures from the running dashboard: ``.venv/bin/python -m scripts.screenshots``."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser import chromium

ROOT = Path(__file__).resolve().parents[1]
PICTURES = {"docs/overview.png": "/"}
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'


def main() -> None:
    """Serve the reference evaluation from a library of its own and take the pictures."""
    with tempfile.TemporaryDirectory() as home, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
        server = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"SPECDASH_HOME": home})
        try:
            _wait(f"http://127.0.0.1:{port}/_stcore/health")
            _take(f"http://127.0.0.1:{port}")
        finally:
            server.terminate()
            server.wait()


def _wait(url: str) -> None:
    for _ in range(120):
        try:
            urllib.request.urlopen(url, timeout=1)
            return
        except OSError:
            time.sleep(0.5)
    raise SystemExit("the dashboard did not start")


def _take(base: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.path(), args=["--no-sandbox"])
        for file, path in PICTURES.items():
            page = browser.new_page(viewport={"width": 1280, "height": 1000})
            page.goto(base + path)
            _settle(page)
            page.screenshot(path=ROOT / file)
        browser.close()


def _settle(page: Page) -> None:
    page.wait_for_timeout(500)
    page.wait_for_selector(READY, timeout=60_000)
    page.wait_for_timeout(1500)


if __name__ == "__main__":
    main()
