"""The HTML report: the printed tables in it, whatever names do, and that it asks nobody for anything."""

import base64
import hashlib
import json
import re
from dataclasses import replace

import polars as pl
import pytest
from plotly.offline import get_plotlyjs

import specdash
from specdash import metrics
from specdash.report import html
from specdash.report.html.figures import differences
from specdash.report.sections import FigurePart, Settings, Subject, printed
from tests import evaluations
from tests.helpers import REPORT, golden
from tests.report.reading_html import Page

FEW = {"reference": evaluations.REFERENCE} | evaluations.BUILT


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Return an evaluation of the tests and its report as a page."""
    folder = tmp_path_factory.mktemp("html")
    made = {}

    def read(name):
        if name not in made:
            path = evaluations.REFERENCE if name == "reference" else evaluations.BUILT[name]().write(folder)
            loaded = specdash.load(path)
            subjects = [
                Subject.of(run, loaded.family_of, evaluation=loaded.evaluation) for run in loaded.evaluation.runs
            ]
            made[name] = loaded, Page(html.render(loaded.evaluation, subjects))
        return made[name]

    return read


PRINTED = {
    "table1_acceptance_length": (
        "Acceptance length",
        {"tau_run_b": "τ", "step_std": "step std", "response_mean": "per-response mean", "implied_alpha": "implied α"},
    ),
    "table2_unconditional_p": (
        "Unconditional acceptance by draft position",
        {f"p{i}": f"p{'₀₁₂₃₄₅₆'[i]}" for i in range(7)},
    ),
    "table4_outcome_percent": (
        "Step outcomes (% of steps by accepted tokens)",
        {f"a{i}": str(i) for i in range(8)},
    ),
    "table5_tau_at_shorter_block": (
        "Implied acceptance length at shorter blocks",
        {f"k{i}": f"K′={i}" for i in range(1, 8)},
    ),
    "table7_tok_s_10_stages": (
        "Upper bound on tok/s, 10 stages, latency only",
        {f"rtt{rtt}": f"RTT {rtt} ms" for rtt in (10, 25, 50, 100, 200)},
    ),
}
"""By printed table: its title in the report, and the head there of its columns."""


@pytest.mark.parametrize("printed", PRINTED)
def test_the_reference_shows_the_printed_cells(printed, read):
    _, page = read("reference")
    title, columns = PRINTED[printed]
    shown = page.table(title, nth=1)  # The second run has the counts of the printed tables.
    rows = pl.read_csv(REPORT / f"{printed}.csv", infer_schema=False).rows(named=True)
    for row in rows:
        for printed_name, head in columns.items():
            # The reconstruction has response columns within 0.035 of print; all others are the printed ones.
            near = 0.035 if head == "per-response mean" else 0
            if row[printed_name]:
                assert float(shown[row["dataset"]][head]) == pytest.approx(float(row[printed_name]), abs=near + 1e-9)


@pytest.mark.parametrize("name", FEW)
def test_a_report_is_whole(name, read):
    loaded, page = read(name)
    assert not page.open
    assert json.loads(page.script("specdash-document")) == loaded.document
    drawn = json.loads(page.script("specdash-figures"))
    figures = drawn["specs"]
    expected = [
        f"run{number}-{part.name}"
        for number, run in enumerate(loaded.evaluation.runs, 1)
        for section in printed()
        if section.is_about(run)
        and not section.missing(subject := Subject.of(run, loaded.family_of, evaluation=loaded.evaluation))
        for part in section.parts(subject)
        if isinstance(part, FigurePart)
    ]
    assert list(figures) == expected
    assert all(figure["light"]["data"] or figure["light"]["layout"]["annotations"] for figure in figures.values())
    ink = {theme: look["layout"]["font"]["color"] for theme, look in drawn["templates"].items()}
    assert ink == ({"light": "#16232E", "dark": "#E4EBF0"} if expected else {})
    assert page.tags.count("figure") == len(expected)
    assert page.tags.count("math") == page.tags.count("article") == len(metrics.METRIC_KEYS)
    assert page.meta["generator"] == f"specdash {specdash.__version__}"
    assert page.meta["evaluation"] == loaded.evaluation.id


def test_the_dark_figure_is_kept_as_what_differs():
    light = {"data": [{"x": [1, 2], "color": "#000"}, {"x": [3]}], "title": "a", "gone": 1}
    dark = {"data": [{"x": [1, 2], "color": "#fff"}, {"x": [3, 4]}], "title": "a", "new": {"b": []}}
    assert differences(light, dark) == [
        (["data", 0, "color"], "#fff"),
        (["data", 1, "x"], [3, 4]),
        (["gone"], None),
        (["new"], {"b": []}),
    ]


def test_the_calculator_works_through_an_example_and_says_so(read):
    _, page = read("reference")
    speeds = page.table("tok/s of one stream", nth=1)
    for name, rates in golden("golden_wan.json")["full"].items():  # from printed rates, these from counts
        assert float(speeds[name]["tok/s"]) == pytest.approx(rates[7], abs=0.01)
    said = " ".join(page.texts)
    assert "Regions: RTT 50 ms, 1 Gbit/s, block drafter. An example, not a measured system" in said
    assert "10 stages; RTT of a hop 50 ms; return hop counted; bandwidth 1,000 Mbit/s; a stage computes 4 ms" in said
    assert "K′ = 7, compared with K′ = 5; figures of one row are of pooled." in said
    pays = page.table("Where a longer block starts to pay", nth=1)["alpaca"]
    assert pays["K′=7 beats no speculation: RTT"] == "always"


def test_the_calculator_works_with_the_settings_it_is_given(read):
    loaded, _ = read("reference")
    subject = Subject.of(loaded.evaluation.run("7_draft_best_of_10"), loaded.family_of)
    narrow = replace(Settings.of_preset("100 Mbit/s links"), said="As wished.", of="gsm8k", block=6, other=40)
    page = Page(html.render(loaded.evaluation, [subject], calculator=narrow))
    assert page.table("tok/s of one stream")["gsm8k"]["tok/s"] == "24.02"  # hc 1 at 100 Mbit/s, K′ = 6: its best
    assert page.table("tok/s of one stream")["gsm8k"]["fastest K′"] == "6"
    said = " ".join(page.texts)
    assert "As wished. In numbers: 10 stages; RTT of a hop 25 ms" in said
    assert "K′ = 6, compared with K′ = 7; figures of one row are of gsm8k." in said


@pytest.mark.parametrize("name", ["counters", "rates", "tokens", "one"])
def test_what_a_run_cannot_show_is_said_in_a_sentence(name, read):
    said = " ".join(read(name)[1].texts)
    prompts = "This section needs responses with their prompts; this run holds "
    sentences = {
        "counters": [prompts + "counters without responses."],
        "rates": ["This section needs counts; this run holds printed ratios without counts."],
        "tokens": [
            "This section needs an acceptance length; this run's source counts drafted and accepted tokens, not verify "
            "steps."
        ],
        "one": [],
    }
    assert all(sentence in said for sentence in sentences[name])
    assert ("This section needs" in said) == bool(sentences[name])


def test_nothing_is_fetched_and_no_other_script_runs(read):
    _, page = read("odd")
    assert all(link.startswith(("#", "data:text/csv")) for link in page.links)
    executed = [content for attributes, content in page.scripts if attributes.get("type") != "application/json"]
    assert executed[0] == get_plotlyjs() and len(executed) == 2
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in executed]
    policy = dict(rule.split(" ", 1) for rule in page.meta["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == " ".join(f"'sha256-{digest}'" for digest in digests)


def test_names_are_text(read):
    _, page = read("odd")
    tables = page.table("Acceptance length")
    assert [name for name in tables if not name.startswith(("all ", "pooled"))] == [
        re.sub("[\u202a-\u202e\u2066-\u2069]", "�", name) for name in evaluations.ODD_NAMES
    ]
    said = " ".join(page.texts)
    assert evaluations.ODD_TITLE.strip() in said and evaluations.ODD_RUN in said
    assert "A note: <i>y</i>" in said
    assert not {"i", "img"} & set(page.tags)


def test_a_name_that_ends_a_script_ends_none(tmp_path):
    (tmp_path / "run").mkdir()
    name = "</script><script>alert(1)</script><!--"
    (tmp_path / "run" / "counters.json").write_text(json.dumps({name: {"drafts": 4, "per_pos": [3, 1]}}))
    loaded = specdash.load(tmp_path)
    page = Page(html.render(loaded.evaluation, [Subject.of(loaded.evaluation.runs[0], loaded.family_of)]))
    assert name in page.table("Acceptance length")
    assert len(page.scripts) == 4
    assert json.loads(page.script("specdash-document"))["runs"][0]["datasets"][0]["dataset"] == name


def test_chosen_datasets_and_the_link_are_said(read):
    loaded, _ = read("reference")
    subject = Subject.of(loaded.evaluation.run("7_draft"), loaded.family_of, ("gsm8k", "alpaca"))
    link = "https://specdash.example/?eval=4c6ca3729fdb&ds=gsm8k"
    page = Page(html.render(loaded.evaluation, [subject], link=link))
    assert list(page.table("Acceptance length")) == ["gsm8k", "alpaca", "all math", "all chat", "pooled"]
    assert link in page.links
    assert "gsm8k, alpaca" in page.texts
    assert (
        "javascript:alert(1)" not in Page(html.render(loaded.evaluation, [subject], link="javascript:alert(1)")).links
    )


def test_the_same_evaluation_gives_the_same_report(read):
    loaded, _ = read("one")
    subjects = [Subject.of(run, loaded.family_of) for run in loaded.evaluation.runs]
    assert html.render(loaded.evaluation, subjects) == html.render(loaded.evaluation, subjects)
