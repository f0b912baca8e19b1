"""CSV text is read by spreadsheets: names from files must not become commands there."""

import csv
import io

import polars as pl
import pytest

from specdash.report import csv_text


@pytest.mark.parametrize("name", ["=cmd()", "+1", "-x", "@sum", "\t=1", '=HYPERLINK("a,b")'])
def test_a_text_that_begins_like_a_formula_is_told_to_be_text(name):
    rows = list(csv.DictReader(io.StringIO(csv_text(pl.DataFrame({"dataset": [name], "tau": [-1.5]})))))
    assert rows == [{"dataset": f"'{name}", "tau": "-1.5"}]


@pytest.mark.parametrize("name", ["gsm8k", "a=b", "1-2", "naïve, «x»", "__proto__", "🙂"])
def test_other_texts_and_missing_ones_stay_as_they_are(name):
    rows = list(csv.reader(io.StringIO(csv_text(pl.DataFrame({"dataset": [name, None], "tau": [4.97, None]})))))
    assert rows == [["dataset", "tau"], [name, "4.97"], ["", ""]]
