"""The bench against two servers of our own: order, readings, failures, cancel, death, resume."""

import asyncio
import json
from collections import Counter

import pytest

from specdash.live import document as documents
from specdash.live.bench import IN_A_ROW, Bench
from specdash.live.document import Journal, Settings, load, partial
from specdash.live.endpoint import endpoint
from specdash.live.plan import BASELINE, SPEC
from specdash.live.prompts import read
from specdash.schema import InputError

QUICK = {"ttft": 0.005, "gap": 0.002, "tokens": 6}


class Made:
    """A bench that is ready to run."""

    def __init__(self, out, prompts, arms, say=lambda *_: None, resumed=None, **settings):
        self.prompts, self.settings = read(prompts), Settings(**{"warmup": 1} | settings)
        endpoints = [endpoint(name, server.url) for name, server in arms.items()]
        models = ["m"] * len(arms)
        document = resumed or documents.begin(self.settings, endpoints, models, self.prompts)
        self.journal = Journal(out, document)
        self.bench = Bench(endpoints, models, self.prompts, self.settings, self.journal, say=say)

    def run(self):
        asyncio.run(self.bench.run())
        return self.journal.document


@pytest.fixture
def made(tmp_path):
    return lambda prompts, arms, **kwargs: Made(tmp_path / "out.json", prompts, arms, **kwargs)


def keys(document):
    return [(r["concurrency"], r["arm"], r["prompt"]) for r in document["requests"]]


def test_a_whole_bench(made, prompts, baseline, spec):
    file = prompts(*[QUICK] * 4)
    found = made(file, {BASELINE: baseline, SPEC: spec}, concurrency=(1, 2)).run()
    assert (found["state"], found["reason"]) == ("complete", None)
    assert keys(found)[:8] == [
        (1, BASELINE, 0), (1, SPEC, 0), (1, SPEC, 1), (1, BASELINE, 1),
        (1, BASELINE, 2), (1, SPEC, 2), (1, SPEC, 3), (1, BASELINE, 3),
    ]  # fmt: skip
    assert Counter(keys(found)) == Counter((c, a, i) for c in (1, 2) for a in (BASELINE, SPEC) for i in range(4))
    assert len(found["warmup"]) == 4
    starts = [r["start_s"] for r in found["requests"] if r["concurrency"] == 1]
    assert starts == sorted(starts) and starts[0] >= 0
    by_arm = {r["arm"]: r for r in found["requests"]}
    assert by_arm[SPEC]["said"]["vllm"]["speculative_decoding"]["num_spec_steps"] == 4
    assert by_arm[BASELINE]["said"] == {}
    assert len(by_arm[BASELINE]["chunks_s"]) == 6 and len(by_arm[SPEC]["chunks_s"]) == 2
    assert found["prompts"][1]["id"] == "p1"
    assert found["notes"] == []


def test_both_arms_get_the_same_prompts_and_settings(made, prompts, baseline, spec):
    file = prompts({"a": 1}, {"a": 2})
    made(file, {BASELINE: baseline, SPEC: spec}, warmup=0, max_tokens=7, ignore_eos=True, extra={"top_p": 0.5}).run()
    logs = [[entry["body"] for entry in server.log()] for server in (baseline, spec)]
    assert logs[0] == logs[1]
    assert logs[0][0] | {"messages": None} == {
        "model": "m",
        "messages": None,
        "max_tokens": 7,
        "temperature": 0.0,
        "stream": True,
        "stream_options": {"include_usage": True},
        "ignore_eos": True,
        "top_p": 0.5,
    }


def test_counters_are_read_around_each_pass_without_the_warm_up(made, prompts, baseline, spec):
    found = made(prompts(*[QUICK] * 3), {BASELINE: baseline, SPEC: spec}, concurrency=(1, 2)).run()
    readings = {(c["concurrency"], c["arm"]): (c["before"]["text"], c["after"]["text"]) for c in found["counters"]}
    assert len(readings) == 4
    before, after = readings[1, SPEC]
    assert 'num_drafts_total{engine="0",model_name="m"} 4.0' in before  # one warm-up
    assert 'num_drafts_total{engine="0",model_name="m"} 16.0' in after
    assert "spec_decode" not in readings[1, BASELINE][1]
    assert "process_cpu" not in after and "#" not in after


def test_counters_that_are_not_there(made, prompts, start):
    lone = start("--no-metrics")
    found = made(prompts(QUICK), {SPEC: lone}).run()
    assert found["counters"][0]["after"]["error"] == "HTTP 404"
    assert found["notes"] == ["No baseline was measured: a speed-up cannot be claimed."]


def test_requests_in_flight(made, prompts, baseline):
    """Four at a time end together; each of them takes as long as one."""
    slow = {"ttft": 0.2, "tokens": 1}
    found = made(prompts(*[slow] * 8), {SPEC: baseline}, concurrency=(4,), warmup=0).run()
    starts = sorted(r["start_s"] for r in found["requests"])
    assert starts[3] - starts[0] < 0.1
    assert starts[4] - starts[0] >= 0.2
    assert all(0.2 <= r["chunks_s"][0] < 0.4 for r in found["requests"])


def test_errors_are_kept_and_the_rest_is_measured(made, prompts, baseline, spec):
    bad = QUICK | {"mode_spec": "500"}
    found = made(prompts(QUICK, bad, QUICK), {BASELINE: baseline, SPEC: spec}).run()
    assert found["state"] == "complete"
    failed = [(r["arm"], r["prompt"], r["status"]) for r in found["requests"] if r["error"]]
    assert failed == [(SPEC, 1, 500)]


def test_a_server_that_dies_ends_it_and_nothing_is_lost(made, prompts, baseline, spec):
    file = prompts(*[QUICK] * 3, QUICK | {"mode_spec": "exit"}, *[QUICK] * 20)
    ready = made(file, {BASELINE: baseline, SPEC: spec})
    found = ready.run()
    assert found["state"] == "stopped"
    assert found["reason"].startswith(f"spec failed {IN_A_ROW} times in a row, last: no connection")
    kept = [r for r in found["requests"] if r["arm"] == SPEC]
    assert [bool(r["error"]) for r in kept] == [False] * 3 + [True] * IN_A_ROW
    assert "error" in found["counters"][1]["after"]
    ready.journal.finish()
    assert load(ready.journal.out) == found


def test_cancelled_in_the_middle_nothing_that_was_measured_is_lost(made, prompts, baseline, spec):
    file = prompts(*[QUICK] * 3, {"ttft": 30})
    done = []

    async def cancel(ready):
        task = asyncio.create_task(ready.bench.run())
        while len(done) < 6:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)  # the next request is on its way
        task.cancel()
        await task

    ready = made(file, {BASELINE: baseline, SPEC: spec}, say=lambda *what: done.append(what) if what[1] else None)
    asyncio.run(cancel(ready))
    found = ready.journal.document
    assert (found["state"], len(found["requests"])) == ("cancelled", 6)
    assert all(r["error"] is None for r in found["requests"])
    assert "text" in found["counters"][0]["after"]


def test_resumed_it_measures_what_is_missing(made, prompts, baseline, spec):
    file = prompts(*[QUICK] * 4)
    first = made(file, {BASELINE: baseline, SPEC: spec})
    whole = first.run()
    cut = whole | {"requests": whole["requests"][:3], "state": "cancelled"}
    again = made(file, {BASELINE: baseline, SPEC: spec}, resumed=json.loads(json.dumps(cut)))
    found = again.run()
    assert found["requests"][:3] == whole["requests"][:3]
    assert sorted(keys(found)) == sorted(keys(whole))
    assert len(found["counters"]) == 4  # two passes of readings
    assert found["requests"][3]["start_s"] > whole["requests"][2]["start_s"]
    seen = len(spec.log())
    assert made(file, {BASELINE: baseline, SPEC: spec}, resumed=found).run()["state"] == "complete"
    assert len(spec.log()) == seen  # there was nothing left to do


def test_what_is_measured_is_on_disk_at_once(made, prompts, baseline, tmp_path):
    out = tmp_path / "out.json"
    seen = []

    def look(doing, done, total):
        if done:
            seen.append((done, total, len(load(out)["requests"])))

    ready = made(prompts(*[QUICK] * 3), {SPEC: baseline}, say=look)
    found = ready.run()
    assert seen == [(1, 3, 1), (2, 3, 2), (3, 3, 3)]
    assert not out.exists()
    ready.journal.finish()
    assert json.loads(out.read_text()) == found == load(out)
    assert not partial(out).exists()


def test_a_journal_that_was_cut_off(made, prompts, baseline, tmp_path):
    out = tmp_path / "out.json"
    made(prompts(*[QUICK] * 2), {SPEC: baseline}).run()
    path = partial(out)
    content = path.read_text()
    path.write_text(content + '{"requests": {"arm"')
    assert len(load(out)["requests"]) == 2
    path.write_text(content.replace('{"requests"', '{"requ', 1))
    with pytest.raises(InputError, match="not a bench of this specdash"):
        load(out)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"specdash_bench": 2}', "x"])
def test_what_is_no_bench_is_not_resumed(content, tmp_path):
    out = tmp_path / "out.json"
    out.write_text(content)
    with pytest.raises(InputError, match="not a bench of this specdash"):
        load(out)
    with pytest.raises(InputError, match="no bench to resume"):
        load(tmp_path / "nowhere.json")
