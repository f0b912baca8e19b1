"""``specdash probe`` as a user runs it: files, a live server, what it keeps and what it refuses."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.live.counting import steady, vllm
from tests.live.serving import answer, serving

ROOT = Path(__file__).resolve().parents[1]
BEFORE = vllm((0, 0, (0, 0, 0)), (0, 0, (0, 0, 0)), served=5)
AFTER = vllm((737, 2129, (546, 487, 433)), (773, 2237, (572, 450, 374)), served=53)


@pytest.fixture
def probe(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECDASH_HOME", str(tmp_path / "home"))

    def run(*words, **options):
        command = [sys.executable, "-m", "specdash", "probe", *map(str, words)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, **options)

    return run


@pytest.fixture
def readings(tmp_path):
    for name, text in (("before.prom", BEFORE), ("after.prom", AFTER)):
        (tmp_path / name).write_text(text)
    return tmp_path / "before.prom", tmp_path / "after.prom"


def pooled(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["runs"][0]["datasets"][-1]


def test_two_files_are_a_window(probe, readings):
    done = probe(*readings, "--format", "json", "--ours", 40)
    assert pooled(done)["tau"] == pytest.approx(1 + 2862 / 1510)
    server = json.loads(done.stdout)["server"]
    assert (server["name"], server["served"], server["ours"], server["seconds"]) == ("vLLM", 48, 40, None)
    assert [engine["steps"] for engine in server["engines"]] == [737, 773]
    assert done.stderr == (
        "8 of 48 answered requests were not ours: the counters are not those of our requests alone.\n"
    )


def test_text_shows_the_engines(probe, readings):
    done = probe(*readings)
    assert done.returncode == 0
    cells = [line.split() for line in done.stdout.splitlines()]
    assert ["engine", "0", "737", "2,129", "1,466", "2.99"] in cells
    assert ["engine", "1", "773", "2,237", "1,396", "2.81"] in cells
    assert ["pooled", "1,510", "4,366", "2,862", "2.90"] in cells


def test_one_file_counts_since_the_start(probe, readings):
    assert pooled(probe(readings[1], "--format", "json"))["steps"] == 1510


def test_a_live_window_is_kept_and_added(probe, tmp_path):
    asked = []

    def text():
        asked.append(time.monotonic())
        return steady(10 * len(asked))

    with serving(lambda connection, *_: connection.sendall(answer(text()))) as (port, _):
        url = f"http://127.0.0.1:{port}/metrics"
        done = probe(url, "--for", 1, "--every", 0.2, "--format", "json", "-o", tmp_path / "kept")
        lines, document = done.stdout.split("{", 1)
        found = json.loads("{" + document)["runs"][0]["datasets"][-1]
        assert found["steps"] == 10 * (len(asked) - 1)
        assert len(lines.split()) == 2
        added = probe(*sorted((tmp_path / "kept").iterdir()), "--add")
    assert added.returncode == 0
    listed = subprocess.run(
        [sys.executable, "-m", "specdash", "list"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert listed.stdout.startswith(added.stdout.split()[-1])


def test_ctrl_c_is_the_stop_mark(tmp_path):
    count = [0]

    def text():
        count[0] += 1
        return steady(count[0])

    with serving(lambda connection, *_: connection.sendall(answer(text()))) as (port, _):
        command = [sys.executable, "-m", "specdash", "probe", f"http://127.0.0.1:{port}/metrics", "--watch"]
        with subprocess.Popen(
            [*command, "--every", "0.1", "--format", "json"], cwd=ROOT, stdout=subprocess.PIPE
        ) as child:
            while count[0] < 5:
                time.sleep(0.05)
            child.send_signal(signal.SIGINT)
            found = json.loads(child.communicate(timeout=30)[0])
    assert child.returncode == 0
    assert found["runs"][0]["datasets"][-1]["steps"] == count[0] - 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("README.md",), "specdash: README.md: holds no metrics of a server that is known"),
        (("no-such.prom",), "specdash: no-such.prom: cannot be read; found No such file or directory"),
        (("data/reference.zip",), "specdash: reference.zip: is no text"),
        (("http://127.0.0.1:1/metrics",), "specdash: http://127.0.0.1:1/metrics: cannot be reached"),
        (("http://me:pass@h/metrics",), "specdash: h: the address holds a name or password"),
    ],
)
def test_bad_input_is_one_line(words, said, probe):
    done = probe(*words)
    assert done.returncode == 1
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
    assert not done.stdout


@pytest.mark.parametrize("words", [("a", "b", "c"), ("a", "--for", "3"), ("http://h", "x"), ()])
def test_wrong_usage(words, probe):
    assert probe(*words).returncode == 2
