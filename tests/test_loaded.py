"""specdash from Python."""

import polars as pl
import pytest

import specdash
from specdash import ingest
from specdash.store import Store, home
from tests.ingest import synthetic
from tests.ingest.synthetic import MIDDLE_AND_END, Shape, write


@pytest.fixture(autouse=True)
def library(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECDASH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="module")
def made():
    return synthetic.responses()


@pytest.fixture(scope="module")
def path(tmp_path_factory, made):
    root = tmp_path_factory.mktemp("loaded") / "eval"
    write(root / "a", Shape(), made)
    (root / "b").mkdir()
    (root / "b" / "counters.json").write_text('{"gsm8k": {"drafts": 4, "per_pos": [3, 1]}}')
    return root


def truth(made, *datasets):
    return synthetic.truth(made, MIDDLE_AND_END, datasets or synthetic.DATASETS)


def test_a_number_a_dataset(path, made, library):
    frame = specdash.load(path).table("tau", run="a")
    assert frame.schema == {"run": pl.String, "dataset": pl.String, "family": pl.String, "tau": pl.Float64}
    assert frame.rows() == [
        ("a", "gsm8k", "math", truth(made, "gsm8k")["tau"]),
        ("a", "alpaca", "chat", truth(made, "alpaca")["tau"]),
        ("a", "mbpp", "code", truth(made, "mbpp")["tau"]),
        ("a", "pooled", None, truth(made)["tau"]),
    ]
    assert not library.exists()


def test_all_runs(path):
    frame = specdash.load(str(path)).table("steps", "tau")
    assert frame.columns == ["run", "dataset", "family", "steps", "tau"]
    assert frame.filter(pl.col("run") == "b").rows() == [("b", "gsm8k", "math", 4, 2.0), ("b", "pooled", None, 4, 2.0)]


def test_lists(path, made):
    frame = specdash.load(path).table("p", "outcome")
    assert frame.schema["p"] == pl.List(pl.Float64)
    assert frame["p"].to_list()[3] == truth(made)["p"]
    assert frame.filter(pl.col("run") == "b")["p"].to_list() == [[0.75, 0.25]] * 2
    assert frame.filter(pl.col("run") == "b")["outcome"].to_list() == [[0.25, 0.5, 0.25]] * 2


def test_undefined_is_null(path):
    frame = specdash.load(path).table("response_mean", "within_share", run="b")
    assert frame.select("response_mean", "within_share").rows() == [(None, None)] * 2


def test_families(path, made):
    frame = specdash.load(path).table("tau", "tau", by_family=True, run="a")
    assert frame.rows() == [
        ("a", family, family, truth(made, dataset)["tau"]) for dataset, family in synthetic.FAMILIES.items()
    ]


def test_no_rows_keep_their_columns(tmp_path):
    (tmp_path / "spec_log.csv").write_text("1,7,3\n")
    frame = specdash.load(tmp_path / "spec_log.csv").table("tau", "p", by_family=True)
    assert (frame.columns, frame.height) == (["run", "dataset", "family", "tau", "p"], 0)


def test_unknown_names(path, tmp_path):
    loaded = specdash.load(path)
    with pytest.raises(KeyError, match="no metric 'taus'; there are: "):
        loaded.table("taus")
    with pytest.raises(KeyError):
        loaded.table("tau", "dataset")
    with pytest.raises(specdash.InputError, match="no such run; found c; expected a or b"):
        loaded.table("tau", run="c")
    with pytest.raises(specdash.InputError, match="does not exist"):
        specdash.load(tmp_path / "missing")


def test_settings_win(path):
    (run, _) = specdash.load(path, {"k": 9, "engine": "x"}).document["runs"]
    assert run["config"] == {"k": 9, "engine": "x"}
    with pytest.raises(specdash.InputError, match="k is not a block length"):
        specdash.load(path, {"k": 65})


def test_by_id(path):
    stored = ingest.add(path, Store(home()))
    by_id, by_path = specdash.load(stored.id), specdash.load(path)
    assert by_id.document == by_path.document
    assert by_id.evaluation.runs[0].steps.is_file()
    assert by_path.evaluation.runs[0].steps is None  # they went with the temporary folder


def test_the_package_names_its_parts():
    assert specdash.__version__.count(".") >= 1
    assert {"load", "Loaded", "InputError"} <= set(specdash.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = specdash.nothing
