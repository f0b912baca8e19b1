"""One evaluation, written in every way that the formats allow: it must always give the same numbers."""

import polars as pl
import pytest

import specdash
from tests.ingest import synthetic
from tests.ingest.synthetic import (
    DATASETS,
    FAMILIES,
    FIRST_AND_MIDDLE,
    MIDDLE_AND_END,
    Shape,
    moved,
    without_draws,
    write,
    zipped,
)

PLAIN = Shape()
SYNONYMS = ("question_id", "sample_idx", "verify_steps", "num_accepted_tokens", "completion_tokens", "req_id")

VARIANTS = {
    "plain": PLAIN,
    "uuids": Shape(ids="uuid"),
    "words": Shape(ids="text"),
    "padded": Shape(ids="padded"),
    "by id": Shape(sample_ids=True),
    "uuids by id": Shape(ids="uuid", sample_ids=True),
    "padded by id": Shape(ids="padded", sample_ids=True),
    "a file a dataset": Shape(samples="folder"),
    "a file a dataset, uuids": Shape(samples="folder", ids="uuid"),
    "a file a dataset, by id": Shape(samples="folder", ids="uuid", sample_ids=True),
    "other names": Shape(names=SYNONYMS, sample_ids=True),
    "camel case": Shape(names=("promptId", "copyIdx", "numDrafts", "acceptedTokens", "outputTokens", "requestId")),
    "no header": Shape(header=None),
    "no header, uuids": Shape(header=None, ids="uuid"),
    "other order": Shape(header=("num_accepted_tokens", "Request ID", "numDraftTokens"), order="ark"),
    "extra columns": Shape(header=("note", "rid", "k", "a"), order="xrka"),
    "two extra columns": Shape(header=("accepted", "", "drafted", "", "request"), order="axkxr"),
    "gz": Shape(log="csv.gz"),
    "gz, no header, uuids": Shape(log="csv.gz", header=None, ids="uuid"),
    "parquet": Shape(log="parquet"),
    "parquet, narrow": Shape(log="parquet", parquet_type=pl.Int16),
    "parquet, text": Shape(log="parquet", parquet_type=pl.String),
    "parquet, floats": Shape(log="parquet", parquet_type=pl.Float64),
    "parquet, floats, by id": Shape(log="parquet", parquet_type=pl.Float64, sample_ids=True),
    "parquet, uuids": Shape(log="parquet", ids="uuid", parquet_type=pl.Float32),
    "parquet, other order": Shape(log="parquet", header=("a", "extra", "k", "rid"), order="axkr"),
    "shards": Shape(shards=3),
    "shards, uuids": Shape(shards=3, ids="uuid", header=None),
    "shards, gz": Shape(shards=3, log="csv.gz"),
    "shards, parquet": Shape(shards=3, log="parquet"),
    "crlf": Shape(newline="\r\n"),
    "crlf, bom": Shape(newline="\r\n", bom=True),
    "crlf, bom, no header": Shape(newline="\r\n", bom=True, header=None),
    "cr, id last": Shape(newline="\r\n", header=("accepted", "drafted", "request_id"), order="akr", ids="uuid"),
    "quoted": Shape(quoted=True),
    "quoted, crlf, bom": Shape(quoted=True, newline="\r\n", bom=True, ids="uuid"),
    "floats": Shape(float_counts=True),
    "litter": Shape(junk=True),
    "interleaved": Shape(interleaved=True),
    "interleaved, by id": Shape(interleaved=True, ids="uuid", sample_ids=True),
}


@pytest.fixture(scope="module")
def made():
    return synthetic.responses()


def run_of(path):
    """Return the only run of an evaluation as JSON, without its name and what depends on the order of requests."""
    (run,) = specdash.load(path).document["runs"]
    without_draws(run).pop("name")
    run["checks"] = [check for check in run["checks"] if check["check"] != "order_drift"]
    return run


def assert_close(row, expected):
    wrong = {key: (row[key], value) for key, value in expected.items() if row[key] != pytest.approx(value, rel=1e-12)}
    assert not wrong


@pytest.fixture(scope="module")
def plain(tmp_path_factory, made):
    """The runs of the plain variant, by what is absent."""
    folder = tmp_path_factory.mktemp("plain")
    return {
        absent: run_of(write(folder / str(i), PLAIN.but(absent=absent), made))
        for i, absent in enumerate((MIDDLE_AND_END, FIRST_AND_MIDDLE))
    }


@pytest.mark.parametrize("absent", [MIDDLE_AND_END, FIRST_AND_MIDDLE], ids=["middle, end", "first, middle"])
def test_truth(plain, made, absent):
    run = plain[absent]
    assert (run["granularity"], run["k"]) == ("step", 7)
    assert run["mapping"] == {"matched": 106, "total": 106, "absent": 2}
    assert [row["dataset"] for row in run["datasets"]] == [*DATASETS, "pooled"]
    assert [row["family"] for row in run["datasets"]] == ["math", "chat", "code", None]
    for row in run["datasets"]:
        chosen = DATASETS if row["dataset"] == "pooled" else (row["dataset"],)
        expected = synthetic.truth(made, absent, chosen)
        assert_close(row, expected)
    for row in run["families"]:
        (dataset,) = [name for name, family in FAMILIES.items() if family == row["dataset"]]
        expected = synthetic.truth(made, absent, (dataset,))
        assert_close(row, expected)


def test_absent_responses_are_told(plain):
    (warning,) = plain[MIDDLE_AND_END]["warnings"]
    assert warning["code"] == "absent_requests"
    assert "2 responses have no rows in the log (1 of gsm8k, 1 of alpaca)" in warning["message"]


@pytest.mark.parametrize("name", VARIANTS)
def test_variant(tmp_path, plain, made, name):
    assert run_of(write(tmp_path / "run", VARIANTS[name], made)) == plain[MIDDLE_AND_END]


@pytest.mark.parametrize("name", [name for name in VARIANTS if "uuids" in name or "dataset" in name])
def test_variant_without_the_first_response(tmp_path, plain, made, name):
    shape = VARIANTS[name].but(absent=FIRST_AND_MIDDLE)
    assert run_of(write(tmp_path / "run", shape, made)) == plain[FIRST_AND_MIDDLE]


@pytest.mark.parametrize("name", ["plain", "a file a dataset, uuids", "shards, gz", "parquet", "litter"])
@pytest.mark.parametrize("depth", ["run", "deep/er/run"])
@pytest.mark.parametrize("zip_", [False, True], ids=["folder", "zip"])
def test_container(tmp_path, plain, made, name, depth, zip_):
    root = tmp_path / "evaluation"
    write(root / depth, VARIANTS[name], made)
    path = zipped(root, tmp_path / "evaluation.zip") if zip_ else root
    document = specdash.load(path).document
    assert [run["name"] for run in document["runs"]] == ["run"]
    assert run_of(path) == plain[MIDDLE_AND_END]


def test_zip_without_a_folder_is_named_after_the_zip(tmp_path, plain, made):
    path = zipped(write(tmp_path / "x", PLAIN, made), tmp_path / "my run.zip")
    assert specdash.load(path).document["runs"][0]["name"] == "my run"
    assert run_of(path) == plain[MIDDLE_AND_END]


def test_two_runs_in_one_evaluation(tmp_path, plain, made):
    write(tmp_path / "all" / "b" / "K7", PLAIN, made)
    write(tmp_path / "all" / "b" / "K10", Shape(ids="uuid", samples="folder", absent=FIRST_AND_MIDDLE), made)
    runs = specdash.load(tmp_path / "all").document["runs"]
    assert [run.pop("name") for run in runs] == ["K7", "K10"]
    for run in map(without_draws, runs):
        run["checks"] = [check for check in run["checks"] if check["check"] != "order_drift"]
    assert runs == [plain[MIDDLE_AND_END], plain[FIRST_AND_MIDDLE]]


@pytest.mark.parametrize("name", ["runs[1]", "k=7", "a*b", "what?", "it's", "drafted=3", 'q"q', "~", "%20", "τ"])
@pytest.mark.parametrize("variant", ["uuids", "parquet"])
def test_odd_names_of_folders(tmp_path, plain, made, name, variant):
    # What a glob or a Hive partition would make of the name must not be read instead.
    for decoy in ("runs1", "axb", "whatx"):
        write(tmp_path / decoy, Shape(log=VARIANTS[variant].log, samples="none"), synthetic.responses(seed=1))
    path = moved(write(tmp_path / "x", VARIANTS[variant], made), tmp_path / name)
    assert run_of(path) == plain[MIDDLE_AND_END]


@pytest.mark.parametrize("log", ["csv", "parquet"])
def test_odd_name_of_the_library(tmp_path, plain, made, monkeypatch, log):
    monkeypatch.setenv("SPECDASH_HOME", str(tmp_path / "home [1]*"))
    from specdash import ingest
    from specdash.store import Store, home

    for shards in (1, 2):
        path = write(tmp_path / f"run{shards}", Shape(log=log, shards=shards), made)
        stored = ingest.add(path, Store(home()))
        assert run_of(stored.id) == plain[MIDDLE_AND_END]
