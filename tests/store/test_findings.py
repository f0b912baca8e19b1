"""What the checks found, kept with an evaluation: when it counts, when it has to be made again."""

import json
from dataclasses import replace

import pytest

from specdash import ingest, verdict
from specdash.schema import InputError
from specdash.store import Store, findings
from specdash.verdict import Outcome
from tests import evaluations


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "home")


@pytest.fixture
def added(store, tmp_path):
    return ingest.add(evaluations.two_datasets().write(tmp_path), store)


def kept(store, id):
    return store.root / "evaluations" / id / findings.NAME


def checks_of(evaluation):
    return [run.checks for run in evaluation.runs]


def test_findings_are_kept_with_what_they_were_found_in(store, added):
    assert all(added.runs[0].checks)
    assert store.open(added.id).runs[0].checks == added.runs[0].checks
    (entry,) = store.list()
    assert entry.checks == {"small": added.runs[0].checks}
    assert entry.verdict.outcome is Outcome.WARN  # two prompts a dataset are few
    assert entry.bytes == sum(file.stat().st_size for file in (store.root / "evaluations").rglob("*.*"))


def test_an_evaluation_from_before_has_none_until_it_is_checked(store, added):
    kept(store, added.id).unlink()
    assert checks_of(store.open(added.id)) == [None]
    assert (store.list()[0].checks, store.list()[0].verdict) == ({}, None)
    checked = ingest.checked(store.open(added.id))
    assert checks_of(checked) == checks_of(added)
    store.keep_checks(checked)
    assert checks_of(store.open(added.id)) == checks_of(added)


def test_findings_of_other_checks_do_not_count(store, added, monkeypatch):
    monkeypatch.setattr(findings, "VERSION", verdict.VERSION + 1)
    assert checks_of(store.open(added.id)) == [None]


def test_findings_of_other_settings_do_not_count(store, added):
    store.annotate(added.id, config={"small": {"dspark_block_size": 2}})
    assert checks_of(store.open(added.id)) == [None]
    assert store.list()[0].verdict is None
    store.keep_checks(ingest.checked(store.open(added.id)))
    found = {finding.check: finding for finding in store.open(added.id).runs[0].checks}
    assert found["trained_block"].outcome is Outcome.WARN  # K = 3
    store.annotate(added.id, title="another title")
    assert all(checks_of(store.open(added.id)))
    store.annotate(added.id, config={"small": {"dspark_block_size": None}})
    assert checks_of(store.open(added.id)) == [None]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"version": 1}',
        '{"version": 1, "runs": [{"name": "small"}]}',
        '{"version": 1, "runs": [{"name": "small", "settings": {}, "findings": [["mapping", "perhaps", "x"]]}]}',
        '{"version": 1, "runs": [{"name": "small", "settings": {}, "findings": [["mapping"]]}]}',
        '{"version": 1, "runs": 7}',
        "[" * 100_000,
    ],
)
def test_a_damaged_file_is_as_good_as_none(store, added, content):
    kept(store, added.id).write_text(content)
    assert checks_of(store.open(added.id)) == [None]
    assert store.list()[0].verdict is None


def test_only_findings_of_every_run_of_a_stored_evaluation_are_kept(store, added):
    with pytest.raises(ValueError, match="was not checked"):
        store.keep_checks(ingest.unchecked(added))
    with pytest.raises(InputError, match="no such evaluation"):
        store.keep_checks(replace(added, id="0" * 12))
    assert not (store.root / "evaluations" / ("0" * 12)).exists()


def test_an_evaluation_that_was_not_checked_is_stored_without_findings(store, added):
    other = Store(store.root.with_name("other"))
    assert checks_of(other.add(ingest.unchecked(added))) == [None]
    assert not kept(other, added.id).exists()


def test_text_of_any_kind_survives(store, added):
    odd = tuple(replace(finding, figure="τ \ud800 \n <b>") for finding in added.runs[0].checks)
    store.keep_checks(replace(added, runs=(replace(added.runs[0], checks=odd),)))
    assert store.open(added.id).runs[0].checks == odd
    json.loads(kept(store, added.id).read_bytes().decode("ascii"))


def test_an_export_is_checked_anew_with_the_settings_it_brings(store, added, tmp_path):
    store.annotate(added.id, config={"small": {"dspark_block_size": 2}})
    path = store.export(added.id, tmp_path / "x.zip")
    found = ingest.add(path, Store(tmp_path / "other"))
    outcomes = {finding.check: finding.outcome for finding in found.runs[0].checks}
    assert outcomes["trained_block"] is Outcome.WARN
