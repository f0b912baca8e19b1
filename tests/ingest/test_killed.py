"""An ``add`` that is killed at any moment leaves the whole evaluation or nothing."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

import specdash
from specdash.cli import cli
from specdash.store import Store

ROOT = Path(__file__).resolve().parents[2]
STEPS = 300_000


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """A zip with a log of 300,000 steps, and its acceptance length."""
    random_ = random.Random(4)
    accepted = [random_.randint(0, 7) for _ in range(STEPS)]
    log = "".join(f"q{i // 100},7,{a}\n" for i, a in enumerate(accepted))
    samples = "".join(
        f'{{"dataset":"d{i // 1000}","prompt_id":{i // 10},"num_drafts":100,'
        f'"accepted_tokens":{sum(accepted[i * 100 : i * 100 + 100])}}}\n'
        for i in range(STEPS // 100)
    )
    path = tmp_path_factory.mktemp("packed") / "large.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("run/spec_log.csv", log)
        archive.writestr("run/samples.jsonl", samples)
    return path, 1 + sum(accepted) / STEPS


def started(path, library):
    return subprocess.Popen(
        [sys.executable, "-m", "specdash", "add", str(path)],
        env={**os.environ, "SPECDASH_HOME": str(library)},
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def assert_sound(library, tau):
    """Assert that what the library lists is whole, and that nothing else is there; return the ids."""
    listed = CliRunner().invoke(cli, ["list", "--format", "json"])
    assert (listed.exit_code, listed.stderr) == (0, "")
    ids = [entry["id"] for entry in json.loads(listed.stdout)]
    for id_ in ids:
        assert specdash.load(id_).table("tau")["tau"].to_list()[-1] == pytest.approx(tau, rel=1e-12)
    folder = library / "evaluations"
    assert sorted(path.name for path in folder.iterdir()) == sorted(ids) if folder.exists() else not ids
    return ids


def test_killed_at_random_moments(packed, library):
    path, tau = packed
    begin = time.monotonic()
    assert started(path, library).wait() == 0
    took = time.monotonic() - begin
    ids = assert_sound(library, tau)
    assert len(ids) == 1
    random_, killed, tries = random.Random(12), 0, 0
    while killed < 20 and tries < 60:  # some are done before they are killed
        tries += 1
        for id_ in ids:
            Store(library).remove(id_)
        child = started(path, library)
        time.sleep(random_.uniform(0.2, 0.95) * took)
        os.killpg(child.pid, signal.SIGKILL)
        killed += child.wait() == -signal.SIGKILL
        ids = assert_sound(library, tau)
    assert killed >= 10
    assert started(path, library).wait() == 0
    assert len(assert_sound(library, tau)) == 1
    assert list((library / "tmp").iterdir()) == []
