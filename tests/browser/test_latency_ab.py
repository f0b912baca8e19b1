"""Two arms compared: the verdict and its cells, a measure that is chosen and goes into the address, and back."""

from playwright.sync_api import expect

from tests.browser.conftest import PHONE


def row_of(tab, measure):
    head, *rows = tab.cells("Paired by prompt")
    row = next(row for row in rows if row[0] == measure)
    return dict(zip(head, row, strict=True))


def test_two_arms_are_judged_in_the_measure_of_the_address(tab, open_tab, server, library):
    tab.open("latency_ab", eval=library.ids["ab"])
    verdict = tab.page.locator(".sd-judgement")
    expect(verdict).to_contain_text("▲ faster Faster: a speed-up of 1.6")
    expect(verdict).to_contain_text("24 prompts paired")
    row = row_of(tab, "TPOT")
    assert (row["prompts"], row["judgement"]) == ("24", "faster")
    assert 1.5 < float(row["from"]) < float(row["speed-up"]) < float(row["to"]) < 1.7
    expect(tab.page.locator(".js-plotly-plot .main-svg").first).to_be_visible()

    tab.page.locator(".st-key-measure").get_by_text("TTFT", exact=True).click()
    expect(verdict).to_contain_text("in time to first token")
    chosen = {"eval": library.ids["ab"], "measure": "TTFT"}
    tab.carries(**chosen)
    said = verdict.inner_text()

    other = open_tab(server, viewport=PHONE, color_scheme="dark").open("latency_ab", **chosen)
    expect(other.page.locator(".sd-judgement")).to_have_text(said)
    for part in ("html", "[data-testid=stMain]"):
        other.page.wait_for_function(f"document.querySelector('{part}').scrollWidth <= innerWidth")

    tab.switch("counters")
    tab.switch("latency_ab")
    expect(verdict).to_have_text(said)
    tab.carries(**chosen)
