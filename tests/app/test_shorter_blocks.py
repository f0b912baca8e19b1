"""Shorter blocks without a browser: measured acceptance lengths beside the implied ones, chosen by hand and by link."""

import pytest

from specdash import ingest
from specdash.store import Store
from tests import evaluations
from tests.app.dashboard import Dashboard
from tests.formats.producers.reading import TRIMMED

CURVE = "# dataset: coding\nsmall-model:\n  on:\n    1: 1.84\n    2: 2.51\n    3: 2.4\n"
PUBLISHED = [1.84, 2.51, 3.01, 3.36, 3.61, 3.77, 3.73, 3.47]


@pytest.fixture(scope="module")
def more(filled, tmp_path_factory):
    """Ids of a curve and of one server at three block lengths, in the library of the other tests."""
    store, folder = Store(filled[0]), tmp_path_factory.mktemp("more")
    curve = evaluations.Built("golden.zip", {"curve/golden.yaml": CURVE})
    added = {
        "curve": ingest.add(curve.write(folder), store).id,
        "bench": ingest.add(TRIMMED / "vllm-bench-k", store).id,
    }
    yield added
    for id in added.values():
        store.remove(id)


def measured_of(shown):
    """The table of measured acceptance lengths, None where there is none."""
    return next((table for table in shown.tables() if "τ measured" in table[0]), None)


def test_runs_of_the_evaluation_stand_beside_each_other(ids, more):
    shown = Dashboard({"eval": more["bench"], "run": "draft_k8_c1_t0"}).page("shorter_blocks")
    table = measured_of(shown)
    assert [(row["K"], round(row["τ measured"], 3), round(row["τ implied here"], 3)) for row in table] == [
        (2, 1.993, 1.653),
        (4, 2.391, 2.038),
    ]
    assert "implied is off by −17.1 %" in " ".join(shown.said())


def test_another_evaluation_is_chosen_by_link_or_by_hand(dashboard, more):
    by_link = dashboard("reference", beside=more["curve"]).page("shorter_blocks")
    table = measured_of(by_link)
    assert [(row["dataset"], row["K"], row["τ measured"]) for row in table] == [
        ("coding", 1, 1.84),
        ("coding", 2, 2.51),
        ("coding", 3, 2.4),
    ]
    assert {row["prompts"] for row in table} == {"another workload"}
    by_hand = dashboard("reference").page("shorter_blocks")
    assert measured_of(by_hand) is None
    by_hand.app.selectbox(key="_beside").select(more["curve"]).run()
    assert measured_of(by_hand) == table
    assert more["curve"] in by_hand.app.query_params["beside"]
    by_hand.app.selectbox(key="_beside").select("").run()
    assert measured_of(by_hand) is None


def test_a_link_to_an_evaluation_that_is_not_there_is_told(dashboard):
    shown = dashboard("reference", beside="0123456789ab").page("shorter_blocks")
    assert "The evaluation measured beside cannot be 0123456789ab, as this link says; it is none here." in " ".join(
        shown.said()
    )
    assert measured_of(shown) is None


def test_the_published_curve_is_off_at_first_and_says_whose_it_is(dashboard):
    shown = dashboard("reference").page("shorter_blocks")
    assert "InferenceX" not in " ".join(shown.said())
    shown.app.toggle(key="published").set_value(True).run()
    table = measured_of(shown)
    assert [row["τ measured"] for row in table] == PUBLISHED
    assert {row["prompts"] for row in table} == {"another workload"}
    said = " ".join(shown.said())
    assert "Published by SemiAnalysis InferenceX" in said
    assert "another workload than this run's" in said


def test_every_page_with_printed_ratios_alone_still_says_what_it_needs(ids, more):
    shown = Dashboard({"eval": more["curve"]}).page("shorter_blocks")
    assert shown.said()[-1] == "ℹThis page needs counts; this run holds printed ratios without counts."
