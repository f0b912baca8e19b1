"""Watching a server over a real socket: marks, failures, restarts, and keeping what was counted."""

import time
from contextlib import contextmanager

import pytest

from specdash import metrics
from specdash.live.fetch import Limits, fetch
from specdash.live.policy import Policy
from specdash.live.watch import MOST, Watch, Watches
from specdash.schema import InputError
from specdash.store import Store
from tests.live.counting import steady, vllm
from tests.live.serving import answer, serving


def get(url):
    return fetch(url, Policy(), Limits(seconds=2))


def eventually(holds):
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@contextmanager
def counting(text):
    """Serve what ``text`` returns; it may raise OSError to hang up."""
    with serving(lambda connection, *_: connection.sendall(answer(text()))) as (port, _):
        yield f"http://127.0.0.1:{port}/metrics"


@contextmanager
def watching(url, seconds=0.02):
    watch = Watch(url, seconds, get)
    watch.start()
    try:
        yield watch
    finally:
        watch.discard()


def test_the_window_lies_between_the_marks(tmp_path):
    drafts = [100]
    with counting(lambda: steady(drafts[0])) as url, watching(url) as watch:
        drafts[0] = 140
        eventually(lambda: watch.state.taken >= 4)
        drafts[0] = 150
        watch.stop()  # the stop mark reads once more
        drafts[0] = 999
        (run,) = watch.evaluation(tmp_path).runs
        assert metrics.run_rows(run, lambda _: None)[0][-1]["steps"] == 50
        assert (watch.points[-1].steps, watch.points[-1].accepted) == (50, 100)
        assert watch.state.stopped


def test_a_server_that_fails_for_a_while_loses_nothing(tmp_path):
    drafts, broken = [100], [False]

    def text():
        if broken[0]:
            raise OSError("down")
        return steady(drafts[0])

    with counting(text) as url, watching(url) as watch:
        broken[0] = True
        eventually(lambda: watch.state.problem is not None)
        assert "cannot be reached" in watch.state.problem
        drafts[0], broken[0] = 130, False
        eventually(lambda: watch.state.problem is None)
        watch.stop()
        assert watch.window.drafted == (30, 60)


def test_what_was_counted_goes_to_the_library(tmp_path):
    drafts, store = [10], Store(tmp_path / "home")
    with counting(lambda: steady(drafts[0])) as url, watching(url) as watch:
        eventually(lambda: watch.state.taken >= 2)
        with pytest.raises(InputError, match="drafted nothing in this window"):
            watch.keep(store)
        assert not store.list()
        drafts[0] = 30
        watch.stop()
        kept = store.open(watch.keep(store).id)
        assert watch.keep(store).id == kept.id
    assert kept.title.startswith("Counters of 127.0.0.1:")
    row = metrics.run_rows(kept.runs[0], lambda _: None)[0][-1]
    assert (row["steps"], row["tau"]) == (20, 3.0)
    assert [entry.id for entry in store.list()] == [kept.id]


def test_an_address_without_counters_is_not_watched(tmp_path):
    watches = Watches()
    with counting(lambda: "<html>") as url, pytest.raises(InputError, match="no metrics of a server"):
        watches.start(url, 1, get)
    with pytest.raises(InputError, match="cannot be reached"):
        watches.start("http://127.0.0.1:1/metrics", 1, get)
    assert watches.all() == []


def test_an_address_is_watched_once_and_not_too_many_are():
    watches = Watches()
    with counting(lambda: vllm((1, 3, (1, 0, 0)))) as url:
        first = watches.start(url, 5, get)
        assert watches.start(url, 5, get) is first
        for number in range(1, MOST):
            watches.start(f"{url}?{number}", 5, get)
        with pytest.raises(InputError, match="too many servers are watched"):
            watches.start(f"{url}?more", 5, get)
        watches.dismiss(first.state.key)
        assert len(watches.all()) == MOST - 1
        assert not first.window.folder.exists()
        watches.start(f"{url}?more", 5, get)
        for watch in watches.all():
            watches.dismiss(watch.state.key)
