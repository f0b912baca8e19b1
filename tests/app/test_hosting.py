"""Who can do what: a read-only dashboard offers no change, and one that others reach says so."""

import os
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
import streamlit as st

from specdash import ingest
from specdash.store import Store
from specdash.ui import __main__ as start
from specdash.ui import hosting, link
from tests import evaluations
from tests.app.dashboard import PAGES, ROOT, Dashboard

READ = "Whoever reaches this dashboard can read every evaluation; the library is read-only."
CHANGE = "Whoever reaches this dashboard can read, add, change and remove evaluations."


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A dashboard with a library of its own, and the id of what it holds."""
    store = Store(tmp_path / "home")
    id = ingest.add(evaluations.one_response().write(tmp_path), store).id
    store.set_started()
    monkeypatch.setenv("SPECDASH_HOME", str(store.root))
    return store, Dashboard({"eval": id})


def labels(shown):
    return {button.label for button in shown.app.button}


def captions(shown):
    return [caption.value for caption in shown.app.sidebar.caption]


def test_a_read_only_dashboard_offers_no_change(own, monkeypatch):
    store, shown = own
    shown.page("overview")
    changes = {"Open", "Remove it", "Save", "Save the configuration", "Check again"}
    assert changes <= labels(shown) and shown.app.file_uploader
    monkeypatch.setenv("SPECDASH_READ_ONLY", "1")
    for page in PAGES:
        shown.page(page)
        assert not labels(shown) & (changes - {"Open"})
        assert captions(shown) == [READ]
        if page == "overview":
            assert "Open" in labels(shown) and not shown.app.file_uploader
    assert [entry.title for entry in store.list()] == ["one-response"]


def test_a_new_read_only_library_still_brings_the_reference(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECDASH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SPECDASH_READ_ONLY", "1")
    assert Dashboard({}).page("overview").figures()["τ, pooled"] == "3.83"


@pytest.mark.parametrize(
    ("address", "headers", "said"),
    [
        ("127.0.0.1", {}, []),
        ("127.0.0.1", {"Host": "localhost:8501"}, []),
        ("127.0.0.1", {"Host": "[::1]:8501"}, []),
        ("0.0.0.0", {"Host": "localhost:8501"}, [CHANGE]),
        (None, {"Host": "localhost:8501"}, [CHANGE]),
        ("127.0.0.1", {"Host": "specdash.example"}, [CHANGE]),
        ("127.0.0.1", {"Host": "localhost:8501", "X-Forwarded-For": "203.0.113.7"}, [CHANGE]),
    ],
)
def test_the_sidebar_says_when_others_reach_the_dashboard(address, headers, said, own, monkeypatch):
    asked = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: address if name == "server.address" else asked(name))
    monkeypatch.setattr(type(st.context), "headers", headers)
    monkeypatch.setattr(hosting, "_told", True)
    assert captions(own[1].page("throughput")) == said


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        *((host, True) for host in ("localhost", "127.0.0.1", "127.1.2.3", "::1", "[::1]")),
        *((host, False) for host in ("0.0.0.0", "::", "192.168.1.5", "example.org", None)),
    ],
)
def test_what_is_this_machine_alone(host, expected):
    assert hosting.is_loopback(host) is expected


def started(*options, home, **env):
    """Start the dashboard as start.sh does, and return what it says until it serves, and its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "specdash.ui", "--server.port", str(port), *options]

    server = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | {"SPECDASH_HOME": str(home)} | env, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5):
                    break
            except OSError:
                time.sleep(0.2)
        others = _reachable(port)
    finally:
        server.terminate()
        said = server.communicate(timeout=60)[0]
    return said, others


def _reachable(port):
    """Tell whether another address of this machine answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # Sends nothing; only asks which address would be used.
        own = probe.getsockname()[0]
    with socket.socket() as caller:
        return caller.connect_ex((own, port)) == 0


def test_the_start_says_nothing_where_only_this_machine_is_served(tmp_path):
    said, others = started(home=tmp_path / "home")
    assert "specdash:" not in said and not others


@pytest.mark.parametrize(("env", "sentence"), [({}, CHANGE), ({"SPECDASH_READ_ONLY": "1"}, READ)])
def test_the_start_says_what_others_can_do(env, sentence, tmp_path):
    said, others = started("--server.address", "0.0.0.0", home=tmp_path / "home", **env)
    assert f"specdash: bound to 0.0.0.0. {sentence}" in said and others
    assert said.count("specdash:") == 1


@pytest.mark.parametrize(("read_only", "added"), [("", []), ("1", ["--server.maxUploadSize", "16"])])
def test_a_read_only_dashboard_takes_small_files_alone(read_only, added, monkeypatch):
    monkeypatch.setenv("SPECDASH_READ_ONLY", read_only)
    monkeypatch.setattr(start.cli, "main", lambda: None)
    monkeypatch.setattr(start.config, "on_config_parsed", lambda _: None)
    monkeypatch.setattr(sys, "argv", [])
    start.main(["--server.port", "9"])
    assert sys.argv == ["streamlit", "run", str(ROOT / "app.py"), *added, "--server.port", "9"]


@pytest.mark.parametrize(
    ("url", "base", "expected"),
    [
        ("https://a.example/specdash", "specdash", "https://a.example/specdash/?eval=x"),
        ("https://a.example/specdash/throughput", "/specdash/", "https://a.example/specdash/throughput?eval=x"),
        ("https://a.example/throughput", "", "https://a.example/throughput?eval=x"),
        (None, "specdash", None),
    ],
)
def test_the_link_in_a_report_leads_below_the_path(url, base, expected, monkeypatch):
    monkeypatch.setattr(type(st.context), "url", url)
    monkeypatch.setattr(st, "get_option", lambda _: base)
    monkeypatch.setattr(st, "session_state", {link._DEFAULTS: {"eval": ["x"]}})
    monkeypatch.setattr(st, "query_params", {})
    assert link.here() == expected
