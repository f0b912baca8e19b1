"""Servers of our own, each a process, and benches that run against them."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Running:
    """A server process."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "tests.live.server", *arguments]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"

    def log(self):
        """What it received and sent."""
        with urllib.request.urlopen(f"{self.url}/log", timeout=10) as answer:
            return json.load(answer)

    def kill(self):
        """End it at once."""
        self.process.kill()
        self.process.wait()


@pytest.fixture
def start():
    """Start servers, which end with the test."""
    running = []

    def started(*arguments):
        running.append(Running(*arguments))
        return running[-1]

    yield started
    for server in running:
        server.kill()
        server.process.stdout.close()


@pytest.fixture
def baseline(start):
    return start("--name", "baseline")


@pytest.fixture
def spec(start):
    return start("--name", "spec", "--spec", "--speed", "1.5")


@pytest.fixture
def prompts(tmp_path):
    """Write prompts that script the server, and return their file."""

    def written(*scripts, name="prompts.jsonl"):
        path = tmp_path / name
        lines = [{"id": f"p{i}", "prompt": json.dumps(script)} for i, script in enumerate(scripts)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    return written
