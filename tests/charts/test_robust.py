"""Every chart on every kind of data: small, large, odd, incomplete; and what may not be in a figure."""

import json
import math
import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdash import charts
from specdash.charts.base import HEIGHT
from specdash.metrics import KEYS
from tests.charts.drawing import SMALL, Drawn, every, is_empty, spec, texts
from tests.charts.test_values import many
from tests.evaluations import LONG, ODD_NAMES, responses_of
from tests.helpers import Response
from tests.metrics.logs import FAMILIES as XYZ
from tests.metrics.logs import constant_logs, quick, variable_logs

TRICKY = (
    *ODD_NAMES,
    "%{y}",
    "a & b",
    "$x$ and $y$",
    "<a href='x'>y</a>",
    "&lt;",
    "line\nbreak",
    " ",
    "\u202etxt",
    "pooled",
    "constructor",
)
"""Names plotly could take for markup, templates, formulas or entities."""

LIMIT = 1_500_000  # bytes of a figure's JSON


def always(k):
    return lambda rng: k


CASES = {
    "small": SMALL,
    "one response": [Response(((7, 3), (7, 7), (7, 0)), "gsm8k", "q", 0, 14)],
    "one step": [Response(((7, 7),), "gsm8k", "q", 0, 9)],
    "nothing accepted": [Response(((3, 0), (3, 0)), "gsm8k", "q", 0), Response(((3, 0),), "alpaca", "q", 0)],
    "forty datasets": responses_of([f"dataset-{i:02d}" for i in range(40)], k=always(7), copies=2),
    "K = 1": responses_of(["gsm8k", "mbpp"], k=always(1)),
    "K = 16": responses_of(["gsm8k", "mbpp"], k=always(16)),
    "K = 64": responses_of(["gsm8k"], k=always(64)),
    "variable K": responses_of(["gsm8k", "mbpp", "alpaca"], k=lambda rng: rng.randint(0, 5)),
    "odd names": responses_of(TRICKY, k=always(5), prompts=TRICKY[:3], copies=2),
    "no prompts": [Response(((2, 1), (2, 2)), "d", None, None), Response(((2, 0),), "e", None, None)],
    "five prompts": responses_of(["gsm8k", "mbpp"], k=always(5), prompts="01234"),
    "rare positions": [
        *responses_of(["gsm8k"], k=always(2), prompts=map(str, range(9))),
        Response(((9, 8), (9, 3)), "gsm8k", "0"),
    ],
    "undrafted": [Response(((0, 0), (2, 1)), "d"), Response(((0, 0),), "d")],
}


def drawn(case, **kind):
    return Drawn(CASES[case], **kind)


def checked(chart):
    """What holds for every chart; returns its figure as JSON."""
    assert isinstance(chart, charts.Chart)
    text = chart.figure.to_json()
    found = json.loads(text, parse_constant=pytest.fail)  # NaN and Infinity are no JSON
    assert len(text) < LIMIT
    layout = found["layout"]
    assert layout["height"] == int(layout["height"]) and layout["height"] > 0
    assert chart.caption.strip() and chart.caption.endswith(".")
    assert "None" not in chart.caption and "nan" not in chart.caption
    if is_empty(chart):
        assert layout["annotations"][0]["text"].replace("<br>", " ") == chart.caption
    else:
        assert layout["xaxis"]["title"]["text"]
        assert layout["yaxis"].get("ticktext") or layout["yaxis"]["title"]["text"]
        assert chart.data.height > 0
    return found


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("intervals", [False, True])
def test_every_chart_of_every_case(case, theme, intervals):
    run = drawn(case, intervals=intervals)
    for _, draw in every(run.rows, run.families, run.responses, theme):
        checked(draw())


@quick
@given(st.one_of(constant_logs, variable_logs))
def test_every_chart_of_random_logs(log):
    run = Drawn(log, XYZ.get)
    for _, draw in every(run.rows, run.families, run.responses):
        checked(draw())


def test_nothing_to_draw():
    no_responses = [pl.DataFrame(), drawn("small").responses.clear()]
    for rows in ([], [{"dataset": "d", "family": "other"}], [{"dataset": "d", "family": None} | dict.fromkeys(KEYS)]):
        for responses in no_responses:
            for name, draw in every(rows, [], responses):
                assert is_empty(draw()), name
                checked(draw())


@pytest.mark.parametrize("key", KEYS)
def test_a_metric_that_is_not_known(key):
    run = drawn("small")
    for unknown in (None, "elements"):
        rows = [dict(row) for row in run.rows]
        for row in rows[:1] if unknown else rows:
            row[key] = [None] * len(row[key]) if unknown and isinstance(row[key], list) else None
        for _, draw in every(rows, run.families, run.responses):
            checked(draw())


def test_rows_of_printed_ratios():
    row = {"dataset": "d", "family": "math"} | dict.fromkeys(KEYS)
    rows = [row | {"tau": 4.97, "verify_rate": 0.62, "p_exposed": [0.9, None, 0.7]}]
    chart = charts.acceptance_by_position(rows, "light", "p_exposed")
    assert list(chart.figure.data[0].y) == [0.9, None, 0.7]
    assert not is_empty(charts.tau_by_dataset(rows, "light"))
    assert is_empty(charts.outcome_heatmap(rows, "light"))


def test_lone_points_are_marked():
    rows = [{"dataset": "pooled", "family": None, "p": [0.5]}, {"dataset": "d", "family": "math", "p": [0.6, None]}]
    for trace in charts.acceptance_by_position(rows * 2, "light").figure.data:
        assert trace.mode == "lines+markers"


def test_names_are_shown_as_they_are():
    run = drawn("odd names")
    allowed = {"<br>", "<sub>", "</sub>"}
    for name, draw in every(run.rows, run.families, run.responses):
        found = spec(draw())
        del found["layout"]["template"]
        for text in texts(found):
            for tag in allowed:
                text = text.replace(tag, "")
            assert "<" not in text and "$" not in text, (name, text)
            assert text not in ("__proto__", "constructor"), name  # members of every JavaScript object
            assert not re.search(r"&(?!lt;|gt;|amp;|#\d+;)", text), (name, text)  # what plotly would not decode


def test_long_names_are_cut_in_ticks_and_whole_on_hovering():
    run = Drawn([Response(((2, 1),), LONG, "q", 0), Response(((2, 1),), "<b>x</b>", "q", 0)])
    chart = charts.tau_by_dataset(run.rows, "light")
    long, bold, _ = chart.figure.layout.yaxis.ticktext
    assert long == LONG[:23] + "…"
    assert bold == "&lt;b&gt;x&lt;/b&gt;"
    hovered = chart.figure.data[0].customdata[0][0]
    assert hovered.replace("<br>", " ") == " ".join(LONG.split())
    assert max(map(len, hovered.split("<br>"))) <= 40


def test_equal_cut_names_stay_apart():
    names = [LONG, LONG[:299] + "x"]
    run = Drawn([Response(((2, i + 1),), name, "q", 0) for i, name in enumerate(names)])
    chart = charts.tau_by_dataset(run.rows, "light")
    assert [t.y[0] for t in chart.figure.data[:2]] == [0, 1]


def test_a_dataset_called_pooled_is_a_dataset():
    run = Drawn([Response(((2, 1),), "pooled"), Response(((2, 2),), "gsm8k")])
    chart = charts.tau_by_dataset(run.rows, "light")
    assert list(chart.figure.layout.yaxis.ticktext) == ["pooled", "gsm8k", "pooled"]
    assert chart.data["family"].to_list() == ["other", "math", None]


def test_forty_datasets():
    few, wide = drawn("small"), drawn("forty datasets")
    for draw in (charts.tau_by_dataset, charts.outcome_heatmap, charts.position_heatmap, charts.position_gains):
        assert draw(wide.rows, "light").figure.layout.height > 40 * 20 > draw(few.rows, "light").figure.layout.height
    for chart in (
        charts.acceptance_by_position(wide.rows, "light"),
        charts.tau_by_block(wide.rows, "light"),
        charts.sigma_against_geometric(wide.rows, "light"),
        charts.length_against_tau(wide.responses, "light"),
    ):
        listed = [t.name for t in chart.figure.data if t.showlegend is not False]
        assert listed[0] == "other (40)"
        assert len(listed) <= 4
        assert chart.figure.layout.height <= HEIGHT + 60
        hidden = [t for t in chart.figure.data if t.showlegend is False and t.hoverinfo != "skip"]
        assert len(hidden) == 40 and {t.legendgroup for t in hidden} == {"other"}


def test_datasets_of_a_family_have_their_own_look():
    chart = charts.acceptance_by_position(drawn("forty datasets").rows, "light", pooled=False)
    looks = [(t.line.dash, t.marker.symbol) for t in chart.figure.data if t.showlegend is False]
    assert len(set(looks)) == 40


def test_a_look_does_not_depend_on_what_can_be_drawn():
    rows = [{"dataset": name, "family": "math", "p": [0.5, 0.4], "c": [0.5, 0.8]} for name in "abc"]
    whole = {t.name: (t.line.dash, t.marker.symbol) for t in charts.acceptance_by_position(rows, "light").figure.data}
    rows[1]["c"] = None
    for trace in charts.acceptance_by_position(rows, "light", "c").figure.data:
        assert whole[trace.name] == (trace.line.dash, trace.marker.symbol)


@pytest.mark.parametrize("responses", [3000, 30_000])
def test_size_of_figures_with_many_responses(responses):
    frame = many(responses).with_columns(prompt=pl.concat_str(pl.lit("p" * 300), pl.col("prompt")))
    for chart in (
        charts.length_against_tau(frame, "light"),
        charts.gap_split(frame, "light"),
        charts.tau_violins(frame, "light"),
    ):
        checked(chart)


def test_responses_without_a_step_are_left_out():
    frame = many(3).with_columns(tau=pl.Series([2.0, None, math.nan]))
    assert charts.length_against_tau(frame, "light").caption.startswith("1 response.")
    assert charts.tau_violins(frame, "light").data["responses"].unique().to_list() == [1]
