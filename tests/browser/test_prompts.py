"""The page of prompts as somebody uses it: a link to one response, a click on a row, another copy, a phone."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PHONE

LINK = {"prompt": "alpaca · task-07", "copy": "copy 2", "find_prompt": "task-0", "ends": "6"}
STRIP = "Verify step (0 = first)"


def figure(tab, title):
    """The figure with that title on its horizontal axis."""
    return tab.main.locator(".js-plotly-plot").filter(has=tab.page.locator(".xtitle", has_text=title))


def prompt(tab):
    return tab.page.locator(".st-key-prompt").get_by_role("combobox")


def shows_the_response(tab):
    expect(prompt(tab)).to_have_value(LINK["prompt"])
    expect(tab.page.locator(".st-key-find_prompt input")).to_have_value("task-0")
    expect(tab.page.locator(".st-key-copy").get_by_role("radio", checked=True)).to_have_text("copy 2")
    expect(tab.table("Prompts", 20)).to_be_visible()  # task-00 to task-09 of two datasets
    expect(tab.table("Copies of the prompt", 3)).to_be_visible()
    expect(figure(tab, STRIP)).to_be_visible()


def test_a_link_to_one_response_on_a_fresh_server(fresh_server, open_tab, library):
    tab = open_tab(fresh_server).open("prompts", eval=library.ids["thirty"], **LINK)
    shows_the_response(tab)
    tab.carries(eval=library.ids["thirty"], **LINK)
    tab.reload()
    shows_the_response(tab)


def test_what_is_looked_at_comes_back_with_the_page(tab, library):
    tab.open("prompts", eval=library.ids["thirty"], **LINK)
    shows_the_response(tab)
    tab.switch("throughput").switch("prompts")
    shows_the_response(tab)


def test_a_click_on_a_row_looks_at_its_prompt(tab, library):
    tab.open("prompts", eval=library.ids["thirty"])
    expect(figure(tab, STRIP)).to_be_visible()  # It stands below the table: nothing moves that any more.
    head, *rows = tab.cells("Prompts")
    third = dict(zip(head, rows[2], strict=False))
    canvas = tab.table("Prompts", 60).locator("canvas").first
    canvas.click(position={"x": 20, "y": 35 * 3 + 17}, force=True)
    expect(prompt(tab)).to_have_value(f"{third['dataset']} · {third['prompt']}")
    tab.carries(eval=library.ids["thirty"], prompt=f"{third['dataset']} · {third['prompt']}")


def test_another_copy_has_other_steps(tab, library):
    tab.open("prompts", eval=library.ids["thirty"], prompt=LINK["prompt"])
    strip = figure(tab, STRIP)
    expect(strip).to_be_visible()
    said = tab.main.get_by_text("the one of prefill included")
    before = said.inner_text()
    tab.page.locator(".st-key-copy").get_by_role("radio", name="copy 1").click()
    expect(said).not_to_have_text(before)
    tab.carries(eval=library.ids["thirty"], prompt=LINK["prompt"], copy="copy 1")


def test_the_reference_has_no_order_to_show(tab, library):
    tab.open("prompts", eval=library.ids["reference"], prompt="alpaca · 468", copy="copy 3")
    expect(prompt(tab)).to_have_value("alpaca · 468")
    expect(tab.notice("info")).to_have_text("ℹNot available: the order of steps is invented.")
    expect(tab.table("Prompts", 3030)).to_be_visible()
    expect(figure(tab, STRIP)).to_have_count(0)


def test_a_link_to_a_prompt_that_is_not_there(tab, library):
    tab.open("prompts", eval=library.ids["thirty"], prompt="gsm8k · <b>x</b>")
    expect(tab.notice("error")).to_have_text("✕There is no prompt gsm8k · <b>x</b> here, which this link names.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_is_wider_than_the_screen(scheme, server, open_tab, library):
    tab = open_tab(server, viewport=PHONE, color_scheme=scheme).open("prompts", eval=library.ids["thirty"], **LINK)
    shows_the_response(tab)
    wide = tab.page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
    assert wide <= PHONE["width"]
