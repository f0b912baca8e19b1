import copy
import io
import json
import random
import shutil
import time
import zipfile
from dataclasses import replace

import polars as pl
import pytest
from click.testing import CliRunner

import specdash
from specdash import families, ingest, report
from specdash.cli import cli
from specdash.ingest.jobs import Jobs, State
from specdash.schema import Evaluation, Granularity, InputError, Mapping, RunWarning
from specdash.store import Store, export
from tests.evaluations import BUILT, LONG, ODD_NAMES, Built, block_of, counters_only, logged, run_files, variable_k
from tests.helpers import counter_run, counters, log_run, rates_run, response

FAMILY_OF = families.load(None)
SAID = {
    "title": "😀 عنوان __proto__",
    "notes": '=cmd("calc")\n' + LONG,
    "tags": ["a100", "👩‍👩‍👧"],
}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "one [library]")


@pytest.fixture
def other(tmp_path):
    return Store(tmp_path / "another")


def document(evaluation):
    return report.document(ingest.checked(evaluation), FAMILY_OF)


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(path, content):
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in content.items():
            archive.writestr(name, value)
    return path


def exported(store, built, folder, **said):
    """Add an evaluation, annotate it and export it."""
    added = ingest.add(built.write(folder), store)
    store.annotate(added.id, **said)
    return store.export(added.id, folder / f"{added.id}.specdash.zip")


def assert_unchanged(store):
    """The library holds nothing, not even a leftover."""
    assert [path for path in store.root.rglob("*") if path.name not in ("tmp", "evaluations")] == []


def assert_same_tables(found, wanted):
    for run, other_run in zip(found.runs, wanted.runs, strict=True):
        for name in ("responses", "counts", "counters", "rates"):
            a, b = getattr(run, name), getattr(other_run, name)
            assert (a is None) == (b is None)
            assert a is None or (a.schema == b.schema and a.equals(b)), name
        assert (run.steps is None) == (other_run.steps is None)
        if run.steps:
            a, b = (pl.read_parquet(one.steps, glob=False) for one in (run, other_run))
            assert a.schema == b.schema and a.equals(b)  # in the same order
        assert (run.printed, run.warnings, run.mapping) == (other_run.printed, other_run.warnings, other_run.mapping)


# --- what goes out comes in ------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILT)
def test_round_trip_through_a_zip(store, other, tmp_path, name):
    added = ingest.add(BUILT[name]().write(tmp_path), store)
    run = added.runs[0].name
    store.annotate(added.id, **SAID, config={run: {"gpu": "h100", "__proto__": 1.5}})
    wanted = store.open(added.id)
    path = store.export(added.id, tmp_path / "out" / "x.zip")
    read = specdash.load(path).evaluation
    found = ingest.add(path, other)
    assert found.id == added.id and document(read) == document(found) == document(wanted)
    assert (found.title, found.notes, found.tags) == (SAID["title"], SAID["notes"], tuple(SAID["tags"]))
    assert found.runs[0].effective_config == wanted.runs[0].effective_config
    assert (read.notes, read.tags, read.added) == (found.notes, found.tags, None)
    assert_same_tables(found, wanted)
    same = ("id", "title", "source", "sha256", "runs", "order", "reconstruction", "note", "granularity", "mapping")
    (entry,), (before,) = other.list(), store.list()
    assert all(getattr(entry, key) == getattr(before, key) for key in (*same, "notes", "tags"))
    assert entry.bytes == sum(file.stat().st_size for file in (other.root / "evaluations").rglob("*.*"))
    assert [path.name for path in (other.root / "tmp").iterdir()] == []
    # What people said is still apart from what was read.
    manifests = [json.loads((s.root / "evaluations" / added.id / "manifest.json").read_text()) for s in (store, other)]
    assert [m | {"added": 0, "bytes": 0} for m in manifests] == [manifests[0] | {"added": 0, "bytes": 0}] * 2


def test_round_trip_of_every_granularity_and_odd_names(store, other, tmp_path):
    sha256 = "ab" * 32
    odd = [response((4, i % 5), (3, 0), (0, 0), dataset=name, prompt=name) for i, name in enumerate(ODD_NAMES)]
    runs = (
        log_run(odd, name="😀 عربي", granularity=Granularity.RESPONSE, mapping=Mapping(2, 3, 1)),
        counter_run(
            counters(9, LONG, block=3, drafted=27, per_position=[5, 3, 0]),
            counters(7, "b", accepted=0),
            counters(0, "c", block=0, drafted=0, accepted=0, responses=4),
            name="__proto__",
            warnings=(RunWarning("x", "y"),),
        ),
        rates_run({"dataset": "=cmd()", "tau": 3.25, "p_exposed": [0.5, None]}, {"dataset": "b"}, name="c" * 300),
        rates_run({"dataset": "a", "p_exposed": []}, name="<b>"),
    )
    runs = (*runs[:2], replace(runs[2], k=2, printed=({"dataset": "b", "tau": None, "decimals": {}},)), runs[3])
    options = {"config": {"lr": 1e-9, "n": 7, "text": "é", "flag": False}}
    wanted = Evaluation(
        ingest.evaluation_id(sha256, ingest.Options(options["config"])), LONG * 2, "../x\0.zip", sha256, runs,
        note="😀", reconstruction=True, order="invented", options=options,
    )  # fmt: skip
    wanted = store.add(wanted)
    found = ingest.add(store.export(wanted.id, tmp_path / "x.zip"), other)
    assert document(found) == document(wanted) and found.options == options
    assert (found.reconstruction, found.order, found.title) == (True, "invented", LONG * 2)
    assert_same_tables(found, wanted)


def test_flags_of_a_reconstruction(store, other, tmp_path):
    about = {"title": "r", "note": "n", "reconstruction": True, "order": "invented"}
    log = logged([response((3, 1), (3, 3))])
    built = Built("r.zip", {"a/spec_log.csv": log, "b/spec_log.csv": log, "evaluation.json": json.dumps(about)})
    found = ingest.add(exported(store, built, tmp_path), other)
    assert (found.reconstruction, found.order, found.note, len(found.runs)) == (True, "invented", "n", 2)
    assert [warning.code for warning in found.runs[0].warnings] == ["reconstruction", "order_invented"]


def test_an_export_is_the_same_bytes_again_and_holds_no_input(store, other, tmp_path):
    source = variable_k().write(tmp_path)
    added = ingest.add(source, store, keep_original=True)
    path = store.export(added.id, tmp_path / "x.zip")
    names = ["manifest.json", *(f"runs/0/{name}.parquet" for name in ("responses", "counts", "steps"))]
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == names and archive.testzip() is None
    assert store.export(added.id, tmp_path / "y.zip").read_bytes() == path.read_bytes()
    store.annotate(added.id, notes="n")
    with zipfile.ZipFile(store.export(added.id, path)) as archive:
        assert archive.namelist() == ["manifest.json", "annotations.json", *names[1:]]
    ingest.add(path, other, keep_original=True)
    assert not (other.root / "evaluations" / added.id / "original").exists()


def test_one_that_is_there_stays_as_it_is(store, other, tmp_path):
    path = exported(store, variable_k(), tmp_path, title="theirs", tags=["x"])
    mine = ingest.add(variable_k().write(tmp_path), other)
    other.annotate(mine.id, title="mine")
    found = ingest.add(path, other)
    assert (found.id, found.title, found.tags) == (mine.id, "mine", ())


def test_an_unpacked_export_goes_in_too(store, other, tmp_path):
    path = exported(store, variable_k(), tmp_path, title="mine")
    folder = tmp_path / "un*[packed]"
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    before = {file: file.read_bytes() for file in folder.rglob("*.*")}
    found = ingest.add(folder, other)
    assert document(found) == document(store.open(found.id))
    assert {file: file.read_bytes() for file in folder.rglob("*.*")} == before


def test_upload_of_an_export(store, other, tmp_path):
    path = exported(store, variable_k(), tmp_path, title="mine", tags=["x"])
    jobs = Jobs(other)
    jobs.submit(path.name, [path.read_bytes()])
    deadline = time.monotonic() + 60
    while (job := jobs.all()[0]).state.active and time.monotonic() < deadline:
        time.sleep(0.02)
    assert (job.state, job.error) == (State.DONE, None)
    assert document(other.open(job.evaluation)) == document(store.open(path.name[:12]))


def test_a_manifest_of_others_is_no_export(store, tmp_path):
    built = variable_k()
    built.files["manifest.json"] = json.dumps({"name": "x", "version": 1})
    found = ingest.add(built.write(tmp_path), store)
    assert found.id != json.loads("0") and len(found.runs) == 1


def test_settings_do_not_go_with_an_export(store, other, tmp_path):
    path = exported(store, variable_k(), tmp_path)
    message = "is an exported evaluation, whose settings are part of it; found settings k"
    for call in (
        lambda: ingest.add(path, other, options=ingest.Options({"k": 7})),
        lambda: specdash.load(path, {"k": 7}),
    ):
        with pytest.raises(InputError, match=message):
            call()
    assert_unchanged(other)


# --- writing ---------------------------------------------------------------------------------------


def test_command_line(library, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        result = CliRunner().invoke(cli, list(map(str, words)), prog_name="specdash")
        return result.exit_code, result.output

    id = ingest.add(variable_k().write(tmp_path), Store(library)).id
    assert run("export", id) == (0, f"{id}.specdash.zip\n")
    whole = (tmp_path / f"{id}.specdash.zip").read_bytes()
    code, said = run("export", id)
    assert code == 1 and f"{id}.specdash.zip: is there already; expected another -o FILE, or --force" in said
    Store(library).annotate(id, title="mine")
    assert run("export", id, "--force")[0] == 0
    assert (tmp_path / f"{id}.specdash.zip").read_bytes() != whole
    assert run("export", id, "-o", "new/x.zip") == (0, "new/x.zip\n")
    code, said = run("export", "0" * 12)
    assert code == 1 and "no such evaluation in the library" in said
    stored = json.loads(run("report", id, "--format", "json")[1])
    assert json.loads(run("report", "new/x.zip", "--format", "json")[1]) == stored
    assert stored["evaluation"]["title"] == "mine"
    Store(library).remove(id)
    for _ in range(2):
        code, said = run("add", "new/x.zip")
        assert code == 0 and said.startswith(f"{id}  mine\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{id}.specdash.zip", "new", "variable-k.zip"]


def test_an_export_that_fails_leaves_what_was_there(store, tmp_path, monkeypatch):
    id = ingest.add(variable_k().write(tmp_path), store).id
    target = tmp_path / "out" / "x.zip"

    def refuse(source, out, size=0):
        out.write(b"half")
        raise OSError(28, "No space left on device")

    for before in (None, b"before"):
        if before:
            target.write_bytes(before)
        with monkeypatch.context() as patch:
            patch.setattr(shutil, "copyfileobj", refuse)
            with pytest.raises(OSError, match="No space left"):
                store.export(id, target)
        assert [path.read_bytes() for path in target.parent.iterdir()] == ([before] if before else [])


def test_a_damaged_evaluation_is_not_exported(store, tmp_path):
    id = ingest.add(variable_k().write(tmp_path), store).id
    (store.root / "evaluations" / id / "runs/0/counts.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="the stored evaluation is damaged"):
        store.export(id, tmp_path / "out" / "x.zip")
    assert not (tmp_path / "out").exists()


def test_replaced_while_it_is_exported(store, tmp_path, monkeypatch):
    source = variable_k().write(tmp_path)
    id = ingest.add(source, store).id
    whole = members(store.export(id, tmp_path / "x.zip"))
    write, times = export.write, []

    def replaced_first(folder, out):
        times.append(folder)
        if len(times) == 1:
            write(folder, out)
            raise FileNotFoundError(2, "gone")
        write(folder, out)

    monkeypatch.setattr(export, "write", replaced_first)
    assert members(store.export(id, tmp_path / "y.zip")) == whole and len(times) == 2


# --- exports that were tampered with ---------------------------------------------------------------


def manifest_with(**changes):
    def change(content):
        found = json.loads(content["manifest.json"]) | changes
        content["manifest.json"] = json.dumps(found)

    return change


def run_with(**changes):
    def change(content):
        found = json.loads(content["manifest.json"])
        found["runs"][0] |= changes
        content["manifest.json"] = json.dumps(found)

    return change


def without(name, of_run=False):
    def change(content):
        found = json.loads(content["manifest.json"])
        del (found["runs"][0] if of_run else found)[name]
        content["manifest.json"] = json.dumps(found)

    return change


def table(name, change_frame, **options):
    """Change a table of the first run."""

    def change(content):
        path = f"runs/0/{name}.parquet"
        out = io.BytesIO()
        change_frame(pl.read_parquet(io.BytesIO(content[path]))).write_parquet(out, **options)
        content[path] = out.getvalue()

    return change


def cell(name, column, value, row=0):
    def changed(frame):
        here = pl.int_range(pl.len()) == row
        literal = pl.lit(pl.Series([value], dtype=frame.schema[column])).first() if isinstance(value, list) else value
        return frame.with_columns(
            pl.when(here).then(literal).otherwise(column).cast(frame.schema[column]).alias(column)
        )

    return table(name, changed)


def member(name, content):
    return lambda found: found.update({name: content})


def gone(name):
    return lambda found: found.pop(name)


def annotated(document):
    return member("annotations.json", json.dumps(document))


LOG = {
    "newer": (manifest_with(format=3), "manifest.json: the evaluation was stored by a newer specdash; found format 3"),
    "format zero": (manifest_with(format=0), "manifest.json: 'format' is of the wrong kind; found 0"),
    "format text": (manifest_with(format="1"), "manifest.json: 'format' is of the wrong kind"),
    "format true": (manifest_with(format=True), "manifest.json: 'format' is of the wrong kind"),
    "no format": (without("format"), "manifest.json: format is missing"),
    "no JSON": (member("manifest.json", b'{"specdash": 1, '), "manifest.json, line 1: not valid JSON"),
    "no object": (member("manifest.json", b'["specdash"]'), "manifest.json: not a JSON object"),
    "deep": (member("manifest.json", b'{"specdash":' + b"[" * 100_000), "manifest.json: JSON nested too deeply"),
    "other id": (manifest_with(id="0" * 12), "manifest.json: id does not belong to sha256 and options; found 000000"),
    "path as id": (manifest_with(id="../../../x"), "manifest.json: 'id' is of the wrong kind; found ../../../x"),
    "other sha256": (manifest_with(sha256="0" * 64), "manifest.json: id does not belong to sha256 and options"),
    "short sha256": (manifest_with(sha256="0"), "manifest.json: 'sha256' is of the wrong kind"),
    "other options": (manifest_with(options={"config": {"k": 3}}), "manifest.json: id does not belong to"),
    "odd options": (manifest_with(options={"x": 1}), "manifest.json: options are not those of an evaluation"),
    "empty options": (manifest_with(options={"config": {}}), "manifest.json: options are not those of an evaluation"),
    "deep options": (manifest_with(options={"config": {"a": []}}), "manifest.json: options are not those of"),
    "title": (manifest_with(title=None), "manifest.json: 'title' is of the wrong kind"),
    "source": (manifest_with(source=1), "manifest.json: 'source' is of the wrong kind"),
    "order": (manifest_with(order="random"), "manifest.json: 'order' is of the wrong kind; found random"),
    "flag": (manifest_with(reconstruction=0), "manifest.json: 'reconstruction' is of the wrong kind"),
    "no note": (without("note"), "manifest.json: note is missing"),
    "no runs": (manifest_with(runs=[]), "manifest.json: 'runs' is of the wrong kind"),
    "runs": (manifest_with(runs={"0": 1}), "manifest.json: 'runs' is of the wrong kind"),
    "run": (manifest_with(runs=[1]), "manifest.json: 'runs' is of the wrong kind"),
    "no name": (run_with(name=""), "manifest.json: run 0: 'name' is of the wrong kind"),
    "no k": (without("k", of_run=True), "manifest.json: run 0: k is missing"),
    "large k": (run_with(k=65), "manifest.json: run 0: 'k' is of the wrong kind; found 65; expected a whole number"),
    "other k": (run_with(k=4), "runs/0/counts.parquet: the manifest says k = 4 of run 0; found k = 5"),
    "path as folder": (run_with(folder="../../x"), "manifest.json: run 0: 'folder' is of the wrong kind"),
    "other folder": (run_with(folder=1), "manifest.json: run 0: folder is not its place; found 1; expected 0"),
    "true folder": (run_with(folder=False), "manifest.json: run 0: 'folder' is of the wrong kind"),
    "granularity": (run_with(granularity="token"), "manifest.json: run 0: 'granularity' is of the wrong kind"),
    "coarser": (run_with(granularity="response"), "manifest.json: run 0: tables are not those of response"),
    "fewer tables": (run_with(tables=["responses", "counts"]), "manifest.json: run 0: tables are not those of step"),
    "path as table": (run_with(tables=["../../../x"]), "manifest.json: run 0: tables are not those of step"),
    "config": (run_with(config={"a": {"b": 1}}), "manifest.json: run 0: 'config' is of the wrong kind"),
    "config k": (run_with(config={"k": "7"}), "manifest.json: k is not a block length; found 7"),
    "settings": (run_with(config_set=[1]), "manifest.json: run 0: 'config_set' is of the wrong kind"),
    "mapping": (run_with(mapping={"matched": 1, "total": 1}), "manifest.json: run 0: mapping: absent is missing"),
    "more mapping": (
        run_with(mapping={"matched": 1, "total": 1, "absent": 0, "x": 1}),
        "manifest.json: run 0: mapping: 'x' is of the wrong kind; found 1; expected no such field",
    ),
    "mapping sums": (
        run_with(mapping={"matched": 2, "total": 1, "absent": 0}),
        "manifest.json: run 0: mapping: more matched than there are",
    ),
    "warnings": (run_with(warnings=[{"code": 1, "message": ""}]), "manifest.json: run 0: warnings: 'code' is of"),
    "printed": (run_with(printed=[{"dataset": "a"}]), "manifest.json: run 0: printed: decimals is missing"),
    "printed cell": (
        run_with(printed=[{"dataset": "a", "decimals": {}, "tau": [[]]}]),
        "manifest.json: run 0: printed: 'tau' is of the wrong kind",
    ),
    "missing table": (gone("runs/0/steps.parquet"), "runs/0/steps.parquet: is missing from the exported evaluation"),
    "stranger": (member("runs/0/prompts.parquet", b"x"), "runs/0/prompts.parquet: is no part of an exported eval"),
    "original": (member("original/logs.zip.txt", b"x"), "original/logs.zip.txt: is no part of an exported eval"),
    "no Parquet": (member("runs/0/counts.parquet", b"x"), "runs/0/counts.parquet: not a readable Parquet file"),
    "no steps": (member("runs/0/steps.parquet", b"PAR1"), "runs/0/steps.parquet: not a readable Parquet file"),
    "extra column": (
        table("responses", lambda t: t.with_columns(text=pl.lit("secret"))),
        "runs/0/responses.parquet: has other columns; found response INTEGER, request VARCHAR",
    ),
    "fewer columns": (table("counts", lambda t: t.drop("steps")), "runs/0/counts.parquet: has other columns"),
    "other order": (table("counts", lambda t: t.select(reversed(t.columns))), "runs/0/counts.parquet: has other"),
    "other type": (
        table("counts", lambda t: t.cast({"drafted": pl.Int64})),
        "runs/0/counts.parquet: has other columns; found response INTEGER, drafted BIGINT",
    ),
    "no rows": (table("counts", lambda t: t.clear()), "runs/0/counts.parquet: has no rows"),
    "null": (cell("counts", "drafted", None), "runs/0/counts.parquet, line 1: drafted is not known, or known twice"),
    "no dataset": (cell("responses", "dataset", None, 2), "runs/0/responses.parquet, line 3: dataset is missing"),
    "drafted 65": (
        cell("counts", "drafted", 65, 1),
        "runs/0/counts.parquet, line 2: drafted is impossible; found draf",
    ),
    "drafted -1": (cell("counts", "drafted", -1), "runs/0/counts.parquet, line 1: drafted is impossible"),
    "accepted -1": (cell("counts", "accepted", -1), "runs/0/counts.parquet, line 1: accepted is impossible"),
    "accepted > drafted": (
        lambda content: [cell("counts", name, n)(content) for name, n in (("drafted", 3), ("accepted", 4))],
        "runs/0/counts.parquet, line 1: more accepted than drafted; found drafted 3, accepted 4",
    ),
    "no step": (cell("counts", "steps", 0), "runs/0/counts.parquet, line 1: steps is impossible; found steps 0"),
    "many steps": (
        table("counts", lambda t: t.with_columns(steps=pl.lit(2**53))),
        "runs/0/counts.parquet: has too many steps",
    ),
    "count twice": (
        table("counts", lambda t: pl.concat([t, t.head(1)])),
        "two rows have the same response, drafted, accepted; found response 0, drafted ",
    ),
    "response twice": (
        cell("responses", "response", 1),
        "responses.parquet, line 2: two rows have the same response; found response 1",
    ),
    "response unknown": (
        table("responses", lambda t: t.head(20)),
        ": a response is not among the responses; found response 20; expected runs/0/responses.parquet",
    ),
    "response without counts": (
        table("counts", lambda t: t.filter(pl.col("response") != 3)),
        "runs/0/responses.parquet, line 4: a response has no steps; found response 3",
    ),
    "request twice": (
        cell("responses", "request", pl.lit("1")),
        "responses.parquet, line 2: two rows have the same request",
    ),
    "copy": (cell("responses", "copy", -1), "runs/0/responses.parquet, line 1: copy is impossible"),
    "output": (cell("responses", "output_tokens", -1), "responses.parquet, line 1: output_tokens is impossible"),
    "fewer steps": (
        table("steps", lambda t: t.head(-1)),
        "runs/0/steps.parquet: has not the steps that were counted; found 296; expected 297",
    ),
    "more steps": (table("steps", lambda t: pl.concat([t, t.head(1)])), "has not the steps that were counted"),
    "other step": (
        cell("steps", "drafted", 63),
        "runs/0/steps.parquet: has not the steps of a request that were counted; found request 0; expected",
    ),
    "other request": (cell("steps", "request", 99), "has not the steps of a request that were counted"),
    "null step": (cell("steps", "accepted", None), "has not the steps of a request that were counted"),
    "steps column": (table("steps", lambda t: t.with_columns(x=1)), "runs/0/steps.parquet: has other columns"),
    "steps types": (table("steps", lambda t: t.cast({"drafted": pl.Float64})), "steps.parquet: has other columns"),
    "swapped steps": (
        table("steps", lambda t: t.select("request", "accepted", "drafted")),
        "runs/0/steps.parquet: has other columns",
    ),
    "annotations": (member("annotations.json", b"{"), "annotations.json, line 1: not valid JSON"),
    "annotations list": (annotated([]), "annotations.json: not a JSON object"),
    "long title": (annotated({"title": "n" * 301}), "annotations.json: the title is too long; found 301 characters"),
    "long notes": (annotated({"notes": "n" * 20_001}), "annotations.json: the notes are too long"),
    "tags": (annotated({"tags": ["a"] * 3 + [1]}), "annotations.json: a tag is of the wrong kind"),
    "strange run": (annotated({"config": {"x": {}}}), "annotations.json: no such run; found x; expected adaptive"),
    "said k": (annotated({"config": {"adaptive": {"k": 65}}}), "annotations.json: k is not a block length"),
}

COUNTERS = {
    "k": (run_with(k=5), "runs/0/counters.parquet: the manifest says k = 5 of run 0; found k = 4"),
    "k missing": (run_with(k=None), "runs/0/counters.parquet: the manifest says k = None of run 0; found k = 4"),
    "steps": (cell("counters", "steps", -1), "counters.parquet, line 1: steps is impossible; found steps -1"),
    "rises": (cell("counters", "per_position", [5, 6, 7, 8]), "line 1: per_position rises; found dataset"),
    "first": (cell("counters", "per_position", [501, 3, 2, 1]), "line 1: more steps accepted position 0 than there"),
    "sum": (cell("counters", "per_position", [5, 3, 2, 1]), "line 1: per_position does not sum to accepted"),
    "negative": (cell("counters", "per_position", [5, 3, 2, -1]), "line 1: per_position has a negative count"),
    "gap": (cell("counters", "per_position", [5, None, 2, 1]), "line 1: per_position is no list of counts"),
    "empty": (cell("counters", "per_position", []), "line 1: per_position is no list of counts"),
    "long": (cell("counters", "per_position", [1] * 65), "line 1: per_position is no list of counts"),
    "block": (cell("counters", "block", 3), "line 1: drafted is not block a step"),
    "block 65": (cell("counters", "block", 65), "line 1: block is impossible"),
    "length": (
        lambda content: [cell("counters", n, v)(content) for n, v in (("block", 5), ("drafted", 2500))],
        "line 1: per_position is not as long as block",
    ),
    "drafted": (cell("counters", "drafted", 32_001), "line 1: drafted is impossible; found dataset gsm8k, steps 500"),
    "few drafted": (cell("counters", "drafted", 10), "line 1: more accepted than drafted"),
    "responses": (cell("counters", "responses", -1), "line 1: responses is impossible"),
    "dataset twice": (cell("counters", "dataset", pl.lit("humaneval")), "line 2: two rows have the same dataset"),
    "other table": (run_with(granularity="rates", tables=["rates"]), "runs/0/rates.parquet: is missing"),
}

RATES = {
    "nan": (cell("rates", "tau", float("nan")), "runs/0/rates.parquet, line 1: tau is impossible; found dataset gsm8k"),
    "infinite": (cell("rates", "verify_rate", float("inf")), "line 1: verify_rate is impossible"),
    "negative": (cell("rates", "mean_drafted", -1.0), "line 1: mean_drafted is impossible"),
    "position": (cell("rates", "p_exposed", [0.5, float("nan")]), "line 1: p_exposed is impossible"),
    "length": (cell("rates", "p_exposed", [0.5]), "line 1: p_exposed is not as long as k"),
    "k": (run_with(k=3), "runs/0/rates.parquet, line 1: p_exposed is not as long as k"),
    "dataset twice": (cell("rates", "dataset", pl.lit("humaneval")), "line 2: two rows have the same dataset"),
}

TAMPERED = [
    *((variable_k, name, *case) for name, case in LOG.items()),
    *((counters_only, name, *case) for name, case in COUNTERS.items()),
    *((BUILT["rates"], name, *case) for name, case in RATES.items()),
]


@pytest.fixture(scope="module")
def genuine(tmp_path_factory):
    """The members of exports, by what built them."""
    folder = tmp_path_factory.mktemp("genuine")
    store = Store(folder / "library")
    return {build: members(exported(store, build(), folder)) for build in (variable_k, counters_only, BUILT["rates"])}


@pytest.mark.parametrize(
    ("build", "change", "message"),
    [(build, change, message) for build, _, change, message in TAMPERED],
    ids=[f"{build.__name__}-{name}" for build, name, _, _ in TAMPERED],
)
def test_tampered_exports_are_refused(genuine, other, tmp_path, build, change, message):
    content = copy.copy(genuine[build])
    change(content)
    path = packed(tmp_path / "x.specdash.zip", content)
    with pytest.raises(InputError) as refused:
        ingest.add(path, other)
    assert message in str(refused.value)
    assert_unchanged(other)


def test_two_runs_of_one_name(other, tmp_path):
    log = logged([response((3, 1), (3, 3))])
    path = exported(Store(tmp_path / "one"), Built("r.zip", {f"{n}/spec_log.csv": log for n in "ab"}), tmp_path)
    content = members(path)
    content["manifest.json"] = content["manifest.json"].replace(b'"name": "b"', b'"name": "a"')
    with pytest.raises(InputError, match=r"manifest\.json: two runs have the same name; found a"):
        ingest.add(packed(path, content), other)
    assert_unchanged(other)


def test_nothing_hidden_in_a_file_is_stored(genuine, other, tmp_path):
    content = copy.copy(genuine[variable_k])
    for name in ("responses", "counts", "steps"):
        table(name, lambda frame: frame, metadata={"secret": "canary"})(content)
    manifest_with(secret="canary", bytes=0)(content)
    run_with(secret="canary")(content)
    content["annotations.json"] = json.dumps({"notes": "n", "secret": "canary"})
    found = ingest.add(packed(tmp_path / "x.zip", content), other)
    assert found.notes == "n"
    for file in (other.root / "evaluations").rglob("*.*"):
        assert b"canary" not in file.read_bytes(), file


@pytest.mark.parametrize("kind", [pl.Int8, pl.Int64, pl.UInt64])
def test_steps_may_be_of_any_whole_type(genuine, other, tmp_path, kind):
    content = copy.copy(genuine[variable_k])
    table("steps", lambda frame: frame.cast({"drafted": kind, "accepted": kind}))(content)
    found = ingest.add(packed(tmp_path / "x.zip", content), other)
    assert pl.read_parquet(found.runs[0].steps).schema["drafted"] == kind


def test_limits_hold_for_exports(genuine, other, tmp_path):
    content = copy.copy(genuine[variable_k])
    path = packed(tmp_path / "x.zip", content)
    with pytest.raises(InputError, match="too large unpacked"):
        ingest.add(path, other, limits=ingest.Limits(max_bytes=path.stat().st_size // 2))
    endless = pl.DataFrame({"request": [0], "drafted": [1], "accepted": [1]}).select(
        pl.all().repeat_by(3_000_000).explode()
    )
    table("steps", lambda _: endless)(content)
    path = packed(tmp_path / "x.zip", content)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(InputError, match=r"runs/0/steps\.parquet: is too large unpacked; found 36,000,000 bytes"):
        ingest.add(path, other, limits=ingest.Limits(max_bytes=30_000_000))
    assert_unchanged(other)


def test_any_damage_is_refused_or_harmless(genuine, other, tmp_path):
    """Bytes of one member are changed at random: an error of one line, or an evaluation that can be shown."""
    chance, refused = random.Random(7), 0
    for _ in range(40):
        content = copy.copy(chance.choice(list(genuine.values())))
        name = chance.choice(sorted(content))
        damaged = bytearray(content[name])
        for _ in range(chance.choice([1, 3, 20])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        content[name] = bytes(damaged)
        try:
            found = ingest.add(packed(tmp_path / "x.zip", content), other)
        except InputError as error:
            assert str(error) and "\n" not in str(error)
            refused += 1
        else:
            json.dumps(document(found), allow_nan=False)
            other.remove(found.id)
        assert_unchanged(other)
    assert refused > 15


def test_a_run_of_k_16_keeps_its_numbers(store, other, tmp_path):
    path = exported(store, block_of(16), tmp_path)
    found = ingest.add(path, other)
    assert found.runs[0].k == 16 and document(found) == document(store.open(found.id))


def test_folders_of_runs_keep_their_order(store, other, tmp_path):
    files = {}
    for n in (10, 2, 1):
        files |= run_files([response((n, 1), (n, 0), prompt="0", copy=0)], f"log_{n}")
    found = ingest.add(exported(store, Built("r.zip", files), tmp_path), other)
    assert [run.name for run in found.runs] == ["log_1", "log_2", "log_10"]
    assert [run.k for run in found.runs] == [1, 2, 10]
