"""The page of live counters, against a server on a real socket."""

import pytest

from specdash.store import Store, home
from tests.app.dashboard import Dashboard
from tests.live.counting import steady, vllm
from tests.live.serving import answer, serving


@pytest.fixture
def here(monkeypatch):
    monkeypatch.setattr("specdash.ui.hosting.is_shared", lambda: False)


@pytest.fixture
def page(ids):
    shown = Dashboard({}).page("counters")
    yield shown
    from specdash.ui import counters

    for watch in counters.watches().all():
        counters.watches().dismiss(watch.state.key)


def start(page, url):
    page.app.text_input(key="url").set_value(url).run()
    press(page, "Start mark")


def press(page, label):
    next(button for button in page.app.button if button.label == label).click().run()
    assert not page.app.exception


def row(page, table=0):
    return page.tables()[table][-1]


def test_a_window_is_watched_stopped_and_kept(page, here):
    drafts = [100]
    before = {entry.id for entry in Store(home()).list()}
    with serving(lambda connection, *_: connection.sendall(answer(steady(drafts[0])))) as (port, _):
        start(page, f"http://127.0.0.1:{port}/metrics")
        assert any("The start mark is read" in said for said in page.said())
        drafts[0] = 160
        press(page, "Stop mark")
        assert row(page)["steps"] == 60
        assert row(page)["τ"] == 3.0
        assert [row(page, 1)[f"p{i}"] for i in "₀₁₂"] == [1.0, 1.0, 0.0]
    press(page, "Keep this window")
    (kept,) = {entry.id for entry in Store(home()).list()} - before
    assert page.looked_at()[0] == kept
    page.page("acceptance_length")
    assert row(page)["steps"] == 60
    Store(home()).remove(kept)


def test_what_gives_no_counters_is_told(page, here):
    start(page, "http://127.0.0.1:1/metrics")
    assert any("Not watched." in said and "cannot be reached" in said for said in page.said())
    start(page, "http://169.254.169.254/latest")
    assert any("is a link-local address, which is never asked" in said for said in page.said())
    start(page, "file:///etc/passwd")
    assert any("is no http address" in said for said in page.said())


def test_one_that_others_reach_asks_only_what_is_listed(page, monkeypatch):
    monkeypatch.setattr("specdash.ui.hosting.is_shared", lambda: True)
    with serving(lambda connection, *_: connection.sendall(answer(steady(1)))) as (port, asked):
        url = f"http://127.0.0.1:{port}/metrics"
        start(page, url)
        assert any("is not among the hosts that this dashboard may ask" in said for said in page.said())
        assert not asked
        monkeypatch.setenv("SPECDASH_METRICS_HOSTS", "127.0.0.1")
        start(page, url)
        assert any("The start mark is read" in said for said in page.said())


def test_two_texts_are_a_window(ids):
    page = Dashboard({"of": "two readings"}).page("counters")
    page.app.text_area(key="text-Before").set_value(vllm((0, 0, (0, 0, 0)), (0, 0, (0, 0, 0)), served=5))
    after = vllm((737, 2129, (546, 487, 433)), (773, 2237, (572, 450, 374)), served=53)
    page.app.text_area(key="text-After").set_value(after).run()
    assert not page.app.exception
    assert row(page)["steps"] == 1510
    assert row(page)["τ"] == pytest.approx(1 + 2862 / 1510)
    engines = {r["dataset"]: r["τ"] for r in page.tables()[-1]}
    assert engines["engine 0"] == pytest.approx(1 + 1466 / 737)
    page.app.number_input(key="ours").set_value(40).run()
    assert any("8 of 48 answered requests were not ours" in said for said in page.said())


def test_texts_that_are_none_say_so(ids):
    page = Dashboard({"of": "two readings"}).page("counters")
    page.app.text_area(key="text-After").set_value("hello").run()
    assert any("holds no metrics of a server that is known" in said for said in page.said())
    page.app.text_area(key="text-After").set_value(vllm(served=3)).run()
    assert any("it does not speculate" in said for said in page.said())
