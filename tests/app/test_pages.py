"""What pages say: who they are about, what they cannot show and why, and where a link leads."""

import pytest

from specdash import metrics
from tests import evaluations
from tests.app.dashboard import PAGES, Dashboard

NAMES = [*evaluations.BUILT, "reference"]
WITH_A_RUN = PAGES[1:-1]
_COUNTS = "ℹThis page needs counts; this run holds printed ratios without counts."
_TOKENS = "this run's source counts drafted and accepted tokens, not verify steps."
_POSITIONS = f"ℹThis page needs counts by draft position; {_TOKENS}"
_LENGTH = f"ℹThis page needs an acceptance length; {_TOKENS}"
_PROMPTS = "ℹThis page needs responses with their prompts; this run holds "


@pytest.mark.parametrize("name", NAMES)
def test_no_page_fails(name, dashboard, ids):
    shown = dashboard(name)
    for page in PAGES:
        shown.page(page)
        assert shown.looked_at()[0] == ids[name]


def test_the_next_run_of_a_page_goes_through_the_entry_too(dashboard, ids):
    shown = dashboard("reference")
    for page in PAGES:
        shown.page(page).app.run()
        assert not shown.app.exception
        assert shown.looked_at()[0] == ids["reference"]


@pytest.mark.parametrize(
    ("name", "page", "sentence"),
    [
        ("rates", "draft_positions", _COUNTS),
        ("rates", "step_outcomes", _COUNTS),
        ("rates", "shorter_blocks", _COUNTS),
        ("rates", "prompt_difficulty", _PROMPTS + "printed ratios without counts."),
        ("counters", "prompt_difficulty", _PROMPTS + "counters without responses."),
        ("tokens", "draft_positions", _POSITIONS),
        ("tokens", "shorter_blocks", _POSITIONS),
        ("tokens", "prompt_difficulty", _LENGTH),
        ("tokens", "throughput", _LENGTH),
    ],
)
def test_a_page_that_needs_more_says_so_in_one_sentence(name, page, sentence, dashboard):
    shown = dashboard(name).page(page)
    assert shown.said()[2:] == [sentence]
    assert not shown.tables()
    assert not shown.app.subheader


def test_tokens_without_steps_give_a_ratio(dashboard):
    (shown,) = dashboard("tokens").page("acceptance_length").tables()
    pooled = next(row for row in shown if row["dataset"] == "pooled")
    assert [pooled[name] for name in ("responses", "drafted", "accepted", "acceptance ratio")] == [2, 32, 8, 0.25]


def test_counters_without_positions_say_so(ids, tmp_path):
    from specdash import ingest
    from specdash.store import Store, home

    built = evaluations.Built("bare-counters.zip", {"run/counters.json": '{"gsm8k": {"drafts": 10, "accepted": 12}}'})
    store = Store(home())
    entry = ingest.add(built.write(tmp_path), store)
    try:
        for page in ("draft_positions", "step_outcomes", "shorter_blocks"):
            shown = Dashboard({"eval": entry.id}).page(page)
            assert shown.said()[-1] == "ℹThis page needs counts by draft position; this run's counters hold none."
            assert not shown.tables()
    finally:
        store.remove(entry.id)


def test_without_samples_prompt_difficulty_says_what_is_missing(dashboard):
    shown = dashboard("bare").page("prompt_difficulty")
    assert "No samples say which prompt a response answers" in " ".join(shown.said())
    assert shown.tables()[0][-1]["within share"] is None


@pytest.mark.parametrize("page", WITH_A_RUN)
def test_a_page_says_what_it_is_about(page, dashboard):
    title = "DeepSeek-V4-Pro with the DSpark drafter (reconstruction) · reconstruction · run "
    shown = dashboard("reference").page(page)
    assert shown.said()[1] == title + "7_draft_best_of_10 · all datasets · ⚠ 4 warnings"
    shown = dashboard("reference", run="7_draft", ds=["gsm8k", "mbpp"]).page(page)
    assert shown.said()[1] == title + "7_draft · 2 of its datasets · ⚠ 1 warning"


@pytest.mark.parametrize("page", PAGES)
def test_a_link_leads_to_what_it_names(page, dashboard, ids):
    shown = dashboard("reference", run="7_draft", ds="gsm8k").page(page)
    assert shown.looked_at() == (ids["reference"], "7_draft", ["gsm8k"])


def test_odd_names_are_said_as_they_are(dashboard):
    shown = dashboard("odd", ds=list(evaluations.ODD_NAMES)).page("overview")
    assert shown.said()[0] == evaluations.ODD_TITLE
    assert shown.looked_at()[1:] == (evaluations.ODD_RUN, list(evaluations.ODD_NAMES))
    about = shown.page("step_outcomes").said()[1]
    assert about.startswith(evaluations.ODD_TITLE[:100])
    assert about.endswith(f"… · run {evaluations.ODD_RUN} · {len(evaluations.ODD_NAMES)} of its datasets · ⚠ 1 warning")


@pytest.mark.parametrize("page", ["overview", "throughput", "methods"])
def test_a_link_to_nowhere_says_what_is_missing(page, ids):
    shown = Dashboard({"eval": "0123456789ab"}).page(page)
    assert shown.said()[0] == ("✕Not here. The evaluation 0123456789ab that this link names is not in this library.")
    shown = Dashboard({"eval": ids["k1"], "run": "7_draft", "ds": ["gsm8k", "nothing"]}).page(page)
    assert shown.said()[:2] == [
        "✕Not here. This evaluation has no run 7_draft.",
        "✕Not here. This run has no dataset nothing.",
    ]


def test_figures_of_the_overview(dashboard):
    figures = dashboard("reference", run="7_draft_best_of_10").page("overview").figures()
    assert figures == {
        "τ, pooled": "3.83",
        "95% interval": "3.78 – 3.89",
        "verify steps": "4,344,265",
        "responses": "30,296",
        "block length K": "7",
        "granularity": "step",
    }
    assert dashboard("reference", ds="gsm8k").page("overview").figures()["τ, pooled"] == "4.97"


def test_methods_lists_every_metric_and_can_be_searched(dashboard):
    shown = dashboard("reference").page("methods")
    assert len(shown.app.latex) == len(metrics.METRIC_KEYS)
    assert sum("Interval: 95%" in caption.value for caption in shown.app.caption) == len(metrics.CI_KEYS)
    shown.app.text_input(key="find").input("Kaplan").run()
    found = len(shown.app.latex)
    assert 0 < found < len(metrics.KEYS)
    assert len(dashboard("reference", find="kaplan").page("methods").app.latex) == found
    shown.app.text_input(key="find").input("<i>nothing</i>").run()
    assert shown.said()[-1] == "ℹNo metric, no check and no tool mentions <i>nothing</i>."


@pytest.mark.parametrize("page", WITH_A_RUN)
def test_an_empty_library_says_where_to_begin(page, empty):
    shown = Dashboard({}).page(page)
    assert shown.said()[1] == "ℹThe library is empty: add an evaluation on the Overview page."


def test_an_empty_library_can_be_filled(empty):
    shown = Dashboard({}).page("overview")
    assert shown.said()[1] == "The library is empty. Drop a zip of logs below to begin."
    assert shown.app.file_uploader
    shown.page("methods")


def test_methods_set_what_is_documented_beside_what_holds(dashboard):
    shown = dashboard("reference", find="worked example").page("methods")
    said = " ".join(shown.said())
    assert "2.3e-7" in said and "2.70e-7" in said
    assert not shown.app.latex
    assert "No metric mentions" not in said
