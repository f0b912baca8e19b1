"""Tables and lists that grow by rows and wait in files."""

import polars as pl
import pytest

from specdash.formats import growing
from specdash.formats.growing import Many, Rows

SCHEMA = pl.Schema({"name": pl.String, "seconds": pl.List(pl.Float64)})


@pytest.fixture(params=[growing._BATCH, 100], ids=["in memory", "in files"])
def batch(request, monkeypatch):
    monkeypatch.setattr(growing, "_BATCH", request.param)


@pytest.mark.usefixtures("batch")
def test_rows_come_back_in_order_and_leave_no_file(tmp_path):
    rows = Rows(SCHEMA, tmp_path)
    expected = [(f"n{i}", None if i % 3 else [i / 7, float(i)]) for i in range(50)]
    for row in expected:
        rows.add(*row)
    assert rows.height == 50
    frame = rows.frame()
    assert frame.schema == SCHEMA
    assert frame.rows() == expected
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("batch")
def test_many_are_gone_through_again_and_again():
    many = Many[tuple[int, str]]()
    assert not many and list(many) == []
    expected = [(i, "x" * i) for i in range(25)]
    for item in expected:
        many.append(item)
    assert len(many) == 25
    assert list(zip(many, many, strict=True)) == list(zip(expected, expected, strict=True))  # two at once
    many.append((25, "last"))
    assert list(many) == [*expected, (25, "last")]
