"""The throughput calculator in a browser: links restore every control, and every way to set one shows everywhere."""

import pytest
from playwright.sync_api import expect

from tests import helpers
from tests.browser.dashboard import eventually

SPEEDS = "tok/s of one stream"
EVERY_CONTROL = {
    "preset": "100 Mbit/s links",
    "speeds_of": "gsm8k",
    "rtt": "37.3",
    "stages": "12",
    "k_prime": "5",
    "mbit_s": "123.5",
    "return_hop": "false",
    "one_way": "10, 20, 10, 20, 10, 20, 10, 20, 10, 20, 10",
    "jitter_ms": "0.25",
    "stage_ms": "4",
    "token_ms": "0.15",
    "overhead_ms": "1",
    "hidden": "4000",
    "value_bytes": "1",
    "residual": "4",
    "return_bytes": "28",
    "draft_kind": "autoregressive",
    "draft_ms": "2.5",
    "other_k_prime": "3",
    "answer_tokens": "250",
    "goal_tok_s": "12.5",
    "streams": "9",
    "split_model": "false",
    "question": "Lap",
}
"""Every control, each at another value than it has at first."""

FOLDED = {
    "Network": ["jitter_ms"],
    "Compute": ["stage_ms", "token_ms", "overhead_ms"],
    "Activations": ["hidden", "value_bytes", "residual", "return_bytes"],
    "Draft": ["draft_ms"],
    "Questions": ["other_k_prime", "answer_tokens", "goal_tok_s", "streams"],
}


def slider(tab, key):
    return tab.page.locator(f".st-key-{key} input[type=range]")


def box(tab, key):
    return tab.page.locator(f".st-key-{key}_both input[type=number]")


def speed_of(tab, dataset):
    """tok/s of a dataset in the table."""
    head, *rows = tab.cells(SPEEDS)
    return float(next(row for row in rows if row[0] == dataset)[head.index("tok/s")])


def fold(tab, name):
    """Open or close one of the folded groups of controls."""
    tab.page.get_by_test_id("stPopover").get_by_role("button", name=name).click()


def same(tab, key, spelled):
    """The slider and the box of a quantity both show a value."""
    expect(box(tab, key)).to_have_value(spelled)
    expect(slider(tab, key)).to_have_attribute("aria-valuetext", spelled)


def test_a_link_restores_every_control_on_a_fresh_server(fresh_server, open_tab, library):
    tab = open_tab(fresh_server).open("throughput", eval=library.ids["reference"], **EVERY_CONTROL)
    # τ(5) of gsm8k over 160 ms of hops, 48 ms of compute and 0.15 ms a token, the transfer and the drafts.
    transfer_ms = 6 * 11 * 4000 * 4 * 8 / 123.5e3
    lap_ms = 160 + 12 * (4 + 6 * 0.15) + transfer_ms + 5 * 2.5 + 1
    expect(tab.metric("one lap")).to_have_text(f"{lap_ms:.1f}")
    for key in ("rtt", "stages", "k_prime", "mbit_s"):
        same(tab, key, EVERY_CONTROL[key])
    for key in ("preset", "speeds_of"):
        expect(tab.page.locator(f".st-key-{key}").get_by_role("combobox")).to_have_value(EVERY_CONTROL[key])
    for group, keys in FOLDED.items():
        fold(tab, group)
        for key in keys:
            same(tab, key, EVERY_CONTROL[key])
        if group == "Network":
            expect(tab.page.get_by_role("switch", name="Count the return hop")).not_to_be_checked()
            expect(tab.page.locator(".st-key-one_way input")).to_have_value(EVERY_CONTROL["one_way"])
        if group == "Draft":
            expect(tab.page.get_by_role("radio", name="autoregressive")).to_be_checked()
        if group == "Questions":
            expect(tab.page.get_by_role("switch", name="More stages share one model")).not_to_be_checked()
        fold(tab, group)
    expect(tab.page.get_by_role("tab", name="Lap")).to_have_attribute("aria-selected", "true")
    expect(tab.page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    expect(tab.notice("error")).to_have_count(0)
    tab.carries(eval=library.ids["reference"], **EVERY_CONTROL)


def test_the_reports_bound_and_a_pipeline_with_narrow_links(tab, library):
    tab.open("throughput", eval=library.ids["reference"], speeds_of="gsm8k")
    expect(tab.metric("tok/s").first).to_have_text("39.76")
    assert speed_of(tab, "gsm8k") == pytest.approx(39.8, abs=0.05)
    box(tab, "mbit_s").fill("100")
    box(tab, "mbit_s").press("Enter")
    expect(tab.metric("one lap")).to_have_text("207.6")
    assert 23.93 <= speed_of(tab, "gsm8k") <= 23.96
    expect(tab.metric("fastest K′")).to_have_text("6")
    expect(tab.metric("bound, tok/s")).to_have_text("39.76")
    tab.open("throughput", eval=library.ids["reference"], speeds_of="gsm8k", k_prime="5")
    expect(tab.main.get_by_text("τ(K′) = 4.40 tokens a lap")).to_be_visible()
    head, *rows = tab.cells(SPEEDS)
    assert float(rows[0][head.index("τ(K′=5)")]) == pytest.approx(4.40, abs=0.005)


def test_a_move_of_the_slider_shows_in_the_box_the_address_and_the_table(tab, library):
    tab.open("throughput", eval=library.ids["reference"])
    slider(tab, "rtt").focus()
    tab.page.keyboard.press("ArrowRight")
    same(tab, "rtt", "30")
    tab.carries(eval=library.ids["reference"], rtt="30")
    eventually(lambda: abs(speed_of(tab, "gsm8k") - 2 * 4.97 / 0.3) < 0.05, lambda: tab.cells(SPEEDS)[1], tab.page)


def test_quick_moves_are_not_undone_and_leave_no_trail(tab, library):
    tab.open("throughput", eval=library.ids["reference"])
    same(tab, "rtt", "25")
    trail = tab.page.evaluate("history.length")
    slider(tab, "rtt").focus()
    for _ in range(6):
        tab.page.keyboard.press("ArrowRight")
        tab.page.wait_for_timeout(60)
    same(tab, "rtt", "100")
    tab.carries(eval=library.ids["reference"], rtt="100")
    tab.page.wait_for_timeout(1000)
    same(tab, "rtt", "100")
    assert tab.page.evaluate("history.length") == trail


def test_a_typed_number_shows_on_the_slider_and_the_way_back_takes_it_back(tab, library):
    tab.open("throughput", eval=library.ids["reference"], stages="20")
    box(tab, "rtt").fill("33.25")
    box(tab, "rtt").press("Enter")
    same(tab, "rtt", "33.25")
    tab.carries(eval=library.ids["reference"], stages="20", rtt="33.25")
    slider(tab, "rtt").focus()
    tab.page.keyboard.press("ArrowLeft")
    same(tab, "rtt", "30")
    tab.page.go_back()
    same(tab, "rtt", "25")
    tab.carries(eval=library.ids["reference"], stages="20")
    tab.page.go_forward()
    same(tab, "rtt", "30")


def test_an_empty_bandwidth_is_no_limit(tab, library):
    tab.open("throughput", eval=library.ids["reference"], speeds_of="gsm8k", mbit_s="100")
    expect(tab.metric("one lap")).to_have_text("207.6")
    box(tab, "mbit_s").fill("")
    box(tab, "mbit_s").press("Enter")
    expect(tab.metric("one lap")).to_have_text("125.0")
    tab.carries(eval=library.ids["reference"], speeds_of="gsm8k")


def test_a_preset_sets_every_control(tab, library):
    tab.open(
        "throughput",
        eval=library.ids["reference"],
        speeds_of="alpaca",
        rtt="100",
        hidden="4000",
        draft_kind="autoregressive",
    )
    tab.select("preset", "Regions: RTT 50 ms, 1 Gbit/s, block drafter")
    for key, value in {"rtt": "50", "stages": "10", "mbit_s": "1000"}.items():
        same(tab, key, value)
    expect(tab.main.get_by_text("An example, not a measured system")).to_be_visible()
    golden = helpers.golden("golden_wan.json")["full"]["alpaca"][7]  # from printed rates, the page's from counts
    assert speed_of(tab, "alpaca") == pytest.approx(golden, abs=0.01)
    tab.carries(eval=library.ids["reference"], speeds_of="alpaca", preset="Regions: RTT 50 ms, 1 Gbit/s, block drafter")


def test_another_page_and_back_keep_what_was_set(tab, library):
    tab.open("throughput", eval=library.ids["reference"], k_prime="5")
    slider(tab, "rtt").focus()
    tab.page.keyboard.press("ArrowRight")
    same(tab, "rtt", "30")
    tab.switch("methods")
    tab.carries(eval=library.ids["reference"])
    tab.back("Throughput")
    same(tab, "rtt", "30")
    same(tab, "k_prime", "5")
    tab.carries(eval=library.ids["reference"], rtt="30", k_prime="5")
    tab.switch("methods")
    tab.switch("throughput")
    same(tab, "rtt", "30")
    tab.carries(eval=library.ids["reference"], rtt="30", k_prime="5")


def test_a_link_that_says_what_cannot_be_is_told(tab, library):
    tab.open(
        "throughput",
        eval=library.ids["reference"],
        rtt="9999",
        k_prime="9",
        speeds_of="nope",
        hidden="0",
        one_way="1, 2",
    )
    told = tab.notice("error")
    expect(told.filter(has_text="RTT of a hop (ms) cannot be 9999, as this link says; it is 25 here.")).to_be_visible()
    expect(told.filter(has_text="Block length K′ cannot be 9")).to_be_visible()
    expect(told.filter(has_text="Acceptance lengths of cannot be nope")).to_be_visible()
    expect(told.filter(has_text="Hidden size (values) cannot be 0")).to_be_visible()
    expect(told.filter(has_text="found 2; expected 10, one for each traversal of a lap")).to_be_visible()
    expect(tab.metric("one lap")).to_have_text("125.0")


def test_another_run_brings_its_own_block_length(tab, library):
    tab.open("throughput", eval=library.ids["k16"], k_prime="12")
    same(tab, "k_prime", "12")
    tab.select("eval", f"k1 · {library.ids['k1']}")
    same(tab, "k_prime", "1")
    tab.sound()
