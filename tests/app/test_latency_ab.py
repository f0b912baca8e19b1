"""The page Latency A/B: the arms it suggests, its judgement, and what it says where there are not two."""

import json
import time

import pytest

from specdash import ingest
from specdash.store import Store
from specdash.ui import benches
from tests import evaluations
from tests.app.dashboard import Dashboard
from tests.formats.producers.reading import TRIMMED
from tests.live.conftest import Running


@pytest.fixture(scope="module")
def measured(filled):
    """Id of results of vllm bench serve with and without an n-gram drafter, in the library of the other tests."""
    store = Store(filled[0])
    id = ingest.add(TRIMMED / "vllm-bench", store).id
    yield id
    store.remove(id)


def test_the_arms_of_a_bench_are_suggested_and_judged(dashboard, ids):
    shown = dashboard("ab").page("latency_ab")
    assert arms(shown) == [f"baseline @ {ids['ab']}", f"spec @ {ids['ab']}", "none"]
    said = " ".join(shown.said())
    assert "Faster: a speed-up of 1.6" in said and "24 prompts paired" in said
    assert "gaps between chunks are not per token" in said
    heads = [element.value for element in shown.app.subheader]
    assert heads == [
        "Paired by prompt", "Percentiles", "Distribution", "Prompt by prompt", "By dataset", "Welch, as documented",
        "Arms", "Latencies",
    ]  # fmt: skip


def test_welch_on_request(dashboard):
    shown = dashboard("ab", test="Welch", measure="end to end").page("latency_ab")
    said = " ".join(shown.said())
    assert "Welch, 24 and 24 requests" in said and "in end-to-end latency" in said
    assert "Paired by prompt" not in [element.value for element in shown.app.subheader]


def test_a_dataset_alone(dashboard):
    assert "12 prompts paired" in " ".join(dashboard("ab", ds="gsm8k").page("latency_ab").said())


def test_arms_that_a_link_names_and_nobody_has(dashboard):
    said = dashboard("ab", base="x @ 0123456789ab").page("latency_ab").said()
    assert any(text.startswith("✕Baseline cannot be x @ 0123456789ab, as this link says") for text in said)


def test_the_speed_up_page_shows_what_was_observed(dashboard):
    said = dashboard("ab", run="spec").page("speed_up").said()
    assert any(text.startswith("Observed here: a speed-up of 1.6") for text in said)


def arms(shown):
    return [shown.app.selectbox(key=key).value for key in ("base", "spec", "again")]


def test_a_baseline_that_is_looked_at_is_met_by_its_speculating_arm(dashboard, ids):
    shown = dashboard("ab", run="baseline").page("latency_ab")
    assert arms(shown) == [f"baseline @ {ids['ab']}", f"spec @ {ids['ab']}", "none"]


def test_an_arm_alone_is_shown_and_claims_nothing(dashboard, ids):
    shown = dashboard("ab", base="none").page("latency_ab")
    said = " ".join(shown.said())
    assert "Without a baseline no speed-up can be claimed: choose one above." in said
    assert "speed-up of" not in said
    (table,) = shown.tables()
    assert [(row["dataset"], row["measure"]) for row in table][-4:] == [
        ("pooled", "TPOT"), ("pooled", "end to end"), ("pooled", "TTFT"), ("pooled", "end to end per token"),
    ]  # fmt: skip
    assert all((row["requests"], row["failed"]) == (24, 0) for row in table[-4:])


def test_an_evaluation_without_latencies_compares_none_of_others(dashboard):
    shown = dashboard("one").page("latency_ab")
    assert arms(shown) == ["none", "none", "none"]
    assert shown.said()[-1].startswith("ℹNo latencies are chosen.") and not shown.tables()


def test_a_run_is_not_compared_with_itself(dashboard, ids):
    shown = dashboard("ab", base=f"spec @ {ids['ab']}").page("latency_ab")
    assert any(text.startswith("ℹBoth arms are the same run") for text in shown.said())


def test_arms_follow_the_run_that_is_looked_at_and_stay_when_a_link_names_them(dashboard, ids):
    shown = dashboard("ab", base="none").page("latency_ab")
    shown.app.sidebar.selectbox(key="run").set_value("baseline").run()
    assert arms(shown)[0] == f"baseline @ {ids['ab']}"


def test_arms_of_two_evaluations(dashboard, ids):
    """The paired baseline is looked at from an evaluation that holds none."""
    shown = dashboard("one", base=f"baseline @ {ids['ab']}", spec=f"spec @ {ids['ab']}").page("latency_ab")
    assert "Faster: a speed-up of 1.6" in " ".join(shown.said())


def test_results_of_other_tools_are_judged(ids, measured):
    """The numbers are those of tests/speed/latency/test_measured.py, from numpy and scipy alone."""
    shown = Dashboard({"eval": measured, "run": "ngram_c1_t0"}).page("latency_ab")
    assert arms(shown) == [f"baseline_c1_t0 @ {measured}", f"ngram_c1_t0 @ {measured}", "none"]
    said = shown.said()
    assert any(text.startswith("Not to be judged by time per output token") for text in said)
    assert any("speed-up of 2.245 in end-to-end latency per output token (95 % interval 1.947" in text for text in said)
    frames = [element.value for element in shown.app.dataframe]
    paired = next(frame for frame in frames if "detectable" in frame.columns).set_index("measure")
    assert paired.loc["end to end", ["prompts", "speed-up", "from", "to", "t", "df"]].to_list() == pytest.approx(
        [48, 2.244605, 1.946845, 2.587907, 11.428866, 47], rel=1e-5
    )
    welch = next(frame for frame in frames if "baseline sd, ms" in frame.columns).set_index("measure")
    assert welch.loc["end to end", ["t", "df", "baseline mean, ms", "spec sd, ms"]].to_list() == pytest.approx(
        [8.605021, 64.504402, 390.49105, 140.421], rel=1e-5
    )


def test_a_pace_that_was_not_seen_is_no_observed_speed_up(ids, measured):
    said = " ".join(Dashboard({"eval": measured, "run": "ngram_c1_t0"}).page("speed_up").said())
    assert "Observed here: a speed-up of 2.245 in end-to-end latency per output token (1.947 to 2.588)" in said


def test_without_latencies(empty):
    assert Dashboard({}).page("latency_ab").said()[1].startswith("ℹThe library is empty")


@pytest.fixture
def endpoints():
    """Two servers, the second of which speculates; they end with the test."""
    running = [Running("--name", "baseline"), Running("--name", "spec", "--spec", "--speed", "1.5")]
    yield [server.url for server in running]
    for server in running:
        server.kill()
        server.process.stdout.close()


def test_two_endpoints_are_measured_from_the_page(tmp_path, monkeypatch, endpoints):
    store = Store(tmp_path / "home")
    store.set_started()
    bench = evaluations.BUILT["ab"]().write(tmp_path)
    monkeypatch.setenv("SPECDASH_HOME", str(store.root))
    monkeypatch.setattr("specdash.ui.hosting.is_shared", lambda: False)
    shown = Dashboard({"eval": ingest.add(bench, store).id}).page("latency_ab")
    prompts = "\n".join(
        json.dumps({"prompt": json.dumps({"ttft": 0.004, "gap": 0.002, "tokens": 9})}) for _ in range(6)
    )
    for key, value in (("spec", endpoints[1]), ("base", endpoints[0])):
        shown.app.text_input(key=f"bench_{key}").set_value(value)
    shown.app.text_area(key="bench_prompts").set_value(prompts)
    press(shown, "Measure")
    assert benches.benches().all(), [s for s in shown.said() if "Not measured" in s]
    (started,) = benches.benches().all()
    while started.running:
        time.sleep(0.1)
    # Another session, as after a reload, sees it too.
    again = Dashboard({}).page("latency_ab")
    assert any(f"Ended: 12 of 12 requests measured. {started.out}" in said for said in again.said())
    press(again, "Keep and judge")
    assert len(store.list()) == 2 and not benches.benches().all()
    assert again.app.selectbox(key="spec").value.startswith("spec @ ")
    assert any("6 prompts paired" in said for said in again.said())


def test_one_that_others_reach_measures_nothing(dashboard, monkeypatch):
    monkeypatch.setattr("specdash.ui.hosting.is_shared", lambda: True)
    shown = dashboard("ab").page("latency_ab")
    assert any(said.startswith("Others can reach this dashboard, so it asks no endpoints") for said in shown.said())
    assert "Measure" not in [button.label for button in shown.app.button]


def press(shown, label):
    next(button for button in shown.app.button if button.label == label).click().run()
    assert not shown.app.exception
