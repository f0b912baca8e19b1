"""Uploads in the browser: read whole or not at all, whatever happens to the page or to the process that reads."""

import os
import re
import signal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from specdash import ingest
from specdash.store import Store
from tests import evaluations
from tests.browser.conftest import watched
from tests.browser.dashboard import eventually
from tests.live.counting import steady


@pytest.fixture(scope="module")
def running_for_uploads(start, tmp_path_factory):
    folder = tmp_path_factory.mktemp("uploads")
    store = Store(folder / "home")
    ingest.add(evaluations.two_datasets("the first").write(folder), store)
    store.set_started()
    return start(store.root).wait()


@pytest.fixture
def upload_server(running_for_uploads):
    """The server whose library tests change; what a failed test left running is ended."""
    yield from watched(running_for_uploads)
    for worker in running_for_uploads.workers():
        os.kill(worker, signal.SIGKILL)


@pytest.fixture
def overview(upload_server, open_tab):
    """The overview of the newest evaluation."""
    return open_tab(upload_server).open()


def _count(tab, number):
    expect(tab.library().get_by_text(re.compile(rf"\b{number} of {number} evaluations"))).to_be_visible()


def _steps_and_tau(tab, expected):
    def shown():
        return tab.cells("Acceptance length")[-1][2:4]

    eventually(lambda: shown() == expected, lambda: f"{shown()} are shown", tab.page)


def _left_nothing(server, page, titles):
    eventually(lambda: not server.workers(), lambda: "a worker is left", page)
    eventually(lambda: not server.temporary(), lambda: f"left in tmp: {server.temporary()}", page)
    assert server.titles() == titles


def test_an_upload_ends_in_the_library_and_can_be_opened(upload_server, overview, tmp_path):
    before = upload_server.titles()
    overview.upload(evaluations.two_datasets("uploaded").write(tmp_path))
    card = overview.job("uploaded.zip")
    expect(card.get_by_text("Read and stored.")).to_be_visible()
    _count(overview, len(before) + 1)
    _left_nothing(upload_server, overview.page, [*before, "uploaded"])
    card.get_by_role("button", name="Open").click()
    expect(overview.title).to_have_text("uploaded")
    expect(card).to_have_count(0)
    expect(overview.table("Acceptance length", 5)).to_be_visible()
    overview.carries(eval=upload_server.store.list()[-1].id)


def test_files_that_are_dropped_together_and_text_that_is_pasted(upload_server, overview, tmp_path):
    scrapes = {"before": steady(10), "after": steady(70)}
    for name, scrape in scrapes.items():
        (tmp_path / f"metrics_{name}.prom").write_text(scrape)
    overview.upload(sorted(tmp_path.glob("*.prom")))
    card = overview.job("metrics_after.prom and 1 more.zip")
    expect(card.get_by_text("Read and stored.")).to_be_visible()
    card.get_by_role("button", name="Open").click()
    expect(overview.title).to_have_text("metrics_after.prom and 1 more")
    _steps_and_tau(overview, ["60", "3"])
    overview.library()
    overview.page.get_by_role("button", name="Paste text").click()
    overview.page.get_by_label("Text of a file").fill(steady(45))
    overview.page.get_by_role("button", name="Add the text").click()
    card = overview.job("pasted.txt")
    expect(card.get_by_text("Read and stored.")).to_be_visible()
    card.get_by_role("button", name="Open").click()
    expect(overview.title).to_have_text("pasted")
    _steps_and_tau(overview, ["45", "3"])


def test_a_log_that_cannot_be_says_where_and_changes_nothing(upload_server, overview, tmp_path):
    before = upload_server.titles()
    path = tmp_path / "<b>x :red[y] **z** 😀.zip"
    path.write_bytes(evaluations.broken().zipped())
    overview.upload(path)
    card = overview.job(path.name)
    expect(card.locator(".sd-error")).to_have_text(
        "✕Not added. run/spec_log.csv, line 4: more tokens accepted than drafted; "
        "found accepted 6; expected 0 to 5 (drafted)"
    )
    _count(overview, len(before))
    _left_nothing(upload_server, overview.page, before)
    card.get_by_role("button", name="Dismiss").click()
    expect(card).to_have_count(0)


def test_what_is_no_log_at_all_says_what_is_expected(upload_server, overview, tmp_path):
    before = upload_server.titles()
    path = tmp_path / "letter.txt"
    path.write_text("Dear all,\n")
    overview.upload(path)
    expect(overview.job("letter.txt").locator(".sd-error")).to_contain_text(
        "Not added. letter: nothing that can be read; found letter.txt; expected"
    )
    _left_nothing(upload_server, overview.page, before)


def test_the_same_file_twice_is_one_evaluation(upload_server, overview, tmp_path):
    before = upload_server.titles()
    path = evaluations.two_datasets("twice").write(tmp_path)
    card = overview.job("twice.zip")
    for number in (1, 2):
        overview.upload(path)
        expect(overview.page.locator(f".st-key-upload{number}")).to_be_attached()
        expect(card.get_by_text("Read and stored.")).to_be_visible()
        expect(card).to_have_count(1)
        _left_nothing(upload_server, overview.page, [*before, "twice"])
    card.get_by_role("button", name="Dismiss").click()
    expect(card).to_have_count(0)
    overview.upload(path)
    expect(card.get_by_text("In the library already.")).to_be_visible()
    _count(overview, len(before) + 1)
    _left_nothing(upload_server, overview.page, [*before, "twice"])


def test_reading_goes_on_whatever_happens_to_the_page(upload_server, overview, tmp_path):
    before = upload_server.titles()
    overview.open(eval=upload_server.store.list()[0].id)
    overview.upload(evaluations.slow_log("patience").write(tmp_path))
    card = overview.job("patience.zip")
    expect(card.get_by_role("progressbar")).to_be_visible()
    overview.select("ds", "gsm8k")
    expect(overview.table("Acceptance length", 3)).to_be_visible()
    assert upload_server.workers()
    overview.switch("throughput")
    overview.reload()
    expect(overview.title).to_have_text("Throughput")
    overview.switch("")
    expect(card.get_by_text("Read and stored.")).to_be_visible()
    _left_nothing(upload_server, overview.page, [*before, "patience"])
    card.get_by_role("button", name="Open").click()
    expect(overview.title).to_have_text("patience")
    expect(overview.metric("verify steps")).to_have_text(f"{evaluations.SLOW_STEPS + 1:,}")


def test_a_cancelled_upload_leaves_nothing_and_two_tabs_share_it(upload_server, overview, open_tab, tmp_path):
    before = upload_server.titles()
    path = evaluations.slow_log("cancelled", 40_000_000).write(tmp_path)
    overview.upload(path)
    expect(overview.job(path.name).get_by_role("button", name="Cancel")).to_be_visible()
    other = open_tab(upload_server).open()
    other.upload(path)
    expect(other.page.locator(".st-key-upload1")).to_be_attached()
    expect(other.job(path.name)).to_have_count(1)
    assert len(upload_server.workers()) == 1
    overview.job(path.name).get_by_role("button", name="Cancel").click()
    for tab in (overview, other):
        expect(tab.job(path.name).get_by_text("Cancelled; nothing was stored.")).to_be_visible()
        _count(tab, len(before))
    _left_nothing(upload_server, overview.page, before)


def test_a_reader_that_is_killed_gives_a_reason_and_changes_nothing(upload_server, overview, tmp_path):
    before = upload_server.titles()
    overview.upload(evaluations.slow_log("killed", 40_000_000).write(tmp_path))
    card = overview.job("killed.zip")
    expect(card.get_by_text(re.compile(r"^(hash|extract|load)"))).to_be_visible()
    for worker in upload_server.workers():
        os.kill(worker, signal.SIGKILL)
    expect(card.locator(".sd-error")).to_have_text("✕Not added. the reading process ended unexpectedly (code -9)")
    _count(overview, len(before))
    _left_nothing(upload_server, overview.page, before)


def test_a_removed_evaluation_makes_room_for_the_next(upload_server, overview, tmp_path):
    before = upload_server.titles()
    entry = ingest.add(evaluations.two_datasets("short-lived").write(tmp_path), upload_server.store)
    overview.open(eval=entry.id)
    expect(overview.title).to_have_text("short-lived")
    overview.library()
    overview.page.locator(f".st-key-entry-{entry.id}").get_by_role("button", name="Remove").click()
    overview.page.get_by_role("button", name="Remove it").click()
    expect(overview.title).to_have_text(before[-1])
    combobox = overview.page.locator(".st-key-eval").get_by_role("combobox")
    expect(combobox).to_have_value(re.compile(f"^{re.escape(before[-1])} · "))
    expect(overview.notice("error").filter(has_text="Not here.")).to_have_count(0)
    overview.carries(eval=upload_server.store.list()[-1].id)
    _left_nothing(upload_server, overview.page, before)


def test_a_new_library_starts_with_the_reference_and_stays_empty_without(start, open_tab, tmp_path):
    server = start(tmp_path / "home").wait()
    tab = open_tab(server).open()
    expect(tab.metric("τ, pooled")).to_have_text("3.83")
    tab.carries(eval=evaluations.REFERENCE_ID)
    server.store.remove(evaluations.REFERENCE_ID)
    tab.open()
    expect(tab.title).to_have_text("specdash")
    expect(tab.main.get_by_text("The library is empty.")).to_be_visible()
    tab.switch("step_outcomes")
    expect(tab.notice("info")).to_contain_text("The library is empty: add an evaluation on the Overview page.")
    tab.switch("methods")
    tab.switch("")
    tab.upload(evaluations.two_datasets("again").write(tmp_path))
    tab.job("again.zip").get_by_role("button", name="Open").click()
    expect(tab.title).to_have_text("again")
    assert urlsplit(tab.page.url).query == f"eval={server.store.list()[0].id}"
