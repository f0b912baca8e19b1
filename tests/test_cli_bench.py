"""``specdash bench`` as a user runs it: a process against servers of our own, its JSON, its exit codes."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import specdash
from specdash.cli import cli
from specdash.live.document import load, partial
from specdash.schema import Granularity
from tests.live.conftest import baseline, prompts, spec, start  # noqa: F401  the same servers
from tests.live.server import SPEC

QUICK = {"ttft": 0.004, "gap": 0.003, "tokens": 12}
ROOT = Path(__file__).resolve().parents[1]


def run(*arguments):
    return CliRunner().invoke(cli, ["bench", *map(str, arguments)])


@pytest.fixture
def bench(baseline, spec, tmp_path):  # noqa: F811
    """Run a bench of both servers; returns the result and the file."""

    def go(file, *arguments):
        out = tmp_path / "out.json"
        where = ["--spec", spec.url, "--baseline", f"{baseline.url}/v1", "--prompts", file, "-o", out]
        return run(*where, "--warmup", 1, *arguments), out

    return go


def test_a_bench_from_end_to_end(bench, prompts):  # noqa: F811
    result, out = bench(prompts(*[QUICK] * 12), "-n", 12, "--concurrency", "1,2")
    assert result.exit_code == 0, result.output
    assert "48 requests measured, 0 of them failed" in result.output
    assert "1 in flight, medians in ms" in result.output and "2 in flight" in result.output
    assert "Faster: a speed-up of" in result.output
    assert result.output.endswith(f"{out}\n")
    found = json.loads(out.read_text())
    assert (found["specdash_bench"], found["state"]) == (1, "complete")
    assert found["settings"]["concurrency"] == [1, 2]
    compared = [(one["concurrency"], one["measure"]) for one in found["statistics"]]
    assert compared == [(c, m) for c in (1, 2) for m in ("tpot", "e2e", "ttft", "per_token")]
    tpot = found["statistics"][0]
    # 12 tokens: one chunk every 3 ms without speculation, a chunk of three every 2 ms with it.
    assert tpot["paired"]["speedup"] == pytest.approx(11 * 3 / (3 * 2), rel=0.35)
    assert tpot["verdict"]["case"] == "faster" and tpot["prompts"] == 12
    assert not partial(out).exists()


def test_it_loads_as_an_evaluation(bench, prompts):  # noqa: F811
    _, out = bench(prompts(*[QUICK] * 6), "--concurrency", "1,3")
    evaluation = specdash.load(out).evaluation
    runs = {run.name: run for run in evaluation.runs}
    assert list(runs) == ["baseline, 1 in flight", "baseline, 3 in flight", "spec, 1 in flight", "spec, 3 in flight"]
    alone, drafted = runs["baseline, 1 in flight"], runs["spec, 1 in flight"]
    assert (alone.granularity, alone.k) == (Granularity.LATENCIES, None)
    assert alone.latencies.height == 6 and alone.latencies["error"].null_count() == 6
    assert alone.latencies["gaps_s"].list.len().to_list() == [11] * 6
    assert drafted.k == SPEC["num_spec_tokens"]
    assert drafted.responses["prompt"].to_list() == [f"p{i}" for i in range(6)]
    assert drafted.latencies["response"].to_list() == list(range(6))
    tau = specdash.load(out).table("tau", run="spec, 1 in flight")
    assert tau["tau"].to_list() == [2.5, 2.5]  # 1 + 6 accepted / 4 steps
    assert drafted.config["concurrency"] == 1 and drafted.config["arm"] == "spec"


def test_counters_stand_in_for_answers_that_say_nothing(baseline, start, prompts, tmp_path):  # noqa: F811
    """Without per-request metrics the server's counters give τ, over the measured requests alone."""
    from tests.formats.producers.reading import read

    quiet = start("--name", "spec", "--spec")
    out = tmp_path / "out.json"
    where = ["--spec", quiet.url, "--baseline", baseline.url, "--prompts", prompts(*[QUICK] * 5), "-o", out]
    assert run(*where).exit_code == 0
    document = json.loads(out.read_text())
    for request in document["requests"]:
        request["said"] = {}
    out.write_text(json.dumps(document))
    found = read(out, tmp_path / "work")["spec"]
    assert found.granularity is Granularity.AGGREGATE
    (row,) = found.counters.iter_rows(named=True)
    assert (row["steps"], row["drafted"], row["accepted"]) == (20, 60, 30)  # 5 responses, warm-up left out
    assert found.latencies.height == 5


def test_without_a_baseline_no_speed_up_is_claimed(spec, prompts, tmp_path):  # noqa: F811
    out = tmp_path / "out.json"
    result = run("--spec", spec.url, "--prompts", prompts(*[QUICK] * 6), "-o", out)
    assert result.exit_code == 0
    assert "No baseline was measured: a speed-up cannot be claimed." in result.output
    assert "speed-up of" not in result.output
    found = json.loads(out.read_text())
    assert found["statistics"] == []
    (loaded,) = specdash.load(out).evaluation.runs
    assert "no_baseline" in [warning.code for warning in loaded.warnings]


def test_the_baseline_against_itself(bench, prompts):  # noqa: F811
    result, out = bench(prompts(*[QUICK] * 8), "--aa")
    assert result.exit_code == 0
    found = json.loads(out.read_text())
    assert [arm["name"] for arm in found["arms"]] == ["baseline", "spec", "baseline again"]
    assert found["statistics"][0]["floor"] > 1


def test_headers_are_sent_and_never_written_down(bench, prompts, spec):  # noqa: F811
    _, out = bench(prompts(QUICK), "--header", "Authorization: Bearer s3cret")
    assert "s3cret" not in out.read_text()


def test_a_file_that_is_there_is_not_overwritten(bench, prompts):  # noqa: F811
    file = prompts(QUICK)
    assert bench(file)[0].exit_code == 0
    result, out = bench(file)
    assert result.exit_code == 1
    assert f"specdash: {out}: is there already; expected another -o FILE, or --resume to go on with it" in result.output


def test_a_server_that_dies(bench, prompts):  # noqa: F811
    result, out = bench(prompts(*[QUICK] * 6, QUICK | {"mode_spec": "exit"}, *[QUICK] * 20))
    assert result.exit_code == 1
    assert "; stopped: spec failed 5 times in a row" in result.output
    assert "Faster" in result.output  # what was measured before is still judged
    found = json.loads(out.read_text())
    assert [bool(r["error"]) for r in found["requests"] if r["arm"] == "spec"] == [False] * 6 + [True] * 5
    runs = specdash.load(out).evaluation.runs
    assert all("bench_unfinished" in [w.code for w in run.warnings] for run in runs)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_cancelled_it_keeps_what_there_is_and_goes_on_later(how, baseline, spec, prompts, tmp_path):  # noqa: F811
    file, out = prompts(*[QUICK] * 3, {"ttft": 3, "tokens": 1}, *[QUICK] * 2), tmp_path / "out.json"
    where = ["--spec", spec.url, "--baseline", baseline.url, "--prompts", str(file), "-o", str(out)]
    process = subprocess.Popen([sys.executable, "-m", "specdash", "bench", *where], cwd=ROOT, stdout=subprocess.PIPE)
    _until(lambda: partial(out).exists() and len(load(out)["requests"]) == 6)
    time.sleep(0.2)
    process.send_signal(how)
    printed = process.communicate(timeout=30)[0].decode()
    assert process.returncode == 130
    assert "6 requests measured, 0 of them failed; cancelled: cancelled" in printed
    before = json.loads(out.read_text())
    assert (before["state"], len(before["requests"])) == ("cancelled", 6)
    result = run("--resume", out, "--prompts", file)
    assert result.exit_code == 0, result.output
    after = json.loads(out.read_text())
    assert (after["state"], len(after["requests"])) == ("complete", 12)
    assert after["requests"][:6] == before["requests"]


def test_killed_it_leaves_its_journal(baseline, spec, prompts, tmp_path):  # noqa: F811
    file, out = prompts(*[QUICK] * 3, {"ttft": 3, "tokens": 1}), tmp_path / "out.json"
    where = ["--spec", spec.url, "--baseline", baseline.url, "--prompts", str(file), "-o", str(out)]
    process = subprocess.Popen([sys.executable, "-m", "specdash", "bench", *where], cwd=ROOT)
    _until(lambda: partial(out).exists() and len(load(out)["requests"]) == 6)
    process.kill()
    process.wait()
    assert not out.exists()
    assert run("--resume", out, "--prompts", file).exit_code == 0
    assert len(json.loads(out.read_text())["requests"]) == 8
    assert not partial(out).exists()


def _until(holds, seconds=30):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_other_prompts_are_not_resumed(bench, prompts):  # noqa: F811
    _, out = bench(prompts(QUICK))
    result = run("--resume", out, "--prompts", prompts({"tokens": 3}, name="others.jsonl"))
    assert result.exit_code == 1 and "not the prompts of the bench to resume" in result.output


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "--spec and --prompts are needed"),
        (["--spec", "http://h", "--aa", "--prompts", __file__], 2, "--baseline is needed"),
        (["--spec", "h", "--prompts", __file__], 1, "the spec endpoint is no http address; found h"),
        (["--spec", "http://127.0.0.1:1", "--prompts", __file__], 1, "the spec endpoint cannot be reached"),
        (["--concurrency", "1,x"], 2, "no list of whole numbers"),
        (["--header", "x"], 2, "Name: value"),
        (["--extra", "[1]"], 2, "is no JSON object"),
        (["--resume", "nowhere.json"], 2, "--resume needs the same --prompts"),
        (["--resume", "nowhere.json", "--prompts", __file__], 1, "no bench to resume"),
    ],
)
def test_wrong_usage_and_bad_input(arguments, code, message):
    result = run(*arguments)
    assert result.exit_code == code
    assert message in result.output


def test_a_server_that_lists_no_model(start, prompts, tmp_path):  # noqa: F811
    """An endpoint that is no OpenAI-compatible one says so before anything is measured."""
    server = start()
    where = ["--spec", f"{server.url}/other", "--prompts", prompts(QUICK), "-o", tmp_path / "out.json"]
    result = run(*where)
    assert result.exit_code == 1 and "the spec endpoint lists no model; found HTTP 404" in result.output
    assert not list(tmp_path.glob("out*"))
