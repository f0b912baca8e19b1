"""Latencies go out and come in with an evaluation, and are distrusted like its other tables."""

import io
import zipfile

import polars as pl
import pytest

from specdash import ingest
from specdash.schema import Evaluation, Granularity, InputError
from specdash.store import Store
from tests.helpers import latencies, log_run, response, timed_run

MEASURED = (
    {"prompt": "a", "copy": 0, "response": 1, "start_s": 0.0, "ttft_s": 0.25, "e2e_s": 2.0, "output_tokens": 8},
    {"prompt": "b", "copy": 0, "start_s": 0.5, "error": "HTTP 500"},
    {"prompt": "c", "gaps_s": [0.25, 0.0], "ttft_s": 0.125, "e2e_s": 0.375},
)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "one")


@pytest.fixture
def other(tmp_path):
    return Store(tmp_path / "another")


@pytest.fixture
def exported(store, tmp_path):
    """The members of an export of two runs: a log with latencies, latencies alone."""
    sha256 = "ab" * 32
    log = log_run(
        [response((3, 1)), response((3, 3))],
        name="log",
        granularity=Granularity.RESPONSE,
        latencies=latencies(*MEASURED),
    )
    alone = timed_run(*({**row, "response": None} for row in MEASURED), name="alone")
    id = ingest.evaluation_id(sha256, ingest.Options())
    added = store.add(Evaluation(id, "t", "x.zip", sha256, (log, alone)))
    path = store.export(added.id, tmp_path / "x.zip")
    with zipfile.ZipFile(path) as archive:
        return path, {name: archive.read(name) for name in archive.namelist()}


def test_round_trip(exported, store, other):
    path, members = exported
    assert "runs/0/latencies.parquet" in members and "runs/1/latencies.parquet" in members
    found = ingest.add(path, other)
    wanted = store.open(found.id)
    for a, b in zip(found.runs, wanted.runs, strict=True):
        assert a.granularity == b.granularity
        assert a.latencies.equals(b.latencies)
    assert found.run("alone").latencies["gaps_s"].to_list() == [None, None, [0.25, 0.0]]


def changed(members, run, **cells):
    """The members with some cells of the first row of a run's latencies changed."""
    name = f"runs/{run}/latencies.parquet"
    frame = pl.read_parquet(io.BytesIO(members[name]))
    first = pl.int_range(pl.len()) == 0
    for column, value in cells.items():
        kind = frame.schema[column]
        literal = pl.lit(pl.Series([value], dtype=kind)).first()
        frame = frame.with_columns(pl.when(first).then(literal).otherwise(column).cast(kind).alias(column))
    out = io.BytesIO()
    frame.write_parquet(out)
    return members | {name: out.getvalue()}


@pytest.mark.parametrize(
    ("run", "cells", "message"),
    [
        (0, {"ttft_s": -0.1}, "runs/0/latencies.parquet, line 1: ttft_s is impossible; found ttft_s -0.1"),
        (0, {"e2e_s": float("nan")}, "line 1: e2e_s is impossible"),
        (0, {"start_s": float("inf")}, "line 1: start_s is impossible"),
        (0, {"e2e_s": 0.125}, "line 1: the first token came after the last"),
        (0, {"gaps_s": [0.5, -0.5]}, "line 1: gaps_s is impossible"),
        (0, {"gaps_s": [0.5, None]}, "line 1: gaps_s is impossible"),
        (0, {"input_tokens": -1}, "line 1: input_tokens is impossible"),
        (0, {"output_tokens": -1}, "line 1: output_tokens is impossible"),
        (0, {"copy": -1}, "line 1: copy is impossible"),
        (0, {"dataset": None}, "line 1: dataset is missing"),
        (0, {"response": 2}, "line 1: a response is not among the responses; found response 2"),
        (1, {"response": 0}, "runs/1/latencies.parquet, line 1: a response is not among the responses"),
    ],
)
def test_impossible_latencies_are_refused(exported, other, tmp_path, run, cells, message):
    path = tmp_path / "tampered.specdash.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in changed(exported[1], run, **cells).items():
            archive.writestr(name, content)
    with pytest.raises(InputError) as refused:
        ingest.add(path, other)
    assert message in str(refused.value)
    assert not other.list()
