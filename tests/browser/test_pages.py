"""Every page with every kind of evaluation: what it shows, or the one sentence that says why it cannot."""

import json
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests import evaluations
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.dashboard import PAGES
from tests.browser.server import ROOT

ROWS = {
    "reference": 13,
    "counters": 7,
    "rates": 2,
    "one": 3,
    "bare": 2,
    "variable": 7,
    "k1": 5,
    "k16": 5,
    "forty": 41,
    "odd": 13,
}
"""Rows of a table by evaluation: datasets, families and the pooled one, which printed ratios have not."""

TABLES = {
    "": ["Acceptance length"],
    "prompts": [],
    "acceptance_length": ["Acceptance length"],
    "draft_positions": ["Unconditional acceptance by draft position", "Conditional acceptance by draft position"],
    "step_outcomes": ["Step outcomes (% of steps by accepted tokens)"],
    "shorter_blocks": ["Implied acceptance length at shorter blocks"],
    "prompt_difficulty": ["Prompt difficulty and sampling noise"],
    "throughput": ["tok/s of one stream"],
    "speed_up": ["Speed-up by dataset"],
    "methods": [],
}

_COUNTS = "This page needs counts; this run holds printed ratios without counts."
_PROMPTS = "This page needs responses with their prompts; this run holds "
REFUSED = {
    ("rates", "draft_positions"): _COUNTS,
    ("rates", "step_outcomes"): _COUNTS,
    ("rates", "shorter_blocks"): _COUNTS,
    ("rates", "prompt_difficulty"): _PROMPTS + "printed ratios without counts.",
    ("counters", "prompt_difficulty"): _PROMPTS + "counters without responses.",
    ("rates", "prompts"): _PROMPTS + "printed ratios without counts.",
    ("counters", "prompts"): _PROMPTS + "counters without responses.",
    ("bare", "prompts"): "No samples say which prompt a response answers, so there are no prompts to tell apart.",
}
TITLES = {
    "reference": "DeepSeek-V4-Pro with the DSpark drafter (reconstruction)",
    "counters": "counters-only",
    "rates": "rates-only",
    "one": "one-response",
    "bare": "without-samples",
    "variable": "variable-k",
    "odd": evaluations.ODD_TITLE.strip(),
}
FIGURES = {
    "reference": ("3.83", "4,344,265", "30,296", "7", "step"),
    "counters": (None, "1,500", "–", "4", "aggregate"),
    "rates": ("–", "–", "–", "2", "rates"),
    "one": (None, "12", "1", "7", "step"),
    "k1": (None, None, "18", "1", "step"),
    "k16": (None, None, "18", "16", "step"),
    "forty": (None, None, "160", "7", "step"),
}
BACKGROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(15, 23, 30)"}
LABELS = ("τ, pooled", "verify steps", "responses", "block length K", "granularity")


# Without a browser every page is seen with every evaluation (tests/app); here with those that look different.
@pytest.mark.parametrize("name", ["reference", "counters", "one", "variable", "forty"])
def test_every_page_shows_its_numbers_or_says_why_not(name, tab, library):
    tab.open(eval=library.ids[name])
    expect(tab.title).to_have_text(TITLES.get(name, name))
    for label, value in zip(LABELS, FIGURES.get(name, ()), strict=False):
        if value is not None:
            expect(tab.metric(label)).to_have_text(value)
    for page in [*PAGES, ""]:
        tab.switch(page)
        _shows(tab, name, page)
        tab.sound()


def _shows(tab, name, page):
    if name == "reference" and page not in ("", "methods"):
        expect(tab.main.get_by_text("reconstruction · run 7_draft_best_of_10 · all datasets")).to_be_visible()
    if (name, page) in REFUSED:
        expect(tab.notice("info")).to_have_text("ℹ" + REFUSED[name, page])
        expect(tab.page.get_by_test_id("stDataFrame")).to_have_count(0)
        return
    for title in TABLES[page]:
        expect(tab.table(title, ROWS[name] + (page == "throughput"))).to_be_visible()
    if page not in ("", "methods") and (name, page) != ("rates", "acceptance_length"):
        expect(tab.page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    if page == "methods":
        expect(tab.page.get_by_text("acceptance length").first).to_be_visible()


def test_steps_of_different_length_have_two_more_readings(tab, library):
    tab.open("draft_positions", eval=library.ids["variable"])
    expect(tab.table("Acceptance by draft position over the steps that drafted it", 7)).to_be_visible()
    expect(
        tab.table("Acceptance by draft position if every step had drafted that far (Kaplan–Meier)", 7)
    ).to_be_visible()


def test_a_log_without_samples_says_what_it_cannot_tell(tab, library):
    tab.open("prompt_difficulty", eval=library.ids["bare"])
    expect(tab.notice("info")).to_contain_text("No samples say which prompt a response answers")


def test_the_reference_is_labelled_a_reconstruction(tab, library):
    tab.open(eval=library.ids["reference"])
    expect(tab.notice("info")).to_contain_text("this is not the original log")
    expect(tab.verdict().filter(has_text="Order of steps warn invented")).to_be_visible()


def test_names_are_shown_as_they_are(tab, library):
    chosen = list(evaluations.ODD_NAMES[1:])
    tab.open("acceptance_length", eval=library.ids["odd"], ds=chosen[:-2])
    for name in chosen[-2:]:
        tab.select("ds", name)
        expect(tab.chosen_datasets().get_by_text(name, exact=True)).to_be_visible()
    tab.carries(eval=library.ids["odd"], ds=chosen)
    tab.reload()
    assert [row[0] for row in tab.cells("Acceptance length")[1:]] == [*chosen, "pooled"]
    expect(tab.chosen_run().get_by_role("combobox")).to_have_value(evaluations.ODD_RUN)
    for name in chosen:
        expect(tab.chosen_datasets().get_by_text(name, exact=True)).to_have_count(1)


def test_choosing_a_dataset_changes_the_numbers(tab, library):
    tab.open(eval=library.ids["reference"])
    expect(tab.metric("τ, pooled")).to_have_text("3.83")
    tab.select("ds", "gsm8k")
    expect(tab.metric("τ, pooled")).to_have_text("4.97")
    expect(tab.metric("verify steps")).to_have_text("191,119")
    expect(tab.table("Acceptance length", 3)).to_be_visible()
    tab.carries(eval=library.ids["reference"], ds="gsm8k")


@pytest.fixture(scope="module")
def reference():
    """The rows of the reference's finer run, by dataset, as the command line prints them."""
    command = [sys.executable, "-m", "specdash", "report", str(evaluations.REFERENCE), "--format", "json"]
    document = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=300).stdout)
    return {row["dataset"]: row for row in document["runs"][1]["datasets"]}


def test_cells_hold_what_the_command_line_prints(tab, library, reference):
    tab.open("acceptance_length", eval=library.ids["reference"], ci="false")
    head, *rows = tab.cells("Acceptance length")
    assert head == "dataset|family|steps|τ|step std|per-response mean|p10|p50|p90|implied α".split("|")
    keys = "steps tau step_std response_mean response_p10 response_p50 response_p90 implied_alpha".split()
    assert [row[0] for row in rows] == [*list(reference)[:-1], "all math", "all code", "all chat", "pooled"]
    for name, _, *cells in (row for row in rows if row[0] in reference):
        assert [float(cell) for cell in cells] == [reference[name][key] for key in keys]


def test_the_stages_of_the_bound_are_part_of_the_address(tab, library, reference):
    tab.open("throughput", eval=library.ids["reference"], ci="false", stages="20", question="Report’s bound")
    expect(tab.main.get_by_role("heading", name="Upper bound on tok/s, 20 stages, latency only")).to_be_visible()
    first = tab.cells("Upper bound on tok/s, 20 stages, latency only")[1]
    tau = reference["gsm8k"]["tau"]
    assert first[:2] == ["gsm8k", "math"]
    assert float(first[2]) == tau
    assert float(first[3]) == pytest.approx(2 * tau / (20 * 0.010))
    tab.carries(eval=library.ids["reference"], ci="false", stages="20", question="Report’s bound")


def test_methods_can_be_searched(tab, library):
    tab.open("methods", eval=library.ids["reference"])
    everything = tab.page.locator('[class*="st-key-method-"]').count()
    tab.page.get_by_label("Find").fill("kaplan")
    tab.page.get_by_label("Find").press("Enter")
    expect(tab.page.locator(".st-key-method-p_km")).to_be_visible()
    expect(tab.page.locator(".st-key-method-tau_all")).to_have_count(0)
    assert 0 < tab.page.locator('[class*="st-key-method-"]').count() < everything
    tab.page.get_by_label("Find").fill("no such <b>thing</b>")
    tab.page.get_by_label("Find").press("Enter")
    expect(tab.notice("info")).to_have_text("ℹNo metric, no check and no tool mentions no such <b>thing</b>.")


@pytest.mark.parametrize(
    ("name", "looks"),
    [("reference", [("light", PHONE), ("dark", DESKTOP)]), ("odd", [("dark", PHONE), ("light", DESKTOP)])],
    ids=["reference", "odd"],
)
def test_nothing_sticks_out_of_the_window_light_or_dark(name, looks, tab, library):
    tab.open(eval=library.ids[name])
    for page in PAGES:
        tab.page.set_viewport_size(DESKTOP)
        tab.switch(page)
        for scheme, viewport in looks:
            tab.page.emulate_media(color_scheme=scheme)
            tab.page.set_viewport_size(viewport)
            _fits(tab, page, scheme)


def test_a_phone_in_the_dark(server, open_tab, library):
    agent = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36"
    tab = open_tab(server, viewport=PHONE, color_scheme="dark", has_touch=True, is_mobile=True, user_agent=agent)
    tab.open(eval=library.ids["reference"])
    _fits(tab, "", "dark")
    for page in ("acceptance_length", "throughput", "methods"):
        tab.switch(page)
        _fits(tab, page, "dark")


def _fits(tab, page, scheme):
    expect(tab.page.get_by_test_id("stApp")).to_have_css("background-color", BACKGROUNDS[scheme])
    for title in TABLES[page]:
        expect(tab.table(title)).to_be_visible()
    for part in ("html", "[data-testid=stMain]"):
        tab.page.wait_for_function(f"document.querySelector('{part}').scrollWidth <= innerWidth")
    tab.sound()
