"""Benches that a dashboard starts: they outlive a page, keep what they measured and ask nothing forbidden."""

import json
import time

import pytest

from specdash.live.started import Asked, Benches
from specdash.schema import InputError
from specdash.store import Store

QUICK = {"ttft": 0.004, "gap": 0.003, "tokens": 12}
SLOW = {"ttft": 30, "tokens": 1}


def lines(*scripts):
    return "".join(json.dumps({"id": f"p{i}", "prompt": json.dumps(s)}) + "\n" for i, s in enumerate(scripts)).encode()


@pytest.fixture
def benches(tmp_path):
    made = Benches(tmp_path / "benches")
    yield made
    for bench in made.all():
        made.dismiss(bench.key)


def until(holds, seconds=60):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_both_arms_are_measured_and_kept(benches, baseline, spec, tmp_path):
    bench = benches.start(Asked(spec.url, baseline.url, lines(*[QUICK] * 6), "questions.jsonl", concurrency=(1, 2)))
    assert bench.total == 24
    until(lambda: not bench.running)
    assert (bench.done, bench.problem, bench.cancelled) == (24, None, False)
    assert json.loads(bench.out.read_text())["state"] == "complete"
    evaluation = bench.keep(Store(tmp_path / "home"))
    assert [run.name for run in evaluation.runs] == [
        f"{arm}, {n} in flight" for arm in ("baseline", "spec") for n in (1, 2)
    ]
    assert evaluation.runs[0].latencies["dataset"].unique().to_list() == ["questions"]
    benches.dismiss(bench.key)
    assert bench.out.exists() and not benches.all()


def test_one_at_a_time_and_what_is_cancelled_is_kept(benches, baseline, spec):
    bench = benches.start(Asked(spec.url, baseline.url, lines(QUICK, QUICK, SLOW), "p.jsonl"))
    until(lambda: bench.done == 4)
    with pytest.raises(InputError, match="another measurement is running"):
        benches.start(Asked(spec.url, baseline.url, lines(QUICK), "p.jsonl"))
    bench.cancel()
    until(lambda: not bench.running)
    document = json.loads(bench.out.read_text())
    assert (document["state"], len(document["requests"])) == ("cancelled", 4)
    assert (bench.cancelled, bench.done, bench.problem) == (True, 4, None)


def test_it_ends_with_its_dashboard_and_writes_down_what_it_has(benches, baseline, spec):
    bench = benches.start(Asked(spec.url, baseline.url, lines(QUICK, SLOW), "p.jsonl"))
    until(lambda: bench.done == 2)
    bench._process.stdin.close()  # as the system does for a process that is gone
    until(lambda: not bench.running)
    assert json.loads(bench.out.read_text())["state"] == "cancelled"


@pytest.mark.parametrize(
    ("spec", "prompts", "said"),
    [
        ("file:///etc/passwd", b"x", "is no http address"),
        ("", b"x", "the spec endpoint is no http address"),
        ("http://127.0.0.1:1", b"", "no prompts"),
        ("http://127.0.0.1:1", b"\xff\xfe\n", "not UTF-8 text"),
    ],
)
def test_what_cannot_be_measured_is_told_at_once(benches, spec, prompts, said):
    with pytest.raises(InputError, match=said):
        benches.start(Asked(spec, "", prompts))
    assert not benches.all()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://169.254.169.254", "is a link-local address, which is never asked"),
        ("http://[fe80::1]", "is a link-local address, which is never asked"),
        ("http://2852039166", "is a link-local address, which is never asked"),
        ("http://127.0.0.1:1", "the spec endpoint cannot be reached"),
    ],
)
def test_what_nobody_may_ask_or_answers_is_told(benches, url, said):
    bench = benches.start(Asked(url, "", b"a prompt\n"))
    until(lambda: not bench.running)
    assert said in bench.problem and bench.done == 0
