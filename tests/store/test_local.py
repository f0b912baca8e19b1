import errno
import json
import math
import os
import random
import resource
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import fields, replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specdash._version import VERSION
from specdash.schema import (
    COUNTERS,
    COUNTS,
    LATENCIES,
    RATES,
    RESPONSES,
    Evaluation,
    Granularity,
    InputError,
    Mapping,
    Run,
    RunWarning,
)
from specdash.store import Store, home

PROJECT = Path(__file__).resolve().parents[2]

ODD = [
    "🚀 K=8 é",
    "تقييم‏ \u202etxt",  # right to left, with an override
    "n" * 300,
    "half a pair \ud83d and \udcff",
    "../../etc/passwd",
    "nul \0 and\nlines\u2028 \\ \" '",
    "",
]

BAD_IDS = ["../x", "A" * 12, "", "0" * 11, "0" * 13, "0" * 12 + "\n", "../" + "0" * 9, "/" * 12, None, 5]


def steps_file(folder, n, rows=40):
    path = folder / f"steps-{n}.parquet"
    pl.DataFrame(
        {
            "request": [f"r{n}-{i // 4}" for i in range(rows)],
            "drafted": [4] * rows,
            "accepted": [(i + n) % 5 for i in range(rows)],
        },
        schema_overrides={"drafted": pl.Int16, "accepted": pl.Int16},
    ).write_parquet(path)
    return path


def responses(n):
    return pl.DataFrame(
        {
            "response": [0, 1],
            "request": [f"r{n}", "ü"],
            "dataset": ["gsm8k", "🚀"],
            "prompt": ["7", None],
            "copy": [n % 8, None],
            "output_tokens": [n, None],
        },
        schema=RESPONSES,
    )


def counts(n):
    return pl.DataFrame(
        {"response": [0, 0, 1], "drafted": [8, 8, 1], "accepted": [0, 8, 1], "steps": [n, 2**40, 1]},
        schema=COUNTS,
    )


def latencies(n):
    known = {"dataset": ["a", "a"], "start_s": [0.0, 0.5], "e2e_s": [1.0 + n, None], "gaps_s": [[0.25, 0.5], None]}
    return pl.DataFrame({name: known.get(name, [None, None]) for name in LATENCIES}, schema=LATENCIES)


def evaluation(n, folder):
    """Everything about it follows from ``n``, so that another process can tell what it must be."""
    runs = (
        Run(
            "steps",
            Granularity.STEP,
            8,
            config={"model": "m", "deep": {"list": [1, 2.5, None, True]}},
            config_set={"gpu": n},
            mapping=Mapping(matched=n, total=n + 1, absent=2),
            warnings=(RunWarning("unmatched", "1 of 2 …"),),
            responses=responses(n),
            counts=counts(n),
            printed=({"dataset": "gsm8k", "tau": 3.02, "n": None},),
            steps=steps_file(folder, n),
        ),
        Run("responses", Granularity.RESPONSE, None, responses=responses(n + 1), counts=counts(n + 1)),
        Run(
            "aggregate",
            Granularity.AGGREGATE,
            4,
            counters=pl.DataFrame(
                {
                    "dataset": ["a", "b"],
                    "responses": [None, n],
                    "steps": [10, 2**40],
                    "drafted": [40, None],
                    "accepted": [20, 7],
                    "per_position": [[9, 6, 4, 1], None],
                    "block": [4, None],
                    "exposed": [None, None],
                },
                schema=COUNTERS,
            ),
        ),
        Run(
            "rates",
            Granularity.RATES,
            None,
            rates=pl.DataFrame(
                {
                    "dataset": ["a"],
                    "tau": [2.5 + n],
                    "verify_rate": [None],
                    "mean_drafted": [math.nan],
                    "p_exposed": [[0.5, None]],
                    **{column: [None] for column in ("acceptance_ratio", "p", "c", "outcome")},
                },
                schema=RATES,
            ),
            latencies=latencies(n),
        ),
        Run("latencies", Granularity.LATENCIES, None, latencies=latencies(n + 1)),
    )
    return Evaluation(
        id=f"{n:012x}",
        title=str(n),
        source="logs.zip",
        sha256="ab" * 32,
        runs=runs,
        note="odd",
        reconstruction=bool(n % 2),
        order="invented" if n % 2 else "recorded",
        options={"seed": n},
    )


def assert_same(found, wanted):
    """Compare everything but ``added`` and where the steps are."""
    for field in fields(Evaluation):
        if field.name not in ("runs", "added"):
            assert getattr(found, field.name) == getattr(wanted, field.name), field.name
    assert [run.name for run in found.runs] == [run.name for run in wanted.runs]
    for run, other in zip(found.runs, wanted.runs, strict=True):
        for field in fields(Run):
            a, b = getattr(run, field.name), getattr(other, field.name)
            if isinstance(a, pl.DataFrame) and isinstance(b, pl.DataFrame):
                assert a.schema == b.schema and a.equals(b), field.name
            elif field.name == "steps":
                assert (a is None) == (b is None)
            else:
                assert a == b, field.name


def file_names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def leftovers(store):
    folder = store.root / "tmp"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.fixture
def store(tmp_path):
    # [ and * are patterns to some readers of Parquet.
    return Store(tmp_path / "a [library] * ü")


@pytest.fixture
def scratch(tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


# --- what goes in comes out ------------------------------------------------------------------------


def test_round_trip_of_every_granularity(store, scratch):
    wanted = evaluation(7, scratch)
    with store.workspace() as folder:
        moved = steps_file(folder, 7)
        content = moved.read_bytes()
        first = replace(wanted.runs[0], steps=moved)
        added = store.add(replace(wanted, runs=(first, *wanted.runs[1:])))
        assert not moved.exists()
    found = Store(store.root).open(wanted.id)
    for one in (added, found):
        assert_same(one, wanted)
        assert one.runs[0].steps == store.root / "evaluations" / wanted.id / "runs" / "0" / "steps.parquet"
        assert one.runs[0].steps.read_bytes() == content
        assert time.time() - time.mktime(time.strptime(one.added + "UTC", "%Y-%m-%dT%H:%M:%SZ%Z")) < 90000
    assert file_names(store.root) == [
        f"evaluations/{wanted.id}/{name}"
        for name in (
            "manifest.json",
            "runs/0/counts.parquet",
            "runs/0/responses.parquet",
            "runs/0/steps.parquet",
            "runs/1/counts.parquet",
            "runs/1/responses.parquet",
            "runs/2/counters.parquet",
            "runs/3/latencies.parquet",
            "runs/3/rates.parquet",
            "runs/4/latencies.parquet",
        )
    ]


def test_list_shows_what_was_stored(store, scratch):
    assert store.list() == [] and not store.root.exists()
    for n in (9, 3, 5):
        store.add(evaluation(n, scratch))
    entries = store.list()
    assert [entry.id for entry in entries] == [e.id for e in sorted(entries, key=lambda e: (e.added, e.id))]
    assert {entry.title for entry in entries} == {"3", "5", "9"}
    entry = next(entry for entry in entries if entry.title == "9")
    assert entry.runs == ("steps", "responses", "aggregate", "rates", "latencies")
    assert entry.mapping == dict.fromkeys(entry.runs) | {"steps": Mapping(9, 10, 2)}
    assert entry.granularity["aggregate"] is Granularity.AGGREGATE
    assert (entry.source, entry.sha256, entry.note) == ("logs.zip", "ab" * 32, "odd")
    assert (entry.order, entry.reconstruction) == ("invented", True)
    folder = store.root / "evaluations" / entry.id
    assert entry.bytes == sum((folder / name).stat().st_size for name in file_names(folder))
    for path in folder.rglob("*.parquet"):
        path.unlink()
    assert len(store.list()) == 3  # manifests alone


def test_list_is_sorted_by_time_then_id(store, scratch, monkeypatch):
    for n in (1, 2, 3):
        store.add(evaluation(n, scratch))
    for n, added in ((1, "2025-01-02T00:00:00Z"), (2, "2025-01-01T00:00:00Z"), (3, "2025-01-01T00:00:00Z")):
        edit(store, n, added=added)
    assert [entry.title for entry in store.list()] == ["2", "3", "1"]


def test_manifest_is_plain_json(store, scratch):
    store.add(evaluation(7, scratch))
    raw = (store.root / "evaluations" / f"{7:012x}" / "manifest.json").read_bytes()
    assert raw.isascii()
    found = json.loads(raw)
    assert found["format"] == 2 and found["specdash"] == VERSION
    assert found["runs"][0]["folder"] == 0
    assert found["runs"][0]["mapping"] == {"matched": 7, "total": 8, "absent": 2}
    assert found["runs"][0]["warnings"] == [{"code": "unmatched", "message": "1 of 2 …"}]
    assert [run["tables"] for run in found["runs"]] == [
        ["responses", "counts", "steps"],
        ["responses", "counts"],
        ["counters"],
        ["rates", "latencies"],
        ["latencies"],
    ]


def test_odd_texts_survive(store, scratch):
    base = evaluation(7, scratch)
    runs = tuple(replace(base.runs[1], name=name, config={name: name}) for name in ODD)
    for n, text in enumerate(ODD):
        wanted = replace(base, id=f"{n:012x}", title=text, source=text, note=text, options={"o": text}, runs=runs)
        assert_same(store.add(wanted, original=Path(__file__)), wanted)
        kept = store.root / "evaluations" / wanted.id / "original"
        assert [path.read_bytes() for path in kept.iterdir()] == [Path(__file__).read_bytes()]
    assert [entry.title for entry in store.list()] == ODD
    assert all(entry.runs == tuple(ODD) for entry in store.list())
    assert [path.name for path in store.root.parent.iterdir() if path != scratch] == [store.root.name]


@given(text=st.text(st.characters(exclude_categories=()), max_size=300))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_survives(store, text):
    run = Run(text, Granularity.RATES, None, rates=pl.DataFrame(schema=RATES), printed=({text: text},))
    wanted = Evaluation("0" * 12, text, text, "", (run,), note=text, options={text: [text]})
    if wanted.id in store:
        store.remove(wanted.id)
    assert_same(store.add(wanted), wanted)
    assert store.list()[0].title == text


def test_only_declared_columns_are_stored_and_types_are_settled(store, scratch):
    wide = responses(1).with_columns(pl.lit("secret").alias("text")).select("text", *reversed(RESPONSES.names()))
    wide = wide.cast({"response": pl.Int64, "dataset": pl.Categorical})
    nulls = counts(1).with_columns(pl.lit(None).alias("steps"))
    run = Run("a", Granularity.RESPONSE, None, responses=wide, counts=nulls)
    found = store.add(Evaluation("0" * 12, "", "", "", (run,))).runs[0]
    assert found.responses.schema == RESPONSES and found.responses.equals(responses(1))
    assert found.counts.schema == COUNTS


@pytest.mark.parametrize(
    "change",
    [
        {"counts": counts(1).drop("steps")},
        {"counts": counts(1).cast({"steps": pl.Float64})},
        {"counts": counts(1).cast({"steps": pl.String})},
        {"counts": counts(1).with_columns(pl.lit(40000).alias("drafted"))},
        {"counts": None},
        {"responses": responses(1).with_columns(pl.lit(1).alias("dataset"))},
        {"granularity": Granularity.STEP},
        {"granularity": Granularity.RATES},
        {"config": {"x": math.nan}},
        {"printed": ({"x": math.inf},)},
        {"config": {"x": object()}},
        {"steps": Path(__file__)},
    ],
)
def test_what_does_not_fit_is_a_programming_error(store, change):
    run = replace(Run("a", Granularity.RESPONSE, None, responses=responses(1), counts=counts(1)), **change)
    with pytest.raises(ValueError):
        store.add(Evaluation("0" * 12, "", "", "", (run,)))
    assert store.list() == [] and leftovers(store) == []


def test_steps_with_other_columns_are_refused(store, scratch):
    wanted = evaluation(1, scratch)
    path = wanted.runs[0].steps
    pl.read_parquet(path).with_columns(pl.lit("secret").alias("text")).write_parquet(path)
    with pytest.raises(ValueError, match="steps of run 'steps' do not fit"):
        store.add(wanted)


@pytest.mark.parametrize("id", ["../x", "A" * 12, "", "0" * 12 + "\n"])
def test_add_refuses_a_malformed_id(store, scratch, id):
    with pytest.raises(ValueError, match="not an id"):
        store.add(replace(evaluation(1, scratch), id=id))
    assert not store.root.exists()


def test_add_refuses_two_runs_of_one_name(store, scratch):
    wanted = evaluation(1, scratch)
    with pytest.raises(ValueError, match="same name"):
        store.add(replace(wanted, runs=(wanted.runs[1], wanted.runs[1])))


# --- the kept input --------------------------------------------------------------------------------


def test_original_file_and_folder_are_copied(store, scratch):
    source = scratch / "in"
    (source / "sub").mkdir(parents=True)
    (source / "a.txt").write_text("a")
    (source / "sub" / "b.txt").write_text("b")
    (source / "link.txt").symlink_to("a.txt")
    (source / "round").symlink_to(".")
    os.mkfifo(source / "pipe")
    (source / "sub").chmod(0o500)
    store.add(replace(evaluation(1, scratch), source="in"), original=source)
    kept = store.root / "evaluations" / f"{1:012x}" / "original"
    assert file_names(kept) == ["in/a.txt", "in/link.txt", "in/sub/b.txt"]
    assert (kept / "in" / "sub" / "b.txt").read_text() == "b" and not (kept / "in" / "link.txt").is_symlink()
    store.add(replace(evaluation(2, scratch), source="x.txt"), original=source / "a.txt")
    assert (store.root / "evaluations" / f"{2:012x}" / "original" / "x.txt").read_text() == "a"
    assert file_names(source) == ["a.txt", "link.txt", "sub/b.txt"]


def test_library_inside_the_folder_it_keeps(scratch):
    (scratch / "a.txt").write_text("a")
    inside = Store(scratch / "library")
    wanted = replace(evaluation(1, scratch), source="scratch")
    inside.add(wanted, original=scratch)
    kept = inside.root / "evaluations" / wanted.id / "original" / "scratch"
    assert file_names(kept) == ["a.txt", "steps-1.parquet"]


def test_missing_original_adds_nothing(store, scratch):
    with pytest.raises(FileNotFoundError):
        store.add(evaluation(1, scratch), original=scratch / "none.zip")
    assert store.list() == []


# --- ids, presence, removal ------------------------------------------------------------------------


def test_adding_twice_keeps_one_copy(store, scratch):
    first = store.add(evaluation(1, scratch))
    edit(store, 1, added="2020-01-01T00:00:00Z")
    again = store.add(replace(evaluation(1, scratch), title="another"), original=scratch / "steps-1.parquet")
    assert again.title == "1" and again.added == "2020-01-01T00:00:00Z"
    assert len(store.list()) == 1 and leftovers(store) == []
    assert file_names(store.root / "evaluations" / first.id).count("original/logs.zip") == 0


def test_adding_what_another_library_holds_takes_nothing_from_it(store, scratch):
    other = Store(scratch / "other")
    theirs = other.add(evaluation(1, scratch))
    store.add(theirs)
    store.add(replace(theirs, id="f" * 12))
    store.add(replace(store.open("f" * 12), id="e" * 12))
    for one in (other.open(theirs.id), store.open(theirs.id), store.open("f" * 12), store.open("e" * 12)):
        assert pl.read_parquet(one.runs[0].steps.open("rb")).height == 40


@pytest.mark.parametrize("id", BAD_IDS)
def test_malicious_ids(store, scratch, id):
    store.add(evaluation(1, scratch))
    (store.root / "evaluations" / "x").mkdir()
    outside = store.root / "x"
    shutil.copytree(store.root / "evaluations" / f"{1:012x}", outside)
    before = file_names(store.root)
    assert id not in store
    for call in (store.open, store.remove):
        with pytest.raises(InputError, match="no such evaluation"):
            call(id)
    assert file_names(store.root) == before


def test_unknown_ids(store, scratch):
    for call in (store.open, store.remove):
        with pytest.raises(InputError, match="no such evaluation in the library; found 'abcdefabcdef'"):
            call("abcdefabcdef")
    assert not store.root.exists()
    store.add(evaluation(1, scratch))
    assert f"{1:012x}" in store and "abcdefabcdef" not in store


def test_remove(store, scratch):
    for n in (1, 2):
        store.add(evaluation(n, scratch))
    store.remove(f"{1:012x}")
    assert [entry.title for entry in store.list()] == ["2"]
    assert f"{1:012x}" not in store and leftovers(store) == []
    assert os.listdir(store.root / "evaluations") == [f"{2:012x}"]  # noqa: PTH208
    with pytest.raises(InputError):
        store.remove(f"{1:012x}")


def test_removed_at_once_even_when_nothing_can_be_deleted(store, scratch, monkeypatch):
    store.add(evaluation(1, scratch))
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", lambda *args, **kwargs: None)
        store.remove(f"{1:012x}")
    assert list((store.root / "evaluations").iterdir()) == []
    with store.workspace():
        pass
    assert leftovers(store) == []


def test_replaced_while_it_is_opened(store, scratch, monkeypatch):
    store.add(evaluation(1, scratch))
    read, calls = pl.read_parquet, []

    def gone_once(*args, **kwargs):
        calls.append(args)
        if len(calls) == 2:
            raise FileNotFoundError
        return read(*args, **kwargs)

    monkeypatch.setattr(pl, "read_parquet", gone_once)
    assert_same(store.open(f"{1:012x}"), evaluation(1, scratch))


def test_removed_while_it_is_opened_or_listed(store, scratch, monkeypatch):
    for n in (1, 2):
        store.add(evaluation(n, scratch))
    read, read_bytes, other = pl.read_parquet, Path.read_bytes, Store(store.root)

    def remove_first(function, n):
        def call(*args, **kwargs):
            monkeypatch.undo()
            other.remove(f"{n:012x}")
            return function(*args, **kwargs)

        return call

    monkeypatch.setattr(pl, "read_parquet", remove_first(read, 1))
    with pytest.raises(InputError, match="no such evaluation"):
        store.open(f"{1:012x}")
    monkeypatch.setattr(Path, "read_bytes", remove_first(read_bytes, 2))
    assert store.list() == []


def test_home_and_families_file(store, tmp_path):
    assert home({"SPECDASH_HOME": str(tmp_path)}) == tmp_path
    assert home({}) == home({"SPECDASH_HOME": ""}) and home({}).name == "specdash"
    assert store.families_file() == store.root / "families.toml"
    assert not store.root.exists()


# --- manifests that cannot be used -----------------------------------------------------------------


def manifest_of(store, n):
    return store.root / "evaluations" / f"{n:012x}" / "manifest.json"


def edit(store, n, **changes):
    path = manifest_of(store, n)
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


DAMAGE = {
    "gone": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-20]),
    "no text": lambda path: path.write_bytes(b"\xff\xfe\x00"),
    "a list": lambda path: path.write_bytes(b"[]"),
    "other shape": lambda path: path.write_bytes(b'{"format": 2, "id": "000000000001"}'),
    "other id": lambda path: path.write_text(path.read_text().replace("000000000001", "000000000003")),
    "other time": lambda path: path.write_text(path.read_text().replace('"added": "', '"added": 1, "x": "')),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_manifest_does_not_exist_and_is_repaired_by_adding(store, scratch, damage):
    store.add(evaluation(1, scratch))
    store.add(evaluation(2, scratch))
    DAMAGE[damage](manifest_of(store, 1))
    assert [entry.title for entry in store.list()] == ["2"]
    if damage not in ("other shape", "other time"):
        assert f"{1:012x}" not in store
        assert_same(store.add(evaluation(1, scratch)), evaluation(1, scratch))
        assert {entry.title for entry in store.list()} == {"1", "2"}
        return
    with pytest.raises(InputError, match="damaged; remove it"):
        store.open(f"{1:012x}")
    store.remove(f"{1:012x}")
    assert_same(store.add(evaluation(1, scratch)), evaluation(1, scratch))


def test_newer_format_is_left_alone(store, scratch):
    store.add(evaluation(1, scratch))
    edit(store, 1, format=3)
    assert store.list() == [] and f"{1:012x}" not in store
    before = manifest_of(store, 1).read_bytes()
    message = "stored by a newer specdash; found format 3; expected format 2"
    for call in (store.open, store.remove):
        with pytest.raises(InputError, match=message):
            call(f"{1:012x}")
    with pytest.raises(InputError, match=message):
        store.add(evaluation(1, scratch))
    assert manifest_of(store, 1).read_bytes() == before


@pytest.mark.parametrize("table", ["runs/0/counts.parquet", "runs/0/steps.parquet"])
def test_missing_table(store, scratch, table):
    store.add(evaluation(1, scratch))
    (manifest_of(store, 1).parent / table).unlink()
    with pytest.raises(InputError, match="000000000001: the stored evaluation is damaged"):
        store.open(f"{1:012x}")
    store.remove(f"{1:012x}")


def test_damaged_table(store, scratch):
    store.add(evaluation(1, scratch))
    (manifest_of(store, 1).parent / "runs/0/counts.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match=r"000000000001: the stored evaluation is damaged.*counts\.parquet"):
        store.open(f"{1:012x}")


def test_manifest_cannot_lead_out_of_the_library(store, scratch):
    store.add(evaluation(1, scratch))
    runs = json.loads(manifest_of(store, 1).read_text())["runs"]
    for change in ({"folder": "../../x"}, {"tables": ["../../../x"]}):
        edit(store, 1, runs=[runs[1] | change])
        with pytest.raises(InputError, match="damaged"):
            store.open(f"{1:012x}")


def test_strangers_in_the_folder_of_evaluations(store, scratch):
    store.add(evaluation(1, scratch))
    (store.root / "evaluations" / ".DS_Store").write_text("")
    (store.root / "evaluations" / "notes").mkdir()
    (store.root / "evaluations" / ("a" * 12)).mkdir()
    (store.root / "evaluations" / ("b" * 12)).write_text("")
    assert [entry.title for entry in store.list()] == ["1"]
    for id in ("a" * 12, "b" * 12):
        assert id not in store
        store.add(replace(evaluation(2, scratch), id=id))
        assert id in store


# --- failures --------------------------------------------------------------------------------------


class Failing:
    """Lets ``left`` operations on the disk pass and refuses the next one, or all the rest."""

    def __init__(self, monkeypatch, lasting):
        self.left, self.lasting, self.refused = math.inf, lasting, False
        operations = [
            (os, "fsync"),
            (os, "mkdir"),
            (shutil, "copyfile"),
            (pl.DataFrame, "write_parquet"),
            (Path, "write_text"),
        ]
        if not lasting:  # a rename needs no space, so a full disk does not refuse it
            operations.append((os, "rename"))
        for owner, name in operations:
            monkeypatch.setattr(owner, name, self.wrapped(getattr(owner, name)))

    def after(self, passed):
        self.left, self.refused = passed, False

    def wrapped(self, function):
        def call(*args, **kwargs):
            self.left -= 1
            if self.left == -1 or (self.lasting and self.left < 0):
                self.refused = True
                raise OSError(errno.ENOSPC, "No space left on device")
            return function(*args, **kwargs)

        return call


@pytest.mark.parametrize("lasting", [True, False])
def test_full_disk_at_every_step_leaves_the_library_as_before(store, scratch, monkeypatch, lasting):
    store.add(evaluation(1, scratch))
    wanted = evaluation(2, scratch)
    before, failing, failures = file_names(store.root), Failing(monkeypatch, lasting), 0
    for passed in range(1000):
        failing.after(passed)
        try:
            store.add(wanted, original=scratch)
        except OSError as error:
            assert error.errno == errno.ENOSPC
        else:  # nothing was refused, or it was the making of a folder that is there already
            assert_same(store.open(wanted.id), wanted)
            if not failing.refused:
                break
            failing.after(math.inf)
            store.remove(wanted.id)
        failing.after(math.inf)
        failures += 1
        assert file_names(store.root) == before
        assert [entry.title for entry in store.list()] == ["1"] and leftovers(store) == []
        assert len(list((store.root / "evaluations").iterdir())) == 1
    assert 20 < failures < 999


def test_files_that_may_not_grow(store, scratch):
    """The write fails inside polars, which has an exception of its own for it."""
    many = pl.DataFrame({"response": range(50000)}).with_columns(
        [(pl.col("response").hash(seed) % 4).alias(name) for seed, name in enumerate(COUNTS.names()[1:])]
    )
    run = Run("a", Granularity.RESPONSE, None, responses=responses(1), counts=many)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20000, hard))
    try:
        with pytest.raises(OSError, match="counts"):
            store.add(Evaluation("0" * 12, "", "", "", (run,)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert store.list() == [] and leftovers(store) == []


def test_workspace_is_removed_whatever_happens(store):
    for problem in (ValueError, KeyboardInterrupt, SystemExit):
        with pytest.raises(problem), store.workspace() as folder:
            assert folder.parent == store.root / "tmp" and folder.stat().st_dev == store.root.stat().st_dev
            (folder / "sub").mkdir()
            (folder / "sub" / "file").write_text("x")
            raise problem
        assert leftovers(store) == []


# --- other processes -------------------------------------------------------------------------------


def start(worker, *args):
    code = f"import runpy, sys; runpy.run_path({__file__!r})[{worker!r}](*sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        cwd=PROJECT,
        env=os.environ | {"PYTHONPATH": str(PROJECT), "POLARS_MAX_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    return out


def ready():
    print("ready", flush=True)


def add_for_ever(root, first):
    """Add, and remove every third, until killed."""
    store, n = Store(Path(root)), int(first)
    ready()
    while True:
        with store.workspace() as folder:
            store.add(evaluation(n, folder), original=folder / f"steps-{n}.parquet" if n % 5 == 0 else None)
        if n % 3 == 0:
            store.remove(f"{n:012x}")
        ready()
        n += 1


def add_some(root, go):
    """Add the same fifteen as another process does, both starting at once."""
    store = Store(Path(root))
    ready()
    while not Path(go).exists():
        time.sleep(0.0005)
    for n in range(15):
        with store.workspace() as folder:
            assert_same(store.add(evaluation(n, folder)), evaluation(n, folder))


def churn(root, stop):
    """Add and remove the same three over and over."""
    store = Store(Path(root))
    ready()
    while not Path(stop).exists():
        for n in range(3):
            with store.workspace() as folder:
                store.add(evaluation(n, folder))
        for n in range(3):
            store.remove(f"{n:012x}")


def hold(root):
    """Stay inside a workspace until the input ends."""
    with Store(Path(root)).workspace() as folder:
        (folder / "mine").write_text("x")
        print(folder, flush=True)
        sys.stdin.read()
        assert (folder / "mine").read_text() == "x"


def test_killed_at_any_moment_leaves_only_whole_evaluations(store, scratch):
    chance, found_leftovers, seen = random.Random(7), 0, set()
    store.add(evaluation(999999, scratch))
    for batch in range(5):
        processes = [start("add_for_ever", store.root, 1000 * (3 * batch + i)) for i in range(3)]
        for process in processes:
            for _ in range(chance.randint(1, 5)):  # counted, so that a slow machine also gets somewhere
                process.stdout.readline()
            time.sleep(chance.uniform(0.0, 0.05))
            process.kill()
            assert process.communicate()[1] == ""  # killed, not failed
        found_leftovers += len(leftovers(store))
        entries = store.list()
        for entry in entries:
            if entry.id not in seen:
                wanted = evaluation(int(entry.title), scratch)
                found = store.open(entry.id)
                assert_same(found, wanted)
                assert found.runs[0].steps.read_bytes() == wanted.runs[0].steps.read_bytes()
        seen = {entry.id for entry in entries}
        assert seen == {path.name for path in (store.root / "evaluations").iterdir()}
        with store.workspace() as folder:
            assert leftovers(store) == [folder.name, folder.name + ".lock"]
        assert leftovers(store) == []
    assert len(seen) > 5 and found_leftovers


def test_two_processes_adding_the_same(store, scratch):
    go = scratch / "go"
    processes = [start("add_some", store.root, go) for _ in range(2)]
    for process in processes:
        process.stdout.readline()
    go.touch()
    for process in processes:
        finish(process)
    assert sorted(entry.title for entry in store.list()) == sorted(map(str, range(15)))
    assert len(list((store.root / "evaluations").iterdir())) == 15 and leftovers(store) == []


def test_reading_while_another_process_adds_and_removes(store, scratch):
    stop, wanted, opened = scratch / "stop", [evaluation(n, scratch) for n in range(3)], 0
    process = start("churn", store.root, stop)
    process.stdout.readline()
    end = time.monotonic() + 0.8
    while time.monotonic() < end:
        for entry in store.list():
            try:
                assert_same(store.open(entry.id), wanted[int(entry.title)])
                opened += 1
            except InputError as error:
                assert error.problem == "no such evaluation in the library"
    stop.touch()
    finish(process)
    assert opened > 5


def test_workspace_of_a_living_process_is_not_swept(store, scratch):
    process = start("hold", store.root)
    folder = Path(process.stdout.readline().strip())
    with store.workspace() as other:
        assert (folder / "mine").exists() and other != folder
    store.add(evaluation(1, scratch))
    assert leftovers(store) == [folder.name, folder.name + ".lock"]
    finish(process)
    assert leftovers(store) == []


def test_many_workspaces_at_once_leave_each_other_alone(store):
    """Each entry sweeps, so a folder that could be swept between being made and being locked would show."""
    problems = []

    def work():
        try:
            for _ in range(25):
                with store.workspace() as folder:
                    (folder / "a").write_text("a")
                    with store.workspace() as inner:
                        assert (folder / "a").read_text() == "a" and inner.exists()
                    assert (folder / "a").exists()
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == [] and leftovers(store) == []


def test_leftovers_of_every_kind_are_swept(store):
    temporary = store.root / "tmp"
    (temporary / "0123456789abcdef" / "sub").mkdir(parents=True)
    (temporary / "0123456789abcdef" / "sub" / "file").write_text("x")
    (temporary / "aaaaaaaaaaaaaaaa.lock").write_text("")
    (temporary / "a file").write_text("")
    (temporary / "a link").symlink_to(store.root)
    with store.workspace() as folder:
        assert leftovers(store) == [folder.name, folder.name + ".lock"]
    assert leftovers(store) == [] and store.root.exists()


def test_store_loads_no_pyarrow_streamlit_or_duckdb(store, scratch):
    store.add(evaluation(1, scratch))
    code = (
        "import sys; from pathlib import Path; from specdash.store import Store;"
        "store = Store(Path(sys.argv[1])); id = store.list()[0].id; store.open(id); store.remove(id);"
        "print({'pyarrow', 'streamlit', 'duckdb', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(store.root)], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
