"""Latencies and the judgement against a baseline in every form of the report.

The numbers were computed from the measured files with numpy and scipy alone (tests/speed/latency/test_measured.py), the
latencies are those that ``vllm bench serve`` has printed.
"""

import csv
import io
import json
import shutil

import polars as pl
import pytest
from rich.console import Console

import specdash
from specdash import report
from specdash.report import csvfiles, html, latency_tables
from specdash.report.exports import TABLE_FORMATS, Origin, Sheet
from specdash.report.lines import lines
from specdash.report.sections import Subject
from specdash.speed.latency import E2E, Settings, compare, judge
from specdash.speed.latency.roles import against_baseline
from tests.formats.producers.reading import TRIMMED
from tests.report.reading_html import Page
from tests.speed.latency.timings import arm, prompts, timing


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """The baseline and the n-gram drafter, alone in flight."""
    folder = tmp_path_factory.mktemp("latency") / "c1"
    folder.mkdir()
    for name in ("baseline", "ngram"):
        shutil.copy(TRIMMED / "vllm-bench" / f"{name}_c1_t0.json", folder)
    return specdash.load(folder)


@pytest.fixture(scope="module")
def compared(loaded):
    runs = loaded.evaluation.runs
    return against_baseline(runs, loaded.evaluation.run("ngram_c1_t0"))


def text_of(loaded, *runs):
    stream = io.StringIO()
    report.render_text(loaded.evaluation, loaded.family_of, runs, Console(file=stream, width=250, highlight=False))
    return stream.getvalue()


def cells(text, title, *name):
    """Return the cells of the row that begins with ``name`` below ``title``."""
    rows = [line.split() for line in text[text.index(title) :].splitlines()]
    start = " ".join(name).split()
    return next(row[len(start) :] for row in rows if row[: len(start)] == start)


def test_text(loaded):
    text = text_of(loaded, loaded.evaluation.run("ngram_c1_t0"))
    pooled = cells(text, "Latencies", "pooled", "TPOT")
    assert pooled == ["48", "0", "96.0", "48", "1.76", "1.29", "4.30", "6.86"]
    row = cells(text, "Paired by prompt", "end to end")
    assert row == ["48", "2.245", "1.947", "2.588", "11.43", "47", "3.6e-15", "1.224", "faster"]
    assert "Against baseline_c1_t0. Not to be judged by time per output token" in text
    assert "Faster: a speed-up of 2.245 in end-to-end latency per output token (95 % interval 1.947 to 2.588;" in text
    assert "! 22 of 48 answers in baseline_c1_t0 arrived nearly whole" in text


def test_text_of_a_baseline(loaded):
    text = text_of(loaded, loaded.evaluation.run("baseline_c1_t0"))
    assert cells(text, "Latencies", "pooled", "end to end", "48")[-4:] == ["390.49", "383.64", "485.83", "558.60"]
    assert "Acceptance length" not in text and "Against" not in text


def test_json(loaded):
    baseline, ngram = json.loads(json.dumps(loaded.document, allow_nan=False))["runs"]
    assert baseline["against_baseline"] == []
    tpot = next(row for row in baseline["latencies"] if row["dataset"] == "pooled" and row["measure"] == "tpot")
    assert (tpot["requests"], tpot["failed"], tpot["timed"]) == (48, 0, 48)
    assert tpot["mean_s"] == pytest.approx(2.230130e-3, abs=1e-7)
    found = {one["measure"]: one for one in ngram["against_baseline"]}
    assert [*found] == ["tpot", "e2e", "ttft", "per_token"]
    paired, welch = found["e2e"]["paired"], found["e2e"]["welch"]
    assert (paired["speedup"], paired["low"], paired["high"]) == pytest.approx((2.244605, 1.946845, 2.587907), rel=1e-5)
    assert (welch["t"], welch["df"], welch["n"]) == (
        pytest.approx(8.605, abs=1e-3),
        pytest.approx(64.504, abs=1e-3),
        [48, 48],
    )
    assert found["tpot"]["verdict"]["case"] == "not to be judged by this"
    assert found["e2e"]["verdict"]["case"] == "faster"


def test_no_latencies_are_null():
    loaded = specdash.load(TRIMMED / "vllm-bench" / "ngram_c4_t0.stdout.txt")
    assert (loaded.document["runs"][0]["latencies"], loaded.document["runs"][0]["against_baseline"]) == (None, [])


def test_files(loaded, tmp_path):
    csvfiles.write(loaded.evaluation, loaded.family_of, loaded.evaluation.runs, tmp_path)
    rows = pl.read_csv(tmp_path / "baseline_c1_t0" / "latency_summary.csv")
    assert rows.columns == [
        "dataset", "family", "measure", "requests", "failed", "output_tokens", "timed",
        "mean_ms", "p50_ms", "p95_ms", "p99_ms",
    ]  # fmt: skip
    pooled = rows.filter(pl.col("dataset") == "pooled", pl.col("measure") == "end to end").row(0)
    assert pooled[-4:] == pytest.approx((390.491045, 383.643097, 485.831393, 558.602796), rel=1e-5)


def test_markdown_of_latencies_alone(loaded):
    sheet = report.headline(loaded.evaluation, loaded.evaluation.run("baseline_c1_t0"), loaded.family_of)
    text = report.markdown(sheet)
    assert "| **pooled** |  | **TTFT** | **48** | **0** | **96.0** | **48** | **178.63** | **21.82** |" in text


def test_html(loaded):
    evaluation = loaded.evaluation
    subjects = [Subject.of(run, loaded.family_of, evaluation=evaluation) for run in evaluation.runs]
    page = Page(html.render(evaluation, subjects))
    assert not page.open
    row = page.table("Paired by prompt")["end to end"]
    assert [row[head] for head in ("prompts", "speed-up", "from", "to", "t", "df", "p", "judgement")] == [
        "48", "2.245", "1.947", "2.588", "11.43", "47", "3.6e-15", "faster",
    ]  # fmt: skip
    assert [*page.table("Percentiles")] == ["end to end per token"]  # the measure that can be judged
    assert [*page.table("Arms")] == ["baseline", "with speculation"]
    said = " ".join(page.texts)
    assert "Without a baseline no speed-up can be claimed." in said  # of the baseline itself
    assert "Faster: a speed-up of 2.245 in end-to-end latency per output token" in said


def sheet(table, rows):
    return Sheet.of_table(table, lines(rows, []), Origin("0123456789ab", "t", "ngram against baseline"))


def test_tables_are_named_by_measure_in_every_format(compared):
    found = sheet(
        latency_tables.paired(), latency_tables.paired_rows({one.measure.label: (one, v) for one, v in compared})
    )
    written = {format.suffix: format.write(found).decode() for format in TABLE_FORMATS if format.suffix != "parquet"}
    rows = list(csv.DictReader(io.StringIO(written["csv"])))
    assert [row["measure"] for row in rows] == ["TPOT", "end to end", "TTFT", "end to end per token"]
    assert float(rows[1]["speedup"]) == pytest.approx(2.244605, rel=1e-5) and "family" not in rows[1]
    assert json.loads(written["json"])["rows"][1]["p"] == pytest.approx(3.618e-15, rel=1e-3)
    assert "| end to end | 48 | 2.245 | 1.947 | 2.588 | 11.43 | 47 | 3.6e-15 | 1.224 | faster |" in written["md"]
    assert r"end to end & 48 & 2.245 & 1.947 & 2.588 & 11.43 & 47 & 3.6e-15 & 1.224 & faster \\" in written["tex"]


def test_welch_by_hand():
    """Base 1, 2, 3 s and spec 1, 1.5, 2 s: Δ = −0.5 s, a quarter less; sd 1 and 0.5; t = 0.5/√(1/3 + 0.25/3)."""
    one = compare(prompts("a", [1, 2, 3]), prompts("b", [1, 1.5, 2]), E2E)
    (row,) = latency_tables.welch_rows([(one, judge(one))])
    assert (row["n_base"], row["mean_base_s"], row["sd_base_s"]) == (3, 2, pytest.approx(1))
    assert (row["n_spec"], row["mean_spec_s"], row["sd_spec_s"]) == (3, 1.5, pytest.approx(0.5))
    assert (row["delta_s"], row["change"], row["speedup"]) == pytest.approx((-0.5, -0.25, 4 / 3))
    assert row["t"] == pytest.approx(0.5 / (1 / 3 + 0.25 / 3) ** 0.5)
    shown = {column.label: column.shown(row) for column in latency_tables.welch().columns}
    assert (shown["Δ, ms"], shown["change"], shown["speed-up"], shown["baseline sd, ms"]) == (
        "-500.00", "-25.0%", "1.333", "1,000.00",
    )  # fmt: skip


def test_percentiles_by_hand():
    """Ten values 1..10 s, halved: p50 5.5, p95 9.55 (between the two largest), mean 5.5."""
    base = prompts("a", range(1, 11))
    one = compare(base, prompts("b", [s / 2 for s in range(1, 11)]), E2E)
    rows = latency_tables.percentile_rows([(one, judge(one))])
    assert [(row["statistic"], row["note"]) for row in rows] == [
        ("p50", ""), ("p95", "few requests"), ("p99", "few requests"), ("mean", ""),
    ]  # fmt: skip
    assert [row["base_s"] for row in rows] == pytest.approx([5.5, 9.55, 9.91, 5.5])
    assert [row["spec_s"] for row in rows] == pytest.approx([2.75, 4.775, 4.955, 2.75])
    assert [row["speedup"] for row in rows] == pytest.approx([2, 2, 2, 2])
    assert all(row["low"] <= row["speedup"] <= row["high"] for row in rows)
    shown = {column.key: column.shown(rows[3]) for column in latency_tables.percentiles().columns}
    assert (shown["base_ms"], shown["base_low_ms"], shown["speedup"]) == ("5,500.00", "–", "2.000")


def test_arms_by_hand():
    """Four chunks brought 11 tokens, twice; one request failed; the other arm does not say its prompts."""
    gaps = [0.1, 0.1, 0.1]
    base = arm(
        "a",
        timing(1.0, prompt="x", gaps_s=gaps, input_tokens=5),
        timing(1.0, prompt="y", gaps_s=gaps, input_tokens=8),
        timing(None, prompt="y", error="500", input_tokens=99),
        concurrency=4,
    )
    one = compare(base, arm("b", timing(1.0), concurrency=None), E2E, Settings(paired=False))
    first, second = latency_tables.arm_rows(one)
    assert (first["run"], first["requests"], first["failed"], first["prompts"], first["concurrency"]) == (
        "a",
        3,
        1,
        2,
        4,
    )
    assert (first["input_tokens"], first["output_tokens"], first["per_chunk"]) == (6.5, 11, 22 / 8)
    assert (second["prompts"], second["concurrency"], second["per_chunk"]) == (None, None, None)
    assert latency_tables.paired_rows({"x": (one, judge(one))}) == []
