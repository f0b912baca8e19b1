"""The verdict on the pages: in short in every head, whole on the overview."""

import pytest

from specdash import checks, ingest
from specdash.store import Store, home
from tests import evaluations
from tests.app.dashboard import PAGES, Dashboard

BROKEN = evaluations.Built("no-drafter.zip", {"run/spec_log.csv": "a,3,0\na,3,0\nb,3,0\n"})


@pytest.fixture
def failing(ids, tmp_path):
    store = Store(home())
    entry = ingest.add(BROKEN.write(tmp_path), store)
    yield entry.id
    store.remove(entry.id)


def verdict(shown):
    """The box of the overview and the list of all checks below it."""
    said = shown.said()
    at = next(i for i, text in enumerate(said) if "Soundness" in text)
    return said[at], said[at + 1]


def test_the_overview_tells_the_verdict_and_what_is_behind_it(dashboard):
    box, every = verdict(dashboard("reference").page("overview"))
    assert box.startswith("⚠Soundness 4 warnings, 22 passed, 5 not applicable")
    assert "Absent requests warn 4 of 30,300 responses, 0.01%" in box
    assert "If it is the long or the hard ones that are missing, τ is of the others." in box
    assert "Usual cause: Requests that failed" in box
    assert "Order of steps warn invented" in box
    assert "Requests to samples" not in box
    assert "Requests to samples pass 30,296 of 30,296 match" in every
    assert all(check.title in every and check.meaning in every for check in checks.all_checks())


def test_a_failure_is_in_the_head_of_every_page(failing):
    shown = Dashboard({"eval": failing})
    box, _ = verdict(shown.page("overview"))
    assert box.startswith("✕Soundness 1 failed, ")
    assert "τ of exactly 1 fail τ = 1 in every dataset" in box
    for page in PAGES[1:-1]:
        assert shown.page(page).said()[1].endswith(" · ✕ 1 failed")


def test_a_head_says_nothing_of_what_is_sound(ids, tmp_path):
    from tests.ingest.test_checking import files, sound

    store = Store(home())
    entry = ingest.add(evaluations.Built("sound.zip", files(sound())).write(tmp_path), store)
    try:
        shown = Dashboard({"eval": entry.id})
        assert verdict(shown.page("overview"))[0].startswith("✓Soundness ")
        assert shown.page("acceptance_length").said()[1].endswith("all datasets")
    finally:
        store.remove(entry.id)


def test_the_library_lists_verdicts(failing, dashboard):
    said = Dashboard({"eval": failing}).page("overview").said()
    assert "run: step · ✕ 1 failed" in said
    assert any(text.endswith("· ⚠ 5 warnings") for text in said)  # both runs of the reference


def test_checks_are_made_again_on_demand_and_when_settings_change(failing):
    shown = Dashboard({"eval": failing}).page("overview")
    kept = Store(home()).root / "evaluations" / failing / "checks.json"
    kept.unlink()
    shown.app.button(key="check_again").click().run()
    assert kept.exists()
    Store(home()).annotate(failing, config={"run": {"dspark_block_size": 2}})
    from specdash.ui import library

    library.forget()
    box, _ = verdict(Dashboard({"eval": failing}).page("overview"))
    assert "Trained block warn K = 3, dspark_block_size = 2: position 2 beyond it" in box
    assert "dspark_block_size" in kept.read_text()


def test_methods_explain_every_check(dashboard):
    shown = dashboard("reference").page("methods")
    keys = [element.value for element in shown.app.markdown]
    for check in checks.all_checks():
        assert f"**{check.title}** &nbsp; `{check.key}`" in keys
    shown = dashboard("reference", find="repetition").page("methods")
    assert "**Repetition loops** &nbsp; `repetition_loops`" in [element.value for element in shown.app.markdown]
    assert not any("No metric" in text for text in shown.said())
