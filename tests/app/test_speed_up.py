"""The page Speed-up: what its controls change, what it says where a run has no point of its own."""

import pytest

from tests.app.dashboard import Dashboard


def cell(shown, head, dataset="pooled"):
    (table,) = shown.tables()
    return next(row[head] for row in table if row["dataset"] == dataset)


def test_the_reference_at_its_own_block_length(dashboard):
    shown = dashboard("reference", run="7_draft_best_of_10").page("speed_up")
    assert cell(shown, "accept ratio (prefix) - not alpha") == pytest.approx(0.405, abs=5e-4)
    tau = cell(shown, "τ at K=7")
    assert cell(shown, "Speed-up, block draft") == pytest.approx(tau / 1.15)
    assert cell(shown, "Speed-up, AR draft") == pytest.approx(tau / 2.05)
    for value in ("0.405", "0.772", "1.353", "3.834"):
        assert any(text.partition("95%")[0].endswith(value) for text in shown.said()), value
    assert any(text.endswith("95%: 3.782 to 3.886") for text in shown.said())


def test_controls_of_a_link(dashboard):
    shown = dashboard("reference", draft_k="5", draft_c="0.3", drafter="one pass a token", observed="1.5").page(
        "speed_up"
    )
    assert cell(shown, "Speed-up, AR draft") == pytest.approx(cell(shown, "τ at K=5") / 2.5)
    assert any(text.startswith("observed / Speed-up, AR draft") for text in shown.said())
    assert not shown.app.exception


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"draft_c": "7"}, "✕Draft cost c cannot be 7, as this link says; it is 0.15 here."),
        ({"draft_k": "0"}, "✕Draft tokens a step, k cannot be 0, as this link says; it is 7 here."),
        ({"draft_c": "much"}, "✕Draft cost c cannot be much, as this link says; it is 0.15 here."),
        ({"iid": "1.5"}, "✕α of the i.i.d. model cannot be 1.5, as this link says; it is 0.8 here."),
        ({"observed": "-2"}, "✕Observed speed-up cannot be -2, as this link says; it is left empty here."),
        ({"drafter": "magic"}, "✕The drafter makes cannot be magic, as this link says; it is one pass a block here."),
    ],
)
def test_a_link_that_says_what_cannot_be(query, message, dashboard):
    assert message in dashboard("reference", **query).page("speed_up").said()


def test_a_longer_block_than_the_run_drafts(dashboard):
    shown = dashboard("k1", draft_k="9").page("speed_up")
    assert "ℹThis run drafts up to 1 tokens: nothing is known at k = 9." in shown.said()


def test_without_a_library(empty):
    assert Dashboard({}).page("speed_up").said()[1].startswith("ℹThe library is empty")
