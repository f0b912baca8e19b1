"""Everything that must be refused: in one line that says where and why, leaving nothing behind."""

import gzip
import hashlib
import io
import json
import subprocess
import sys

import polars as pl
import pytest
from click.testing import CliRunner

from specdash.cli import cli
from tests.ingest.synthetic import zipped

COUNT = "expected a whole number from 0 to 64"
COLUMNS = "expected columns request_id, drafted, accepted"
LOG = b"request_id,drafted,accepted\n1,7,3\n2,7,2\n"
SAMPLE = {"dataset": "gsm8k", "prompt_id": 0, "copy": 0, "num_drafts": 1, "accepted_tokens": 3}
COUNTERS = {"dataset": "gsm8k", "drafts": 10, "accepted": 15, "per_pos": [8, 5, 2]}
BOX = "+---------+------------+\n"
TABLE = f"{BOX}| dataset | accept_len |\n{BOX}|  gsm8k  |    4.97    |\n{BOX}"


def log(*rows, header="request_id,drafted,accepted\n"):
    return (header + "".join(f"{row}\n" for row in rows)).encode()


def parquet(**columns):
    content = io.BytesIO()
    pl.DataFrame(columns).write_parquet(content)
    return content.getvalue()


def jsonl(*changes):
    return "".join(json.dumps(SAMPLE | {"copy": i} | change) + "\n" for i, change in enumerate(changes)).encode()


def counters(**changes):
    return {"counters.json": json.dumps(COUNTERS | changes).encode()}


def with_samples(content):
    return {"spec_log.csv": LOG, "samples.jsonl": content}


def in_the_middle(bad):
    """Return a log of 30,000 rows with a bad one on line 20,002."""
    good = b"".join(b"%d,7,3\n" % i for i in range(10_000))
    return b"request_id,drafted,accepted\n" + good * 2 + bad + b"\n" + good


LOGS = {
    "accepted > drafted": (log("1,7,3", "1,7,8"), ["line 3:", "found accepted 8", "expected 0 to 7 (drafted)"]),
    "accepted > drafted in text": (log("a,7,3", "b,3,4"), ["line 3:", "found accepted 4", "expected 0 to 3"]),
    "accepted > drafted far down": (in_the_middle(b"5,7,9"), ["line 20002:", "found accepted 9", "0 to 7"]),
    "negative": (log("1,7,-1"), ["line 2:", "accepted is negative", "found -1", COUNT]),
    "negative drafted": (log("1,-7,1"), ["line 2:", "drafted is negative", "found -7", COUNT]),
    "float": (log("1,7,3", "2,7,2.6"), ["line 3:", "accepted is not a whole number", "found 2.6", COUNT]),
    "float far down": (in_the_middle(b"5,7.5,3"), ["line 20002:", "drafted is not a whole number", "found 7.5"]),
    "exponent": (log("1,1e1,3"), ["line 2:", "drafted is not a whole number", "found 1e1", COUNT]),
    "underscore": (log("1,1_0,3"), ["line 2:", "drafted is not a number", "found 1_0", COUNT]),
    "word": (log("1,7,x"), ["line 2:", "accepted is not a number", "found x", COUNT]),
    "word far down": (in_the_middle(b"5,seven,3"), ["line 20002:", "drafted is not a number", "found seven"]),
    "nan": (log("1,7,3", "1,nan,3"), ["line 3:", "drafted is not a number", "found nan"]),
    "infinite": (log("1,inf,3"), ["line 2:", "drafted is not a number", "found inf"]),
    "true": (log("1,true,3"), ["line 2:", "drafted is not a number", "found true"]),
    "hexadecimal": (log("1,0x7,3"), ["line 2:", "drafted is not a number", "found 0x7"]),
    "other digits": (log("1,٧,3"), ["line 2:", "drafted is not a whole number", "found ٧"]),
    "empty id": (log("1,7,3", ",7,3"), ["line 3:", "the request id is empty", "expected an id"]),
    "blank id": (log("1,7,3", "  ,7,3"), ["line 3:", "the request id is empty"]),
    "empty drafted": (log("1,,3"), ["line 2:", "drafted is empty", COUNT]),
    "empty accepted": (log("1,7,"), ["line 2:", "accepted is empty", COUNT]),
    "quoted nothing": (log('"",7,3'), ["line 2:", "the request id is empty"]),
    "only commas": (log("1,7,3", ",,"), ["line 3:", "the request id is empty"]),
    "fourth cell": (log("1,7,3", "1,7,3,1"), ["line 3:", "wrong number of columns", "found 4 (1,7,3,1)", "3 columns"]),
    "two cells": (log("1,7,3", "1,7", "1,7,3"), ["line 3:", "wrong number of columns", "found 2 (1,7)", "3 columns"]),
    "cut after a cell": (log("1,7,3") + b"2,7", ["line 3:", "the last row is cut off", "found 2 (2,7)", "3 columns"]),
    "cut after the id": (log("1,7,3") + b"2", ["line 3:", "the last row is cut off", "found 1 (2)", "3 columns"]),
    "cut after a comma": (log("1,7,3") + b"2,7,", ["line 3:", "accepted is empty"]),
    "cut in a quote": (log('"1",7,3') + b'"2', ["line 3:", "not readable as CSV", "unexpected end"]),
    "four columns, no header": (b"1,7,3,9\n", ["line 1:", "found 4 columns without a header", COLUMNS]),
    "two columns, no header": (b"1,7\n", ["line 1:", "found 2 columns without a header", COLUMNS]),
    "one column": (b"1\n2\n", ["line 1:", "no column for request and drafted", "found columns 1", COLUMNS]),
    "semicolons": (b"id;drafted;accepted\n1;7;3\n", ["line 1:", "found columns id;drafted;accepted", COLUMNS]),
    "tabs": (b"id\tdrafted\taccepted\n1\t7\t3\n", ["line 1:", "no column for", COLUMNS]),
    "header of two": (b"request_id,drafted\n1,7\n", ["line 1:", "no column for accepted", "request_id, drafted"]),
    "unknown header": (b"request_id,drafted,length\n1,7,3\n", ["line 1:", "no column for accepted", "length"]),
    "same column twice": (b"id,drafted,accepted,Accepted\n1,7,3,4\n", ["line 1:", "two columns of the same name"]),
    "swapped headers": (b"id,accepted,drafted\n1,3,3\n1,7,3\n", ["line 3:", "found accepted 7", "0 to 3 (drafted)"]),
    "swapped columns": (b"1,3,3\n1,3,7\n", ["line 2:", "found accepted 7", "expected 0 to 3 (drafted)"]),
    "K of 65": (log("1,65,3"), ["line 2:", "drafted is too large", "found 65", COUNT]),
    "K of 300": (log("1,300,3"), ["line 2:", "drafted is too large", "found 300", COUNT]),
    "very large": (log("1,7," + "9" * 5000), ["line 2:", "accepted is too large", "found 999"]),
    "long": (log("1,7," + "9" * 100_000 + "x"), ["line 2:", "accepted is not a number", "found 999"]),
    "no rows": (log(), ["the step log is empty", "expected a row a verify step"]),
    "blank lines": (b"\n\n  \n", ["the step log is empty"]),
    "only a mark": (b"\xef\xbb\xbf", ["the step log is empty"]),
    "latin-1": (log("1,7,3") + b"\xe9,7,3\n", ["line 3:", "not UTF-8 text", r"\xe9"]),
    "utf-16": (LOG.decode().encode("utf-16"), ["line 1:", "not a CSV file"]),
    "nul bytes": (b"\0" * 300, ["line 1:", "no column for"]),
    "quotes unbalanced": (log('"1,7,3', "2,7,3"), ["line 2:", "not readable as CSV"]),
    "text after a quote": (log('"1"x,7,3'), ["line 2:", "not readable as CSV"]),
    "huge cell": (log("x" * 3_000_000 + ",7,3"), ["line 2:", "not readable as CSV", "field limit"]),
}

PARQUETS = {
    "nulls": (
        parquet(request_id=[1, 2], drafted=[7, 7], accepted=[3, None]),
        ["line 2:", "accepted is empty", COUNT],
    ),
    "null ids": (parquet(request_id=["a", None], drafted=[7, 7], accepted=[3, 3]), ["line 2:", "request id is empty"]),
    "floats": (
        parquet(request_id=[1, 2], drafted=[7, 7], accepted=[3.0, 2.6]),
        ["line 2:", "not a whole number", "2.6"],
    ),
    "nan": (parquet(request_id=[1], drafted=[7.0], accepted=[float("nan")]), ["line 1:", "accepted is not a number"]),
    "negative": (parquet(request_id=[1], drafted=[7], accepted=[-3]), ["line 1:", "accepted is negative", "found -3"]),
    "over": (parquet(request_id=[1, 1], drafted=[7, 7], accepted=[3, 8]), ["line 2:", "found accepted 8", "0 to 7"]),
    "lists": (parquet(request_id=[1], drafted=[7], accepted=[[3]]), ["line 1:", "accepted is not a number"]),
    "booleans": (parquet(request_id=[1], drafted=[7], accepted=[True]), ["line 1:", "found true"]),
    "columns": (parquet(request_id=[1], k=[7], length=[3]), ["no column for accepted", "request_id, k, length"]),
    "no rows": (parquet(request_id=[], drafted=[], accepted=[]), ["the step log is empty"]),
    "not parquet": (b"request_id,drafted,accepted\n1,7,3\n", ["not a readable Parquet file"]),
    "cut": (parquet(request_id=[1], drafted=[7], accepted=[3])[:-60], ["not a readable Parquet file"]),
    "cut in front": (b"PAR1" + parquet(request_id=[1], drafted=[7], accepted=[3])[90:], ["spec_log.parquet: "]),
}

SAMPLES = {
    "field missing": (
        b'{"dataset":"gsm8k","number":1,"num_drafts":1,"accepted_tokens":3}\n',
        ["line 1:", "no field for prompt", "found fields dataset, number, num_drafts, accepted_tokens", "prompt_id"],
    ),
    "counts missing": (
        b'{"dataset":"gsm8k","prompt_id":1,"text":"x"}\n',
        ["line 1:", "no field for request id, or draft and accepted counts", "found fields dataset, prompt_id, text"],
    ),
    "field missing later": (
        jsonl({}) + b'\n{"dataset":"gsm8k"}\n',
        ["line 3:", "no field for prompt and request id, or draft", "found fields dataset;"],
    ),
    "prompt null": (jsonl({}, {"prompt_id": None}), ["line 2:", "prompt is missing", "found fields dataset"]),
    "cut": (jsonl({}) + b'{"dataset":"gs', ["line 2:", "the line is cut off", "expected a JSON object"]),
    "not JSON": (jsonl({}) + b"{dataset}\n", ["line 2:", "not valid JSON", "found dataset}", "expected a JSON object"]),
    "list": (jsonl({}) + b"[1,2]\n", ["line 2:", "not a JSON object", "found [1,2]", "expected a JSON object"]),
    "text": (jsonl({}) + b'"' + "é".encode() * 50 + b'"\n', ["line 2:", "not a JSON object", "expected a JSON object"]),
    "number": (b"12\n", ["line 1:", "not a JSON object", "found 12"]),
    "negative": (jsonl({"num_drafts": -1}), ["line 1:", "drafts is not a count", "found -1", "0 or more"]),
    "fraction": (jsonl({"accepted_tokens": 2.6}), ["line 1:", "accepted is not a count", "found 2.6"]),
    "word": (jsonl({}, {"copy": "first"}), ["line 2:", "copy is not a count", "found first", "a whole number"]),
    "infinite": (
        b'{"dataset":"gsm8k","prompt_id":1,"num_drafts":1,"accepted_tokens":{}}\n',
        ["line 1:", "accepted is not a count"],
    ),
    "huge": (jsonl({"output_tokens": 10**30}), ["line 1:", "output_tokens is not a count"]),
    "thousands of digits": (
        b'{"dataset":"gsm8k","prompt_id":%s,"num_drafts":1,"accepted_tokens":3}\n' % (b"9" * 5000),
        ["line 1:", "not valid JSON"],
    ),
    "digits in text": (jsonl({"copy": "9" * 5000}), ["line 1:", "copy is not a count", "found 999"]),
    "length": (
        b'{"dataset":"gsm8k","prompt_id":1,"num_drafts":4,"accept_len":0.5}\n',
        ["line 1:", "acceptance length is not a number from 1 on", "found 0.5"],
    ),
    "latin-1": (jsonl({}, {"prompt_id": "#"}).replace(b"#", b"\xe9"), ["line 2:", "not UTF-8 text", r"\xe9"]),
    "half a pair": (jsonl({"prompt_id": "\ud800"}), ["line 1:", "prompt is not valid Unicode", "ud800"]),
    "half a pair, raw": (
        jsonl({"prompt_id": "#"}).replace(b"#", b"\xed\xa0\x80"),
        ["line 1:", "not UTF-8 text", r"\xed"],
    ),
    "same id twice": (
        jsonl({"request_id": 1}, {"request_id": 2}, {"request_id": 1}),
        ["line 3:", "request 1 stands on line 1 too", "expected a line a request"],
    ),
    "list as prompt": (jsonl({"prompt_id": [1]}), ["line 1:", "prompt is neither text nor number", "found [1]"]),
    "nested": (b'{"a":' * 90_000, ["line 1:", "not valid JSON", "nested too deeply"]),
    "empty": (b"\n\n", ["the samples file is empty", "expected a JSON object a line"]),
    "half ids, half counts": (
        b'{"dataset":"gsm8k","prompt_id":0,"request_id":1}\n' + jsonl({}),
        ["neither request ids nor counts stand on every line"],
    ),
}

JSONS = {
    "rising per_pos": (counters(per_pos=[5, 8, 2]), ["gsm8k: accepted counts rise", "found [5, 8, 2]"]),
    "wrong sum": (counters(accepted=16), ["gsm8k: per_pos does not sum", "found 15", "expected 16"]),
    "negative": (counters(drafts=-10), ["gsm8k: drafts is not a count", "found -10", "from 0 to 2^53"]),
    "text": (counters(drafts="ten"), ["gsm8k: drafts is not a count", "found ten", "a whole number"]),
    "fraction": (counters(accepted=15.5), ["gsm8k: accepted is not a count", "found 15.5"]),
    "true": (counters(drafts=True), ["gsm8k: drafts is not a count", "found True"]),
    "huge": (counters(drafts=10**30), ["gsm8k: drafts is not a count", "from 0 to 2^53"]),
    "null in per_pos": (counters(per_pos=[8, 7, None]), ["gsm8k: per_pos has a gap", "found [8, 7, None]"]),
    "text in per_pos": (counters(per_pos=[8, "7"]), ["gsm8k: per_pos is not a count", "found 7"]),
    "per_pos is a number": (counters(per_pos=3), ["gsm8k: per_pos is not a list", "found 3", "1 to 64 counts"]),
    "empty per_pos": (counters(per_pos=[]), ["gsm8k: per_pos is not a list", "found []"]),
    "gap in positions": (counters(per_pos={"0": 8, "2": 7}), ["gsm8k: positions are not 0, 1, 2", "found 0, 2"]),
    "first above drafts": (counters(drafts=7), ["gsm8k: more steps accepted position 0", "found 8", "at most 7"]),
    "few drafted": (counters(draft_tokens=14), ["gsm8k: impossible number of drafted tokens", "found 14", "15 to 640"]),
    "many accepted": (
        {"counters.json": b'{"dataset":"gsm8k","drafts":10,"accepted":641}'},
        ["gsm8k: impossible number of accepted tokens", "found 641", "at most 640"],
    ),
    "more than k allows": (
        {"counters.json": b'{"dataset":"gsm8k","drafts":10,"accepted":41}', "config.json": b'{"k":4}'},
        ["gsm8k: more accepted tokens than the configured k allows", "found 41", "at most 40"],
    ),
    "drafts missing": (
        {"counters.json": json.dumps([COUNTERS, {"dataset": "mbpp", "accepted": 3}]).encode()},
        ["mbpp: no count of drafts or of accepted tokens", "found fields dataset, accepted", "such as drafts"],
    ),
    "accepted missing": (
        {"counters.json": json.dumps({"gsm8k": COUNTERS, "mbpp": {"num_drafts": 3}}).encode()},
        ["mbpp: no count of drafts or of accepted tokens", "found fields drafts"],
    ),
    "counted twice": (
        {"counters.json": json.dumps([COUNTERS, COUNTERS]).encode()},
        ["dataset gsm8k is counted twice"],
    ),
    "no dataset": (
        {"counters.json": json.dumps([{"drafts": 1, "accepted": 1}] * 2).encode()},
        ["a record names no dataset", "found fields drafts, accepted"],
    ),
    "dataset is a list": (counters(dataset=["x"]), ["a dataset is neither text nor number", "found ['x']"]),
    "half a pair": (counters(dataset="\ud800"), ["line 1:", "half a surrogate pair", "expected Unicode text"]),
    "no counters": ({"counters.json": b'{"x": 1}'}, ["no counters found", "counts such as drafts"]),
    "counters not JSON": ({"counters.json": b'{"drafts": 1,\n"accepted"}'}, ["line 2:", "not valid JSON"]),
    "counters cut": ({"counters.json": b'{"drafts": 1,\n\n'}, ["line 3:", "not valid JSON"]),
    "only line ends": ({"counters.json": b"\n\n\n"}, ["line 4:", "not valid JSON", "found nothing"]),
    "nested": ({"counters.json": b'{"a":' * 400 + b"1" + b"}" * 400}, ["no counters found"]),
    "nested deeper": ({"counters.json": b"[" * 90_000}, ["JSON nested too deeply"]),
    "latin-1": ({"counters.json": b'{\n"a": "\xe9"}'}, ["line 2:", "not UTF-8 text", r"\xe9"]),
}

CONFIGS = {
    "k of 1000": (b'{"num_speculative_tokens": 1000}', ["k is not a block length", "found 1000", "0 to 64"]),
    "k of -1": (b'{"k": -1}', ["k is not a block length", "found -1"]),
    "k a text": (b'{"gamma": "many"}', ["k is not a block length", "found many"]),
    "k true": (b'{"k": true}', ["k is not a block length", "found True"]),
    "not JSON": (b'{\n"k": 7,\n}', ["line 3:", "not valid JSON"]),
    "list": (b"[1]", ["not a JSON object", "found [1]", "expected settings by name"]),
    "half a pair": (b'{\n"model": "\\ud83d"}', ["line 2:", "half a surrogate pair"]),
    "digits": (b'{"seed": ' + b"9" * 5000 + b"}", ["not readable JSON"]),
}

TABLES = {
    "no table": ("nothing here\n", ["no results table found", "a boxed table with columns dataset and accept_len"]),
    "row too short": (
        TABLE.replace("|  gsm8k  |    4.97    |", "|  gsm8k  |"),
        ["line 4:", "found 1 cells", "expected 2"],
    ),
    "row too long": (TABLE.replace("4.97    |", "4.97 | 3 |"), ["line 4:", "found 3 cells", "expected 2"]),
    "row cut off": (TABLE.replace("4.97    |", "4.97"), ["line 4:", "cut off", "found 4.97", "expected | at its end"]),
    "word": (TABLE.replace("4.97", "high"), ["line 4:", "accept_len is not a number", "found high"]),
    "negative": (TABLE.replace("4.97", "-4.9"), ["line 4:", "accept_len is not a number", "found -4.9"]),
    "endless": (TABLE.replace("4.97", "9" * 400), ["line 4:", "accept_len is not a number"]),
    "no dataset": (TABLE.replace("gsm8k", "     "), ["line 4:", "a row without a dataset"]),
    "only means over copies": (
        TABLE.replace("accept_len", "alen_mean"),
        ["a table of means over copies stands without the log", "expected spec_log.csv beside it"],
    ),
    "proposals": (
        "| dataset | #propose | accept_len |\n| gsm8k | 7 | 4.9 |\n",
        ["line 2:", "#propose is not of the form 6.98+1", "found 7"],
    ),
    "positions": (
        "| dataset | accept_len | accept_rate@0 | accept_rate@2 |\n| gsm8k | 4.9 | 0.9 | 0.8 |\n",
        ["line 2:", "positions are not 0, 1, 2", "found accept_rate@0, accept_rate@2"],
    ),
    "two drafters": (
        "| dataset | draft_model | accept_len |\n| gsm8k | A | 4.9 |\n| gsm8k | B | 4.8 |\n",
        ["line 3:", "dataset gsm8k stands there with two pairs of models"],
    ),
}

OTHERS = {
    "truncated gz": ({"spec_log.csv.gz": gzip.compress(LOG * 2000)[:-50]}, ["spec_log.csv.gz", "damaged or cut off"]),
    "overlapping shards": (
        {"spec_log_1.csv": LOG, "spec_log_2.csv": log("3,7,1", "2,7,1")},
        ["spec_log_2.csv:", "request 2 is in spec_log_1.csv too", "expected shards with disjoint request ids"],
    ),
    "one bad shard": (
        {"spec_log_1.csv": LOG, "spec_log_2.csv": log("3,7,9")},
        ["spec_log_2.csv, line 2:", "found accepted 9"],
    ),
    "same log twice": (
        {"spec_log.csv": LOG, "spec_log.csv.gz": gzip.compress(LOG)},
        ["request 1 is in spec_log.csv", "shards"],
    ),
    "one bad run of two": (
        {"a/spec_log.csv": LOG, "b/spec_log.csv": log("1,7,9")},
        ["b/spec_log.csv, line 2:", "found accepted 9"],
    ),
    "nothing known": ({"readme.md": b"x", "data.bin": b"y"}, ["nothing that can be read", "found data.bin, readme.md"]),
    "title": ({"spec_log.csv": LOG, "evaluation.json": b'{"title": 3}'}, ["title is of the wrong kind", "found 3"]),
    "order": (
        {"spec_log.csv": LOG, "evaluation.json": b'{"order": "any"}'},
        ["order is unknown", "found any", "recorded or invented"],
    ),
}

CASES = (
    {f"log, {n}": ({"spec_log.csv": content}, ["spec_log.csv", *says]) for n, (content, says) in LOGS.items()}
    | {f"parquet, {n}": ({"spec_log.parquet": content}, says) for n, (content, says) in PARQUETS.items()}
    | {f"samples, {n}": (with_samples(content), ["samples.jsonl", *says]) for n, (content, says) in SAMPLES.items()}
    | {f"counters, {n}": (files, ["counters.json", *says]) for n, (files, says) in JSONS.items()}
    | {
        f"config, {n}": ({"spec_log.csv": LOG, "config.json": content}, ["config.json", *says])
        for n, (content, says) in CONFIGS.items()
    }
    | {
        f"table, {n}": ({"results_table.txt": content.encode()}, ["results_table.txt", *says])
        for n, (content, says) in TABLES.items()
    }
    | OTHERS
)


def written(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def everything_below(folder):
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.fixture(scope="module")
def stocked(tmp_path_factory):
    """A library that holds one evaluation, and an empty folder for temporary files."""
    root = tmp_path_factory.mktemp("stocked")
    folder = written(root / "good", {"spec_log.csv": LOG})
    home = root / "home"
    result = CliRunner().invoke(cli, ["add", str(folder)], env={"SPECDASH_HOME": str(home)})
    assert result.exit_code == 0
    (root / "temporary").mkdir()
    return home, root / "temporary"


@pytest.mark.parametrize("name", CASES)
def test_refused(tmp_path, stocked, monkeypatch, name):
    files, says = CASES[name]
    home, temporary = stocked
    folder = written(tmp_path / "evaluation", files)
    source = zipped(folder, tmp_path / "evaluation.zip") if len(name) % 2 else folder  # in turn, both must refuse
    before = everything_below(home)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    result = CliRunner().invoke(cli, ["add", str(source)], env={"SPECDASH_HOME": str(home)})
    assert (result.exit_code, result.stdout) == (1, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("specdash: ") and len(line) < 900
    missing = [part for part in says if part not in line]
    assert not missing, line
    assert everything_below(home) == before
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("name", ["log, very large", "parquet, cut", "samples, nested"])
def test_refused_by_the_program(tmp_path, stocked, name):
    """The same in a process of its own: no traceback, and ``report`` refuses alike."""
    files, says = CASES[name]
    home, temporary = stocked
    folder = written(tmp_path / "evaluation", files)
    before = everything_below(home)
    for command in ("add", "report"):
        ended = subprocess.run(
            [sys.executable, "-m", "specdash", command, str(folder)],
            env={"SPECDASH_HOME": str(home), "TMPDIR": str(temporary), "PATH": ""},
            capture_output=True,
            text=True,
        )
        assert (ended.returncode, ended.stdout) == (1, "")
        (line,) = ended.stderr.splitlines()
        assert all(part in line for part in says), line
    assert everything_below(home) == before
    assert list(temporary.iterdir()) == []
