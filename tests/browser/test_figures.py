"""Every figure as the browser draws it: its traces, its names, its theme."""

import re

import pytest
from playwright.sync_api import expect

from tests import evaluations
from tests.browser.dashboard import eventually

DATASETS = ["gsm8k", "math500", "aime25", "humaneval", "mbpp", "livecodebench", "mt-bench", "alpaca", "arena-hard-v2"]
LENGTH = ["figure1_tau", "figure1_sigma", "figure2_length", "figure2_gap"]
POSITIONS = ["figure3_p", "figure3_heatmap_p", "figure3_c", "figure3_heatmap_c"]
FIGURES = {
    "acceptance_length": LENGTH,
    "draft_positions": POSITIONS,
    "step_outcomes": ["figure4_outcomes", "figure5_geometric"],
    "shorter_blocks": ["tau_by_block", "position_gains"],
    "prompt_difficulty": ["figure6_violins", "figure6_share"],
}
VARYING = [*POSITIONS, "figure3_p_exposed", "figure3_heatmap_p_exposed", "figure3_p_km", "figure3_heatmap_p_km"]
OTHERWISE = {
    ("variable", "draft_positions"): VARYING,
}
INK = {"light": "rgb(22, 35, 46)", "dark": "rgb(228, 235, 240)"}

_DRAWN = """e => ({
    traces: e._fullData.filter(t => t.visible === true).map(
        t => ({type: t.type, name: t.name, points: (t.x || t.z || []).length})),
    ticks: [...e.querySelectorAll('.ytick text')].map(t => t.textContent),
    legend: [...e.querySelectorAll('.legendtext')].map(t => t.textContent),
})"""


def figure(tab, key):
    return tab.page.locator(f".st-key-{key} .js-plotly-plot")


def drawn(tab, key):
    """What plotly has made of a figure, once it has."""
    found = figure(tab, key)
    expect(found.locator(".main-svg").first).to_be_visible()
    return found.evaluate(_DRAWN)


@pytest.mark.parametrize("name", ["reference", "one", "variable"])
def test_every_figure_is_drawn(name, tab, library):
    tab.open(eval=library.ids[name])
    for page, usual in FIGURES.items():
        tab.switch(page)
        keys = OTHERWISE.get((name, page), usual)
        for key in keys:
            found = drawn(tab, key)
            empty = name == "one" and key == "figure6_share"  # one response has no share to show, which is said
            assert found["traces"] or empty, (page, key)
            described = tab.page.locator(f".st-key-{key}").get_by_role("figure")
            expect(described).to_have_attribute("aria-label", re.compile(r".{20,}"))
        assert tab.page.locator(".js-plotly-plot").count() >= len(keys), page


def test_figures_hold_every_dataset(tab, library):
    tab.open("acceptance_length", eval=library.ids["reference"])
    rows = [*DATASETS, "all math", "all code", "all chat", "pooled"]
    assert drawn(tab, "figure1_tau")["ticks"] == rows
    assert set(DATASETS) <= {t["name"] for t in drawn(tab, "figure1_sigma")["traces"]}
    assert drawn(tab, "figure2_length")["traces"][0]["type"] == "heatmap"  # a density: 30,296 points stay smooth
    tab.switch("draft_positions")
    lines = {t["name"]: t for t in drawn(tab, "figure3_p")["traces"]}
    assert lines.keys() >= {*DATASETS, "pooled"}
    assert {lines[name]["points"] for name in DATASETS} == {7}
    assert drawn(tab, "figure3_heatmap_c")["ticks"] == [*DATASETS, "pooled"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_legible_in_both_themes(scheme, tab, library):
    tab.page.emulate_media(color_scheme=scheme)
    tab.open("acceptance_length", eval=library.ids["reference"])
    title = figure(tab, "figure1_tau").locator(".xtitle")

    def ink():
        return title.evaluate("e => getComputedStyle(e).fill")

    eventually(lambda: ink() == INK[scheme], ink, tab.page)


def test_names_in_figures_are_shown_as_they_are(tab, library):
    tab.open("acceptance_length", eval=library.ids["odd"])
    shown = [name if len(name) <= 24 else name[:23] + "…" for name in evaluations.ODD_NAMES]
    assert drawn(tab, "figure1_tau")["ticks"][: len(shown)] == shown
