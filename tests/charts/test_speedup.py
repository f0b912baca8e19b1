"""Speed-up curves: which traces there are, what marks break-even, what the data say."""

import pytest

from specdash import charts
from specdash.charts import Axis, Curve, Mark
from specdash.charts.palette import colours
from tests.charts.drawing import is_empty, spec, trace

AXIS = Axis("Draft cost c", "c", decimals=2, chosen=0.5)
CURVES = (
    Curve("wrong", [0.0, 1.0], [2.0, -1.0], documented=True, break_even=1 / 3),
    Curve("right", [0.0, 1.0], [2.0, 0.8], break_even=0.75, colour_as="AR"),
    Curve("its run", [0.0, 1.0], [1.9, None], markers=True, colour_as="AR", break_even=4.0),
)
MARKS = (
    Mark("pooled", 0.5, 1.3, low=1.1, high=1.5),
    Mark("seen", 0.5, 1.2, observed=True),
    Mark("d", 0.2, 1.6, small=True),
)


@pytest.fixture(params=["light", "dark"])
def drawn(request):
    return charts.speedup_curves(CURVES, AXIS, request.param, marks=MARKS, caption="A caption."), request.param


def test_what_is_documented_is_grey_and_dashed(drawn):
    chart, theme = drawn
    assert trace(chart, "wrong").line.color == colours(theme).muted
    assert trace(chart, "wrong").line.dash == "dash"
    assert trace(chart, "right").line.dash == "solid"
    assert trace(chart, "right").line.color == trace(chart, "its run").line.color != colours(theme).muted


def test_plain_decoding_and_the_chosen_value_are_lines(drawn):
    shapes = spec(drawn[0])["layout"]["shapes"]
    plain, chosen = shapes
    assert plain["y0"] == plain["y1"] == 1
    assert chosen["x0"] == chosen["x1"] == 0.5


def test_break_even_is_marked_where_the_axis_shows_it(drawn):
    crosses = [t for t in drawn[0].figure.data if t.marker.symbol == "x"]
    assert [(t.x[0], t.y[0]) for t in crosses] == [(1 / 3, 1), (0.75, 1)]


def test_points_have_their_interval(drawn):
    own = trace(drawn[0], "pooled")
    assert (own.error_y.arrayminus[0], own.error_y.array[0]) == pytest.approx((0.2, 0.2))
    assert "95 % interval 1.100 to 1.500" in own.hovertemplate
    assert trace(drawn[0], "seen").marker.symbol == "star"
    assert trace(drawn[0], "seen").hovertemplate.count("observed") == 1
    assert trace(drawn[0], "d").showlegend is False


def test_everything_is_within_the_axis(drawn):
    low, high = drawn[0].figure.layout.yaxis.range
    assert low < -1 and high > 2


def test_data(drawn):
    data = drawn[0].data
    assert data.columns == ["kind", "name", "c", "speedup", "low", "high"]
    assert data["kind"].to_list() == ["documented"] * 2 + ["curve"] * 4 + ["break-even"] * 2 + [
        "run",
        "observed",
        "run",
    ]
    assert data.filter(name="its run")["speedup"].to_list() == [1.9, None]


def test_names_are_shown_as_they_are():
    chart = charts.speedup_curves([Curve("<b>x</b>", [0, 1], [1.0, 2.0])], AXIS, "light", caption="c.")
    assert chart.figure.data[0].name == "&lt;b&gt;x&lt;/b&gt;"
    assert "<b>x</b>" not in chart.figure.to_json()


def test_nothing_to_draw():
    assert is_empty(charts.speedup_curves([Curve("x", [0, 1], [None, None])], AXIS, "light", caption="c."))
