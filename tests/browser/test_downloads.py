"""What a page gives away: tables in every format, figures as pictures, the whole report."""

import io
import json
import re
from urllib.parse import parse_qs, urlsplit

import polars as pl
import pytest
from playwright.sync_api import expect

import specdash
from tests.report.reading_html import Page

RUN = "7_draft_best_of_10"


@pytest.fixture
def name(library):
    """Return the name of a file of the reference."""
    return lambda what: f"{library.ids['reference']}_{RUN}_{what}_specdash-{specdash.__version__}"


@pytest.fixture
def download(tab):
    """Open a menu, press one of its buttons and return the name and content of what comes."""

    def download(menu, button):
        tab.page.keyboard.press("Escape")
        tab.page.locator(f".st-key-{menu}_download").get_by_test_id("stPopoverButton").click()
        with tab.page.expect_download() as started:
            tab.page.get_by_role("button", name=button, exact=True).click()
        return started.value.suggested_filename, started.value.path().read_bytes()

    return download


def test_a_table_in_every_format(tab, library, download, name):
    tab.open("acceptance_length", eval=library.ids["reference"])
    found = {}
    for label, suffix in {"CSV": "csv", "JSON": "json", "Parquet": "parquet", "Markdown": "md", "LaTeX": "tex"}.items():
        file, content = download("acceptance_length", label)
        assert file == f"{name('acceptance_length')}.{suffix}"
        found[suffix] = content
    table = pl.read_csv(found["csv"])
    assert table.filter(dataset="gsm8k")["tau"].round(2).item() == 4.97
    assert table["evaluation"].unique().to_list() == [library.ids["reference"]]
    assert pl.read_parquet(io.BytesIO(found["parquet"])).equals(table.drop("evaluation", "run", "specdash"))
    assert json.loads(found["json"])["rows"] == pl.read_parquet(io.BytesIO(found["parquet"])).rows(named=True)
    # Between steps and τ may stand what the steps are worth, and ± after τ.
    assert re.search(r"^\| gsm8k \| math \| 191,119 \|.* 4\.97 \|", found["md"].decode(), re.MULTILINE)
    assert re.search(r"^gsm8k & math & 191,119 &.* 4\.97 &", found["tex"].decode(), re.MULTILINE)


def test_a_figure_as_pictures_and_its_data(tab, library, download, name):
    tab.open("acceptance_length", eval=library.ids["reference"])
    plot = tab.page.locator(".st-key-figure1_tau .js-plotly-plot")
    expect(plot.locator(".main-svg").first).to_be_visible()
    height = plot.evaluate("plot => plot._fullLayout.height")
    file, png = download("figure1_tau", "PNG")
    assert file == f"{name('figure1_tau')}.png"
    assert png.startswith(b"\x89PNG")
    assert [int.from_bytes(png[at : at + 4], "big") for at in (16, 20)] == [1800, 2 * height]
    file, svg = download("figure1_tau", "SVG")
    assert file == f"{name('figure1_tau')}.svg"
    assert b"gsm8k" in svg and b"rgb(255, 255, 255)" in svg
    file, csv = download("figure1_tau", "CSV")
    assert file == f"{name('figure1_tau')}.csv"
    assert pl.read_csv(csv).filter(dataset="humaneval")["tau"].round(2).item() == 5.29
    camera = plot.evaluate("plot => plot._context.toImageButtonOptions")
    assert (camera["filename"], camera["width"], camera["scale"]) == (name("figure1_tau"), 900, 2)


def test_the_report_of_what_is_looked_at_and_of_everything(tab, library, download):
    id_ = library.ids["reference"]
    tab.open("", eval=id_, run="7_draft", ds=["gsm8k", "alpaca"])
    file, content = download("report", "2 datasets of this run as HTML")
    assert file == f"{id_}_7_draft_specdash-{specdash.__version__}.html"
    page = Page(content.decode())
    assert list(page.table("Acceptance length")) == ["gsm8k", "alpaca", "all math", "all chat", "pooled"]
    (link,) = [urlsplit(link) for link in page.links if link.startswith("http")]
    assert link.netloc == urlsplit(tab.page.url).netloc
    query = parse_qs(link.query)  # controls at their defaults are named as well
    assert (query["eval"], query["run"], query["ds"]) == ([id_], ["7_draft"], ["gsm8k", "alpaca"])
    file, content = download("report", "All 2 runs as HTML")
    assert file == f"{id_}_specdash-{specdash.__version__}.html"
    page = Page(content.decode())
    assert page.table("Acceptance length")["gsm8k"]["steps"] == "19,254"
    assert page.table("Acceptance length", nth=1)["gsm8k"]["steps"] == "191,119"
    file, content = download("report", "All runs as JSON")
    assert file == f"{id_}_specdash-{specdash.__version__}.json"
    assert [run["name"] for run in json.loads(content)["runs"]] == ["7_draft", RUN]
