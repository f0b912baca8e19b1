"""Exported tables: the printed cells in every format, where they come from, and names that stay text."""

import csv
import io
import json
import re

import polars as pl
import pytest
from markdown_it import MarkdownIt

import specdash
from specdash.report import headline
from specdash.report.exports import FRAME_FORMATS, TABLE_FORMATS, Origin, Sheet, safe
from specdash.report.lines import lines
from specdash.report.tables import acceptance_length
from tests import evaluations
from tests.helpers import REPORT

FORMATS = {format.suffix: format for format in TABLE_FORMATS}
RUN = "7_draft_best_of_10"
ODD = [r"a|b\_*x*", "50% & {more}", "<b>x</b>", "$\\alpha$", "[x](y)", "~#^@", "[1] first", "`code`", "line\nbreak % x"]


@pytest.fixture(scope="module")
def sheet():
    loaded = specdash.load(evaluations.REFERENCE)
    return headline(loaded.evaluation, loaded.evaluation.run(RUN), loaded.family_of)


def printed():
    """The cells of the printed table 1 by dataset: τ, step std, implied α."""
    rows = pl.read_csv(REPORT / "table1_acceptance_length.csv", infer_schema=False).rows(named=True)
    return {row["dataset"]: [row[name] for name in ("tau_run_b", "step_std", "implied_alpha")] for row in rows}


def rounded(row):
    return [f"{float(row['tau']):.2f}", f"{float(row['step_std']):.2f}", f"{float(row['implied_alpha']):.3f}"]


def test_csv(sheet):
    rows = list(csv.DictReader(io.StringIO(FORMATS["csv"].write(sheet).decode())))
    assert {row["dataset"]: rounded(row) for row in rows if row["dataset"] in printed()} == printed()
    origin = {"evaluation": "4c6ca3729fdb", "run": RUN, "specdash": specdash.__version__}
    assert all(list(row.items())[-3:] == list(origin.items()) for row in rows)


def test_json(sheet):
    document = json.loads(FORMATS["json"].write(sheet))
    assert {row["dataset"]: rounded(row) for row in document["rows"] if row["dataset"] in printed()} == printed()
    assert (document["specdash"], document["evaluation"]["id"]) == (specdash.__version__, "4c6ca3729fdb")
    assert (document["run"], document["datasets"], document["title"]) == (RUN, None, "Acceptance length")
    assert document["columns"]["tau"]["unit"] == "tokens/step"


def test_parquet(sheet):
    content = FORMATS["parquet"].write(sheet)
    rows = pl.read_parquet(io.BytesIO(content)).rows(named=True)
    assert {row["dataset"]: rounded(row) for row in rows if row["dataset"] in printed()} == printed()
    metadata = pl.read_parquet_metadata(io.BytesIO(content))
    assert (metadata["specdash"], metadata["evaluation"], metadata["run"]) == (
        specdash.__version__,
        "4c6ca3729fdb",
        RUN,
    )


def markdown_rows(text):
    """Return the cells of the only table of a Markdown text, each as its plain text, and its other paragraphs."""
    table, paragraphs, inside = [], [], False
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        inside = (inside or token.type == "table_open") and token.type != "table_close"
        if token.type == "tr_open":
            table.append([])
        if token.type == "inline":
            allowed = {"text", "text_special", "strong_open", "strong_close"}
            assert {child.type for child in token.children} <= allowed, token.content
            plain = "".join(child.content for child in token.children)
            (table[-1] if inside else paragraphs).append(plain)
    return table, paragraphs


def test_markdown(sheet):
    (head, *rows), paragraphs = markdown_rows(FORMATS["md"].write(sheet).decode())
    assert head == ["dataset", "family", *(column.label for column in acceptance_length().columns)]
    shown = {row[0]: [row[3], row[4], row[-1]] for row in rows}
    assert {name: shown[name] for name in printed()} == printed()
    assert rows[0][2] == "191,119"
    assert paragraphs == [
        "Acceptance length",
        f"specdash {specdash.__version__}, evaluation 4c6ca3729fdb, run {RUN}; checks: 4 warnings",
    ]


def test_latex(sheet):
    text = FORMATS["tex"].write(sheet).decode()
    comments = [line for line in text.splitlines() if line.startswith("%")]
    assert comments[0] == f"% specdash {specdash.__version__}, evaluation 4c6ca3729fdb, run {RUN}; checks: 4 warnings"
    body = text.splitlines()[len(comments) :]
    assert body[0] == r"\begin{tabular}{llrrrrrrrr}"
    assert body[1] == r"\toprule" and body[-2:] == [r"\bottomrule", r"\end{tabular}"]
    assert body[2].startswith(r"dataset & family & steps & $\tau$ & step std") and r"implied $\alpha$ \\" in body[2]
    rows = [line.removesuffix(r" \\").split(" & ") for line in body[3:-2] if line != r"\midrule"]
    shown = {row[0]: [row[3], row[4], row[-1]] for row in rows}
    assert {name: shown[name] for name in printed()} == printed()
    assert body.count(r"\midrule") == 3  # before datasets, families, the pooled run


@pytest.fixture(scope="module")
def odd():
    rows = [{"dataset": name, "family": "other", "steps": 2, "tau": 1.5} for name in ODD]
    return Sheet.of_table(acceptance_length(), lines(rows, []), Origin("0123456789ab", "t", "r\n% x_1", ("a_b",)))


def test_names_are_text_in_markdown(odd):
    (_, *rows), paragraphs = markdown_rows(FORMATS["md"].write(odd).decode())
    assert [row[0] for row in rows] == [name.replace("\n", " ") for name in ODD]
    assert paragraphs[-1].endswith("run r % x_1, only a_b")


def test_names_are_text_in_latex(odd):
    lines = FORMATS["tex"].write(odd).decode().splitlines()
    assert [line for line in lines if "%" in line.replace(r"\%", "")] == lines[:2]
    names = [line.split(" & family" if "family" in line else " & other")[0] for line in lines if line.endswith(r"\\")]
    assert names[1:] == [
        r"a\textbar{}b\textbackslash{}\_*x*",
        r"50\% \& \{more\}",
        r"\textless{}b\textgreater{}x\textless{}/b\textgreater{}",
        r"\$\textbackslash{}alpha\$",
        "{}[x](y)",
        r"\textasciitilde{}\#\textasciicircum{}@",
        "{}[1] first",
        "`code`",
        r"line break \% x",
    ]


def test_numbers_that_json_does_not_know_are_null():
    frame = pl.DataFrame({"x": [1.5, float("inf"), float("nan"), None]})
    sheet = Sheet("x", "x", Origin("0123456789ab", "t", "r"), frame)
    assert [row["x"] for row in json.loads(FORMATS["json"].write(sheet))["rows"]] == [1.5, None, None, None]
    assert pl.read_parquet(io.BytesIO(FORMATS["parquet"].write(sheet))).equals(frame, null_equal=True)


def test_what_is_undefined_everywhere_is_a_column_of_numbers():
    table = acceptance_length()
    rows = [{"dataset": "d", "family": None, "steps": 1, "tau": 2.0}]
    sheet = Sheet.of_table(table, lines(rows, []), Origin("0123456789ab", "t", "r"))
    assert sheet.frame.schema["response_mean"] == pl.Float64


@pytest.mark.parametrize(
    ("run", "file"),
    [
        ("7_draft", "0123456789ab_7_draft_x"),
        ("a/b c:*?", "0123456789ab_a_b_c____x"),
        ("..", "0123456789ab_x"),
        ("r" * 200, f"0123456789ab_{'r' * 40}_x"),
    ],
)
def test_a_file_is_named_by_evaluation_run_and_version(run, file):
    assert Origin("0123456789ab", "t", run).file("x") == f"{file}_specdash-{specdash.__version__}"


def test_safe_names():
    assert [safe(name) for name in ("π 1.", "../x", "", "...")] == ["π 1", "_x", "", ""]


def test_every_format_has_its_own_suffix():
    assert len(FORMATS) == len(TABLE_FORMATS) == len(FRAME_FORMATS) + 2
    assert all(re.fullmatch(r"[a-z]+", suffix) for suffix in FORMATS)


def test_printed_ratios_have_a_headline(tmp_path):
    loaded = specdash.load(evaluations.rates_only().write(tmp_path))
    sheet = headline(loaded.evaluation, loaded.evaluation.runs[0], loaded.family_of)
    (head, *rows), paragraphs = markdown_rows(FORMATS["md"].write(sheet).decode())
    assert head[:4] == ["dataset", "family", "τ", "verify rate"]
    assert [row[:4] for row in rows] == [["gsm8k", "math", "4.97", "0.620"], ["humaneval", "code", "5.36", "0.670"]]
    assert paragraphs[1].startswith("Ratios as printed")
