"""± in tables, ends in CSVs, and why there are none."""

import io
import json

import pytest
from click.testing import CliRunner
from rich.console import Console

from specdash import report
from specdash.cli import cli
from specdash.metrics import INTERVAL_KEYS, KEYS, run_rows
from specdash.report import csvfiles, tables
from specdash.report.intervals import notes, with_margins
from specdash.report.tables import Column
from specdash.schema import Evaluation
from tests.helpers import counter_run, counters_of, golden, log_a, log_run

RUN = log_run(log_a(), name="A")
ROWS = run_rows(RUN, {"mathlike": "math"}.get, [*KEYS, *INTERVAL_KEYS])[0]
VALUES = golden("golden.json")["mathlike"]
LOW, HIGH = VALUES["ci_log_jack"]


def close(value):
    return pytest.approx(value, abs=1e-9)


def labels(table):
    return [column.label for column in with_margins(table, ROWS).columns]


def test_a_margin_is_half_of_the_width():
    tau = tables.metric_column("tau")
    assert tau.ends(ROWS[0]) == close([LOW, HIGH])
    assert tau.margin(ROWS[0]) == close((HIGH - LOW) / 2)
    c6 = tables.metric_column("c", 6)
    assert c6.ends(ROWS[0]) == close(VALUES["c6_logit_jack_t"])
    assert tables.metric_column("response_mean").margin(ROWS[0]) is None
    assert tables.metric_column("p", 9).margin(ROWS[0]) is None


def test_a_multiple_of_tau_has_that_multiple_of_its_interval():
    rtt = next(c for c in tables.throughput_bound().columns if c.key == "tok_s_rtt25")
    assert rtt.ends(ROWS[0]) == close([LOW * 8, HIGH * 8])
    assert tables.throughput_bound().columns[-1].ends(ROWS[0]) == close([LOW, HIGH])  # the speed-up is τ


def test_differences_have_no_interval():
    gain = tables.shorter_blocks(7).columns[-1]
    assert gain.key == "gain"
    assert gain.ends(ROWS[0]) is None


def test_a_margin_of_an_interval_to_one_side_is_its_width():
    tau = tables.metric_column("tau")
    assert tau.margin({"tau": 5.0, "tau_ci": [3.8, 5.0]}) == close(1.2)
    assert tau.margin({"tau": 1.0, "tau_ci": [1.0, 1.5]}) == close(0.5)


def test_tables_with_margins():
    assert labels(tables.acceptance_length()) == [
        *("steps", "effective steps", "τ", "± τ", "step std", "± step std", "per-response mean"),
        *("p10", "p50", "p90", "implied α", "± implied α"),
    ]
    p, c = tables.draft_positions(7)
    assert labels(p)[:4] == ["p₀", "± p₀", "p₁", "± p₁"]
    assert labels(c)[-3:] == ["c₆", "± c₆", "c₀ − c₆"]
    assert labels(tables.shorter_blocks(7))[-3:] == ["K′=7", "± K′=7", "gain 5→7"]
    # What stands there already is not shown twice.
    assert labels(tables.tau_errors()).count("effective steps") == 1


def test_nothing_changes_where_there_are_no_intervals():
    bare, _ = run_rows(RUN, {}.get)
    for table in tables.report_tables(7):
        assert with_margins(table, bare) == table


@pytest.mark.parametrize(
    ("ends", "decimals", "shown"),
    [
        ([4.5, 5.2], 2, "0.35"),
        ([4.9996, 5.0004], 2, "0.0004"),
        ([4.99, 5.0], 2, "0.005"),
        ([4.5, 4.5000001], 2, "0.0000"),
    ],
)
def test_a_margin_is_shown_with_decimals_enough(ends, decimals, shown):
    table = tables.Table("t", "t", None, (Column("tau", "τ", "tau", decimals=decimals),))
    rows = [{"tau": 4.9, "tau_ci": ends}]
    assert with_margins(table, rows).columns[1].shown(rows[0]) == shown


def test_a_margin_in_percent():
    column = with_margins(tables.step_outcomes(7), ROWS).columns[1]
    assert column.label == "± 0"
    low, high = ROWS[0]["outcome_ci"][0]
    assert column.shown(ROWS[0]) == f"{(high - low) * 50:.1f}"


def test_notes():
    rows = [
        {"dataset": "a", "interval_note": "no interval: 3 prompts, 5 are needed"},
        {"dataset": "b", "interval_note": None},
        {"dataset": "c", "interval_note": "no interval: 3 prompts, 5 are needed"},
        {"dataset": "d", "interval_note": "only 16 prompts, so the interval is rough"},
    ]
    assert notes(rows) == [
        "No interval for a, c: 3 prompts, 5 are needed.",
        "d: only 16 prompts, so the interval is rough.",
    ]
    assert notes(rows[:1]) == ["No interval: 3 prompts, 5 are needed."]
    assert notes([{"dataset": "x"}]) == []
    many = [{"dataset": f"d{i}", "interval_note": f"no interval: {i % 9} prompts"} for i in range(90)]
    assert notes(many)[0] == "No interval for d0, d9, d18, d27 and 6 more: 0 prompts."
    assert len(notes(many)) == 5


def text_of(run, **options):
    stream = io.StringIO()
    evaluation = Evaluation("0" * 12, "title", "source", "0" * 64, (run,))
    report.render_text(evaluation, {}.get, (run,), Console(file=stream, width=250, highlight=False), **options)
    return stream.getvalue()


def test_text():
    text = text_of(RUN, intervals=True)
    line = next(line for line in text.splitlines() if line.strip().startswith("mathlike")).split()
    assert line[2:6] == ["3,001", "245", "4.86", "0.33"]
    assert "± is half the width of the 95% interval over prompts" in text
    assert text.rstrip().endswith("chatlike: only 16 prompts, so the interval is rough.")
    assert "±" not in text_of(RUN)
    assert "No interval: counters do not tell prompts apart" in text_of(
        counter_run(counters_of([(2, 1)] * 9, block=2)), intervals=True
    )


def test_csv():
    frames = csvfiles.frames(RUN, {}.get)
    row = frames["tableB_bon10_steps"].filter(dataset="mathlike").row(0, named=True)
    assert [row["tau_low"], row["tau_high"]] == close([LOW, HIGH])
    assert [row["c_6_low"], row["c_6_high"]] == close(VALUES["c6_logit_jack_t"])
    assert row["design_effect"] == close(VALUES["deff_prompt"])
    assert row["tau_se"] == close(VALUES["se_prompt_jack"])
    bound = frames["tableF_tok_per_s_pp10"].filter(dataset="mathlike").row(0, named=True)
    assert [bound["tok_s_rtt25_low"], bound["tok_s_rtt25_high"]] == close([LOW * 8, HIGH * 8])
    assert frames["tableC_bon10_responses"]["within_share_corrected_low"].null_count() == 0
    counted = csvfiles.frames(counter_run(counters_of([(2, 1)] * 9, block=2)), {}.get)
    assert not any(name.endswith(("_low", "_high")) for frame in counted.values() for name in frame.columns)


def test_command_line(tmp_path):
    log = "\n".join(f"{i},3,{a}" for i, r in enumerate(log_a()[:40]) for _, a in ((3, min(a, 3)) for _, a in r.steps))
    samples = [{"dataset": r.dataset, "prompt_id": r.prompt, "request_id": i} for i, r in enumerate(log_a()[:40])]
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "spec_log.csv").write_text(log + "\n")
    (folder / "samples.jsonl").write_text("\n".join(map(json.dumps, samples)))
    env = {"SPECDASH_HOME": str(tmp_path / "home")}
    plain, with_intervals = (
        CliRunner().invoke(cli, ["report", str(folder), *options], env=env) for options in ([], ["--intervals"])
    )
    assert plain.exit_code == with_intervals.exit_code == 0
    assert "± τ" in with_intervals.stdout and "± τ" not in plain.stdout


def test_a_long_name_does_not_bury_the_reason():
    rows = [
        {"dataset": "long " * 60, "interval_note": "no interval: 3 prompts, 5 are needed"},
        {"dataset": "b", "interval_note": None},
    ]
    (said,) = notes(rows)
    assert said == f"No interval for {('long ' * 12)[:59]}…: 3 prompts, 5 are needed."
