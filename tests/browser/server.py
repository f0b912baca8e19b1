"""The dashboard as a process of its own, with a library of its own."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from specdash.store import Store

ROOT = Path(__file__).resolve().parents[2]
STARTS_WITHIN = 120  # seconds, on a busy machine
_COMPLAINT = re.compile(r"Traceback|most recent call|Error|[Ww]arning|WARN|[Dd]eprecat")

_LEFT = re.compile(
    r"Exception in ASGI application\n(?:(?!Exception in ASGI).)*?"
    r'WebSocketDisconnected: Cannot call "send" once a close message has been sent\.\n',
    re.DOTALL,
)
"""What Streamlit prints when a tab is closed or reloaded just as it answers it."""


class Server:
    """A running ``streamlit run app.py``.

    Args:
        home: Its library.
        log: File for what it prints.
    """

    def __init__(self, home: Path, log: Path) -> None:
        self.home, self._log = home, log
        self.store = Store(home)
        port = _free_port()
        self.url = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
        command += ["--server.address", "127.0.0.1", "--server.fileWatcherType", "none"]
        env = os.environ | {"SPECDASH_HOME": str(home)}
        with log.open("wb") as out:
            self.process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=out, stderr=subprocess.STDOUT)

    def wait(self) -> Server:
        """Return once it serves."""
        deadline = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=5):
                    return self
            except OSError:
                time.sleep(0.1)
        self.stop()
        raise AssertionError(f"the dashboard did not start:\n{self.log()}")

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def log(self) -> str:
        """What it has printed."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def failures(self, since: int = 0) -> str:
        """What it has printed after ``since`` characters, where that tells of a failure or a doubt, else nothing."""
        printed = _LEFT.sub("", self.log()[since:])
        return printed if _COMPLAINT.search(printed) else ""

    def workers(self) -> list[int]:
        """The process ids of the ingest jobs that run."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes()
                parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            if parent == self.process.pid and b"specdash.ingest.worker" in command:
                found.append(int(process.name))
        return found

    def titles(self) -> list[str]:
        """The titles of the library's evaluations."""
        return [entry.title for entry in self.store.list()]

    def temporary(self) -> list[str]:
        """What lies in the library's folder of work in progress."""
        folder = self.home / "tmp"
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
