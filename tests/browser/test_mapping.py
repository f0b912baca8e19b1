"""A table of unknown columns in the browser: the form asks, survives a reload, shows what the answer gives."""

import pytest
from playwright.sync_api import expect

from specdash import ingest
from specdash.store import Store
from tests import evaluations
from tests.browser.conftest import watched
from tests.browser.dashboard import eventually

TABLE = "who;task;n;got;text\nr1;a;7;3;<b>x</b>\nr1;a;7;7;*y*\nr2;b;7;0;:red[z]\nr2;b;7;5;$w$\n"
"""By hand: 4 steps that accepted 15 tokens, τ = 1 + 15/4; with the bonus token in it the third step cannot be."""


@pytest.fixture(scope="module")
def running(start, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mapping")
    store = Store(folder / "home")
    ingest.add(evaluations.two_datasets("the first").write(folder), store)
    store.set_started()
    return start(store.root).wait()


@pytest.fixture
def server(running):
    yield from watched(running)


class Form:
    """The form in a job's card."""

    def __init__(self, tab, name):
        self.tab, self.card = tab, tab.job(name)

    def choose(self, field, column):
        box = self.card.locator(f"[class*=st-key-map-{field}-]").get_by_role("combobox")
        option = self.tab.page.get_by_role("option", name=column, exact=True)

        def opened():  # The form is drawn anew after every answer, which may close a list just opened.
            if not option.count():
                box.click()
                self.tab.page.wait_for_timeout(500)
            return option.count() == 1

        eventually(opened, lambda: f"no list for {field}", self.tab.page)
        option.click()
        self.chosen(field, column)

    def chosen(self, field, column):
        control = self.card.locator(f"[class*=st-key-map-{field}-]")
        eventually(
            lambda: column in (control.get_by_role("combobox").input_value() or control.inner_text()),
            lambda: f"{field} is {control.inner_text()}",
            self.tab.page,
        )

    def bonus(self, text):
        self.card.get_by_text(text).click()

    @property
    def read(self):
        return self.card.get_by_role("button", name="Read it")

    def shows(self, label, value):
        metric = self.card.get_by_test_id("stMetric").filter(has_text=label).get_by_test_id("stMetricValue")
        expect(metric).to_have_text(value)


def test_a_table_of_unknown_columns(server, open_tab, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text(TABLE)
    tab = open_tab(server).open()
    tab.upload(path)
    form = Form(tab, "odd.csv")
    expect(form.card.locator(".sd-info")).to_contain_text("odd.csv: which column is what is not clear.")
    expect(form.read).to_be_disabled()
    tab.reload()
    form.chosen("dataset", "task")
    form.choose("accepted", "got")
    form.choose("drafted", "n")
    form.choose("request", "who")
    form.bonus("yes: the shortest")
    expect(form.card.locator(".sd-error")).to_contain_text("line 4: an accepted length cannot be; found 0")
    expect(form.read).to_be_disabled()
    form.bonus("no: draft tokens")
    form.shows("τ", "4.750")
    form.shows("verify steps", "4")
    form.read.click()
    expect(form.card.get_by_text("Read and stored.")).to_be_visible()
    form.card.get_by_role("button", name="Open").click()
    expect(tab.title).to_have_text("odd")
    expect(tab.table("Acceptance length", 3)).to_be_visible()

    second = tmp_path / "odd again.csv"
    second.write_text(TABLE.replace("r2;b;7;5", "r2;b;7;6"))
    tab.upload(second)
    form = Form(tab, "odd again.csv")
    expect(form.card.get_by_text("Filled in as the last table with these columns was read.")).to_be_visible()
    form.shows("τ", "5.000")
    form.card.get_by_role("button", name="Cancel").click()
    expect(form.card.get_by_text("Cancelled; nothing was stored.")).to_be_visible()


def test_k_is_asked_and_may_stay_unknown(server, open_tab, tmp_path):
    path = tmp_path / "lists.jsonl"
    path.write_text('{"id": "r1", "per_step_accepted": [3, 7]}\n{"id": "r2", "per_step_accepted": [0, 5]}\n')
    tab = open_tab(server).open()
    tab.upload(path)
    card = tab.job("lists.jsonl")
    expect(card.locator(".sd-info")).to_contain_text("no column tells how many tokens a step drafted")
    card.get_by_role("button", name="K is not known").click()
    expect(card.get_by_text("Read and stored.")).to_be_visible()
    card.get_by_role("button", name="Open").click()
    expect(tab.title).to_have_text("lists")
