"""The HTML report as somebody opens it: from disk, with no network, in both themes and on paper."""

import json
import subprocess
import sys

import pytest
from playwright.sync_api import expect

import specdash
from tests import evaluations
from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.dashboard import PATIENCE
from tests.browser.server import ROOT

PAPER = {"light": "rgb(255, 255, 255)", "dark": "rgb(15, 23, 30)"}
INK = {"light": "#16232E", "dark": "#E4EBF0"}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write the report of an evaluation with the command line and return its path."""
    folder = tmp_path_factory.mktemp("reports")

    def write(name):
        source = evaluations.REFERENCE if name == "reference" else evaluations.BUILT[name]().write(folder)
        out = folder / f"{name}.html"
        if not out.exists():
            command = [sys.executable, "-m", "specdash", "report", str(source), "--format", "html", "-o", str(out)]
            subprocess.run(command, cwd=ROOT, check=True, timeout=300)
        return out

    return write


@pytest.fixture
def opened(browser, written):
    """Open a report from disk, the network cut; it may ask for nothing and complain of nothing."""
    contexts, complaints, asked, own = [], [], [], []

    def open(name, viewport=DESKTOP, theme="light"):
        context = browser.new_context(viewport=viewport, color_scheme=theme, offline=True, accept_downloads=True)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        own.append(written(name).as_uri())
        page.goto(own[-1])
        return page

    yield open
    for context in contexts:
        context.close()
    assert [url for url in asked if not url.startswith("blob:")] == own
    # The browser's own software renderer talks of its speed.
    assert not [complaint for complaint in complaints if "GL Driver Message" not in complaint]


def scrolled(page):
    """Scroll to every figure, folded ones too, and return the plots by the names of their figures."""
    for summary in page.locator("details.aside > summary").all():
        summary.click()
    plots = {}
    for figure in page.locator("figure").all():
        figure.scroll_into_view_if_needed()
        plot = figure.locator(".plot")
        expect(plot.locator(".main-svg").first).to_be_visible()
        expect(figure.locator("figcaption")).to_have_text(plot.get_attribute("aria-label"))
        plots[figure.get_attribute("id")] = plot
    return plots


@pytest.mark.parametrize(
    ("name", "theme", "viewport"),
    [
        ("reference", "light", DESKTOP),
        ("one", "dark", DESKTOP),
        ("counters", "dark", PHONE),
    ],
)
def test_every_figure_is_shown(name, theme, viewport, opened):
    page = opened(name, viewport, theme)
    specs = json.loads(page.locator("#specdash-figures").text_content())["specs"]
    plots = scrolled(page)
    assert list(plots) == list(specs)
    for figure, plot in plots.items():
        drawn = plot.evaluate("p => ({traces: p._fullData.length, ink: p._fullLayout.font.color})")
        assert drawn == {"traces": len(specs[figure]["light"]["data"]), "ink": INK[theme]}
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def test_the_other_theme_on_demand(opened):
    page = opened("one")
    expect(page.locator("body")).to_have_css("background-color", PAPER["light"])
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("body")).to_have_css("background-color", PAPER["dark"])
    page.locator("figure").first.scroll_into_view_if_needed()
    assert page.locator(".plot").first.evaluate("p => p._fullLayout.font.color") == INK["dark"]
    page.get_by_role("button", name="Light").click()
    expect(page.locator("body")).to_have_css("background-color", PAPER["light"])
    assert page.locator(".plot").first.evaluate("p => p._fullLayout.font.color") == INK["light"]


def test_paper_shows_every_figure_in_light(opened):
    page = opened("one", theme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("body")).to_have_css("background-color", PAPER["light"])
    shown = page.locator(".plot:not(details.aside .plot)")
    assert shown.count() > 5
    for plot in shown.all():
        assert plot.evaluate("p => [p._fullLayout.font.color, p._fullLayout.width]") == [INK["light"], 680]


def test_figures_are_saved_in_light_named_and_sized(opened, tmp_path):
    page = opened("one", theme="dark")
    figure = page.locator("figure#run1-figure1_tau")
    saved = {}
    for format in ("png", "svg"):
        with page.expect_download() as started:
            figure.get_by_role("button", name=format.upper()).click()
        name = page.locator("meta[name=evaluation]").get_attribute("content")
        assert started.value.suggested_filename == f"{name}_run1-figure1_tau_specdash-{specdash.__version__}.{format}"
        started.value.save_as(tmp_path / f"figure.{format}")
        saved[format] = (tmp_path / f"figure.{format}").read_bytes()
    assert saved["png"].startswith(b"\x89PNG")
    assert int.from_bytes(saved["png"][16:20], "big") == 1800
    assert b'width="900"' in saved["svg"] and b"rgb(255, 255, 255)" in saved["svg"]
