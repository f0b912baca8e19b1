"""Which files make which run; what is in them is kept as small as can be."""

import json

import pytest

import specdash
from specdash.schema import InputError, Unsaid

LOG = "0,7,3\n1,7,5\n"
SAMPLES = (
    '{"dataset":"d","prompt_id":0,"drafts":1,"accepted":3}\n{"dataset":"d","prompt_id":1,"drafts":1,"accepted":5}\n'
)
COUNTERS = '{"drafts": 10, "accepted": 15, "per_pos": [8, 5, 2]}'
TABLE = "| dataset | accept_len |\n| gsm8k | 4.97 |\n"
COPIES = "| dataset | alen_mean |\n| d | 5.00 |\n"


def runs_of(folder, files):
    for name, content in files.items():
        path = folder / "eval" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return specdash.load(folder / "eval").document["runs"]


def names_and_kinds(runs):
    return [(run["name"], run["granularity"]) for run in runs]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"spec_log.csv": LOG}, [("eval", "step")]),
        ({"a/b/c/spec_log.csv": LOG}, [("c", "step")]),
        ({"a/spec_log.csv": LOG, "b/spec_log.csv": LOG}, [("a", "step"), ("b", "step")]),
        ({"x/a/1/spec_log.csv": LOG, "x/b/1/spec_log.csv": LOG}, [("a/1", "step"), ("b/1", "step")]),
        ({"K10/spec_log.csv": LOG, "K9/counters.json": COUNTERS}, [("K9", "aggregate"), ("K10", "step")]),
        ({"spec_log.csv": LOG, "sub/spec_log.csv": LOG}, [("eval", "step"), ("sub", "step")]),
        ({"spec_log.csv": LOG, "eval/spec_log.csv": LOG}, [("eval", "step"), ("eval (top)", "step")]),
        ({"only/results_table.txt": TABLE}, [("only", "rates")]),
        ({"counters/gsm8k.json": COUNTERS, "counters/mbpp.json": COUNTERS}, [("counters", "aggregate")]),
        ({"trace.csv": LOG}, [("eval", "step")]),
        ({"spec_log.csv": LOG, "other.csv": LOG}, [("eval", "step")]),
        ({"spec_log.csv": LOG, "samples.jsonl": SAMPLES, "d/results_table.txt": TABLE},
         [("d", "rates"), ("eval", "step")]),
        ({"spec_log.csv": LOG, "d/samples.jsonl": SAMPLES, "d/results_table.txt": COPIES}, [("eval", "step")]),
    ],
)  # fmt: skip
def test_runs(tmp_path, files, expected):
    assert names_and_kinds(runs_of(tmp_path, files)) == expected


def warned(run, code):
    return [warning["message"] for warning in run["warnings"] if warning["code"] == code]


@pytest.mark.parametrize(
    ("files", "unread"),
    [
        ({"notes.md": "x", "notes.txt": "x"}, "notes.txt"),
        ({"other.csv": LOG}, "other.csv"),  # it has no part in a log that another file claims by its name
        ({"counters.json": COUNTERS}, "counters.json"),  # the log says more
        ({"up/samples.jsonl": SAMPLES, "../eval/z.bin": "x"}, "z.bin"),
    ],
)
def test_files_that_are_not_read_are_told(tmp_path, files, unread):
    (run,) = runs_of(tmp_path, {"spec_log.csv": LOG} | files)
    assert warned(run, "unread_files") == [f"not read, as not recognised or not needed: {unread}"]
    assert run["datasets"][-1]["steps"] == 2


@pytest.mark.parametrize("name", ["README", "Readme.txt", "LICENSE", "results.md", "CHANGELOG.rst"])
def test_documents_are_no_data(tmp_path, name):
    (run,) = runs_of(tmp_path, {"spec_log.csv": LOG, name: "x"})
    assert warned(run, "unread_documents") == [f"not read, as it is no data: {name}"]
    assert warned(run, "unread_files") == []
    (finding,) = [row for row in run["checks"] if row["check"] == "read_whole"]
    assert (finding["outcome"], finding["figure"]) == ("pass", f"not read, as it is no data: {name}")


def test_samples_beside_counters_are_told(tmp_path):
    (run,) = runs_of(tmp_path, {"counters.json": COUNTERS, "samples.jsonl": SAMPLES})
    assert warned(run, "unread_files")[0].endswith(": samples.jsonl")


def test_samples_above_the_runs_are_told(tmp_path):
    runs = runs_of(tmp_path, {"a/spec_log.csv": LOG, "b/spec_log.csv": LOG, "samples.jsonl": SAMPLES})
    assert [run["mapping"] for run in runs] == [None, None]
    assert all(warned(run, "unread_files") for run in runs)


@pytest.mark.parametrize(
    ("names", "datasets"),
    [
        (["gsm8k/samples.jsonl", "mbpp/samples.jsonl"], ["gsm8k", "mbpp"]),
        (["x/gsm8k/samples.jsonl", "x/mbpp/samples.jsonl"], ["gsm8k", "mbpp"]),
        (["samples_gsm8k.jsonl", "samples-mbpp.jsonl"], ["gsm8k", "mbpp"]),
        (["answers/gsm8k.jsonl", "answers/mbpp.jsonl"], ["gsm8k", "mbpp"]),
        (["gsm8k/answers.jsonl", "mbpp/answers.jsonl"], ["gsm8k", "mbpp"]),
    ],
)
def test_what_names_a_dataset(tmp_path, names, datasets):
    lines = SAMPLES.replace('"dataset":"d",', "").splitlines()
    (run,) = runs_of(tmp_path, {"run/spec_log.csv": LOG} | {f"run/{n}": t for n, t in zip(names, lines, strict=True)})
    assert [row["dataset"] for row in run["datasets"]] == [*datasets, "pooled"]
    assert [row["tau"] for row in run["datasets"]] == [4.0, 6.0, 5.0]


def test_samples_without_a_dataset_are_named_after_the_run(tmp_path):
    (run,) = runs_of(tmp_path, {"run/spec_log.csv": LOG, "run/samples.jsonl": SAMPLES.replace('"dataset":"d",', "")})
    assert [row["dataset"] for row in run["datasets"]] == ["run", "pooled"]


def test_configuration_nearest_to_the_run(tmp_path):
    runs = runs_of(
        tmp_path,
        {
            "config.json": '{"seed": 1, "model": "m"}',
            "a/spec_log.csv": LOG,
            "b/spec_log.csv": LOG,
            "b/args.json": '{"seed": 2}',
        },
    )
    assert [run["config"] for run in runs] == [{"seed": 1, "model": "m"}, {"seed": 2}]


def test_what_an_evaluation_says_of_itself(tmp_path):
    about = {"title": "T", "note": "N", "reconstruction": True, "order": "invented"}
    (tmp_path / "eval").mkdir()
    runs = runs_of(tmp_path, {"evaluation.json": json.dumps(about), "r/spec_log.csv": LOG, "c/counters.json": COUNTERS})
    document = specdash.load(tmp_path / "eval").document["evaluation"]
    assert {key: document[key] for key in about} == about
    assert [{w["code"] for w in run["warnings"]} for run in runs] == [
        {"reconstruction", "drafted_assumed"},
        {"reconstruction", "order_invented"},
    ]


def test_a_printed_table_beside_a_log_is_compared(tmp_path):
    """By hand: τ of the two responses is 4 and 6, their mean 5.00; ratios 3/7 and 5/7."""
    table = "| dataset | alen_mean | ratio_max | ratio_mean | ratio_min |\n| d | {} | {} | 0.5714 | 0.5714 |\n"
    agreeing = {"spec_log.csv": LOG, "samples.jsonl": SAMPLES, "results_table.txt": table.format("5.00", "0.5714")}
    (run,) = runs_of(tmp_path, agreeing)
    assert run["warnings"] == []
    assert stored_ratios(run) == ("pass", "4 stored ratios as by the counts")
    (run,) = runs_of(tmp_path, agreeing | {"results_table.txt": table.format("5.01", "0.6")})
    assert "d alen_mean 5.01, by the counts 5.00" in stored_ratios(run)[1]
    (run,) = runs_of(tmp_path, agreeing | {"results_table.txt": table.format("5.0", "-").replace("| d |", "| e |")})
    assert stored_ratios(run) == ("warn", "e is not in the log")


def stored_ratios(run):
    (found,) = [(check["outcome"], check["figure"]) for check in run["checks"] if check["check"] == "stored_ratios"]
    return found


def test_printed_rates_alone(tmp_path):
    table = (
        "| dataset | draft_model | #propose | accept_len | verify_rate | accept_rate@0 | accept_rate@1 |\n"
        "| gsm8k | D | 6.98+1 | 4.97 | 0.622 | 0.912 | 0.804 |\n"
        "| mbpp | D | - | 4.88 | - | 0.9 | - |\n"
    )
    (run,) = runs_of(tmp_path, {"r/results_table.txt": table})
    assert (run["granularity"], run["k"], run["families"]) == ("rates", 2, [])
    about = ("level", "interval_note")
    shown = [{k: v for k, v in row.items() if v is not None and k not in about} for row in run["datasets"]]
    assert shown == [
        {"dataset": "gsm8k", "family": "math", "tau": 4.97, "verify_rate": 0.622, "p_exposed": [0.912, 0.804]},
        {"dataset": "mbpp", "family": "code", "tau": 4.88, "p_exposed": [0.9, None]},
    ]  # and no pooled row: ratios without counts cannot be pooled


@pytest.mark.parametrize("name", ["eval.csv", "trace.csv", "spec_log.csv", "x.csv.gz"])
def test_a_single_file(tmp_path, name):
    path = tmp_path / name
    path.write_text(LOG)
    (run,) = specdash.load(path).document["runs"]
    assert (run["name"], run["datasets"][0]["tau"]) == (name.partition(".")[0], 5.0)


def test_a_single_file_that_is_no_log_says_what_is_wrong(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("x,y\n1,2\n")
    with pytest.raises(Unsaid, match=r"trace.csv: which column is what is not clear; found columns x, y; expected"):
        specdash.load(path)
    path.write_text("x,y\n")
    with pytest.raises(InputError, match=r"trace.csv, line 1: no column for request and drafted and accepted; found"):
        specdash.load(path)


def test_a_name_that_is_not_text(tmp_path):
    path = tmp_path / "log\udcff"
    path.mkdir()
    (path / "spec_log.csv").write_text(LOG)
    with pytest.raises(InputError, match="not UTF-8 text"):
        specdash.load(path)
    with pytest.raises(InputError, match="not UTF-8 text"):
        specdash.load(path / "spec_log.csv")
