"""The page Latency A/B: the arms it suggests, its judgement, and what it says where there are not two."""

from tests.app.dashboard import Dashboard


def test_the_arms_of_a_bench_are_suggested_and_judged(dashboard, ids):
    shown = dashboard("ab").page("latency_ab")
    assert [shown.app.selectbox(key=key).value for key in ("base", "spec", "again")] == [
        f"baseline @ {ids['ab']}", f"spec @ {ids['ab']}", "none",
    ]  # fmt: skip
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


def test_without_latencies(empty):
    assert Dashboard({}).page("latency_ab").said()[1].startswith("ℹThe library is empty")
