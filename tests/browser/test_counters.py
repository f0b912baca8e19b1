"""Counters of a server, watched in a browser: marks, a reload in between, and what is kept."""

import pytest
from playwright.sync_api import expect

from specdash import ingest
from specdash.store import Store
from tests import evaluations
from tests.browser.conftest import watched
from tests.browser.dashboard import eventually
from tests.live.counting import steady, vllm
from tests.live.serving import answer, serving


@pytest.fixture
def own_server(start, tmp_path):
    """A server whose library the test changes."""
    store = Store(tmp_path / "home")
    ingest.add(evaluations.two_datasets("the first").write(tmp_path), store)
    store.set_started()
    server = start(store.root).wait()
    yield from watched(server)
    server.stop()


@pytest.fixture
def counted():
    """A server whose count of drafts a test moves."""
    drafts = [100]
    with serving(lambda connection, *_: connection.sendall(answer(steady(drafts[0])))) as (port, _):
        yield f"http://127.0.0.1:{port}/metrics", drafts


def test_a_window_survives_a_reload_and_is_kept(own_server, open_tab, counted):
    url, drafts = counted
    tab = open_tab(own_server)
    tab.open("counters", url=url, every="1")
    tab.page.get_by_role("button", name="Start mark").click()
    card = tab.page.locator('[class*="st-key-watch-"]')
    expect(card.get_by_text(url)).to_be_visible()
    drafts[0] = 160
    expect(tab.table("Acceptance length", 2)).to_be_visible()
    tab.reload()
    drafts[0] = 180
    expect(card.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    card.get_by_role("button", name="Stop mark").click()
    expect(card.get_by_text("Stopped: ")).to_be_visible()
    assert tab.cells("Acceptance length")[-1][2:4] == ["80", "3"]
    first = own_server.store.list()[0].id
    card.get_by_role("button", name="Keep this window").click()
    eventually(lambda: tab.query().get("eval", [first]) != [first], lambda: f"{tab.page.url} shows the first", tab.page)
    tab.switch("draft_positions")

    def shown():
        return tab.cells("Unconditional acceptance by draft position")[-1][2:]

    eventually(lambda: shown() == ["1", "1", "0"], lambda: f"{shown()} are shown at {tab.page.url}", tab.page)
    tab.switch("counters")
    card.get_by_role("button", name="Dismiss").click()
    expect(card).to_have_count(0)
    tab.sound()


def test_two_readings_are_a_window(tab, library):
    tab.open("counters", of="two readings")
    tab.page.get_by_label("Before, as text").fill(vllm((0, 0, (0, 0, 0)), (0, 0, (0, 0, 0))))
    tab.page.get_by_label("After, as text").fill(vllm((737, 2129, (546, 487, 433)), (773, 2237, (572, 450, 374))))
    tab.page.keyboard.press("Control+Enter")
    expect(tab.table("Acceptance length", 3)).to_be_visible()
    steps, tau = tab.cells("Acceptance length")[-1][2:4]
    assert (steps, float(tau)) == ("1510", pytest.approx(1 + 2862 / 1510))
