"""Printed and counted figures that cannot be: refused by their line, or read as what they mean."""

import pytest

from specdash.formats import counters, printed
from specdash.schema import InputError
from tests.formats.files import stored

TABLE = """
| dataset | #propose | accept_len | verify_rate | accept_rate@0 |
|---------|----------|------------|-------------|---------------|
| gsm8k   | 6.98+1   | {length} | {rate} | {first} |
"""


@pytest.fixture
def rows(tmp_path):
    """Read the table with some of its cells changed."""

    def read(length="4.97", rate="0.62", first="0.91"):
        return printed.read(stored(tmp_path, "results_table.txt", TABLE.format(length=length, rate=rate, first=first)))

    return read


def test_a_markdown_rule_is_no_row(rows):
    assert [row["dataset"] for row in rows()] == ["gsm8k"]


def test_a_length_of_zero_means_that_nothing_was_drafted(rows):
    assert rows(length="0.00")[0]["tau"] is None


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"length": "49.70"}, "line 4: accept_len is impossible; found 49.70; expected at most 7.98"),
        ({"length": "0.50"}, "line 4: accept_len is impossible; found 0.50; expected 1 to 65"),
        ({"rate": "1.62"}, "line 4: verify_rate is impossible; found 1.62; expected 0 to 1"),
        ({"first": "1.91"}, "line 4: accept_rate@0 is impossible; found 1.91; expected 0 to 1"),
    ],
)
def test_a_figure_out_of_range_is_refused(cells, said, rows):
    with pytest.raises(InputError) as error:
        rows(**cells)
    assert said in str(error.value)


def test_more_drafted_tokens_than_positions_are_refused(tmp_path):
    record = b'{"dataset": "gsm8k", "drafts": 10, "accepted_tokens": 22, "per_pos": [9, 7, 4, 2], "draft_tokens": 400}'
    with pytest.raises(InputError) as error:
        counters.read(stored(tmp_path, "counters.json", record), "x", None)
    assert "found 400; expected at most 40: 10 steps of 4" in str(error.value)
