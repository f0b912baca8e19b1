"""Colours and independence: contrast, themes, families, colour vision, and what Streamlit does to plotly."""

import itertools
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from specdash import charts
from specdash.charts import palette
from specdash.charts.base import log_axis
from specdash.charts.palette import colours, contrast, family_colour, on_scale, text_on
from tests.charts.drawing import SMALL, Drawn, every, spec

THEMES = ("light", "dark")
run = Drawn(SMALL)


def test_contrast():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.005)  # the well-known near miss of 4.5
    assert contrast("#123456", "#123456") == 1


@pytest.mark.parametrize("theme", THEMES)
def test_colours_stand_out_from_the_page(theme):
    look = colours(theme)
    for colour in (*look.families.values(), *look.further, *look.runs, look.muted):
        assert contrast(colour, look.page) >= 3, colour
    assert contrast(look.ink, look.page) >= 7
    assert contrast(look.ink, look.surface) >= 7
    assert contrast(look.muted, look.page) >= 4.5  # ticks are text


@pytest.mark.parametrize("theme", THEMES)
def test_numbers_read_on_every_cell(theme):
    for share in np.linspace(0, 1, 101):
        cell = on_scale(colours(theme).scale, share)
        assert contrast(text_on(cell), cell) >= 4.5


def test_page_colours_are_those_of_the_app():
    settings = Path(__file__).parents[2] / ".streamlit" / "config.toml"
    theme = tomllib.loads(settings.read_text("utf-8"))["theme"]
    for name in THEMES:
        assert colours(name).page == theme[name]["backgroundColor"]
        assert colours(name).ink == theme[name]["textColor"]
        assert list(colours(name).families.values())[:3] == theme[name]["chartCategoricalColors"][:3]


def test_families_keep_their_colour():
    assert family_colour("math", "light") == "#2A66C8"
    assert family_colour("code", "light") == "#BF5B04"
    assert family_colour("chat", "light") == "#2E7D4F"
    assert family_colour("speech", "light") == family_colour("speech", "light") in colours("light").further
    assert family_colour(None, "dark") == colours("dark").ink
    rows = [{"dataset": "x", "family": "math", "p": [0.5, 0.2]}, {"dataset": "y", "family": "chat", "p": [0.4, 0.1]}]
    for order in (rows, rows[::-1], rows[:1]):
        for trace in charts.acceptance_by_position(order, "light").figure.data:
            assert trace.line.color == {"x": "#2A66C8", "y": "#2E7D4F"}[trace.name]


# What people with each deficiency see, on linear RGB. source: Machado, Oliveira & Fernandes 2009, severity 1.0.
VISION = {
    "all cones": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def lab(linear):
    """CIE L*a*b* (D65) of linear RGB."""
    matrix = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    x = matrix @ np.clip(linear, 0, 1) / [0.95047, 1, 1.08883]
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("vision", VISION)
def test_runs_stay_apart_for_everyone(theme, vision):
    linear = [
        np.array([((v / 255 + 0.055) / 1.055) ** 2.4 if v > 10 else v / 255 / 12.92 for v in bytes.fromhex(c[1:])])
        for c in colours(theme).runs
    ]
    seen = [lab(np.array(VISION[vision]) @ c) for c in linear]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 25


def test_run_colours():
    found = charts.run_colours(["b", "a", "b", "c"], "light")
    assert list(found) == ["b", "a", "c"]
    assert len(set(found.values())) == 3
    assert found != charts.run_colours(["b", "a", "c"], "dark")
    assert len(charts.run_colours(map(str, range(9)), "light")) == 9


def drawn_colours(value):
    """Every ``#RRGGBB`` of a figure."""
    if isinstance(value, str):
        yield from [value] if value.startswith("#") and len(value) == 7 else []
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from drawn_colours(inner)


def test_themes_differ():
    pairs = zip(*(every(run.rows, run.families, run.responses, theme) for theme in THEMES), strict=True)
    for (name, light), (_, dark) in pairs:
        light, dark = spec(light()), spec(dark())
        common = set(drawn_colours(light["data"])) & set(drawn_colours(dark["data"]))
        assert common <= {"#000000", "#FFFFFF"}, name  # text on cells and bars follows what is below it
        for figure, theme in ((light, "light"), (dark, "dark")):
            layout = figure["layout"]["template"]["layout"]
            assert layout["font"]["color"] == colours(theme).ink
            assert (layout["paper_bgcolor"], layout["plot_bgcolor"]) == (colours(theme).page, "rgba(0,0,0,0)")
            assert figure["layout"]["template"].get("data") in (None, {})


def test_every_drawn_series_stands_out():
    for theme in THEMES:
        for trace in charts.acceptance_by_position(run.rows, theme, families=run.families).figure.data:
            assert contrast(trace.line.color, colours(theme).page) >= 3
        for trace in charts.rtt_bars(
            run.rows, theme, lambda tau, rtt, stages: tau / rtt, stages=2, rtts_ms=(1, 2, 3)
        ).figure.data:
            if trace.type == "bar":
                assert all(contrast(colour, colours(theme).page) >= 3 for colour in trace.marker.line.color)


def test_faded_is_what_a_transparent_colour_looks_like():
    assert palette.faded("#000000", 0.5, "light") == "#808080"
    assert palette.faded("#2A66C8", 1, "light") == "#2A66C8"
    assert palette.faded("#2A66C8", 0, "light") == "#FFFFFF"


def in_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_knows_neither_streamlit_nor_the_rest():
    loaded = json.loads(in_python("import json, sys, specdash.charts; print(json.dumps(sorted(sys.modules)))"))
    assert "streamlit" not in loaded
    own = {name for name in loaded if name.startswith("specdash.")}
    below = {"specdash.schema", "specdash.verdict", "specdash._version"}
    assert {name for name in own if not name.startswith("specdash.charts")} == below


def test_streamlit_does_not_change_a_figure():
    code = """
from tests.charts.drawing import SMALL, Drawn, every
run = Drawn(SMALL)
def figures():
    return {name: draw().figure.to_json() for name, draw in every(run.rows, run.families, run.responses)}
before = figures()
import streamlit, plotly.io
from specdash.charts.base import _template
_template.cache_clear()
assert plotly.io.templates.default == "streamlit", plotly.io.templates.default
after = figures()
assert before == after, [name for name in before if before[name] != after[name]]
"""
    in_python(code)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1, 64, ["1", "2", "5", "10", "20", "50"]),
        (1, 500, ["1", "2", "5", "10", "20", "50", "100", "200", "500"]),
        (1, 100_000, ["1", "10", "100", "1,000", "10,000", "100,000"]),  # as many as a phone has room for
    ],
)
def test_ticks_of_a_logarithmic_axis(low, high, ticks):
    assert log_axis("", low, high)["ticktext"] == ticks
