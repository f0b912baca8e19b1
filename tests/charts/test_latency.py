"""Figures of latencies: what is drawn of a few values worked out by hand."""

import math

import pytest

from specdash import charts
from tests.charts.drawing import is_empty, spec, trace

BASE, SPEC = charts.Side("base", [0.4, 0.1, 0.2, 0.3]), charts.Side("spec", [0.1, 0.05, 0.2])


def ecdf(base=BASE, spec=SPEC, theme="light"):
    return charts.latency_ecdf(base, spec, theme, measure="end-to-end latency")


def by_prompt(names, base, spec, theme="light"):
    prompts = charts.Prompts(names, base, spec)
    return charts.latency_by_prompt(prompts, theme, measure="time per output token", names=("a", "b"))


def test_shares_of_requests():
    chart = ecdf()
    assert chart.data.rows() == [
        ("base", 0.1, 0.25), ("base", 0.2, 0.5), ("base", 0.3, 0.75), ("base", 0.4, 1.0),
        ("spec", 0.05, pytest.approx(1 / 3)), ("spec", 0.1, pytest.approx(2 / 3)), ("spec", 0.2, 1.0),
    ]  # fmt: skip
    base = trace(chart, "base")
    assert (list(base.x), list(base.y)) == (pytest.approx([100, 200, 300, 400]), [0.25, 0.5, 0.75, 1.0])
    assert base.line.shape == "hv"  # a share holds until the next latency
    # Percentiles of type 7: 250 and 100 ms at the median, 385 and 190 ms at 95 %.
    assert chart.caption == (
        "End-to-end latency, base → spec: p50 250.00 → 100.00 ms, p95 385.00 → 190.00 ms, p99 397.00 → 198.00 ms."
    )
    assert [shape.y0 for shape in chart.figure.layout.shapes] == [0.5, 0.95, 0.99]


def test_many_requests_are_drawn_in_few_points_and_kept_in_the_data():
    chart = ecdf(charts.Side("base", [i / 1000 for i in range(1, 10_001)]))
    drawn = trace(chart, "base")
    assert len(drawn.x) == 1500
    assert (drawn.x[0], drawn.x[-1], drawn.y[-1]) == (pytest.approx(1), pytest.approx(10_000), 1)
    assert chart.data.height == 10_003


def test_prompt_against_prompt():
    """Speed-ups 2, 2 and 1/2: the geometric mean is ∛2."""
    chart = by_prompt(["p", "q", "r"], [0.2, 0.4, 0.1], [0.1, 0.2, 0.2])
    assert chart.data.columns == ["prompt", "base_seconds", "spec_seconds", "speedup"]
    assert chart.data["speedup"].to_list() == pytest.approx([2, 2, 0.5])
    dots = trace(chart, "a prompt")
    assert (list(dots.x), list(dots.y)) == (pytest.approx([200, 400, 100]), pytest.approx([100, 200, 200]))
    mean = next(t for t in chart.figure.data if (t.name or "").startswith("speed-up"))
    assert [x / y for x, y in zip(mean.x, mean.y, strict=True)] == pytest.approx([2 ** (1 / 3)] * 2)
    equal = trace(chart, "equal")
    assert list(equal.x) == list(equal.y)
    assert chart.caption.startswith("2 of 3 prompts are faster with speculation")
    assert "0.500 to 2, 1.26 in the geometric mean" in chart.caption


def test_both_axes_have_one_scale():
    axes = spec(by_prompt(["p", "q"], [0.2, 0.4], [0.01, 0.02]))["layout"]
    assert (
        axes["xaxis"]["range"]
        == axes["yaxis"]["range"]
        == pytest.approx([math.log10(10 / 1.15), math.log10(400 * 1.15)])
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_to_draw(theme):
    assert is_empty(ecdf(charts.Side("base", []), theme=theme))
    nothing = charts.latency_by_prompt(None, theme, measure="TTFT", names=("a", "b"))
    assert is_empty(nothing) and "nothing to pair" in nothing.figure.layout.annotations[0].text


def test_one_value_is_drawn():
    chart = ecdf(charts.Side("base", [0.2]), charts.Side("spec", [0.2]))
    assert list(trace(chart, "base").y) == [1]
    assert by_prompt(["p"], [0.2], [0.2]).data["speedup"].to_list() == [1]
