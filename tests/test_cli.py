"""The command line as a CI job sees it: exit codes, the two streams, what is on disk."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from specdash import __version__
from specdash.cli import cli
from tests.ingest import synthetic
from tests.ingest.synthetic import MIDDLE_AND_END, Shape, write, zipped
from tests.live.counting import steady

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "data" / "reference.zip"
CSV_FILES = """
tableA_single_sample tableB_bon10_steps tableC_bon10_responses tableD_tau_vs_K_truncation tableE_step_level_std
tableF_tok_per_s_pp10 bon10_per_response checks
""".split()


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def run(home, monkeypatch):
    """Run a command on a library of the test's own; returns its result."""

    def invoke(*arguments, code=0, stdin=None):
        result = CliRunner().invoke(cli, [str(a) for a in arguments], stdin, env={"SPECDASH_HOME": str(home)})
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.stderr
        return result

    return invoke


@pytest.fixture(scope="module")
def made():
    return synthetic.responses()


@pytest.fixture(scope="module")
def packed(tmp_path_factory, made):
    """A zip with a run K7 of three datasets, its configuration, and a run of counters."""
    root = tmp_path_factory.mktemp("packed")
    write(root / "x" / "K7", Shape(), made)
    (root / "x" / "K7" / "config.json").write_text('{"num_speculative_tokens": 7, "seed": 1}')
    (root / "x" / "server").mkdir()
    (root / "x" / "server" / "counters.json").write_text('{"gsm8k": {"drafts": 3, "per_pos": [2, 1]}}')
    return zipped(root / "x", root / "evaluation.zip")


def below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


# ---- report


def test_report_stores_nothing(run, home, packed):
    for fmt in ("text", "json"):
        result = run("report", packed, "--format", fmt)
        assert result.stderr == ""
        assert result.stdout
    assert not home.exists()


def test_report_as_text(run, packed, made):
    text = run("report", packed).stdout
    truth = synthetic.truth(made, MIDDLE_AND_END, ("gsm8k",))
    assert "Run K7" in text and "Run server" in text
    assert "requests to responses: 106 of 106 match, 2 absent" in text
    assert "configuration: k=7, seed=1" in text
    (line,) = [line for line in text.splitlines() if line.split()[:3] == ["gsm8k", "math", f"{truth['steps']}"]]
    assert line.split()[3:] == [
        f"{truth[key]:.2f}" for key in "tau step_std response_mean response_p10 response_p50 response_p90".split()
    ] + [line.split()[-1]]
    tables = (
        "Acceptance length,Unconditional,Conditional,Step outcomes,Implied acceptance,Prompt difficulty,Upper bound"
    )
    assert all(table in text for table in tables.split(","))
    assert "\x1b" not in text


def test_report_of_one_run(run, packed):
    document = json.loads(run("report", packed, "--run", "server", "--format", "json").stdout)
    assert [r["name"] for r in document["runs"]] == ["server"]
    assert document["runs"][0]["datasets"][0]["tau"] == 2.0  # 1 + 3/3
    result = run("report", packed, "--run", "nope", code=1)
    assert result.stdout == ""
    assert result.stderr == "specdash: evaluation.zip: no such run; found nope; expected K7 or server\n"


def test_report_by_id_equals_report_by_path(run, packed, tmp_path):
    id_ = run("add", packed).stdout.split()[0]
    for fmt in ("json", "text"):
        assert run("report", id_, "--format", fmt).stdout == run("report", packed, "--format", fmt).stdout
    for source in (id_, packed):
        run("report", source, "--format", "csv", "-o", tmp_path / str(source)[-12:])
    by_id, by_path = tmp_path / id_, tmp_path / str(packed)[-12:]
    assert below(by_id) == below(by_path)
    for name in below(by_id):
        if name.endswith(".csv"):
            assert (by_id / name).read_bytes() == (by_path / name).read_bytes()


def test_report_as_csv(run, packed, tmp_path, made):
    out = tmp_path / "made" / "here"
    result = run("report", packed, "--format", "csv", "-o", out)
    written = [f"K7/{name}.csv" for name in CSV_FILES]
    assert below(out / "K7") == sorted(f"{name}.csv" for name in CSV_FILES)
    assert sorted(Path(line).relative_to(out).as_posix() for line in result.stdout.split() if "K7" in line) == sorted(
        written
    )
    # Counters have neither responses nor copies.
    assert below(out / "server") == sorted(f"{name}.csv" for name in CSV_FILES if "bon10" not in name)
    document = json.loads(run("report", packed, "--format", "json").stdout)
    rows = {row["dataset"]: row for row in document["runs"][0]["datasets"] + document["runs"][0]["families"]}
    checked = 0
    for name in CSV_FILES[:5]:
        with (out / "K7" / f"{name}.csv").open(newline="") as stream:
            for line in csv.DictReader(stream):
                for column, cell in line.items():
                    checked += 1
                    assert cell_of(rows[line["dataset"]], column) == (cell or None), (name, column)
    assert checked > 500
    assert list(rows) == ["gsm8k", "alpaca", "mbpp", "pooled", "math", "chat", "code"]


def cell_of(row, column):
    """Return what the JSON holds under a column: ``p_3`` is element 3 of ``p``, ``tau_low`` an end of ``tau_ci``."""
    key, _, index = column.rpartition("_")
    if index in ("low", "high"):
        end = ("low", "high").index(index)
        if f"{key}_ci" in row:
            ends = row[f"{key}_ci"]
        else:
            key, _, index = key.rpartition("_")
            ends = row[f"{key}_ci"] and row[f"{key}_ci"][int(index)]
        return None if ends is None else str(ends[end])
    value = row[column] if column in row else row[key][int(index)]
    return None if value is None else str(value)


def test_report_as_parquet_is_the_csv_with_its_origin(run, packed, tmp_path):
    for fmt in ("csv", "parquet"):
        run("report", packed, "--format", fmt, "-o", tmp_path / fmt)
    names = [name.removesuffix(".csv") for name in below(tmp_path / "csv") if name.endswith(".csv")]
    assert [f"{name}.parquet" for name in names] == [n for n in below(tmp_path / "parquet") if n.endswith(".parquet")]
    for name in names:
        path = tmp_path / "parquet" / f"{name}.parquet"
        table = pl.read_parquet(path)
        assert table.write_csv() == (tmp_path / "csv" / f"{name}.csv").read_text()
        metadata = pl.read_parquet_metadata(path)
        assert (metadata["specdash"], metadata["run"]) == (__version__, name.split("/")[0])
        assert re.fullmatch("[0-9a-f]{12}", metadata["evaluation"])


@pytest.mark.parametrize(("fmt", "file"), [("markdown", "report.md"), ("latex", "report.tex"), ("html", "report.html")])
def test_the_headline_of_each_run_in_markup(run, packed, tmp_path, fmt, file):
    shown = run("report", packed, "--format", fmt).stdout
    id_ = json.loads(run("report", packed, "--format", "json").stdout)["evaluation"]["id"]
    assert shown.count(f"evaluation {id_}") == (1 if fmt == "html" else 2)  # the runs K7 and server
    assert f"specdash {__version__}" in shown
    run("report", packed, "--format", fmt, "-o", tmp_path / "there")
    assert (tmp_path / "there" / file).read_text() == shown


def test_the_preset_of_the_calculator_goes_with_html(run, packed):
    assert "bandwidth 100 Mbit/s" in run("report", packed, "--format", "html", "--preset", "100 Mbit/s links").stdout
    assert run("report", packed, "--preset", "100 Mbit/s links", code=2).stderr.count("--preset goes with") == 1


def test_csv_of_responses_and_of_throughput(run, packed, tmp_path, made):
    run("report", packed, "--format", "csv", "-o", tmp_path / "out")
    frame = pl.read_csv(tmp_path / "out" / "K7" / "bon10_per_response.csv")
    assert frame.columns == (
        "dataset family prompt copy request steps steps_without_draft drafted accepted tau output_tokens".split()
    )
    logged = [r for r in made if r.number not in MIDDLE_AND_END]
    assert frame.select("dataset", "prompt", "copy", "request", "steps", "accepted", "tau", "output_tokens").rows() == [
        (r.dataset, r.prompt, r.copy, r.number + 100, len(r.steps), r.accepted, 1 + r.accepted / len(r.steps),
         r.output_tokens)
        for r in logged
    ]  # fmt: skip
    frame = pl.read_csv(tmp_path / "out" / "K7" / "tableF_tok_per_s_pp10.csv")
    tau = synthetic.truth(made, MIDDLE_AND_END)["tau"]
    (row,) = frame.filter(pl.col("dataset") == "pooled").rows(named=True)
    found = [row[f"tok_s_rtt{rtt}"] for rtt in (10, 25, 50, 100, 200)]
    # a lap over 10 stages takes 10 times half a round trip
    assert found == pytest.approx([tau / (10 * rtt / 2000) for rtt in (10, 25, 50, 100, 200)], rel=1e-12)
    assert (row["tau"], row["speedup"]) == (tau, tau)


@pytest.mark.parametrize(
    ("out", "written"), [("there", "there/report.json"), ("x.json", "x.json"), ("deep/er/x.json", "deep/er/x.json")]
)
def test_output_goes_where_it_is_told(run, packed, tmp_path, out, written):
    result = run("report", packed, "--format", "json", "-o", tmp_path / out)
    assert (result.stdout, result.stderr) == ("", "")
    assert json.loads((tmp_path / written).read_text())["runs"]


def test_runs_whose_names_no_folder_can_have(run, tmp_path, made):
    for name in ("a/x:y", "a/x?y", "a/x_y", "b/π . "):
        write(tmp_path / "all" / name, Shape(samples="none"), made)
    run("report", tmp_path / "all", "--format", "csv", "-o", tmp_path / "out")
    folders = sorted(path.name for path in (tmp_path / "out").iterdir() if path.is_dir())
    assert folders == ["a_x_y", "a_x_y_2", "a_x_y_3", "b_π"]
    assert all((tmp_path / "out" / folder / "bon10_per_response.csv").exists() for folder in folders)


# ---- check


def test_check_of_what_is_sound_but_for_warnings(run, home, packed):
    result = run("check", packed)
    assert result.stderr == ""
    assert not home.exists()
    assert "Run K7: 4 warnings, " in result.stdout
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("! ") and "Absent requests" in line]
    assert line.split(maxsplit=2)[:2] == ["!", "warn"]
    assert line.endswith(
        "Absent requests: 2 of 108 responses, 1.9%: 2 responses have no rows in the log (1 of gsm8k, 1 of alpaca)"
    )
    assert "✓ pass            Requests to samples: 106 of 106 match" in result.stdout.splitlines()
    assert "Responses without rows are in no number." in result.stdout  # what it means, where it does not pass
    assert "Usual cause: Requests that failed" in result.stdout


def test_check_as_json(run, packed):
    document = json.loads(run("check", packed, "--run", "K7", "--format", "json").stdout)
    assert document["evaluation"]["source"] == "evaluation.zip"
    (found,) = document["runs"]
    assert document["verdict"] == found["verdict"]
    counts = {
        name: sum(c["outcome"] == name.replace("_", " ") for c in found["checks"])
        for name in ("fail", "warn", "pass", "not_applicable")
    }
    assert found["verdict"] == {"outcome": "warn", **counts}
    assert list(found["checks"][0]) == ["check", "title", "outcome", "figure", "meaning", "cause"]


def test_check_fails_with_exit_code_1_when_a_check_fails(run, tmp_path):
    (tmp_path / "spec_log.csv").write_text("a,3,0\na,3,0\nb,3,0\n")
    result = run("check", tmp_path / "spec_log.csv", code=1)
    assert "✕ fail            τ of exactly 1: τ = 1 in every dataset" in result.stdout.splitlines()
    assert run("check", tmp_path / "spec_log.csv", "--format", "json", code=1).stderr == ""
    result = run("check", tmp_path / "nothing", code=1)
    assert (result.stdout, result.stderr.count("\n")) == ("", 1)
    run("check", tmp_path / "spec_log.csv", "--format", "csv", code=2)


def test_check_by_id_says_what_check_by_path_says(run, packed):
    id_ = run("add", packed).stdout.split()[0]
    assert run("check", id_).stdout == run("check", packed).stdout


def test_report_tells_what_is_not_as_it_should_be(run, packed):
    lines = run("report", packed, "--run", "K7").stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("checks: 4 warnings, "))
    assert [line.split(":")[0] for line in lines[at + 1 : at + 5]] == [
        "! Absent requests", "! Copies of a prompt", "! Tokens past the end", "! Few prompts",
    ]  # fmt: skip


# ---- add, list, remove


def test_add_list_remove(run, home, packed):
    added = run("add", packed)
    id_ = added.stdout.split()[0]
    assert added.stdout == f"{id_}  evaluation\n"
    assert len(id_) == 12 and set(id_) <= set("0123456789abcdef")
    assert (
        "specdash: K7: Absent requests: 2 of 108 responses, 1.9%: 2 responses have no rows in the log" in added.stderr
    )
    (entry,) = json.loads(run("list", "--format", "json").stdout)
    assert list(entry) == ["id", "title", "source", "sha256", "runs", "added", "verdict"]
    sha256 = subprocess.run(["sha256sum", packed], capture_output=True, text=True, check=True).stdout.split()[0]
    assert entry | {"added": None} == {
        "id": id_, "title": "evaluation", "source": "evaluation.zip", "sha256": sha256, "runs": ["K7", "server"],
        "added": None, "verdict": "warn",
    }  # fmt: skip
    assert entry["added"].endswith("Z")
    (line,) = run("list").stdout.splitlines()
    assert line.startswith(id_) and "evaluation.zip" in line and "K7, server" in line
    result = run("remove", id_)
    assert (result.stdout, result.stderr) == ("", "")
    assert run("list").stdout == ""
    assert json.loads(run("list", "--format", "json").stdout) == []
    assert run("report", id_, code=1).stderr.count("\n") == 1
    assert below(home) == ["evaluations", "tmp"]


def test_add_twice_is_one_copy(run, home, packed):
    first = run("add", packed)
    before = below(home)
    assert run("add", packed).stdout == first.stdout
    assert run("add", packed, packed).stdout == first.stdout * 2
    assert below(home) == before
    assert len(json.loads(run("list", "--format", "json").stdout)) == 1


def test_settings_make_another_evaluation(run, packed):
    plain = run("add", packed).stdout.split()[0]
    other = run("add", packed, "--set", "k=9", "--set", "engine=vLLM 1", "--set", "seed=2", "--set", "a=x=y")
    other = other.stdout.split()[0]
    assert other != plain
    assert (
        run("add", packed, "--set", "a=x=y", "--set", "seed=2", "--set", "engine=vLLM 1", "--set", "k=9").stdout[:12]
        == other
    )
    configs = [json.loads(run("report", id_, "--format", "json").stdout)["runs"][0]["config"] for id_ in (plain, other)]
    assert configs == [{"k": 7, "seed": 1}, {"k": 9, "seed": 2, "engine": "vLLM 1", "a": "x=y"}]
    by_path = json.loads(run("report", packed, "--set", "k=9", "--format", "json").stdout)
    assert by_path["runs"][0]["config"]["k"] == 9
    assert by_path["runs"][0]["k"] == 7  # what the log holds stays what it is


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7), ("7.5", 7.5), ("true", True), ('"7"', "7"), ("abc", "abc"), ("", ""), ("null", "null"),
        ("NaN", "NaN"), ("1e999", "1e999"), ("-Infinity", "-Infinity"), ("[1]", "[1]"), ('{"a":1}', '{"a":1}'),
        ("9" * 5000, "9" * 5000), ("[" * 9000, "[" * 9000),
    ],
)  # fmt: skip
def test_values_of_settings(run, packed, text, value):
    document = json.loads(run("report", packed, "--set", f"x={text}", "--format", "json", "--run", "server").stdout)
    assert document["runs"][0]["config"] == {"x": value}


def test_add_goes_on_after_a_bad_one(run, packed, tmp_path):
    result = run("add", tmp_path / "missing.zip", packed, tmp_path / "gone", code=1)
    assert len(result.stdout.splitlines()) == 1
    refused = [line for line in result.stderr.splitlines() if "does not exist" in line]
    assert len(refused) == 2 and all(line.startswith("specdash: ") for line in refused)
    assert len(json.loads(run("list", "--format", "json").stdout)) == 1


def test_keep_original(run, home, packed):
    run("add", packed, "--keep-original")
    (kept,) = home.glob("evaluations/*/original/*")
    assert kept.read_bytes() == packed.read_bytes()


# ---- exit codes

USAGE = [
    ["nonsense"],
    ["report"],
    ["report", "x", "--format", "yaml"],
    ["report", "x", "--format", "csv"],
    ["report", "x", "--nonsense"],
    ["report", "x", "y"],
    ["report", "x", "--set", "k"],
    ["report", "x", "--set", "=7"],
    ["add"],
    ["remove"],
    ["list", "extra"],
]


@pytest.mark.parametrize("arguments", USAGE)
def test_wrong_usage(run, home, arguments):
    result = run(*arguments, code=2)
    assert result.stdout == ""
    assert "Error: " in result.stderr and "Traceback" not in result.stderr
    assert not home.exists()


def test_settings_of_a_stored_evaluation_are_wrong_usage(run, packed):
    id_ = run("add", packed).stdout.split()[0]
    assert "--set goes with a path" in run("report", id_, "--set", "k=7", code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["report", "missing.zip"], "neither a file or folder nor the id of a stored evaluation; found missing.zip"),
        (["report", "0123456789ab"], "found 0123456789ab"),
        (["report", "x" * 5000], "File name too long"),
        (["report", ""], "found "),
        (["add", "missing.zip"], "missing.zip: does not exist"),
        (["remove", "0123456789ab"], "no such evaluation in the library; found '0123456789ab'"),
        (["remove", "../../etc"], "no such evaluation in the library; found '../../etc'"),
    ],
)
def test_bad_input(run, arguments, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if arguments == ["report", ""]:
        arguments, says = ["report", "."], "holds no files"
    result = run(*arguments, code=1)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("specdash: ") and says in line


@pytest.mark.parametrize("setting", ["k=1000", "k=-1", "k=seven", "k=7.5"])
def test_impossible_settings(run, packed, setting):
    for command in ("report", "add"):
        result = run(command, packed, "--set", setting, code=1)
        assert "k is not a block length" in result.stderr and result.stderr.count("\n") == 1
    assert run("list").stdout == ""


def test_output_that_cannot_be_written(run, packed, tmp_path):
    (tmp_path / "file").write_text("")
    for fmt, out in (("csv", "file"), ("json", "file/below/x.json")):
        result = run("report", packed, "--format", fmt, "-o", tmp_path / out, code=1)
        assert result.stderr.startswith("specdash: ") and result.stderr.count("\n") == 1


def test_a_broken_map_of_families(run, home, packed):
    home.mkdir()
    for content in (b"math = 3", b"\xff", b"= ="):
        (home / "families.toml").write_bytes(content)
        result = run("report", packed, code=1)
        assert result.stdout == "" and "families.toml: " in result.stderr and result.stderr.count("\n") == 1
    (home / "families.toml").write_text('chat = ["gsm8k"]\nodd = ["mbpp"]\n')
    document = json.loads(run("report", packed, "--format", "json", "--run", "K7").stdout)
    assert [row["family"] for row in document["runs"][0]["datasets"]] == ["chat", "chat", "odd", None]
    assert [row["dataset"] for row in document["runs"][0]["families"]] == ["chat", "odd"]


# ---- names that a terminal would obey


def test_control_characters_are_not_printed(run, tmp_path):
    folder = tmp_path / "eval"
    folder.mkdir()
    (folder / "evaluation.json").write_text(json.dumps({"title": "a\x1b[31mb\nc", "note": "n\x07\nm"}))
    (folder / "config.json").write_text(json.dumps({"model": "x\x1b]0;y\x07"}))
    record = {"dataset": "d\x1b[2J\ne", "drafts": 3, "accepted": 3, "tau": 9}
    (folder / "counters.json").write_text(json.dumps(record))
    added = run("add", folder)
    printed = [added.stdout, added.stderr, run("list").stdout, run("report", folder).stdout]
    assert not any(c in text for text in printed for c in "\x1b\x07")
    assert len(added.stdout.splitlines()) == 1 and len(run("list").stdout.splitlines()) == 1
    assert added.stdout.endswith("a�[31mb�c\n")
    document = json.loads(run("report", folder, "--format", "json").stdout)
    assert document["evaluation"]["title"] == "a\x1b[31mb\nc"  # a program gets what stands there


# ---- the program


def program(*arguments, home, env=None):
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "SPECDASH_HOME": str(home)} | (env or {}),
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def test_version(home):
    ended = program("-m", "specdash", "--version", home=home)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"specdash, version {__version__}\n", "")


HEAVY = "streamlit plotly pandas pyarrow scipy jinja2 latex2mathml".split()


@pytest.mark.parametrize(("fmt", "needed"), [("text", set()), ("json", {"scipy"})])
def test_what_is_imported(fmt, needed, home):
    code = f"""
import sys, specdash.cli
assert not set({HEAVY}) & set(sys.modules), set({HEAVY}) & set(sys.modules)
sys.argv = ["specdash", "report", {str(REFERENCE)!r}, "--format", {fmt!r}]
try:
    specdash.cli.main()
except SystemExit as end:
    assert not end.code
assert set({HEAVY}) & set(sys.modules) == {needed}, set({HEAVY}) & set(sys.modules)
assert "scipy.stats" not in sys.modules  # takes four times as long to import as what intervals need
"""
    ended = program("-c", code, home=home)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "reference.zip" in ended.stdout
    assert not home.exists()


def test_a_terminal_without_our_letters(home, packed):
    ended = program("-m", "specdash", "report", str(packed), home=home, env={"PYTHONIOENCODING": "ascii"})
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "gsm8k" in ended.stdout


def test_a_reader_that_has_enough(home, packed):
    command = f"{sys.executable} -m specdash report {packed} | head -c 10"
    ended = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "SPECDASH_HOME": str(home)},
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert (len(ended.stdout), ended.stderr) == (10, "")


def test_nothing_is_left_in_the_temporary_folder(home, packed, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    ended = program("-m", "specdash", "report", str(packed), home=home, env={"TMPDIR": str(temporary)})
    assert ended.returncode == 0
    assert below(temporary) == []


def test_what_comes_in_on_stdin_is_a_file(run):
    scrape = steady(45)
    row = json.loads(run("report", "-", "--format", "json", stdin=scrape).stdout)["runs"][0]["datasets"][-1]
    assert (row["steps"], row["tau"]) == (45, 3.0)
    assert run("add", "-", stdin=scrape).stdout.split()[1] == "stdin"
    assert "stdin: is empty" in run("report", "-", stdin="", code=1).stderr
