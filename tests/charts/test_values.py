"""What is drawn, against numbers computed by hand, from the golden values or by another library."""

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from specdash import charts
from specdash.charts.outcomes import kl_divergence, total_variation
from specdash.charts.prompts import density
from specdash.speed.bound import tokens_per_second
from tests.charts.drawing import SMALL, Drawn, is_empty, mle_of, trace
from tests.helpers import Response, log_a

small = Drawn(SMALL)
GOLDEN_FAMILIES = {"mathlike": "math", "chatlike": "chat"}
golden_a = Drawn(log_a(), GOLDEN_FAMILIES.get)


def cells(chart, **where):
    """The rows of a chart's data that hold some values."""
    return chart.data.filter(*(pl.col(key) == value for key, value in where.items()))


def test_tau_and_sigma():
    chart = charts.tau_by_dataset(small.rows, "light", families=small.families)
    marks = [t for t in chart.figure.data if t.x[0] is not None]
    assert [t.x[0] for t in marks] == pytest.approx([2, 4 / 3, 2, 4 / 3, 12 / 7])
    assert [t.y[0] for t in marks] == [0, 1, 2, 3, 4]
    # gsm8k accepts 2, 1, 0, 1: mean 1, mean square 6/4.
    assert marks[0].error_x.array[0] == pytest.approx(math.sqrt(0.5))
    assert list(chart.figure.layout.yaxis.ticktext) == ["gsm8k", "alpaca", "all math", "all chat", "pooled"]
    assert chart.data.columns == ["dataset", "family", "steps", "tau", "step_std", "low", "high"]
    assert chart.data["steps"].to_list() == [4, 3, 4, 3, 7]
    assert chart.caption.startswith("τ is 1.33 (alpaca) to 2.00 (gsm8k) tokens per step, 1.71 pooled.")
    assert "0.47 (alpaca) to 0.71 (gsm8k) tokens" in chart.caption


def test_tau_without_sigma():
    chart = charts.tau_by_dataset([{"dataset": "d", "family": "math", "tau": 4.97}], "light")
    assert chart.figure.data[0].error_x.array is None
    assert chart.caption == "τ is 4.97 tokens per step (d). The spread of single steps is not known here."


def test_sigma_against_geometric():
    rows = [
        {"dataset": "x", "family": "math", "steps": 9, "tau": 5.0, "step_std": 2.4, "geometric_std": 2.7},
        {"dataset": "y", "family": "chat", "steps": 9, "tau": 3.0, "step_std": 2.0, "geometric_std": 1.9},
        {"dataset": "z", "family": "chat", "steps": 9, "tau": 3.0, "step_std": None, "geometric_std": 1.9},
    ]
    chart = charts.sigma_against_geometric(rows, "light")
    assert [(trace(chart, n).x[0], trace(chart, n).y[0]) for n in "xy"] == [(2.7, 2.4), (1.9, 2.0)]
    assert chart.data["difference"].to_list() == pytest.approx([-0.3, 0.1])
    assert chart.caption.endswith(": 1 of 2. Observed minus geometric σ is −0.30 (x) to +0.10 (y) tokens.")
    diagonal = trace(chart, "equal")
    assert diagonal.x == diagonal.y
    assert chart.figure.layout.xaxis.range == chart.figure.layout.yaxis.range == diagonal.x


def test_responses_one_by_one():
    frame = pl.DataFrame(
        {
            "dataset": ["d"] * 3,
            "family": ["code"] * 3,
            "prompt": ["a", "a", "b"],
            "copy": [0, 1, 0],
            "steps": [1, 2, 3],
            "accepted": [3, 4, 3],
            "tau": [4.0, 3.0, 2.0],
            "length": [10, 20, 30],
        }
    )
    chart = charts.length_against_tau(frame, "light")
    (points,) = chart.figure.data
    assert points.type == "scattergl"
    assert (list(points.x), list(points.y)) == ([10, 20, 30], [4, 3, 2])
    assert list(points.customdata[1]) == ["a", 1, 2]
    assert chart.caption == "3 responses. Within a dataset, length and τ_r correlate at r = −1.00 (d)."
    assert chart.data["layer"].unique().to_list() == ["response"]
    assert chart.data.select("prompt", "copy", "length", "tau").rows() == [
        ("a", 0, 10, 4.0),
        ("a", 1, 20, 3.0),
        ("b", 0, 30, 2.0),
    ]


def many(count, seed=1):
    rng = np.random.default_rng(seed)
    steps = rng.integers(1, 200, count)
    tau = np.round(1 + rng.beta(2, 2, count) * 7, 3)
    return pl.DataFrame(
        {
            "dataset": [f"d{i % 9}" for i in range(count)],
            "family": [("math", "code", "chat")[i % 3] for i in range(count)],
            "prompt": [f"prompt {i // 10}" for i in range(count)],
            "copy": [i % 10 for i in range(count)],
            "steps": steps,
            "accepted": (steps * (tau - 1)).astype(np.int64),
            "tau": tau,
            "length": (steps * tau).astype(np.int64),
        }
    )


def test_density_counts_every_response():
    frame = many(3001)
    chart = charts.length_against_tau(frame, "light")
    grid = chart.figure.data[0]
    assert grid.type == "heatmap"
    counts = np.array(grid.customdata)
    assert counts.sum() == 3001 == cells(chart, layer="cell")["responses"].sum()
    expected, _, _ = np.histogram2d(frame["length"], frame["tau"], bins=(60, 40))
    assert (counts == expected.T).all()
    z = np.array(grid.z, dtype=float)
    assert z[counts > 0] == pytest.approx(np.log10(counts[counts > 0]))
    assert np.isnan(z[counts == 0]).all()


def test_lines_are_means_of_similar_lengths():
    # Fifteen responses of lengths 1..15: three bins of five, with τ_r = length.
    frame = many(15).with_columns(
        dataset=pl.lit("d"), family=pl.lit("math"), length=pl.int_range(1, 16), tau=pl.int_range(1, 16).cast(float)
    )
    chart = charts.length_against_tau(frame, "light")
    line = trace(chart, "mean, math")
    assert list(line.x) == list(line.y) == [3, 8, 13]
    assert cells(chart, layer="mean")["responses"].to_list() == [5, 5, 5]


def test_gap_split_by_hand():
    # τ_r is 2 over one step and 4 over three: mean 3, harmonic mean 2/(1/2 + 1/4) = 8/3, τ = 1 + 10/4.
    frame = many(2).with_columns(
        dataset=pl.lit("d"),
        steps=pl.Series([1, 3]),
        accepted=pl.Series([1, 9]),
        tau=pl.Series([2.0, 4.0]),
    )
    chart = charts.gap_split(frame.with_columns(family=pl.lit("math")), "light")
    jensen, length, whole = chart.figure.data[:3]
    assert jensen.x[0] == pytest.approx(1 / 3)
    assert length.x[0] == pytest.approx(8 / 3 - 3.5)
    assert whole.x[0] == pytest.approx(-0.5)
    assert chart.data.select("response_mean", "harmonic_mean", "tau").row(0) == pytest.approx((3, 8 / 3, 3.5))
    assert chart.caption == (
        "d: the mean over responses minus τ is −0.500, of which +0.333 is the spread of τ_r alone and −0.833 "
        "response length (longer responses have a higher τ_r)."
    )


def test_gap_split_golden():
    data = charts.gap_split(golden_a.responses, "light").data
    printed = {"mathlike": (4.887793, 4.727764), "chatlike": (3.561809, 3.080516), "pooled": (4.357400, 3.894714)}
    for name, expected in printed.items():
        found = data.filter(pl.col("dataset") == name).select("response_mean", "harmonic_mean").row(0)
        assert found == pytest.approx(expected, abs=1e-6)
    assert (data["jensen"] >= 0).all()
    whole = data["response_mean"] - data["tau"]
    assert (data["jensen"] + data["length_effect"]).to_list() == pytest.approx(whole.to_list())


def test_acceptance_by_position():
    chart = charts.acceptance_by_position(small.rows, "light", "p")
    assert list(trace(chart, "gsm8k").x) == [0, 1]
    assert list(trace(chart, "gsm8k").y) == [3 / 4, 1 / 4]
    assert list(trace(chart, "pooled").y) == [4 / 7, 1 / 7]
    without = charts.acceptance_by_position(small.rows, "light", pooled=False)
    assert [t.name for t in without.figure.data] == ["gsm8k", "alpaca"]
    assert chart.figure.layout.xaxis.title.text == "Draft position (0 = first drafted token)"
    assert chart.caption == (
        "The first drafted token is accepted in 33.3 % (alpaca) to 75.0 % (gsm8k) of steps. "
        "The last one, position 1, is accepted in 0.0 % (alpaca) to 25.0 % (gsm8k)."
    )
    conditional = charts.acceptance_by_position(small.rows, "light", "c", families=small.families)
    assert list(trace(conditional, "all math").y) == [3 / 4, 1 / 3]
    assert cells(conditional, dataset="all math", position=1)["value"].item() == 1 / 3


def test_undefined_positions_are_gaps():
    rows = [{"dataset": "d", "family": "chat", "steps": 5, "c": [0.5, None, 0.4, None]}]
    chart = charts.acceptance_by_position(rows, "light", "c")
    (line,) = chart.figure.data
    assert list(line.y) == [0.5, None, 0.4, None]
    assert line.connectgaps is False
    assert chart.data["value"].to_list() == [0.5, None, 0.4, None]
    assert chart.caption.endswith("The last one, position 3, is reached by no step.")
    cell = charts.position_heatmap(rows, "light", "c").figure.data[0]
    assert list(cell.z[0]) == [50, None, 40, None]


def test_outcome_heatmap():
    chart = charts.outcome_heatmap(small.rows, "light")
    grid = chart.figure.data[0]
    assert [list(row) for row in grid.z] == [
        pytest.approx([25, 50, 25]),
        pytest.approx([200 / 3, 100 / 3, 0]),
        pytest.approx([300 / 7, 300 / 7, 100 / 7]),
    ]
    assert list(chart.figure.layout.xaxis.ticktext) == ["0", "1", "2=K"]
    (outline,) = chart.figure.layout.shapes
    assert (outline.x0, outline.x1, outline.y0, outline.y1) == (1.5, 2.5, -0.5, 2.5)
    assert chart.caption == (
        "Nothing is accepted in 25.0 % (gsm8k) to 66.7 % (alpaca) of steps; all K = 2 drafted tokens (outlined) in "
        "0.0 % (alpaca) to 25.0 % (gsm8k)."
    )
    assert cells(chart, dataset="gsm8k", accepted=1)["share"].item() == 0.5


def test_outcome_heatmap_says_when_drafts_vary():
    drawn = Drawn([Response(((2, 1), (1, 1)), "d")])
    assert charts.outcome_heatmap(drawn.rows, "light").caption.endswith(
        "Not every step drafted 2, so a step may have reached its own limit in another column."
    )


def test_misfit_measures():
    observed, model = [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]
    assert kl_divergence(observed, model) == pytest.approx(0.25 * math.log(2))
    assert kl_divergence(observed, model) == pytest.approx(stats.entropy(observed, model))
    assert total_variation(observed, model) == 0.25
    assert kl_divergence([0.5, 0.5], [1.0, 0.0]) == math.inf
    assert kl_divergence([1.0, 0.0], [1.0, 0.0]) == 0


def test_geometric_fit():
    row = {"dataset": "d", "family": "math", "outcome": [0.25, 0.5, 0.25], "implied_alpha": 0.62}
    chart = charts.geometric_fit(row | {"geometric_outcome": [0.25, 0.25, 0.5]}, "light", mle=[0.5, 0.25, 0.25])
    observed, moment, gap, mle, mle_gap = chart.figure.data
    assert list(observed.y) == [25, 50, 25]
    assert list(moment.y) == [25, 25, 50]
    assert list(gap.y) == [0, 25, -25]
    assert (list(mle.y), list(mle_gap.y)) == ([50, 25, 25], [-25, 25, 0])
    assert "matched on τ (α = 0.620) KL 0.1733 nats/step, total variation 0.250" in chart.caption
    assert "by maximum likelihood KL 0.1733 nats/step" in chart.caption
    assert "25.0 % of steps accept the whole draft of 2 (50.0 % under the model)" in chart.caption
    assert chart.data["observed_minus_moment"].to_list() == [0, 0.25, -0.25]
    alone = charts.geometric_fit(row, "light")
    assert len(alone.figure.data) == 1
    assert alone.caption == "d: observed only; the model needs a known mix of block lengths."
    assert alone.data["moment"].null_count() == 3


def test_geometric_fit_golden():
    row = next(row for row in golden_a.rows if row["dataset"] == "mathlike")
    mle = mle_of(row, 7)
    assert kl_divergence(row["outcome"], mle) == pytest.approx(0.03513, abs=5e-6)
    assert total_variation(row["outcome"], mle) == pytest.approx(0.1069, abs=5e-5)
    caption = charts.geometric_fit(row, "light", mle=mle).caption
    assert "by maximum likelihood (α = 0.836) KL 0.0351 nats/step, total variation 0.107" in caption


def test_density():
    values = np.random.default_rng(3).normal(4, 0.5, 20_000)
    grid, height = density(values)
    assert (grid[0], grid[-1]) == (values.min(), values.max())
    assert np.trapezoid(height, grid) == pytest.approx(1, abs=0.01)
    inside = np.abs(grid - 4) < 1
    assert height[inside] == pytest.approx(stats.norm.pdf(grid[inside], 4, 0.5), rel=0.1)
    assert density(np.full(50, 2.0)) is None
    assert density(np.array([2.0])) is None


def test_density_keeps_its_mass_at_a_limit():
    values = np.random.default_rng(4).uniform(1, 8, 5000)
    grid, height = density(values)
    assert height == pytest.approx(np.full(grid.size, 1 / 7), rel=0.15)


def test_violins():
    frame = many(2000)
    chart = charts.tau_violins(frame, "light")
    mark = trace(chart, "τ")
    by_dataset = frame.group_by("dataset", maintain_order=True).agg(
        tau=1 + pl.col("accepted").sum() / pl.col("steps").sum(), p50=pl.col("tau").median()
    )
    assert list(mark.x) == pytest.approx(by_dataset["tau"].to_list())
    assert list(trace(chart, "median").x) == pytest.approx(by_dataset["p50"].to_list())
    body = chart.figure.data[0]
    assert body.fill == "toself"
    own = frame.filter(pl.col("dataset") == "d0")["tau"]
    assert (min(body.x), max(body.x)) == (own.min(), own.max())
    assert max(np.abs(body.y)) == pytest.approx(0.42)
    p90 = cells(chart, dataset="d0", layer="p90")["tau"].item()
    assert p90 == pytest.approx(np.percentile(own.to_numpy(), 90))


def test_few_responses_are_drawn_one_by_one():
    chart = charts.tau_violins(small.responses, "light")
    assert chart.figure.data[0].mode == "markers"
    assert list(chart.figure.data[0].x) == [1.5, 2.5]
    assert "2 datasets with few responses: drawn one by one." in chart.caption
    assert cells(chart, dataset="gsm8k", layer="response")["tau"].to_list() == [2.5, 1.5]


def test_within_share():
    rows = [
        {"dataset": "x", "family": "math", "within_share": 0.49, "within_share_corrected": 0.55},
        {"dataset": "y", "family": "chat", "within_share": 0.05, "within_share_corrected": None},
        {"dataset": "z", "family": "chat", "within_share": None, "within_share_corrected": None},
    ]
    chart = charts.within_share(rows, "light")
    assert [list(bars.x) for bars in chart.figure.data[:2]] == [
        pytest.approx([49, 5]),
        [pytest.approx(55), None],
    ]
    assert chart.caption == (
        "Copies of one prompt make up 5 % (y) to 49 % (x) of the variance of τ_r; the rest lies between prompts. "
        "Corrected for the number of copies it is 55 % (x)."
    )


RTT = {"rate": tokens_per_second, "stages": 10}


def test_speed_over_rtt():
    rows = [{"dataset": "d", "family": "math", "tau": 5.0}, {"dataset": "e", "family": "chat", "tau": 3.0}]
    chart = charts.rtt_lines(rows, "light", rtts_ms=(10, 1000), chosen_ms=25, **RTT)
    line, plain = trace(chart, "d"), trace(chart, "no speculation")
    # 2τ/(N·RTT): 10/(10 · 0.01 s) = 100 tok/s at 10 ms, a hundredth of that at 1 s.
    assert (line.x[0], line.x[-1]) == pytest.approx((10, 1000))
    assert (line.y[0], line.y[-1]) == pytest.approx((100, 1))
    assert plain.line.dash == "dash"
    assert np.divide(line.y, plain.y) == pytest.approx(np.full(len(plain.y), 5))
    assert {chart.figure.layout.xaxis.type, chart.figure.layout.yaxis.type} == {"log"}
    assert [shape.x0 for shape in chart.figure.layout.shapes] == [25]
    assert chart.caption == (
        "At RTT 25 ms over 10 stages, one stream makes at most 24.0 (e) to 40.0 (d) tok/s, "
        "against 8.0 without speculation."
    )


def test_speed_at_some_rtts():
    rows = [{"dataset": "d", "family": "math", "tau": 5.0}]
    chart = charts.rtt_bars(rows, "light", rtts_ms=(10, 100), **RTT)
    assert [list(bars.x) for bars in chart.figure.data[:2]] == [pytest.approx([100]), pytest.approx([10])]
    marks = trace(chart, "no spec.")
    assert list(marks.x) == pytest.approx([20, 2])
    assert list(marks.y) == [chart.figure.data[0].y[0], chart.figure.data[1].y[0]]
    assert cells(chart, dataset="no speculation")["tokens_per_second"].to_list() == pytest.approx([20, 2])
    assert chart.caption.startswith(
        "At most, over 10 stages: 100.0 tok/s (d) at RTT 10 ms; 10.0 tok/s (d) at RTT 100 ms."
    )
    assert is_empty(charts.rtt_bars(rows, "light", rtts_ms=(), **RTT))


def test_measured_blocks_beside_the_implied_line():
    real = [charts.Measured("b2, gsm8k", [1, 3], [2.5, 2.9], "math", "gsm8k"), charts.Measured("else", [1], [1.2])]
    chart = charts.tau_by_block(small.rows, "light", measured=real)
    beside, implied = trace(chart, "b2, gsm8k"), trace(chart, "gsm8k")
    assert beside.showlegend is False and trace(chart, "else").showlegend is not False
    assert beside.line.color == implied.line.color and beside.marker.symbol == f"{implied.marker.symbol}-open"
    assert trace(chart, "measured: open").marker.symbol == "circle-open"
    # Cut at 1 gsm8k gives 1.75, measured was 2.5.
    assert chart.caption.endswith(
        "Open marks are measured; implied is off by −30.0 % (gsm8k at K = 1). else: another workload."
    )
    assert cells(chart, source="measured")["tau"].to_list() == [2.5, 2.9, 1.2]


def test_shorter_blocks():
    real = [charts.Measured("real", [1, 3], [1.8, 2.2])]
    chart = charts.tau_by_block(small.rows, "light", chosen=1, measured=real)
    assert (list(trace(chart, "gsm8k").x), list(trace(chart, "gsm8k").y)) == ([1, 2], [1.75, 2.0])
    assert (list(trace(chart, "real").x), list(trace(chart, "real").y)) == ([1, 3], [1.8, 2.2])
    assert [shape.x0 for shape in chart.figure.layout.shapes] == [1]
    assert chart.figure.layout.xaxis.range == (0.6, 3.4)
    assert chart.caption == (
        "Cut at K′ = 1, τ would be 1.33 (alpaca) to 1.75 (gsm8k) tokens per step. "
        "Against K′ = 2 that gives up 0.00 (alpaca) to 0.25 (gsm8k) tokens per step. "
        "Open marks are measured, of another workload."
    )
    assert cells(chart, source="measured")["tau"].to_list() == [1.8, 2.2]
    assert cells(chart, dataset="pooled", block=2)["tau"].item() == pytest.approx(12 / 7)


def test_a_block_outside_the_log_is_not_marked():
    chart = charts.tau_by_block(small.rows, "light", chosen=5)
    assert not chart.figure.layout.shapes
    assert chart.caption.endswith("At K′ = 2 τ is 1.33 (alpaca) to 2.00 (gsm8k).")


def test_gains_add_up_to_tau():
    chart = charts.position_gains(golden_a.rows, "light", chosen=5)
    bars = [t for t in chart.figure.data if t.type == "bar"]
    assert len(bars) == 7

    assert 1 + sum(t.x[0] for t in bars) == pytest.approx(4.855715, abs=1e-6)
    assert bars[4].marker.color[0] != bars[6].marker.color[0]
    assert cells(chart, dataset="mathlike")["gain"].sum() == pytest.approx(3.855715, abs=1e-6)


def test_pooled_row_of_one_dataset_is_left_out():
    drawn = Drawn([Response(((2, 1), (2, 2)), "d")])
    assert [row["dataset"] for row in drawn.rows] == ["d", "pooled"]
    chart = charts.outcome_heatmap(drawn.rows, "light")
    assert list(chart.figure.layout.yaxis.ticktext) == ["d"]
