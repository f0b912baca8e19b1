import json

import pytest

from specdash.formats import samples
from tests.formats.files import stored

LINE = {"dataset": "gsm8k", "prompt_id": 3, "copy": 1, "num_drafts": 10, "accepted_tokens": 31, "output_tokens": 42}


def read(folder, *lines, dataset=None, end="\n"):
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + end for line in lines)
    return samples.read(stored(folder, "samples.jsonl", text), dataset).rows(named=True)


def only(row):
    return {name: value for name, value in row.items() if value is not None}


@pytest.mark.parametrize(
    "line",
    [
        LINE,
        {"task": "gsm8k", "question_id": "3", "sample": 1, "drafts": 10.0, "accepted": "31", "completion_tokens": 42},
        {"Benchmark": "gsm8k", "problemId": 3.0, "Copy-Idx": 1, "n drafts": 10, "numAccepted": 31, "output_len": 42},
        {"category": " gsm8k ", "idx": 3, "repeat": 1, "steps": 10, "num_accepted_tokens": 31, "num_tokens": 42},
        LINE | {"text": "a long answer", "messages": [{"a": 1}], "done": True},
    ],
)
def test_names_of_fields(tmp_path, line):
    (row,) = read(tmp_path, line)
    assert only(row) == {
        "dataset": "gsm8k", "prompt": "3", "copy": 1, "drafts": 10, "accepted": 31, "output_tokens": 42,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "read_as"),
    [
        (7, "7"), (7.0, "7"), ("007", "007"), (2**70, str(2**70)), ("a b", "a b"), (" x ", "x"), ("π", "π"), (0, "0"),
        (1.5, "1.5"), ("\U0001f600", "\U0001f600"),
    ],
)  # fmt: skip
def test_ids_are_texts(tmp_path, given, read_as):
    (row,) = read(tmp_path, LINE | {"prompt_id": given, "request_id": given})
    assert (row["prompt"], row["request"]) == (read_as, read_as)


def test_the_folder_names_the_dataset_where_the_line_does_not(tmp_path):
    unnamed = {key: value for key, value in LINE.items() if key != "dataset"}
    rows = read(tmp_path, unnamed, LINE | {"dataset": None}, LINE, dataset="mbpp")
    assert [row["dataset"] for row in rows] == ["mbpp", "mbpp", "gsm8k"]


def test_copies_are_numbered_where_the_lines_do_not(tmp_path):
    lines = [{"dataset": d, "qid": q, "drafts": 1, "accepted": 1} for d, q in ["a1", "a1", "a2", "b1", "a1", "b1"]]
    assert [row["copy"] for row in read(tmp_path, *lines)] == [0, 1, 0, 0, 2, 1]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n", "\n  \n"])
def test_line_ends(tmp_path, end):
    rows = read(tmp_path, LINE, LINE | {"copy": 2}, end=end)
    assert [row["copy"] for row in rows] == [1, 2]


def test_mark_and_no_last_line_end(tmp_path):
    (row,) = read(tmp_path, "\ufeff" + json.dumps(LINE), end="")
    assert row["accepted"] == 31


@pytest.mark.parametrize("missing", ["null", "NaN", "Infinity", "1e999"])
def test_numbers_that_are_not_there(tmp_path, missing):
    (row,) = read(tmp_path, json.dumps(LINE | {"output_tokens": "#"}).replace('"#"', missing))
    assert row["output_tokens"] is None


@pytest.mark.parametrize(
    ("lengths", "accepted"),
    [
        # (drafts, length): a length of two decimals leaves 250 drafts in doubt, a file of four does not
        ([(10, 4.1), (99, 2.01)], [31, 100]),
        ([(10, 4.1), (250, 5.15)], [31, None]),
        ([(10, 4.1), (250, 5.15), (9000, 2.1234)], [31, 1038, 10111]),
        ([(7, 1 + 16 / 7), (3, 1 + 1 / 3)], [16, 1]),
        ([(0, 1.0), (0, 0)], [0, 0]),
        ([(10, 4)], [30]),
    ],
)
def test_accepted_tokens_from_the_acceptance_length(tmp_path, lengths, accepted):
    lines = [{"dataset": "d", "qid": i, "drafts": n, "accept_len": x} for i, (n, x) in enumerate(lengths)]
    assert [row["accepted"] for row in read(tmp_path, *lines)] == accepted


def test_accepted_tokens_outdo_the_acceptance_length(tmp_path):
    (row,) = read(tmp_path, LINE | {"accept_len": 9.9})
    assert row["accepted"] == 31


@pytest.mark.parametrize(
    ("name", "content", "known"),
    [
        ("samples.jsonl", b"whatever", True),
        ("Samples_gsm8k.jsonl.gz", b"", True),
        ("samples.json", b"", False),
        ("answers.jsonl", json.dumps(LINE).encode(), True),
        ("answers.jsonl", b'\n\n{"question_id": 1, "req_id": 4}\n', True),
        ("answers.jsonl", b'{"question_id": 1, "text": "a"}\n', False),
        ("answers.jsonl", b"[1]", False),
        ("answers.jsonl", b"\xff", False),
    ],
)
def test_recognised(tmp_path, name, content, known):
    file = stored(tmp_path, name, content)
    assert (samples.FORMAT.named(file) or samples.FORMAT.looks(file)) == known
