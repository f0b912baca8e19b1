import json
import os
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from specdash.cli import cli
from specdash.schema import Evaluation, Granularity, InputError
from specdash.store import Store, annotations
from tests.helpers import log_run, response

PROJECT = Path(__file__).resolve().parents[2]
WORKERS = Path(__file__).with_name("annotating.py")
ID = "0123456789ab"

ODD = [
    "😀 emoji 👩‍👩‍👧",
    "مجموعة بيانات \u202etxt",
    "n" * 300,
    "__proto__",
    '=cmd("calc")',
    "<b>x</b> **bold** :red[x] $\\alpha$",
    "C:\\x ' \" `",
]


def evaluation(**changes):
    runs = (
        log_run(
            [response((4, 2), (4, 4))],
            name="one",
            granularity=Granularity.RESPONSE,
            config={"model": "m", "k": 4},
            config_set={"gpu": "a100"},
        ),
        log_run([response((4, 1))], name="__proto__ 😀", granularity=Granularity.RESPONSE),
    )
    return replace(Evaluation(ID, "as read", "logs.zip", "ab" * 32, runs, note="of the input"), **changes)


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "a [library] * ü")
    made.add(evaluation())
    return made


def folder_of(store):
    return store.root / "evaluations" / ID


def file_of(store):
    return folder_of(store) / "annotations.json"


def leftovers(store):
    return sorted(path.name for path in (store.root / "tmp").iterdir())


# --- what is said is shown -------------------------------------------------------------------------


def test_without_annotations_everything_is_as_it_was_read(store):
    found, (entry,) = store.open(ID), store.list()
    assert (found.title, found.notes, found.tags) == (entry.title, entry.notes, entry.tags) == ("as read", "", ())
    assert [run.config_set for run in found.runs] == [{"gpu": "a100"}, {}]
    assert not file_of(store).exists()


def test_each_part_changes_alone(store):
    manifest = (folder_of(store) / "manifest.json").read_bytes()
    store.annotate(ID, title="mine")
    store.annotate(ID, notes="a\nnote")
    store.annotate(ID, tags=["a100", "night run"])
    store.annotate(ID, config={"one": {"gpu": "h100", "rtt_ms": 2.5, "eager": True}})
    store.annotate(ID)
    found, (entry,) = store.open(ID), store.list()
    for shown in (found, entry):
        assert (shown.title, shown.notes, shown.tags) == ("mine", "a\nnote", ("a100", "night run"))
        assert shown.note == "of the input"
    assert found.run("one").config == {"model": "m", "k": 4}
    assert found.run("one").config_set == {"gpu": "h100", "rtt_ms": 2.5, "eager": True}
    assert found.run("one").effective_config == {"model": "m", "k": 4, "gpu": "h100", "rtt_ms": 2.5, "eager": True}
    assert found.runs[1].effective_config == {}
    assert (folder_of(store) / "manifest.json").read_bytes() == manifest  # what was read stays what was read
    store.annotate(ID, notes="", tags=[])
    found = store.open(ID)
    assert (found.title, found.notes, found.tags) == ("mine", "", ())


def test_settings_are_overlaid_and_taken_away_again(store):
    store.annotate(ID, config={"one": {"gpu": "h100", "k": 7}})
    store.annotate(ID, config={"one": {"model": "other", "k": 0}, "__proto__ 😀": {"__proto__": 1}})
    found = store.open(ID)
    assert found.run("one").effective_config == {"model": "other", "k": 0, "gpu": "h100"}
    assert found.runs[1].effective_config == {"__proto__": 1}
    store.annotate(ID, config={"one": {"gpu": None, "model": "", "never there": None, "k": " "}, "__proto__ 😀": {}})
    found = store.open(ID)
    assert found.run("one").effective_config == {"model": "m", "k": 4, "gpu": "a100"}
    assert json.loads(file_of(store).read_text())["config"] == {"__proto__ 😀": {"__proto__": 1}}


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_survive(store, text):
    store.annotate(ID, title=text, notes=text, tags=[text[:50]], config={"one": {text[:200]: text[:200]}})
    found, (entry,) = store.open(ID), store.list()
    for shown in (found, entry):
        assert (shown.title, shown.notes, shown.tags) == (text, text, (text[:50],))
    assert found.run("one").config_set == {"gpu": "a100", text[:200]: text[:200]}
    assert file_of(store).read_bytes().isascii()


def test_control_characters_are_stripped_and_tags_stand_there_once(store):
    store.annotate(
        ID,
        title="\0a\x1b[31m\nb\u2028 \ud83d\t ",
        notes="one\r\ntwo\rthree\tfour\0\x1b\x85",
        tags=[" b\n", "a", "b"],
        config={"one": {"g\0pu": "x\x07"}},
    )
    found = store.open(ID)
    assert found.title == "a[31mb"
    assert found.notes == "one\ntwo\nthree\tfour"
    assert found.tags == ("b", "a")
    assert found.run("one").config_set == {"gpu": "x"}


def test_list_of_the_command_line_shows_the_title_that_people_gave(store, monkeypatch):
    monkeypatch.setenv("SPECDASH_HOME", str(store.root))
    store.annotate(ID, title="mine")
    shown = CliRunner().invoke(cli, ["list", "--format", "json"])
    assert [entry["title"] for entry in json.loads(shown.output)] == ["mine"]


def test_size_counts_the_annotations(store):
    before = store.list()[0].bytes
    store.annotate(ID, notes="x" * 1000)
    assert store.list()[0].bytes == before + file_of(store).stat().st_size


# --- limits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"title": ""}, "the title is too short; found 0 characters; expected 1 to 300"),
        ({"title": "\0\n  \x1b"}, "the title is too short; found 0 characters"),
        ({"title": "n" * 301}, "the title is too long; found 301 characters; expected 1 to 300"),
        ({"title": 5}, "the title is of the wrong kind; found 5; expected text"),
        ({"notes": "n" * 20_001}, "the notes are too long; found 20,001 characters; expected at most 20,000"),
        ({"notes": ["a"]}, "the text of the notes is of the wrong kind"),
        ({"tags": [str(n) for n in range(21)]}, "there are too many tags; found 21; expected at most 20"),
        ({"tags": ["a", ""]}, "a tag is too short; found 0 characters; expected 1 to 50"),
        ({"tags": ["n" * 51]}, "a tag is too long; found 51 characters; expected 1 to 50"),
        ({"tags": [1]}, "a tag is of the wrong kind"),
        ({"tags": "abc"}, "the list of tags is of the wrong kind"),
        ({"config": {"two": {"k": 1}}}, "no such run; found two; expected one or __proto__ 😀"),
        ({"config": {"one": {"k": 65}}}, "k is not a block length; found 65; expected a whole number from 0 to 64"),
        ({"config": {"one": {"k": -1}}}, "k is not a block length"),
        ({"config": {"one": {"k": True}}}, "k is not a block length"),
        ({"config": {"one": {"k": 7.0}}}, "k is not a block length"),
        ({"config": {"one": {"k": "7"}}}, "k is not a block length"),
        ({"config": {"one": {"lr": float("nan")}}}, "lr is not finite"),
        ({"config": {"one": {"lr": float("-inf")}}}, "lr is not finite"),
        ({"config": {"one": {"n": 1 << 63}}}, "n is of the wrong kind"),
        (
            {"config": {"one": {"a": [1]}}},
            "a is of the wrong kind; found [1]; expected a text, a number, true or false",
        ),
        ({"config": {"one": {"": 1}}}, "the name of a setting is too short"),
        ({"config": {"one": {"n" * 201: 1}}}, "the name of a setting is too long"),
        ({"config": {"one": {5: 1}}}, "the name of a setting is of the wrong kind"),
        ({"config": {"one": {"a": "n" * 201}}}, "a is too long; found 201 characters; expected 1 to 200"),
        ({"config": {"one": 5}}, "the configuration of a run is of the wrong kind"),
        ({"config": [1]}, "the configuration is of the wrong kind"),
    ],
    ids=str,
)
def test_what_passes_a_limit_changes_nothing(store, said, message):
    store.annotate(ID, title="before", tags=["kept"], config={"one": {"gpu": "h100"}})
    before = file_of(store).read_bytes()
    with pytest.raises(InputError) as refused:
        store.annotate(ID, **{"notes": "new"} | said)
    assert message in str(refused.value)
    assert file_of(store).read_bytes() == before and leftovers(store) == []


def test_the_largest_of_everything(store):
    tags = [f"{n:050d}" for n in range(20)]
    store.annotate(ID, title="n" * 300, notes="n" * 20_000, tags=tags, config={"one": {"k": 64}})
    found = store.open(ID)
    assert (len(found.title), len(found.notes), found.tags) == (300, 20_000, tuple(tags))
    assert found.run("one").effective_config["k"] == 64


@pytest.mark.parametrize("id", ["0" * 12, "../x", "", None, ID + "\n"])
def test_unknown_id(tmp_path, store, id):
    for library in (store, Store(tmp_path / "new")):
        with pytest.raises(InputError, match="no such evaluation in the library"):
            library.annotate(id, title="x")
    assert not (tmp_path / "new").exists()


def test_an_evaluation_that_cannot_be_read_is_not_annotated(store):
    manifest = folder_of(store) / "manifest.json"
    content = manifest.read_text()
    manifest.write_text(content.replace('"format": 2', '"format": 3'))
    with pytest.raises(InputError, match="stored by a newer specdash; found format 3"):
        store.annotate(ID, title="x")
    manifest.write_text(content[:-20])
    with pytest.raises(InputError, match="damaged"):
        store.annotate(ID, title="x")
    assert not file_of(store).exists()


# --- damage ----------------------------------------------------------------------------------------


DAMAGE = {
    "empty": b"",
    "cut": b'{"title": "mine", "no',
    "no text": b"\xff\xfe\0",
    "a list": b"[]",
    "other kinds": b'{"title": ["a"]}',
    "too long": json.dumps({"title": "n" * 301}).encode(),
    "not finite": b'{"config": {"one": {"lr": NaN}}}',
    "run that is not there": b'{"config": {"three": {"k": 1}}}',
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_annotations_are_none_and_lose_nothing_else(store, damage):
    store.annotate(ID, title="mine", notes="n")
    file_of(store).write_bytes(DAMAGE[damage])
    found, (entry,) = store.open(ID), store.list()
    for shown in (found, entry):
        assert (shown.title, shown.notes, shown.tags) == ("as read", "", ())
    store.annotate(ID, tags=["new"])
    found = store.open(ID)
    assert (found.title, found.tags) == ("as read", ("new",))


def test_annotations_that_cannot_be_read_just_now_are_not_overwritten(store):
    file_of(store).mkdir()
    assert store.open(ID).title == store.list()[0].title == "as read"
    with pytest.raises(OSError):
        store.annotate(ID, title="mine")
    assert file_of(store).is_dir() and leftovers(store) == []


def test_removed_with_the_evaluation(store):
    store.annotate(ID, title="mine", notes="n", tags=["t"], config={"one": {"gpu": "h100"}})
    store.add(evaluation(title="again"))
    assert store.open(ID).title == "mine"  # one that is there stays as it is
    store.remove(ID)
    found = store.add(evaluation())
    assert (found.title, found.notes, found.tags) == ("as read", "", ())
    assert found.run("one").config_set == {"gpu": "a100"}


def test_repairing_a_damaged_evaluation_keeps_what_was_said(store):
    store.annotate(ID, title="mine", notes="n")
    (folder_of(store) / "manifest.json").write_bytes(b"")
    assert store.list() == []
    found = store.add(evaluation())
    assert (found.title, found.notes) == ("mine", "n") and leftovers(store) == []


def test_what_another_library_shows_is_kept_when_it_is_added(store, tmp_path):
    store.annotate(ID, title="mine", notes="n", tags=["t"], config={"one": {"gpu": "h100"}})
    found = Store(tmp_path / "other").add(store.open(ID))
    assert (found.title, found.notes, found.tags) == ("mine", "n", ("t",))
    assert found.run("one").config_set == {"gpu": "h100"}


@pytest.mark.parametrize("owner", [os, Path], ids=["fsync", "replace"])
def test_full_disk_leaves_what_was_said_before(store, monkeypatch, owner):
    store.annotate(ID, title="before")
    name = "fsync" if owner is os else "replace"

    def refuse(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, refuse)
        with pytest.raises(OSError, match="No space left"):
            store.annotate(ID, title="after")
    assert store.open(ID).title == "before" and leftovers(store) == []


def test_removed_while_it_is_annotated(store, monkeypatch):
    load = annotations.load

    def removed_first(*args):
        store.remove(ID)
        return load(*args)

    monkeypatch.setattr(annotations, "load", removed_first)
    with pytest.raises(InputError, match="no such evaluation"):
        store.annotate(ID, title="x")
    assert store.list() == [] and leftovers(store) == []


# --- other processes -------------------------------------------------------------------------------


def start(worker, *args):
    code = f"import runpy, sys; runpy.run_path({str(WORKERS)!r})[{worker!r}](*sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        cwd=PROJECT,
        env=os.environ | {"PYTHONPATH": str(PROJECT), "POLARS_MAX_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_processes_lose_nothing_and_tear_nothing(store, tmp_path):
    go = tmp_path / "go"
    processes = [start("say_fifty_things", store.root, ID, who, go) for who in "ab"]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    go.touch()
    looks = 0
    while any(process.poll() is None for process in processes):
        (entry,) = store.list()
        assert entry.notes in ("", f"{entry.title} " * 500)  # of one call, never of two
        if entry.notes:
            looks += 1
            assert json.loads(file_of(store).read_text())["tags"] == []
    assert [process.communicate()[1] for process in processes] == ["", ""] and looks > 3
    wanted = {f"{who}{n}": n for who in "ab" for n in range(50)}
    assert store.open(ID).run("one").config_set == {"gpu": "a100"} | wanted
    assert store.list()[0].title in ("a 49", "b 49") and leftovers(store) == []


def test_killed_while_annotating_leaves_old_or_new(store):
    chance = random.Random(7)
    for _ in range(3):
        process = start("annotate_for_ever", store.root, ID)
        for _ in range(chance.randint(2, 6)):
            last = int(process.stdout.readline())
        time.sleep(chance.uniform(0.0, 0.02))
        process.kill()
        said, errors = process.communicate()
        assert errors == ""  # killed, not failed
        last = int(said.split()[-1]) if said.split() else last
        (entry,) = store.list()
        assert int(entry.title) in (last, last + 1)
        assert entry.notes == f"{entry.title} " * 2000 and entry.tags == (entry.title,)
        with store.workspace() as folder:
            assert leftovers(store) == [folder.name, folder.name + ".lock"]
