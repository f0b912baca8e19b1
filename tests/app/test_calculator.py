"""The calculator without a browser: its tables against the command line's numbers and sums by hand, its controls."""

import pytest

from specdash.report.sections.calculator import QUESTIONS
from tests import evaluations
from tests.app.dashboard import Dashboard
from tests.helpers import golden

GOLDEN = "Regions: RTT 50 ms, 1 Gbit/s, block drafter"
TOKEN_BYTES = 9 * 14_336 + 4
"""Bytes a token over nine forward hops and back."""


def by_name(rows):
    return {row["dataset"]: row for row in rows}


def rows_of(run):
    """The rows of the JSON by the names that tables have."""
    return by_name(run["datasets"]) | {f"all {row['dataset']}": row for row in run["families"]}


@pytest.mark.parametrize(("block", "mbit_s"), [(7, 100), (5, 100), (3, 1000), (0, 10)])
def test_speeds_follow_from_tau_and_the_lap(block, mbit_s, dashboard, reference):
    shown = dashboard("reference", k_prime=str(block), mbit_s=str(mbit_s)).page("throughput")
    cells = by_name(shown.tables()[0])
    laps = [0.125 + 8 * (k + 1) * TOKEN_BYTES / (mbit_s * 1e6) for k in range(8)]
    for name, row in rows_of(reference["7_draft_best_of_10"]).items():
        tau = [1.0, *row["tau_at_k"]]
        rates = [t / lap for t, lap in zip(tau, laps, strict=True)]
        assert cells[name][f"τ(K′={block})"] == pytest.approx(tau[block])
        assert cells[name]["tok/s"] == pytest.approx(rates[block])
        assert cells[name]["speed-up"] == pytest.approx(rates[block] / rates[0])
        assert cells[name]["bound"] == pytest.approx(row["tau"] / 0.125)
        assert cells[name]["of bound"] == pytest.approx(100 * rates[block] * 0.125 / row["tau"])
        assert cells[name]["fastest K′"] == rates.index(max(rates))
        assert cells[name]["tok/s there"] == pytest.approx(max(rates))
    assert cells["no speculation"]["tok/s"] == pytest.approx(1 / laps[0])


def test_the_golden_pipeline(dashboard):
    for block in range(8):
        shown = dashboard("reference", preset=GOLDEN, k_prime=str(block)).page("throughput")
        cells = by_name(shown.tables()[0])
        for name, rates in golden("golden_wan.json")["full"].items():
            assert cells[name]["tok/s"] == pytest.approx(rates[block], rel=1e-3)  # the golden ones are from printed p


def test_a_preset_and_a_control_by_hand_are_what_a_link_says(dashboard):
    by_link = dashboard("reference", preset=GOLDEN, stages="4", speeds_of="alpaca").page("throughput")
    by_hand = dashboard("reference", rtt="400", draft_kind="autoregressive").page("throughput")
    by_hand.app.selectbox(key="preset").select(GOLDEN).run()
    by_hand.app.select_slider(key="stages").set_value(4).run()
    by_hand.app.selectbox(key="speeds_of").select("alpaca").run()
    assert by_hand.tables() == by_link.tables()
    assert by_hand.figures() == by_link.figures()


def test_what_is_typed_is_on_the_slider(dashboard):
    shown = dashboard("reference").page("throughput")
    shown.app.number_input(key="rtt_exact").set_value(33.25).run()
    assert shown.app.select_slider(key="rtt").value == 33.25
    shown.app.select_slider(key="rtt").set_value(40.0).run()
    assert shown.app.number_input(key="rtt_exact").value == 40
    shown.app.number_input(key="mbit_s_exact").set_value(50.0).run()
    assert shown.figures()["one lap, ms"] == f"{1000 * (0.2 + 64 * TOKEN_BYTES / 50e6):.1f}"
    shown.app.number_input(key="mbit_s_exact").set_value(None).run()
    assert shown.figures()["one lap, ms"] == "200.0"


def test_hops_that_differ(dashboard):
    shown = dashboard("reference", stages="4", one_way="10, 100, 40, 20", speeds_of="gsm8k").page("throughput")
    assert shown.figures()["one lap, ms"] == "170.0"
    assert by_name(shown.tables()[0])["gsm8k"]["tok/s"] == pytest.approx(29.23, abs=0.01)
    shown.app.toggle(key="return_hop").set_value(False).run()
    told = " ".join(shown.said())
    assert "not as many one-way latencies as traversals; found 4; expected 3, one for each traversal of a lap" in told
    assert shown.figures()["one lap, ms"] == "37.5"  # three traversals of RTT 25 ms


def test_break_even_in_words(dashboard):
    preset = {"preset": "One site: RTT 1 ms, 10 Gbit/s, slow stages", "mbit_s": "1000", "rtt": "25"}
    shown = dashboard("reference", question="Block length", **preset).page("throughput")
    (table,) = shown.tables()
    cells = by_name(table)
    assert cells["alpaca"]["K′=7 beats no speculation: RTT"].startswith("above 9.8")
    assert cells["math500"]["K′=7 beats no speculation: RTT"] == "always"
    assert cells["math500"]["K′=7 beats K′=5: RTT"].startswith(("above 39.", "above 40."))
    shown.app.select_slider(key="k_prime").set_value(0).run()
    assert set(cells := by_name(shown.tables()[0])["alpaca"]) == {
        "dataset",
        "family",
        "K′=5 beats no speculation: RTT",
        "K′=5 beats no speculation: bandwidth",
    }
    shown.app.select_slider(key="other_k_prime").set_value(0).run()
    assert "K′ = 0 is no speculation: there is no break-even to compare." in " ".join(shown.said())


def test_responses_that_reach_a_speed(dashboard, filled):
    shown = dashboard("one", question="Responses", goal_tok_s="20", rtt="25").page("throughput")
    reach, times = shown.tables()
    steps = evaluations.steps_of("one", 12, lambda _: 7)
    tau = 1 + sum(accepted for _, accepted in steps) / 12
    assert reach[0]["responses"] == 1
    assert reach[0]["reach 20 tok/s"] == 100.0 * (tau / 0.125 >= 20)
    assert reach[0]["p50, tok/s"] == pytest.approx(tau / 0.125)
    mean = sum((1 + a) ** 2 for _, a in steps) / 12
    wanted = 0.125 * (500 / tau + (mean - tau) / (2 * tau**2))
    assert times[0]["mean, s"] == pytest.approx(wanted)
    shown.app.select_slider(key="k_prime").set_value(2).run()
    cut = 1 + sum(min(accepted, 2) for _, accepted in steps) / 12
    assert shown.tables()[0][0]["p50, tok/s"] == pytest.approx(cut / 0.125)


def test_kappa_is_said(dashboard):
    shown = dashboard("reference", question="Responses").page("throughput")
    assert "The order of steps is invented, so κ is not known" in " ".join(shown.said())
    shown = dashboard("k16", question="Responses").page("throughput")
    assert "Steps are taken for independent (κ = 1)" in " ".join(shown.said())


def test_streams(dashboard, reference):
    shown = dashboard("reference", question="Streams", streams="8", stage_ms="10").page("throughput")
    cells = by_name(shown.tables()[0])
    tau = rows_of(reference["7_draft_best_of_10"])["gsm8k"]["tau"]
    assert cells["gsm8k"]["tok/s together"] == pytest.approx(8 * tau / 0.225)
    assert cells["gsm8k"]["at most"] == pytest.approx(tau / 0.010)
    assert cells["gsm8k"]["M*"] == pytest.approx(22.5)


def test_counters_have_no_responses(dashboard):
    shown = dashboard("counters", question="Responses").page("throughput")
    assert "needs responses; this run holds none one by one" in " ".join(shown.said())
    assert [set(table[0]) & {"mean, s", "responses"} for table in shown.tables()] == [{"mean, s"}]


def test_printed_ratios_know_their_own_block_only(dashboard):
    shown = dashboard("rates").page("throughput")
    cells = by_name(shown.tables()[0])
    assert cells["gsm8k"]["tok/s"] == pytest.approx(4.97 / 0.125)
    assert cells["gsm8k"]["fastest K′"] is None
    shown.app.select_slider(key="k_prime").set_value(1).run()
    assert by_name(shown.tables()[0])["gsm8k"]["tok/s"] is None
    assert shown.figures()["tok/s"] == "–"


@pytest.mark.parametrize("name", ["reference", "rates", "one", "variable"])
def test_no_question_fails(name, dashboard):
    for question in QUESTIONS:
        for more in ({}, {"k_prime": "0", "mbit_s": "1"}, {"stages": "1", "return_hop": "false"}):
            shown = dashboard(name, question=question, **more).page("throughput")
            shown.app.run()
            assert not shown.app.exception


def test_without_a_block_length_the_bound_alone_is_shown(ids, tmp_path):
    from specdash import ingest
    from specdash.store import Store, home

    built = evaluations.Built("no-k.zip", {"run/counters.json": '{"gsm8k": {"drafts": 10, "accepted": 12}}'})
    store = Store(home())
    entry = ingest.add(built.write(tmp_path), store)
    try:
        shown = Dashboard({"eval": entry.id, "stages": "20"}).page("throughput")
        assert "The block length K of this run is not known" in " ".join(shown.said())
        assert shown.tables()[0][0]["RTT 50 ms"] == pytest.approx(2 * 2.2 / (20 * 0.050))
    finally:
        store.remove(entry.id)


def test_the_answer_says_how_sure_it_is(dashboard):
    """10 stages of 12.5 ms: 8 tok/s for each token of τ, whose interval is 3.78 to 3.89."""
    said = dashboard("reference").page("throughput").said()
    assert any(text.endswith("95% over prompts: 30.26 to 31.09 tok/s, 3.78 to 3.89×") for text in said)
    lent = dashboard("reference", run="7_draft").page("throughput").said()
    assert any("95% over prompts, borrowed from the run 7_draft_best_of_10: " in text for text in lent)
    plain = dashboard("reference", ci="false").page("throughput").said()
    assert not any("95%" in text for text in plain)


def test_a_report_works_with_what_the_calculator_is_set_to(dashboard):
    def said(**query):
        shown = dashboard("reference", **query).page("throughput").page("overview")
        return [caption.value for caption in shown.app.caption if caption.value.startswith("One file with every")]

    assert [caption.endswith("set as on the page Throughput") for caption in said(rtt="50")] == [True]
    assert [caption.endswith("without a network") for caption in said()] == [True]
