"""The numbers of small runs, worked out by hand, in every form they are shown in."""

import io
import json

import polars as pl
import pytest
from rich.console import Console

import specdash
from specdash import report
from specdash.report import csvfiles
from specdash.report.tables import Column, report_tables

# Two responses of one prompt and one of another; a step drafted nothing. Six steps drafted:
# accepted 2 3 0 of 3 drafted (r1), 1 of 2 (r2), 3 3 of 3 (r3): S = 6, Σa = 12, ΣK = 17, τ = 3.
LOG = "r1,3,2\nr1,3,3\nr1,0,0\nr1,3,0\nr2,2,1\nr3,3,3\nr3,3,3\n"
SAMPLES = [
    {"dataset": "[bold]odd[/bold]", "prompt_id": 0, "request_id": "r1", "output_tokens": 10},
    {"dataset": "[bold]odd[/bold]", "prompt_id": 0, "request_id": "r2", "output_tokens": 2},
    {"dataset": "gsm8k", "prompt_id": 0, "request_id": "r3", "output_tokens": 8},
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECDASH_HOME", str(tmp_path / "home"))
    path = tmp_path / "run"
    path.mkdir()
    return path


@pytest.fixture
def loaded(folder):
    (folder / "spec_log.csv").write_text(LOG)
    (folder / "samples.jsonl").write_text("\n".join(map(json.dumps, SAMPLES)))
    return specdash.load(folder)


def text_of(loaded):
    stream = io.StringIO()
    console = Console(file=stream, width=200, highlight=False)
    report.render_text(loaded.evaluation, loaded.family_of, loaded.evaluation.runs, console)
    return stream.getvalue()


def cells(text, title, name):
    """Return the cells of the row ``name`` of the table ``title``."""
    lines = text[text.index(title) :].splitlines()
    return next(line for line in lines if line.strip().startswith(name))[len(name) + 2 :].split()


def test_document(loaded):
    (run,) = loaded.document["runs"]
    assert (run["granularity"], run["k"], run["mapping"]) == ("step", 3, {"matched": 3, "total": 3, "absent": 0})
    odd, gsm8k, pooled = run["datasets"]
    assert [row["dataset"] for row in run["datasets"]] == ["[bold]odd[/bold]", "gsm8k", "pooled"]
    assert [row["family"] for row in run["datasets"]] == ["other", "math", None]
    assert [row["dataset"] for row in run["families"]] == ["math"]  # "other" is no family
    counts = "prompts responses steps steps_without_draft drafted accepted".split()
    assert [odd[key] for key in counts] == [1, 2, 4, 1, 11, 6]
    assert [gsm8k[key] for key in counts] == [1, 1, 2, 0, 6, 6]
    assert [pooled[key] for key in counts] == [2, 3, 6, 1, 17, 12]
    assert [pooled["tau"], pooled["tau_all"]] == [3.0, pytest.approx(1 + 12 / 7)]
    assert pooled["verify_rate"] == pytest.approx(18 / 23)
    assert pooled["p"] == pytest.approx([5 / 6, 4 / 6, 3 / 6])
    assert pooled["p_exposed"] == pytest.approx([5 / 6, 4 / 6, 3 / 5])
    assert pooled["c"] == pytest.approx([5 / 6, 4 / 5, 3 / 4])  # the step of 2 drafted never reached position 2
    assert pooled["outcome"] == pytest.approx([1 / 6, 1 / 6, 1 / 6, 3 / 6])
    # τ_r: 1 + 5/3, 1 + 1/1, 1 + 6/2
    assert pooled["response_mean"] == pytest.approx((8 / 3 + 2 + 4) / 3)
    assert odd["copy_range"] == pytest.approx(2 / 3)
    assert gsm8k["copy_range"] is None and gsm8k["within_share"] is None  # one copy tells nothing
    assert gsm8k["corr_tau_tokens"] is None
    assert odd["corr_tau_tokens"] == pytest.approx(1)


def test_text(loaded):
    text = text_of(loaded)
    assert "[bold]odd[/bold]" in text  # a name is no markup
    assert cells(text, "Acceptance length", "pooled")[:3] == ["6", "3.00", "1.15"]
    assert cells(text, "Unconditional acceptance", "pooled") == ["0.833", "0.667", "0.500"]
    assert cells(text, "Conditional acceptance", "pooled") == ["0.833", "0.800", "0.750", "0.083"]
    assert cells(text, "Step outcomes", "pooled") == ["16.7", "16.7", "16.7", "50.0"]
    assert cells(text, "Implied acceptance length", "pooled") == ["1.83", "2.50", "3.00", "+1.17"]
    assert cells(text, "Prompt difficulty", "gsm8k")[1:] == ["0.00", *["–"] * 7]
    assert cells(text, "Upper bound on tok/s", "pooled") == ["3.00", "60.0", "24.0", "12.0", "6.0", "3.0", "3.00"]
    assert cells(text, "Upper bound on tok/s", "no speculation") == ["1.00", "20.0", "8.0", "4.0", "2.0", "1.0", "1.00"]


def test_csv(loaded, tmp_path):
    written = report.write_files(loaded.evaluation, loaded.family_of, loaded.evaluation.runs, tmp_path / "out")
    *tables, origin = written
    assert all(path.parent == tmp_path / "out" / "run" for path in tables)
    assert origin == tmp_path / "out" / "specdash.json"
    document = json.loads(origin.read_text())
    assert (document["specdash"], document["evaluation"]["id"]) == (specdash.__version__, loaded.evaluation.id)
    assert document["runs"] == [{"name": "run", "folder": "run"}]
    steps = pl.read_csv(tmp_path / "out" / "run" / "tableB_bon10_steps.csv")
    assert [c for c in steps.columns if c.startswith("outcome_")] == [f"outcome_{j}" for j in range(4)]
    assert steps["dataset"].to_list() == ["[bold]odd[/bold]", "gsm8k", "pooled", "math"]
    assert steps.row(2, named=True)["p_exposed_2"] == 0.6
    responses = pl.read_csv(tmp_path / "out" / "run" / "bon10_per_response.csv")
    assert responses.select("request", "steps", "steps_without_draft", "drafted", "accepted", "tau").rows() == [
        ("r1", 3, 1, 9, 5, 1 + 5 / 3), ("r2", 1, 0, 2, 1, 2.0), ("r3", 2, 0, 6, 6, 4.0),
    ]  # fmt: skip
    raw = (tmp_path / "out" / "run" / "tableC_bon10_responses.csv").read_text()
    assert "nan" not in raw.lower() and "null" not in raw.lower()


@pytest.mark.parametrize(
    ("log", "k", "columns"),
    [
        ("a,0,0\na,0,0\n", 0, []),
        ("a,1,1\na,1,0\n", 1, ["p_0"]),
        ("a,64,64\n", 64, [f"p_{i}" for i in range(64)]),
    ],
)
def test_smallest_and_largest_k(folder, log, k, columns):
    (folder / "spec_log.csv").write_text(log)
    loaded = specdash.load(folder)
    (run,) = loaded.document["runs"]
    json.dumps(run, allow_nan=False)
    row = run["datasets"][0]
    assert run["k"] == k
    assert [len(row[key]) for key in ("p", "c", "tau_at_k", "outcome")] == [k, k, k, k + 1]
    frames = csvfiles.frames(loaded.evaluation.runs[0], loaded.family_of)
    assert [c for c in frames["tableB_bon10_steps"].columns if c.startswith("p_") and c[2:].isdigit()] == columns
    assert "pooled" in text_of(loaded)
    if not k:
        assert (row["tau"], row["tau_all"], row["steps"], row["steps_without_draft"]) == (None, 1.0, 0, 2)


def test_counters_show_what_they_can(folder):
    counters = {"gsm8k": {"drafts": 4, "per_pos": [3, 1]}, "mbpp": {"drafts": 4, "accepted": 3, "draft_tokens": 5}}
    (folder / "counters.json").write_text(json.dumps(counters))
    loaded = specdash.load(folder)
    text = text_of(loaded)
    assert cells(text, "Unconditional acceptance", "gsm8k") == ["math", "0.750", "0.250"]
    assert cells(text, "Unconditional acceptance", "mbpp") == ["code", "–", "–"]  # it has no positions
    assert cells(text, "Acceptance length", "pooled")[:3] == ["8", "1.88", "–"]
    assert "Prompt difficulty" not in text
    assert "every step is taken to have drafted 2" in text
    frames = csvfiles.frames(loaded.evaluation.runs[0], loaded.family_of)
    assert set(frames) == {
        "tableA_single_sample", "tableD_tau_vs_K_truncation", "tableE_step_level_std", "tableF_tok_per_s_pp10",
        "checks",
    }  # fmt: skip
    assert frames["tableA_single_sample"]["p_1"].to_list()[:3] == [0.25, None, None]


def test_printed_ratios_show_what_they_can(folder):
    (folder / "results_table.txt").write_text("| dataset | accept_len |\n| gsm8k | 4.97 |\n")
    loaded = specdash.load(folder)
    text = text_of(loaded)
    assert cells(text, "Acceptance length", "gsm8k")[:3] == ["math", "4.97", "–"]
    assert "Unconditional" not in text and "Prompt difficulty" not in text
    assert cells(text, "Upper bound", "gsm8k") == ["math", "4.97", "99.4", "39.8", "19.9", "9.9", "5.0", "4.97"]
    frames = csvfiles.frames(loaded.evaluation.runs[0], loaded.family_of)
    assert all(frame.height == 1 for name, frame in frames.items() if name != "checks")


def test_ratios_that_are_printed_are_shown(folder):
    line = "[MTP Stats] acceptance: 59.60%  avg toks/fwd: 2.79  dist 0/1/2/3: 21.70/19.50/17.00/41.80%\n"
    (folder / "server.log").write_text(line)
    text = text_of(specdash.load(folder))
    assert cells(text, "Acceptance length", folder.name) == ["other", "2.79", "0.596", "21.7", "19.5", "17.0", "41.8"]


def test_tokens_without_steps_show_their_ratio(folder):
    timings = {"predicted_n": 11, "predicted_ms": 80.5, "draft_n": 20, "draft_n_accepted": 5}
    (folder / "answer.json").write_text(json.dumps({"content": "…", "timings": timings}))
    text = text_of(specdash.load(folder))
    assert cells(text, "Drafted and accepted tokens", "pooled") == ["1", "20", "5", "0.250"]
    assert "Acceptance length" not in text and "Upper bound" not in text


@pytest.mark.parametrize(
    ("column", "row", "shown"),
    [
        (Column("x", "x", "x"), {"x": 1234.5678}, "1,234.57"),
        (Column("x", "x", "x", decimals=0), {"x": 4344265}, "4,344,265"),
        (Column("x", "x", "x", percent=True, decimals=0), {"x": 0.256}, "26%"),
        (Column("x", "x", "x", index=1, percent=True, decimals=1), {"x": [0, 0.256]}, "25.6"),
        (Column("x", "x", "x", signed=True), {"x": 0.5}, "+0.50"),
        (Column("x", "x", "x", signed=True), {"x": -0.5}, "-0.50"),
        (Column("x", "x", "x"), {"x": None}, "–"),
        (Column("x", "x", "x", index=3), {"x": [1]}, "–"),
        (Column("x", "x", "x", index=0), {"x": None}, "–"),
        (Column("x", "x", derive=lambda row: row["y"] / 3), {"y": 1}, "0.33"),
    ],
)
def test_a_cell(column, row, shown):
    assert column.shown(row) == shown


@pytest.mark.parametrize(("k", "count"), [(None, 3), (0, 3), (1, 7), (7, 7), (64, 7)])
def test_tables_of_a_run(k, count):
    tables = report_tables(k)
    assert len(tables) == count
    keys = [column.key for table in tables for column in table.columns]
    assert ("c_drop" in keys) == bool(k and k > 1)
    assert ("gain" in keys) == bool(k and k > 2)


@pytest.mark.parametrize(
    ("text", "shown"), [("plain τ 😀", "plain τ 😀"), ("a\nb\tc", "a�b�c"), ("\x1b[1m", "�[1m"), ("\ud800", "�")]
)
def test_printable(text, shown):
    assert report.printable(text) == shown
