"""A link carries what is looked at, on a server nobody has visited yet and in anybody's browser."""

import re

import pytest
from playwright.sync_api import expect

from tests import evaluations
from tests.browser.conftest import DESKTOP
from tests.browser.dashboard import OTHERS, PAGES, eventually
from tests.browser.test_pages import TABLES

RUN = "7_draft"
REFUSED = "This page needs responses with their prompts; this run holds counters without responses."


def _shows_gsm8k_of_the_first_run(tab, library, page):
    expect(tab.page.get_by_test_id("stSidebarNavLink")).to_have_count(len(PAGES | OTHERS))
    expect(tab.chosen_run().get_by_role("combobox")).to_have_value(RUN)
    expect(tab.chosen_datasets().locator("[data-tag]")).to_have_text("gsm8k")
    if page:
        expect(tab.title).to_have_text(PAGES[page])
    if page in ("prompts", "prompt_difficulty"):
        expect(tab.notice("info")).to_contain_text(REFUSED)
    else:
        for title in TABLES[page]:
            expect(tab.table(title, 3 + (page == "throughput"))).to_be_visible()
    tab.carries(eval=library.ids["reference"], run=RUN, ds="gsm8k")


@pytest.mark.parametrize("page", ["", "prompts", "acceptance_length", "shorter_blocks", "throughput"])
def test_a_link_works_on_a_server_that_nobody_has_visited(page, fresh_server, open_tab, library):
    tab = open_tab(fresh_server).open(page, eval=library.ids["reference"], run=RUN, ds="gsm8k")
    _shows_gsm8k_of_the_first_run(tab, library, page)


def test_the_menu_keeps_what_is_looked_at(tab, library):
    tab.open("throughput", eval=library.ids["reference"], run=RUN, ds="gsm8k")
    for page in PAGES:
        tab.switch(page)
        _shows_gsm8k_of_the_first_run(tab, library, page)
    tab.switch("")
    expect(tab.metric("τ, pooled")).to_have_text("4.97")
    expect(tab.metric("verify steps")).to_have_text("19,254")


def test_what_is_chosen_by_hand_goes_along_and_into_anothers_browser(server, tab, open_tab, library):
    tab.open("acceptance_length", eval=library.ids["reference"])
    tab.select("run", RUN)
    tab.select("ds", "mbpp")
    expect(tab.table("Acceptance length", 3)).to_be_visible()
    tab.select("ds", "gsm8k")
    expect(tab.table("Acceptance length", 5)).to_be_visible()
    tab.switch("draft_positions")
    tab.carries(eval=library.ids["reference"], run=RUN, ds=["mbpp", "gsm8k"])
    title = "Conditional acceptance by draft position"
    expect(tab.table(title, 5)).to_be_visible()
    cells = tab.cells(title)
    assert [row[0] for row in cells[1:]] == ["gsm8k", "mbpp", "all math", "all code", "pooled"]
    assert tab.reload().cells(title) == cells
    other = open_tab(server, viewport=DESKTOP).goto(tab.page.url)
    assert other.cells(title) == cells


def _comes_to_k16(tab, library):
    tab.select("eval", f"k16 · {library.ids['k16']}")
    expect(tab.chosen_run().get_by_role("combobox")).to_have_value("k_16")
    expect(tab.chosen_datasets().locator("[data-tag]")).to_have_text(["gsm8k"])
    expect(tab.table("Unconditional acceptance by draft position", 3)).to_be_visible()
    tab.carries(eval=library.ids["k16"], ds="gsm8k")
    tab.switch("throughput")
    tab.carries(eval=library.ids["k16"], ds="gsm8k")
    tab.reload()
    expect(tab.notice("error")).to_have_count(0)
    tab.carries(eval=library.ids["k16"], ds="gsm8k")


def test_another_evaluation_brings_its_own_runs_and_datasets(tab, library):
    tab.open("draft_positions", eval=library.ids["reference"], run=RUN, ds=["gsm8k", "alpaca"])
    _comes_to_k16(tab, library)


def test_another_evaluation_does_so_too_after_a_choice_by_hand(tab, library):
    tab.open("draft_positions", eval=library.ids["reference"])
    tab.select("run", RUN)
    tab.select("ds", "alpaca")
    expect(tab.table("Unconditional acceptance by draft position", 3)).to_be_visible()
    tab.select("ds", "gsm8k")
    expect(tab.table("Unconditional acceptance by draft position", 5)).to_be_visible()
    tab.carries(eval=library.ids["reference"], run=RUN, ds=["alpaca", "gsm8k"])
    _comes_to_k16(tab, library)
    tab.select("eval", f"DeepSeek-V4-Pro with the DSpark drafter (reconstruction) · {library.ids['reference']}")
    expect(tab.chosen_run().get_by_role("combobox")).to_have_value("7_draft_best_of_10")
    tab.carries(eval=library.ids["reference"], ds="gsm8k")


def test_the_overview_has_an_address_of_its_own(tab, library):
    tab.open("overview", eval=library.ids["odd"])
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    expect(tab.table("Acceptance length")).to_be_visible()
    tab.carries(eval=library.ids["odd"])


def test_a_quick_reader_loses_nothing(tab, library):
    for page in ("acceptance_length", "throughput", "step_outcomes"):
        tab.page.goto(f"{tab.base}/?eval={library.ids['odd']}", wait_until="commit")
        expect(tab.title).to_be_visible()
        tab.switch(page)
        expect(tab.table(TABLES[page][0])).to_be_visible()
        chosen = tab.page.locator(".st-key-eval").get_by_role("combobox")
        expect(chosen).to_have_value(re.compile(rf" · {library.ids['odd']}$"))


def test_the_way_back_leads_to_what_was_there(tab, library):
    tab.open("acceptance_length", eval=library.ids["reference"], run=RUN, ds="gsm8k")
    tab.switch("step_outcomes")
    _shows_gsm8k_of_the_first_run(tab, library, "step_outcomes")
    tab.page.go_back()
    # Streamlit may have noted the page twice, the first time before the address was complete.
    if tab.page.url.partition("?")[0].endswith("step_outcomes"):
        tab.page.go_back()
    expect(tab.title).to_have_text("Acceptance length")
    _shows_gsm8k_of_the_first_run(tab, library, "acceptance_length")


@pytest.mark.parametrize(
    ("page", "advice"),
    [
        ("", "Choose an evaluation in the sidebar or below."),
        ("acceptance_length", "Choose an evaluation in the sidebar."),
    ],
)
def test_a_link_to_an_evaluation_that_is_not_there_says_so_and_shows_no_other(page, advice, tab, library):
    tab.open(page, eval="0123456789ab")
    sentence = "The evaluation 0123456789ab that this link names is not in this library."
    expect(tab.notice("error")).to_have_text(f"✕Not here. {sentence}")
    expect(tab.main.get_by_text(advice)).to_be_visible()
    expect(tab.page.get_by_test_id("stDataFrame")).to_have_count(0)
    tab.carries(eval="0123456789ab")
    tab.select("eval", f"k1 · {library.ids['k1']}")
    expect(tab.notice("error")).to_have_count(0)
    expect(tab.table("Acceptance length", 5)).to_be_visible()
    tab.carries(eval=library.ids["k1"])


def test_after_a_link_to_nowhere_every_page_is_reached(tab, library):
    tab.open("acceptance_length", eval="0123456789ab")
    expect(tab.notice("error")).to_be_visible()
    tab.switch("throughput")
    expect(tab.main.get_by_text("Choose an evaluation in the sidebar.")).to_be_visible()
    tab.select("eval", f"k16 · {library.ids['k16']}")
    expect(tab.table(TABLES["throughput"][0], 6)).to_be_visible()
    tab.carries(eval=library.ids["k16"])


def test_a_link_to_a_run_that_is_not_there_says_so(tab, library):
    tab.open("step_outcomes", eval=library.ids["reference"], run="8_draft", ds="gsm8k")
    expect(tab.notice("error")).to_have_text("✕Not here. This evaluation has no run 8_draft.")
    expect(tab.chosen_run().get_by_role("combobox")).to_have_value("7_draft_best_of_10")
    tab.switch("throughput")
    tab.carries(eval=library.ids["reference"], ds="gsm8k")


def test_a_link_to_a_dataset_that_is_not_there_says_so(tab, library):
    tab.open("step_outcomes", eval=library.ids["reference"], ds=["gsm8k", "gsm9k", "<b>x</b>"])
    expect(tab.notice("error")).to_have_text("✕Not here. This run has no dataset gsm9k, <b>x</b>.")
    tab.select("run", RUN)
    expect(tab.notice("error")).to_have_count(0)


def test_a_link_may_hold_any_name(tab, library):
    names = [evaluations.LONG, "__proto__", "<b>x</b>", r"$\alpha$"]
    tab.open("acceptance_length", eval=library.ids["odd"], run=evaluations.ODD_RUN, ds=names)
    assert [row[0] for row in tab.cells("Acceptance length")[1:]] == [*names, "pooled"]
    expect(tab.notice("error")).to_have_count(0)


def test_a_link_without_anything_shows_the_newest_evaluation(tab, library):
    tab.open()
    expect(tab.title).to_have_text("DeepSeek-V4-Pro with the DSpark drafter (reconstruction)")
    tab.carries(eval=library.ids["reference"])


def test_intervals_can_be_switched_off(tab, library):
    title = "Acceptance length"

    def margins():
        return [head for head in tab.cells(title)[0] if head.startswith("±")]

    tab.open("acceptance_length", eval=library.ids["thirty"])
    assert "± τ" in margins()
    tab.page.locator(".st-key-ci label").click()
    tab.carries(eval=library.ids["thirty"], ci="false")
    eventually(lambda: not margins(), lambda: f"the table still has {margins()}", tab.page)
    tab.reload()
    assert margins() == []
    tab.carries(eval=library.ids["thirty"], ci="false")
