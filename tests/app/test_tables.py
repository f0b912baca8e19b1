"""Every cell of every table is what the command line prints, for all datasets and for some."""

import json
import zipfile

import polars as pl
import pytest

import specdash
from tests import evaluations
from tests.evaluations import Built

NO_SPECULATION = {"dataset": "no speculation", "family": None, "tau": 1.0, "tau_at_k": [None]}


def sub(number):
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


class Cell:
    """How a cell follows from a row of the JSON, and the ends of its interval where it has one."""

    def __init__(self, value, ends=lambda row: None):
        self.value, self.ends = value, ends

    def __call__(self, row):
        return self.value(row)

    def margin(self, row):
        """Half the width of the interval; all of it where it reaches to one side only."""
        ends = self.ends(row)
        return None if ends is None else (ends[1] - ends[0]) / (1 if self(row) in ends else 2)


def scaled(value, scale):
    return None if value is None else [v * scale for v in value] if isinstance(value, list) else value * scale


def scalar(key, scale=1):
    return Cell(lambda row: scaled(row.get(key), scale), lambda row: scaled(row.get(f"{key}_ci"), scale))


def element(key, index, scale=1):
    def ends(row):
        found = row.get(f"{key}_ci")
        return scaled(found and found[index], scale)

    return Cell(lambda row: scaled(row[key][index], scale), ends)


def fall(key, high, low):
    return Cell(lambda row: None if None in (row[key][high], row[key][low]) else row[key][high] - row[key][low])


def bound(rtt_ms, stages=10):
    return scalar("tau", 2 / (stages * rtt_ms / 1000))


ACCEPTANCE = {
    "steps": scalar("steps"),
    "τ": scalar("tau"),
    "step std": scalar("step_std"),
    "per-response mean": scalar("response_mean"),
    "p10": scalar("response_p10"),
    "p50": scalar("response_p50"),
    "p90": scalar("response_p90"),
    "implied α": scalar("implied_alpha"),
}
DIFFICULTY = {
    "per-response std": scalar("response_std"),
    "within share": scalar("within_share", 100),
    "within share, corrected": scalar("within_share_corrected", 100),
    "copy std": scalar("copy_std"),
    "copy range": scalar("copy_range"),
    "copy max": scalar("copy_max"),
    "copy min": scalar("copy_min"),
    "corr(τ_r, length)": scalar("corr_tau_tokens"),
}
BOUND = (
    {"τ": scalar("tau")} | {f"RTT {rtt} ms": bound(rtt) for rtt in (10, 25, 50, 100, 200)} | {"speed-up": scalar("tau")}
)
BOUND_TAB = {"question": "Report’s bound"}


def fastest(row):
    """K′ of the highest τ(K′), the smallest of equals: where only latency costs time, that is the fastest."""
    taus = [1.0, *row["tau_at_k"]]
    return None if None in taus else taus.index(max(taus))


def speeds(k):
    """The calculator as it opens: 10 stages, RTT 25 ms, only latency costs time."""
    return {
        f"τ(K′={k})": scalar("tau"),
        "tok/s": bound(25),
        "speed-up": scalar("tau"),
        "bound": bound(25),
        "of bound": Cell(lambda row: 100.0),
        "fastest K′": Cell(fastest),
        "tok/s there": Cell(lambda row: None if fastest(row) is None else bound(25)(row)),
    }


def columns_of(page, k=7):
    """The columns of each table of a page: how a cell follows from the JSON's row."""
    p, c = ({f"{name}{sub(i)}": element(name, i) for i in range(k)} for name in "pc")
    if k > 1:
        c[f"c₀ − c{sub(k - 1)}"] = fall("c", 0, k - 1)
    shorter = {f"K′={i + 1}": element("tau_at_k", i) for i in range(k)}
    if k > 2:
        shorter[f"gain {k - 2}→{k}"] = fall("tau_at_k", k - 1, k - 3)
    whole = {
        f"τ(K′={k})": element("tau_at_k", k - 1),
        f"share of τ({k})": Cell(lambda row: None if row["tau_at_k"][k - 1] is None else 100.0),
        f"against K={k}": Cell(lambda row: None if row["tau_at_k"][k - 1] is None else 0.0),
        f"p at position {k - 1}": element("p", k - 1),
    }
    return {
        "overview": [ACCEPTANCE],
        "acceptance_length": [ACCEPTANCE],
        "draft_positions": [p, c],
        "step_outcomes": [{str(j): element("outcome", j, 100) for j in range(k + 1)}],
        "shorter_blocks": [whole, shorter],
        "prompt_difficulty": [DIFFICULTY],
        "throughput": [speeds(k)],
        "bound": [BOUND],
    }[page]


ERRORS = {
    "prompts": scalar("prompts"),
    "τ": scalar("tau"),
    "SE of τ": scalar("tau_se"),
    "SE of τ, linearised": scalar("tau_se_linear"),
    "SE of τ, bootstrap": scalar("tau_se_bootstrap"),
    "SE of τ, these prompts": scalar("tau_se_copies"),
    "SE of τ, naive": scalar("tau_se_naive"),
    "steps": scalar("steps"),
    "design effect": scalar("design_effect"),
    "effective steps": Cell(lambda row: row["effective_steps"] and round(row["effective_steps"])),
}


def with_margins(columns, rows):
    """The columns with ± after each that has intervals, and with what steps are worth after their number."""
    found = {}
    for head, cell in columns.items():
        found[head] = cell
        if head == "steps" and "effective steps" not in columns and any(row.get("effective_steps") for row in rows):
            found["effective steps"] = ERRORS["effective steps"]
        if any(cell.margin(row) is not None for row in rows):
            found[f"± {head}"] = cell.margin
    return found


def expected(page, run, intervals=True):
    """The tables that a page has to show of a run of the JSON."""
    families = [row | {"dataset": f"all {row['dataset']}"} for row in run["families"]]
    rows = [*run["datasets"][:-1], *families, *run["datasets"][-1:]]
    if page in ("throughput", "bound"):
        rows = [*rows, NO_SPECULATION]
    tables = columns_of(page, run["k"])
    if intervals and page == "acceptance_length" and any(row["p_ci"] for row in rows):  # its own, not borrowed
        tables.append(ERRORS)
    return [
        [
            {"dataset": row["dataset"], "family": [row["family"]] if row["family"] else []}
            | {head: value(row) for head, value in columns.items()}
            for row in rows
        ]
        for columns in ([with_margins(table, rows) for table in tables] if intervals else tables)
    ]


PAGES = ("overview", "acceptance_length", "draft_positions", "step_outcomes", "shorter_blocks", "throughput")


@pytest.mark.parametrize(
    ("run", "page"),
    [("7_draft", page) for page in PAGES] + [("7_draft_best_of_10", page) for page in (*PAGES, "prompt_difficulty")],
)
def test_the_reference_is_shown_as_the_command_line_prints_it(run, page, dashboard, reference):
    shown = dashboard("reference", run=run).page(page)
    assert shown.tables() == _approx(expected(page, reference[run]))
    assert shown.looked_at()[1] == run


def _approx(tables):
    """The same numbers, but for the last bit of a derived one."""
    return [[{name: _near(value) for name, value in row.items()} for row in table] for table in tables]


def _near(value):
    return pytest.approx(value, rel=1e-12, abs=0) if isinstance(value, float) else value


@pytest.mark.parametrize("page", [*PAGES, "prompt_difficulty"])
def test_intervals_can_be_switched_off(page, dashboard, reference):
    by_link = dashboard("reference", ci="false").page(page)
    assert by_link.tables() == _approx(expected(page, reference["7_draft_best_of_10"], intervals=False))
    by_hand = dashboard("reference").page(page)
    assert any("± " in head for row in by_hand.tables()[0] for head in row)
    by_hand.app.sidebar.toggle[0].set_value(False).run()
    assert by_hand.tables() == by_link.tables()


def test_the_report_is_met_at_its_rounding(dashboard):
    shown = dashboard("reference", run="7_draft_best_of_10").page("acceptance_length").tables()[0]
    rounded = {row["dataset"]: (f"{row['τ']:.2f}", f"{row['implied α']:.3f}") for row in shown}
    assert rounded["gsm8k"] == ("4.97", "0.858")
    assert rounded["all code"] == ("4.51", "0.826")
    assert rounded["pooled"] == ("3.83", "0.772")


def test_margins_have_the_decimals_of_their_numbers_or_more_where_they_would_be_0(dashboard):
    table, errors = dashboard("reference").page("acceptance_length").formats()
    assert {head: table[head] for head in table if head.startswith("± ")} == {
        "± τ": "%.2f",
        "± step std": "%.3f",  # 0.003 on mbpp
        "± implied α": "%.3f",
    }
    assert (errors["design effect"], errors["effective steps"], table["effective steps"]) == (
        "%.1f", "localized", "localized",
    )  # fmt: skip
    assert {errors[head] for head in errors if head.startswith("SE")} == {"%.3f"}


def test_numbers_are_written_with_the_decimals_of_the_report(dashboard):
    shown = dashboard("reference", ci="false")
    two, three, percent = "%.2f", "%.3f", "%.0f%%"
    assert shown.page("acceptance_length").formats() == [
        dict.fromkeys(ACCEPTANCE, two) | {"steps": "localized", "implied α": three}
    ]
    p, c = (dict.fromkeys(columns, three) for columns in columns_of("draft_positions"))
    assert shown.page("draft_positions").formats() == [p, c]
    assert shown.page("step_outcomes").formats() == [dict.fromkeys(map(str, range(8)), "%.1f")]
    whole = {"τ(K′=7)": two, "share of τ(7)": "%.1f%%", "against K=7": "%+.2f", "p at position 6": three}
    shorter = dict.fromkeys(columns_of("shorter_blocks")[1], two) | {"gain 5→7": "%+.2f"}
    assert shown.page("shorter_blocks").formats() == [whole, shorter]
    shares = dict.fromkeys(("within share", "within share, corrected"), percent)
    assert shown.page("prompt_difficulty").formats() == [dict.fromkeys(DIFFICULTY, two) | shares]
    speed = dict.fromkeys(speeds(7), two) | {"of bound": percent, "fastest K′": "localized"}
    assert shown.page("throughput").formats() == [speed]
    bounds = dict.fromkeys(BOUND, "%.1f") | {"τ": two, "speed-up": two}
    assert dashboard("reference", ci="false", **BOUND_TAB).page("throughput").formats() == [bounds]


@pytest.mark.parametrize("name", ["counters", "one", "bare", "variable", "k1", "k16", "forty", "odd"])
def test_every_other_evaluation_too(name, dashboard, filled):
    run = specdash.load(evaluations.BUILT[name]().write(filled[0].parent)).document["runs"][0]
    pages = [*PAGES, "prompt_difficulty"] if name != "counters" else PAGES
    shown = dashboard(name)
    for page in pages:
        tables = shown.page(page).tables()
        wanted = expected(page, run)
        assert tables[: len(wanted)] == _approx(wanted)
        assert len(tables) == len(wanted) + 2 * (page == "draft_positions" and name == "variable")


def test_different_block_lengths_give_two_more_readings(dashboard, filled):
    run = specdash.load(evaluations.BUILT["variable"]().write(filled[0].parent)).document["runs"][0]
    *_, exposed, survival = dashboard("variable").page("draft_positions").tables()
    for table, key in ((exposed, "p_exposed"), (survival, "p_km")):
        pooled = [table[-1][f"p{sub(i)}"] for i in range(5)]
        assert pooled == run["datasets"][-1][key]


def test_printed_ratios_are_shown_and_never_pooled(dashboard):
    shown = dashboard("rates")
    table = shown.page("acceptance_length").tables()[0]
    assert [(row["dataset"], row["τ"]) for row in table] == [("gsm8k", 4.97), ("humaneval", 5.36)]
    assert set(table[0]) == {"dataset", "family", "τ", "verify rate", "p₀", "p₁"}
    assert shown.page("overview").figures()["τ, pooled"] == "–"


def _only(chosen):
    """The reference with some of its datasets, as an evaluation of its own."""
    with zipfile.ZipFile(evaluations.REFERENCE) as archive:
        counters = json.loads(archive.read("7_draft/counters.json"))
        lines = archive.read("7_draft_best_of_10/samples.jsonl").splitlines()
        steps = pl.read_csv(archive.read("7_draft_best_of_10/spec_log.csv"), has_header=False)
    samples = {request: json.loads(line) for request, line in enumerate(lines)}
    kept = {request: sample for request, sample in samples.items() if sample["dataset"] in chosen}
    steps = steps.filter(pl.col("column_0").is_in(list(kept)))
    files = {
        "7_draft/counters.json": json.dumps([record for record in counters if record["dataset"] in chosen]),
        "7_draft_best_of_10/spec_log.csv": steps.write_csv(include_header=False),
        "7_draft_best_of_10/samples.jsonl": "\n".join(json.dumps(s | {"request_id": r}) for r, s in kept.items()),
    }
    return Built("some.zip", files)


@pytest.fixture(scope="module")
def some(tmp_path_factory):
    """Two datasets of the reference, and the runs of an evaluation that holds only these."""
    chosen = ["gsm8k", "alpaca"]
    document = specdash.load(_only(chosen).write(tmp_path_factory.mktemp("some"))).document
    return chosen, {run["name"]: run for run in document["runs"]}


@pytest.mark.parametrize(
    ("run", "page"),
    [("7_draft", page) for page in PAGES] + [("7_draft_best_of_10", page) for page in (*PAGES, "prompt_difficulty")],
)
def test_some_datasets_are_pooled_as_if_there_were_no_others(run, page, dashboard, some):
    chosen, runs = some
    shown = dashboard("reference", run=run, ds=chosen[::-1]).page(page)
    found, wanted = shown.tables(), expected(page, runs[run])
    for row in (row for tables in (found, wanted) for table in tables for row in table):
        row.pop("SE of τ, bootstrap", None)  # follows from the id, and the other evaluation has another one
    assert found == _approx(wanted)
    assert [row["dataset"] for row in runs[run]["datasets"]] == [*chosen, "pooled"]


def test_a_choice_by_hand_is_a_choice_by_link(dashboard):
    by_link = dashboard("reference", run="7_draft", ds=["alpaca", "mbpp"]).page("draft_positions")
    by_hand = dashboard("reference").page("draft_positions")
    by_hand.app.sidebar.selectbox[1].select("7_draft").run()
    by_hand.app.sidebar.multiselect[0].select("alpaca").select("mbpp").run()
    assert by_hand.tables() == by_link.tables()
    assert by_hand.looked_at()[1:] == by_link.looked_at()[1:] == ("7_draft", ["alpaca", "mbpp"])


@pytest.mark.parametrize("run", ["7_draft", "7_draft_best_of_10"])
def test_the_reports_bound_has_a_tab_of_its_own(run, dashboard, reference, some):
    shown = dashboard("reference", run=run, **BOUND_TAB).page("throughput")
    assert shown.tables() == _approx(expected("bound", reference[run]))
    chosen, runs = some
    shown = dashboard("reference", run=run, ds=chosen, **BOUND_TAB).page("throughput")
    assert shown.tables() == _approx(expected("bound", runs[run]))


def test_the_bound_follows_the_stages(dashboard, reference):
    shown = dashboard("reference", stages="20", **BOUND_TAB).page("throughput")
    pooled = reference["7_draft_best_of_10"]["datasets"][-1]
    assert shown.tables()[0][-2]["RTT 50 ms"] == pytest.approx(bound(50, stages=20)(pooled))
    shown.app.select_slider(key="stages").set_value(5).run()
    assert shown.tables()[0][-2]["RTT 50 ms"] == pytest.approx(bound(50, stages=5)(pooled))
    assert shown.tables()[0][-1]["RTT 50 ms"] == pytest.approx(8.0)
