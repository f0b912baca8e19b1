"""What the calculator's figures draw and say, against golden values and numbers computed by hand."""

import math

import pytest

from specdash import charts
from specdash.charts import text
from specdash.speed import outlook
from specdash.speed.pipeline import LATENCY_ONLY, Pipeline
from specdash.speed.sweep import over_rtt
from tests.charts.drawing import is_empty, trace
from tests.helpers import golden
from tests.speed.test_lap import EVERY_COST
from tests.speed.test_outlook import rows

GOLDEN = golden("golden_wan.json")["full"]


def at(pipeline, block, *names):
    return outlook.at_block(rows(*names), pipeline, 7, block)


def test_bars_below_the_dashed_bound():
    chart = charts.speed_bars(at(Pipeline(bandwidth_mbit_s=100), 7, "gsm8k", "alpaca"), "light", block=7)
    bars = chart.figure.data[0]
    assert list(bars.x) == pytest.approx([23.94, 13.68], abs=0.005)
    ceiling = trace(chart, "latency-only bound")
    assert list(ceiling.x[::3]) == pytest.approx([39.75, 22.72], abs=0.01)
    assert "px" in ceiling.line.dash  # dashed
    assert list(trace(chart, "no speculation").x) == pytest.approx([1 / 0.135322] * 2, rel=1e-5)
    assert chart.caption == (
        "At K′ = 7 one stream makes 13.7 (alpaca) to 23.9 (gsm8k) tok/s. Over no speculation that is a speed-up of "
        "1.85 (alpaca) to 3.24 (gsm8k). It is 60 % of the latency-only bound on each of 2."
    )


def test_bars_say_what_is_slower_than_no_speculation():
    slow = Pipeline(rtt_ms=1, stage_per_token_ms=50)
    chart = charts.speed_bars(at(slow, 7, "gsm8k", "alpaca"), "light", block=7)
    assert "2 of 2 are slower than no speculation." in chart.caption


def test_speed_by_block_marks_the_fastest():
    made = at(Pipeline(bandwidth_mbit_s=100), 7, "gsm8k", "alpaca")
    chart = charts.speed_by_block(made, "light", chosen=5, ceiling=("gsm8k", [8.0] * 8))
    stars = trace(chart, "fastest K′")
    assert (list(stars.x), list(stars.y)) == ([6, 4], pytest.approx([24.02, 14.97], abs=0.005))
    assert chart.caption == "The fastest K′ is 4 (alpaca) to 6 (gsm8k)."
    assert trace(chart, "bound, gsm8k").line.dash == "dash"
    assert chart.figure.layout.shapes[0].x0 == 5
    drawn = chart.data.filter(chart.data["fastest"])
    assert drawn.select("dataset", "block").rows() == [("gsm8k", 6), ("alpaca", 4)]


def test_lines_hold_the_golden_rates():
    made = at(EVERY_COST, 7, "gsm8k", "alpaca")
    swept = [row | {"tok_s_over": [1.0, row["tok_s"]]} for row in made]
    along = charts.Along("rtt_ms", "RTT of a hop (ms)", "RTT {} ms", [25, 50], 50)
    chart = charts.speed_lines(swept, "light", along=along, ceiling=("alpaca", [22.7, 11.4]))
    assert trace(chart, "gsm8k").y[1] == pytest.approx(GOLDEN["gsm8k"][7])
    assert trace(chart, "bound, alpaca").line.dash == "dash"
    assert chart.caption == (
        "At RTT 25 ms one stream makes 1.0 tok/s on each of 2. At RTT 50 ms one stream makes 9.0 (alpaca) to 15.7 "
        "(gsm8k) tok/s. Dashed: the latency-only bound of alpaca."
    )
    assert chart.data.columns == ["dataset", "family", "rtt_ms", "tokens_per_second"]


def test_the_map_follows_the_fastest_block():
    tau = outlook.taus(rows("alpaca"), 7)[0]
    pipeline = Pipeline(bandwidth_mbit_s=1000, stage_ms=4, stage_per_token_ms=3, draft_ms=4)
    rtts = [5.0, 25.0, 500.0]
    swept = over_rtt(pipeline, tau, rtts)
    chart = charts.block_rtt_map(
        "alpaca", "light", rtts_ms=rtts, tok_s=swept.tok_s.tolist(), best=swept.best_k.tolist(), chosen=(25.0, 7)
    )
    cells, _, best, chosen = chart.figure.data
    assert list(best.y)[1] == 3  # with those costs alpaca should draft 3 tokens at RTT 25 ms
    assert list(best.x) == pytest.approx([math.log10(rtt) for rtt in rtts])
    assert [row[1] for row in cells.z] == pytest.approx([v / swept.tok_s[0][1] for v in swept.tok_s[:, 1]])
    assert cells.z[0] == pytest.approx((1, 1, 1))
    assert (chosen.x[0], chosen.y[0]) == (pytest.approx(math.log10(25)), 7)
    fastest = chart.data.filter(chart.data["fastest"])
    assert fastest["block"].to_list() == swept.best_k.tolist()
    assert chart.caption.startswith(f"On alpaca the fastest K′ goes from {best.y[0]} at RTT 5 ms (speed-up ")


def test_a_map_of_one_known_block_says_why_there_is_none():
    unknown = [[8.0], [None], [None]]
    assert is_empty(charts.block_rtt_map("d", "light", rtts_ms=[25.0], tok_s=unknown, best=[0], chosen=(25.0, 2)))


def test_the_parts_of_a_lap():
    parts = {"latency": [0.25, 0.25], "transfer": [0.0, 0.01], "compute": [0.05, 0.06], "draft": [0, 0.08]}
    chart = charts.lap_split(parts | {"overhead": [0.0, 0.0]}, "light", chosen=1)
    assert [bar.name for bar in chart.figure.data] == ["latency", "transfer", "compute", "draft"]
    assert list(trace(chart, "draft").y) == [0, 80]
    assert chart.caption == (
        "At K′ = 1 a lap takes 400 ms, 1.33 times that of a lap without speculation: latency 62 %, transfer 2 %, "
        "compute 15 %, draft 20 %."
    )
    shares = chart.data.filter(chart.data["block"] == 1)["share"]
    assert shares.sum() == pytest.approx(1)
    assert is_empty(charts.lap_split(dict.fromkeys(charts.PARTS, (0.0, 0.0)), "light", chosen=1))


def test_shares_of_responses():
    given = [{"dataset": "d", "family": "math", "timed": 4, "reach": 0.5, "reach_over": [1, 0.75, 0]}]
    chart = charts.share_reaching(given, "light", speeds=[1, 5, 9], goal=6)
    assert list(trace(chart, "d").y) == [100, 75, 0]
    assert chart.caption == "6 tok/s are reached by 50 % (d) of the responses."
    assert chart.figure.layout.shapes[0].x0 == 6
    assert chart.data["share"].to_list() == [1, 0.75, 0]


def test_times_of_an_answer():
    keys = ("time_s", "time_sd_s", "time_p5_s", "time_p50_s", "time_p95_s")
    given = [{"dataset": "d", "family": "math"} | dict(zip(keys, (10.2, 0.8, 9, 10, 12), strict=True))]
    chart = charts.answer_times(given, "light", tokens=200, about="Said of steps.")
    (marks,) = chart.figure.data
    assert (marks.x[0], marks.error_x.array[0], marks.error_x.arrayminus[0]) == (10, 2, 1)
    assert chart.caption == (
        "200 tokens take 10.2 s (d) in the mean. The standard deviation is 0.80 s (d). Said of steps."
    )


def test_streams_that_fill_a_pipeline():
    cells = [
        {"aggregate": 22.1, "per_stream": 22.1, "cap": 497.0, "saturation": 22.5},
        {"aggregate": 176.7, "per_stream": 22.1, "cap": 497.0, "saturation": 22.5},
    ]
    chart = charts.stream_fill("gsm8k", "light", streams=[1, 8], cells=cells, chosen=8, caveat="No batching.")
    assert list(trace(chart, "all streams").y) == [22.1, 176.7]
    assert trace(chart, "what the busiest device allows").line.dash == "dash"
    assert chart.caption == (
        "8 streams of gsm8k make 177 tok/s together, 22.1 each. From 22.5 streams on they wait for each other; no more "
        "than 497 tok/s fit. No batching."
    )
    free = [cell | {"cap": None, "saturation": None} for cell in cells]
    chart = charts.stream_fill("gsm8k", "light", streams=[1, 8], cells=free, chosen=8, caveat="No batching.")
    assert [t.name for t in chart.figure.data] == ["all streams", "each stream"]
    assert "streams never wait for each other" in chart.caption


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (39.76, "39.8"),
        (0.012345, "0.0123"),
        (1250.0, "1,250"),
        (1250.4, "1,250"),
        (25, "25"),
        (0, "0"),
        (-9.841, "−9.84"),
    ],
)
def test_numbers_of_three_digits(value, words):
    assert text.sized(value) == words


def test_the_bound_is_what_the_report_prints():
    chart = charts.speed_bars(at(LATENCY_ONLY, 7, "gsm8k"), "light", block=7)
    assert chart.figure.data[0].x[0] == pytest.approx(39.8, abs=0.05)
    assert "It is 100 % of the latency-only bound (gsm8k)." in chart.caption


def test_whiskers_of_speeds_lie_within_the_axis():
    rows = [row | {"tok_s_ci": [row["tok_s"] / 2, 3 * row["bound_tok_s"]]} for row in at(LATENCY_ONLY, 7, "gsm8k")]
    chart = charts.speed_bars(rows, "light", block=7)
    low, high = chart.figure.layout.xaxis.range
    assert low == 0 and high > 3 * rows[0]["bound_tok_s"]
