"""Step logs that must be read right; what each row means was written by hand."""

import random

import duckdb
import polars as pl
import pytest

from specdash.formats import stepload, steplog
from specdash.schema import InputError
from tests.formats.files import stored

HUGE = 2**63 + 5
HEAD = "request_id,drafted,accepted\n"
READ = {
    "floats": ("1,7.0,3.0\n1,7.,3.00\n", [("1", 7, 3), ("1", 7, 3)]),
    "signs": ("1,+7,+3\n", [("1", 7, 3)]),
    "zeros before counts": ("1,07,003\n", [("1", 7, 3)]),
    "blank lines": ("\n\n1,7,3\n\n\n2,7,4\n\n", [("1", 7, 3), ("2", 7, 4)]),
    "blank lines, header": ("\n" + HEAD + "\n1,7,3\n\n2,7,4\n", [("1", 7, 3), ("2", 7, 4)]),
    "lines of blanks": ("1,7,3\n   \n\t\n2,7,4\n", [("1", 7, 3), ("2", 7, 4)]),
    "spaces": (HEAD + " 1 , 7 , 3 \n1,  7,\t3\n", [("1", 7, 3), ("1", 7, 3)]),
    "spaces in the header": (" request_id , drafted , accepted\n1,7,3\n", [("1", 7, 3)]),
    "spaces before quotes": ('"1", "7", "3"\n', [("1", 7, 3)]),
    "hard spaces": ("1,7\xa0,\xa03\n", [("1", 7, 3)]),
    "mixed line ends": (HEAD + "1,7,3\r\n1,7,4\n1,7,5\r\n", [("1", 7, 3), ("1", 7, 4), ("1", 7, 5)]),
    "mixed line ends, id last": (
        "accepted,drafted,id\n3,7,a\r\n4,7,a\n5,7,a\r\n",
        [("a", 7, 3), ("a", 7, 4), ("a", 7, 5)],
    ),
    "old line ends": (HEAD.replace("\n", "\r") + "1,7,3\r2,7,4\r", [("1", 7, 3), ("2", 7, 4)]),
    "leading zeros": ("007,7,3\n7,7,4\n07,7,5\n", [("007", 7, 3), ("7", 7, 4), ("07", 7, 5)]),
    "leading zeros, header": (HEAD + "0001,7,3\n0000,7,4\n", [("0001", 7, 3), ("0000", 7, 4)]),
    "huge ids": (f"{HUGE},7,3\n{HUGE + 1},7,4\n", [(str(HUGE), 7, 3), (str(HUGE + 1), 7, 4)]),
    "huge ids beside small": (f"5,7,3\n{HUGE},7,4\n", [("5", 7, 3), (str(HUGE), 7, 4)]),
    "40 digits": (f"{'9' * 40},7,3\n", [("9" * 40, 7, 3)]),
    "negative ids": ("-2,7,3\n-1,7,4\n", [("-2", 7, 3), ("-1", 7, 4)]),
    "negative ids as text": ('"-2",7,3\nx,7,4\n', [("-2", 7, 3), ("x", 7, 4)]),
    "commas in ids": ('"a,b",7,3\n"a,c",7,4\n', [("a,b", 7, 3), ("a,c", 7, 4)]),
    "quotes in ids": ('"say ""a""",7,3\n', [('say "a"', 7, 3)]),
    "line ends in ids": ('"a\nb",7,3\n"a\nc",7,4\n', [("a\nb", 7, 3), ("a\nc", 7, 4)]),
    "line end in a head": ('"request\nid",drafted,accepted\na,7,3\n', [("a", 7, 3)]),
    "quote inside an id": ('5"disk,7,3\n', [('5"disk', 7, 3)]),
    "apostrophes": ("it's,7,3\n", [("it's", 7, 3)]),
    "hash": ("#1,7,3\n", [("#1", 7, 3)]),
    "word null": ("NULL,7,3\nnan,7,4\n", [("NULL", 7, 3), ("nan", 7, 4)]),
    "float ids": ("1.0,7,3\n2.0,7,4\n", [("1.0", 7, 3), ("2.0", 7, 4)]),
    "exponents as ids": ("1e5,7,3\n1e6,7,4\n", [("1e5", 7, 3), ("1e6", 7, 4)]),
    "no line end": ("1,7,3\n2,7,4", [("1", 7, 3), ("2", 7, 4)]),
    "no line end, header": (HEAD + "a,7,3", [("a", 7, 3)]),
    "commas at line ends": (HEAD + "1,7,3,\n2,7.0,4,\n", [("1", 7, 3), ("2", 7, 4)]),
    "K of 0": ("1,0,0\n1,7,3\n", [("1", 0, 0), ("1", 7, 3)]),
    "only K of 0": ("1,0,0\n", [("1", 0, 0)]),
    "K of 64": ("1,64,64\n1,64,0\n", [("1", 64, 64), ("1", 64, 0)]),
    "single step": ("1,1,1\n", [("1", 1, 1)]),
    "interleaved": ("b,7,1\na,7,2\nb,7,3\na,7,4\n", [("b", 7, 1), ("a", 7, 2), ("b", 7, 3), ("a", 7, 4)]),
    "mark": ("\ufeff1,7,3\n1,7,4\n", [("1", 7, 3), ("1", 7, 4)]),
    "mark, header": ("\ufeff" + HEAD + "1,7,3\n", [("1", 7, 3)]),
    "empty column heads": ("id,,drafted,,accepted\n1,x,7,y,3\n", [("1", 7, 3)]),
    "twin columns that are not ours": ("id,x,drafted,x,accepted\n1,x,7,y,3\n", [("1", 7, 3)]),
    "the specific name wins": ("id,k,request_id,drafted,a,accepted\n9,9,1,7,9,3\n", [("1", 7, 3)]),
    "text beside": ('id,drafted,accepted,text\n1,7,3,"two\nlines, ""quoted"""\n2,7,4,\n', [("1", 7, 3), ("2", 7, 4)]),
}


@pytest.mark.parametrize("name", READ)
def test_read(tmp_path, name):
    text, steps = READ[name]
    read = steplog.read([stored(tmp_path, "spec_log.csv", text)], tmp_path)
    rows = pl.read_parquet(read.steps).rows()
    assert [(str(id_), k, a) for id_, k, a in rows] == steps
    assert sorted(map(str, read.requests)) == sorted({id_ for id_, _, _ in steps})
    counted = {(str(id_), k, a): n for id_, k, a, n in read.counts.rows()}
    assert counted == {step: steps.count(step) for step in steps}


@pytest.mark.parametrize(
    ("text", "order", "numbers"),
    [
        ("10,7,3\n9,7,3\n10,7,3\n", ["9", "10"], [9, 10]),
        ("010,7,3\n009,7,3\n", ["009", "010"], [9, 10]),
        ("-1,7,3\n-10,7,3\n3,7,3\n", ["-10", "-1", "3"], [-10, -1, 3]),
        ("10.0,7,3\n9.0,7,3\n", ["9.0", "10.0"], [9, 10]),
        ("7,7,3\n007,7,3\n", ["7", "007"], None),  # two ids that are one number: in order of appearance
        (f"{HUGE},7,3\n1,7,3\n", [str(HUGE), "1"], None),
        ("b,7,3\na,7,3\n", ["b", "a"], None),
    ],
)
def test_order_of_requests(tmp_path, text, order, numbers):
    read = steplog.read([stored(tmp_path, "spec_log.csv", text)], tmp_path)
    assert list(map(str, read.requests)) == order
    assert (None if read.numbers is None else read.numbers.tolist()) == numbers


def test_a_large_log_keeps_its_order(tmp_path):
    random_ = random.Random(1)
    for ids in ("{}", "r{}"):
        steps = [(ids.format(i // 40), 7, random_.randint(0, 7)) for i in range(130_000)]
        text = HEAD + "".join(f"{id_},{k},{a}\n" for id_, k, a in steps)
        read = steplog.read([stored(tmp_path, "spec_log.csv", text)], tmp_path)
        assert [(str(id_), k, a) for id_, k, a in pl.read_parquet(read.steps).iter_rows()] == steps


def test_a_log_that_was_written_anew_is_read_anew(tmp_path):
    for accepted in (3, 4):
        for suffix in ("csv", "parquet"):
            file = stored(tmp_path, f"spec_log.{suffix}", f"a,7,{accepted}\n")
            if suffix == "parquet":
                pl.DataFrame({"id": ["a"], "k": [7], "a": [accepted]}).write_parquet(file.at)
            assert steplog.read([file], tmp_path).counts["accepted"].to_list() == [accepted]


def test_shards_in_the_order_of_their_numbers(tmp_path):
    files = [stored(tmp_path, f"spec_log_{n}.csv", f"r{n},7,{n % 7}\n") for n in (10, 9, 100, 1)]
    read = steplog.read(files, tmp_path)
    assert read.requests.to_list() == ["r1", "r9", "r10", "r100"]
    assert pl.read_parquet(read.steps)["accepted"].to_list() == [1, 2, 3, 2]


def test_shards_of_numbers_and_words(tmp_path):
    numbers, words = "1,7,3\n2,7,3\n", "x,7,3\n"
    for first, second, ids in ((numbers, words, ["1", "2", "x"]), (words, numbers, ["x", "1", "2"])):
        files = [stored(tmp_path, "spec_log_1.csv", first), stored(tmp_path, "spec_log_2.csv", second)]
        assert steplog.read(files, tmp_path).requests.to_list() == ids


def test_large_shards_keep_their_order(tmp_path):
    random_ = random.Random(2)
    for ids in ("{}", "r{}"):
        shards = [[random_.randint(0, 7) for _ in range(130_000)] for _ in range(2)]
        files = [
            stored(tmp_path, f"spec_log_{s}.csv", "".join(f"{ids.format(s)},7,{a}\n" for a in accepted))
            for s, accepted in enumerate(shards)
        ]
        read = pl.read_parquet(steplog.read(files, tmp_path).steps)
        assert read["accepted"].to_list() == shards[0] + shards[1]
        assert read["request"].cast(pl.String).rle_id().to_list() == [0] * 130_000 + [1] * 130_000


def test_many_blank_lines_and_columns(tmp_path):
    text = "\n" * 500 + ",".join([*(f"x{i}" for i in range(300)), "id", "drafted", "accepted"]) + "\n"
    file = stored(tmp_path, "spec_log.csv", text + ",".join(["y"] * 300 + ["1", "7", "3"]) + "\n")
    assert pl.read_parquet(steplog.read([file], tmp_path).steps).rows() == [("1", 7, 3)]


@pytest.mark.parametrize(
    ("name", "content", "known"),
    [
        ("spec_log.csv", b"whatever", True),
        ("SPEC_LOG_3.CSV.gz", b"whatever", True),
        ("spec_log.parquet", b"", True),
        ("other.csv", b"1,7,3\n", True),
        ("other.csv", b"request_id,drafted,accepted\n", True),
        ("other.csv", b"name,value,unit\n", False),
        ("other.csv", b"1,7,3,9\n", False),
        ("other.csv", b"", False),
        ("other.txt", b"1,7,3\n", False),
        ("other.parquet", b"PAR1 and no more", False),
    ],
)
def test_recognised(tmp_path, name, content, known):
    file = stored(tmp_path, name, content)
    assert (steplog.FORMAT.named(file) or steplog.FORMAT.looks(file)) == known


def test_a_parquet_file_of_other_columns_is_no_log(tmp_path):
    file = stored(tmp_path, "prompts.parquet", b"")
    pl.DataFrame({"prompt": ["a"], "answer": ["b"]}).write_parquet(file.at)
    assert not steplog.FORMAT.looks(file)
    pl.DataFrame({"rid": ["a"], "k": [7], "accepted": [3]}).write_parquet(file.at)
    assert steplog.FORMAT.looks(file)


def test_a_damaged_page_of_a_parquet_file(tmp_path):
    file = stored(tmp_path, "spec_log.parquet", b"")
    frame = pl.DataFrame({"id": [f"request {i}" for i in range(5000)], "k": [7] * 5000, "a": [3] * 5000})
    frame.write_parquet(file.at)
    content = bytearray(file.at.read_bytes())
    content[40:4000] = bytes(3960)
    file.at.write_bytes(content)
    with pytest.raises(InputError, match=r"spec_log.parquet: not a readable Parquet file; found "):
        steplog.read([file], tmp_path)


@pytest.mark.parametrize(
    ("raised", "becomes", "says"),
    [
        (RuntimeError("Query interrupted"), KeyboardInterrupt, None),
        (RuntimeError("something else"), RuntimeError, "something else"),
        (duckdb.OutOfMemoryException("Out of Memory\nmore"), OSError, "cannot be loaded: Out of Memory"),
        (duckdb.IOException("IO Error: No space left on device"), OSError, "No space left on device"),
    ],
)
def test_trouble_of_the_machine_is_not_blamed_on_the_log(tmp_path, monkeypatch, raised, becomes, says):
    class Database:
        def execute(self, query):
            raise raised

    monkeypatch.setattr(stepload, "_connect", Database)
    with pytest.raises(becomes, match=says) as error:
        steplog.read([stored(tmp_path, "spec_log.csv", "1,7,3\n")], tmp_path)
    assert not isinstance(error.value, InputError)
