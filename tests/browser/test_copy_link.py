"""The button "Copy link": what it copies shows the same numbers in anybody's browser, on any server."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESKTOP
from tests.browser.dashboard import PAGES
from tests.browser.test_pages import TABLES

RUN = "7_draft"
CONTROLS = {
    "draft_positions": ({"lines": ["families", "pooled"]}, {"lines": ["pooled"]}),
    "step_outcomes": ({"fit": ["all math"]}, {"fit": ["pooled"]}),
    "shorter_blocks": ({"block": ["5"], "published": ["true"]}, {"block": ["7"], "published": ["false"]}),
    "throughput": (
        {"rtt": ["100"], "stages": ["24"], "speeds_of": ["gsm8k"], "mbit_s": ["37.5"], "hidden": ["4000"]},
        {
            "preset": ["Latency-only bound (the report)"],
            "speeds_of": ["pooled"],
            "rtt": ["25"],
            "k_prime": ["7"],
            "stages": ["10"],
            "mbit_s": ["no limit"],
            "return_hop": ["true"],
            "jitter_ms": ["0"],
            "stage_ms": ["0"],
            "token_ms": ["0"],
            "overhead_ms": ["0"],
            "hidden": ["7168"],
            "value_bytes": ["2"],
            "residual": ["1"],
            "return_bytes": ["4"],
            "draft_kind": ["block"],
            "draft_ms": ["0"],
            "other_k_prime": ["5"],
            "answer_tokens": ["500"],
            "goal_tok_s": ["20"],
            "streams": ["1"],
            "split_model": ["true"],
            "question": ["Speed"],
        },
    ),
    "speed_up": (
        {
            "drafter": ["one pass a token"],
            "draft_c": ["0.3"],
            "draft_k": ["5"],
            "iid": ["0.7"],
            "observed": ["1.5"],
            "of": ["alpaca"],
        },
        {"drafter": ["one pass a block"], "draft_c": ["0.15"], "draft_k": ["7"], "iid": ["0.8"], "of": ["pooled"]},
    ),
}
"""By page: its controls as a link may set them, and what they are at first."""

EVERYWHERE = {"ci": ["true"]}
"""Controls of the sidebar, at first."""

WITHOUT = ("prompts", "prompt_difficulty")
"""Pages that say in a sentence what this run lacks."""

CLIPBOARD = {"viewport": DESKTOP, "permissions": ["clipboard-read", "clipboard-write"]}


def copied(tab):
    """Press the button with the keyboard and return the link."""
    button = tab.page.get_by_role("button", name="Copy link")
    button.focus()
    tab.page.keyboard.press("Enter")
    expect(tab.page.get_by_role("status").filter(has_text="Copied.")).to_be_visible()
    return tab.page.evaluate("navigator.clipboard.readText()")


def numbers(tab, page):
    """The cells of the page's tables, each as the browser draws it; or why the run has none."""
    if page in WITHOUT:
        return tab.notice("info").inner_text()
    return [tab.cells(title) for title in TABLES[page]]


def test_the_copied_link_shows_the_same_in_another_browser_on_a_fresh_server(server, fresh_server, open_tab, library):
    tab, other = open_tab(server, **CLIPBOARD), open_tab(fresh_server, viewport=DESKTOP)
    for page in PAGES:
        chosen, at_first = CONTROLS.get(page, ({}, {}))
        tab.open(page, eval=library.ids["reference"], run=RUN, ds=["gsm8k", "alpaca"], **chosen)
        shown = numbers(tab, page)
        link = urlsplit(copied(tab))
        assert link.path == f"/{page}"
        named = {"eval": [library.ids["reference"]], "run": [RUN], "ds": ["gsm8k", "alpaca"]} | chosen
        assert parse_qs(link.query) == EVERYWHERE | at_first | named
        other.goto(f"{fresh_server.url}{link.path}?{link.query}")
        assert numbers(other, page) == shown
        if page in CONTROLS:
            other.carries(**named)


@pytest.mark.parametrize("page", CONTROLS)
def test_the_link_names_what_is_at_its_default(page, server, open_tab, library):
    tab = open_tab(server, **CLIPBOARD).open(page, eval=library.ids["reference"])
    _, at_first = CONTROLS[page]
    tab.carries(eval=library.ids["reference"])
    expect(tab.page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    query = parse_qs(urlsplit(copied(tab)).query)
    assert query == {"eval": [library.ids["reference"]], "run": ["7_draft_best_of_10"]} | EVERYWHERE | at_first


def test_where_the_browser_forbids_copying_the_link_can_be_selected(server, open_tab, library):
    tab = open_tab(server, viewport=DESKTOP)
    # What a browser does on a plain connection to another machine.
    tab.page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    tab.open("throughput", eval=library.ids["reference"], rtt="100")
    expect(tab.page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    field = tab.page.get_by_label("Link to this page")
    expect(field).to_be_hidden()
    tab.page.get_by_role("button", name="Copy link").click()
    expect(field).to_be_focused()
    assert parse_qs(urlsplit(field.input_value()).query)["rtt"] == ["100"]
    assert field.evaluate("field => field.value.slice(field.selectionStart, field.selectionEnd)") == field.input_value()
    tab.select("ds", "gsm8k")  # It is another link now.
    expect(field).to_be_hidden()
