"""A library with every evaluation of the tests, and sessions of the dashboard that look at it."""

import json
import subprocess
import sys

import pytest

from specdash.store import Store
from tests import evaluations
from tests.app.dashboard import ROOT, Dashboard


@pytest.fixture(scope="session")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    store = Store(folder / "home")
    return store.root, evaluations.fill(store, folder)


@pytest.fixture
def ids(filled, monkeypatch):
    """Ids by the short names of the evaluations in the library that the dashboard then uses."""
    home, ids = filled
    monkeypatch.setenv("SPECDASH_HOME", str(home))
    return ids


@pytest.fixture
def dashboard(ids):
    """Open the dashboard by a link to an evaluation."""
    return lambda name, **query: Dashboard({"eval": ids[name]} | query)


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """A library that holds nothing any more."""
    store = Store(tmp_path / "home")
    store.set_started()
    monkeypatch.setenv("SPECDASH_HOME", str(store.root))
    return store


@pytest.fixture(scope="session")
def reference():
    """The runs of the reference by name, as the command line prints them."""
    command = [sys.executable, "-m", "specdash", "report", str(evaluations.REFERENCE), "--format", "json"]
    document = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=300).stdout)
    return {run["name"]: run for run in document["runs"]}
