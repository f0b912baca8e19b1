"""Intervals in figures: bands, bars, whiskers, and what they are called."""

import numpy as np
import pytest

from specdash import charts
from specdash.speed.bound import tokens_per_second
from tests.charts.drawing import Drawn, is_empty, spec, trace
from tests.helpers import golden, log_a

FAMILIES = {"mathlike": "math", "chatlike": "chat"}
sure = Drawn(log_a(), FAMILIES.get, intervals=True)
unsure = Drawn(log_a(), FAMILIES.get)
BANDS = "The bands are 95% intervals over prompts."


def bands(chart):
    return [t for t in chart.figure.data if t.type == "scatter" and t.fill == "toself"]


def close(value):
    return pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("rate", ["p", "c", "p_exposed", "p_km"])
def test_bands_by_position(rate):
    chart = charts.acceptance_by_position(sure.rows, "light", rate)
    assert chart.caption.endswith(BANDS)
    found = bands(chart)
    assert len(found) == 3  # two datasets and the pooled row
    for band, row in zip(found, sure.rows, strict=True):
        low, high = np.array(row[f"{rate}_ci"]).T
        assert list(band.x) == [*range(7), *range(6, -1, -1)]
        assert list(band.y) == close([*low, *high[::-1]])
        line = trace(chart, row["dataset"])
        assert band.legendgroup == line.legendgroup  # one click hides both
        assert not band.showlegend
        assert f"({low[2]:.3f}" in line.customdata[2][0].replace(" (95%: ", "(")
    by_name = chart.data.filter(dataset="mathlike")
    assert by_name["low"].to_list() == close([low for low, _ in sure.rows[0][f"{rate}_ci"]])
    assert by_name["high"].to_list() == close([high for _, high in sure.rows[0][f"{rate}_ci"]])


def test_a_band_of_the_golden_interval():
    chart = charts.acceptance_by_position(sure.rows, "light", "c")
    expected = golden("golden.json")["mathlike"]["c6_logit_jack_t"]
    last = chart.data.filter(dataset="mathlike", position=6).row(0, named=True)
    assert [last["low"], last["high"]] == close(expected)
    assert trace(chart, "mathlike").customdata[6][0] == " (95%: 0.653 to 0.733)"


def test_bands_by_block():
    chart = charts.tau_by_block(sure.rows, "light", chosen=5)
    assert chart.caption.endswith(BANDS)
    expected = golden("golden.json")["chatlike"]["ci_log_jack"]
    row = chart.data.filter(dataset="chatlike", block=7).row(0, named=True)
    assert [row["low"], row["high"]] == close(expected)
    assert len(bands(chart)) == 3


def test_bands_over_rtt_are_multiples_of_the_interval_of_tau():
    chart = charts.rtt_lines(sure.rows, "light", tokens_per_second, stages=10)
    low, high = golden("golden.json")["mathlike"]["ci_log_jack"]
    for row in chart.data.filter(dataset="mathlike").iter_rows(named=True):
        assert [row["low"], row["high"]] == close([2 * end / (10 * row["rtt_ms"] / 1000) for end in (low, high)])
    assert chart.data.filter(dataset="no speculation")["low"].null_count() == 40


def test_bars_say_half_of_the_width():
    chart = charts.rtt_bars(sure.rows, "light", tokens_per_second, stages=10, rtts_ms=(25,))
    low, high = golden("golden.json")["mathlike"]["ci_log_jack"]
    # 4.8557 · 8 and (5.2008 − 4.5335)/2 · 8.
    assert chart.figure.data[0].text[0] == f"38.8 ± {(high - low) / 2 * 8:.1f}" == "38.8 ± 2.7"
    assert chart.caption.endswith("± is half the width of the 95% interval.")


def test_tau_with_the_spread_has_thick_bars():
    chart = charts.tau_by_dataset(sure.rows, "light")
    thick = [t for t in chart.figure.data if t.mode == "lines"]
    assert list(thick[0].x) == close(golden("golden.json")["mathlike"]["ci_log_jack"])
    assert chart.caption.endswith("The thick bars are 95% intervals over prompts.")
    assert "thick: 95% interval" in chart.figure.layout.xaxis.title.text


def test_how_sure_tau_is():
    chart = charts.tau_intervals(sure.rows, "light", families=sure.families)
    values = golden("golden.json")["chatlike"]
    row = chart.data.filter(dataset="chatlike").row(0, named=True)
    low, high = values["ci_log_jack"]
    assert [row["low"], row["high"]] == close([low, high])
    half = 1.959964 * values["se_naive"]
    assert [row["naive_low"], row["naive_high"]] == close([values["tau"] - half, values["tau"] + half])
    mark = next(t for t in chart.figure.data if t.customdata is not None and t.customdata[0][0] == "chatlike")
    assert [mark.error_x.arrayminus[0], mark.error_x.array[0]] == close([values["tau"] - low, high - values["tau"]])
    assert chart.caption == (
        "τ is known to ± 0.33 (mathlike) to 0.73 (chatlike) tokens per step. That is 3.7 (mathlike) to 9.5 (chatlike) "
        "times as wide as if steps were independent: steps of one prompt resemble each other."
    )


def test_nothing_of_intervals_without_them():
    assert is_empty(charts.tau_intervals(unsure.rows, "light"))
    for chart in (
        charts.acceptance_by_position(unsure.rows, "light"),
        charts.tau_by_block(unsure.rows, "light"),
        charts.tau_by_dataset(unsure.rows, "light"),
        charts.rtt_lines(unsure.rows, "light", tokens_per_second, stages=10),
        charts.rtt_bars(unsure.rows, "light", tokens_per_second, stages=10, rtts_ms=(25,)),
    ):
        assert not bands(chart)
        assert "95%" not in chart.caption and "±" not in chart.caption
        assert "95%" not in str(spec(chart))
        assert chart.data["low"].null_count() == chart.data.height


def test_a_band_has_a_gap_where_there_is_no_interval():
    rows = [
        {"dataset": "d", "family": "math", "p": [0.9, 0.8, 0.7, 0.6], "p_ci": [[0.8, 1], [0.7, 0.9], None, [0.5, 0.7]]}
    ]
    chart = charts.acceptance_by_position(rows, "light")
    (band,) = bands(chart)
    assert list(band.x) == [0, 1, 1, 0, None, 3, 3]
    assert list(band.y) == [0.8, 0.7, 0.9, 1, None, 0.5, 0.7]
    assert trace(chart, "d").customdata[2][0] == ""


def test_bands_of_many_datasets_go_with_their_family():
    rows = [row | {"dataset": f"d{i}"} for i in range(20) for row in sure.rows[:1]]
    chart = charts.acceptance_by_position(rows, "light")
    assert {band.legendgroup for band in bands(chart)} == {"math"}
