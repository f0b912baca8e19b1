"""The JSON of specdash bench, read by hand-made documents: what becomes a run, and what is refused."""

import copy
import json

import pytest

from specdash.formats.producers import PRODUCERS
from specdash.schema import Granularity, InputError
from specdash.speed.latency import TPOT, Arm
from tests.formats.files import stored
from tests.formats.producers.reading import codes, counts, only, read_files

RECORD = {
    "acceptance_histogram": [1, 0, 1],
    "num_spec_steps": 2,
    "num_accepted_draft_tokens": 2,
    "num_draft_tokens": 4,
    "num_spec_tokens": 2,
}


def request(arm, prompt, chunks, *, concurrency=1, error=None, said=None, tokens=4):
    return {
        "concurrency": concurrency,
        "arm": arm,
        "prompt": prompt,
        "start_s": 0.5 * prompt,
        "status": 200,
        "error": error,
        "chunks_s": chunks,
        "done_s": None,
        "input_tokens": 7,
        "output_tokens": tokens,
        "finish_reason": "stop",
        "said": said or {},
    }


def document(*requests, **changes):
    return {
        "specdash_bench": 1,
        "state": "complete",
        "reason": None,
        "settings": {"max_tokens": 4, "temperature": 0.0, "extra": {"a": 1}},
        "arms": [{"name": "spec", "base": "http://h/v1", "model": "m"}, {"name": "baseline", "model": "m"}],
        "prompts": [{"id": "a", "dataset": "gsm8k"}, {"id": "b", "dataset": "alpaca"}],
        "counters": [],
        "requests": list(requests),
    } | changes


BOTH = (
    request("baseline", 0, [0.25, 0.5, 0.75, 1.0]),
    request("spec", 0, [0.25, 0.5], said={"vllm": {"speculative_decoding": RECORD}}),
    request("spec", 1, [0.125], error="the connection broke", said={"vllm": {"speculative_decoding": RECORD}}),
    request("baseline", 1, []),
)


def runs(tmp_path, content, **options):
    return read_files(tmp_path, {"bench.json": json.dumps(content)}, **options)


def test_arms_are_runs(tmp_path):
    found = runs(tmp_path, document(*BOTH))
    assert list(found) == ["baseline", "spec"]
    base, spec = found["baseline"], found["spec"]
    assert (base.granularity, spec.granularity) == (Granularity.LATENCIES, Granularity.RESPONSE)
    assert counts(spec) == {(0, 2, 0): 1, (0, 2, 2): 1} and spec.k == 2
    assert spec.latencies.rows() == [
        ("gsm8k", "a", 0, 0, 0.0, 0.25, 0.5, 7, 4, [0.25], None),
        ("alpaca", "b", 0, None, 0.5, 0.125, None, 7, 4, [], "the connection broke"),
    ]
    assert base.latencies["gaps_s"].to_list() == [[0.25, 0.25, 0.25], None]
    assert base.config == {"arm": "baseline", "model": "m", "concurrency": 1, "max_tokens": 4, "temperature": 0.0}
    assert "failed_requests" in codes(spec) and "failed_requests" not in codes(base)
    assert Arm.of(base).measured(TPOT)["seconds"].to_list() == [0.25]
    assert Arm.of(spec).concurrency == 1


def test_passes_are_runs(tmp_path):
    found = runs(tmp_path, document(*(request("spec", i, [0.1], concurrency=c) for c in (1, 4) for i in (0, 1))))
    assert list(found) == ["spec, 1 in flight", "spec, 4 in flight"]
    assert "no_baseline" in codes(found["spec, 4 in flight"])


def test_llama_cpp_says_less(tmp_path):
    said = {"llama.cpp": {"draft_n": 6, "draft_n_accepted": 3}}
    run = only(runs(tmp_path, document(request("spec", 0, [0.1], said=said))))
    assert (run.sums["drafted"].item(), run.sums["accepted"].item(), run.sums["steps"].item()) == (6, 3, None)


PROM = (
    'vllm:spec_decode_num_drafts_total{{engine="0"}} {0}\nvllm:spec_decode_num_draft_tokens_total{{engine="0"}} {1}\n'
)
PROM += 'vllm:spec_decode_num_accepted_tokens_total{{engine="0"}} {2}\n'
PROM += 'vllm:request_success_total{{engine="0"}} {3}\n'


def reading(before, after):
    return {
        "concurrency": 1,
        "arm": "spec",
        "before": {"text": PROM.format(*before)},
        "after": {"text": PROM.format(*after)},
    }


def test_counters_of_all_readings_add_up(tmp_path):
    """A bench that was resumed has two readings; a server that was restarted in one of them counts from 0."""
    counters = [reading((10, 20, 5, 1), (13, 26, 8, 3)), reading((99, 198, 50, 9), (2, 4, 1, 2))]
    run = only(runs(tmp_path, document(*(request("spec", i, [0.1]) for i in (0, 1)), counters=counters)))
    (row,) = run.counters.iter_rows(named=True)
    assert (row["steps"], row["drafted"], row["accepted"]) == (5, 10, 4)
    assert "contaminated" in codes(run)  # 4 requests answered, 2 of them ours
    assert run.latencies.height == 2


def test_counters_that_could_not_be_read(tmp_path):
    counters = [{"concurrency": 1, "arm": "spec", "before": {"error": "HTTP 404"}, "after": {"error": "HTTP 404"}}]
    run = only(runs(tmp_path, document(request("spec", 0, [0.1]), counters=counters)))
    assert run.granularity is Granularity.LATENCIES


def test_a_bench_that_did_not_end_says_so(tmp_path):
    run = runs(tmp_path, document(*BOTH, state="stopped", reason="spec failed 5 times in a row"))["spec"]
    told = next(w.message for w in run.warnings if w.code == "bench_unfinished")
    assert told == "the bench did not end by itself (spec failed 5 times in a row): 4 requests were measured"


def changed(path, value):
    found = copy.deepcopy(document(*BOTH))
    inner = found
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return found


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["specdash_bench"], 2, "a bench of another specdash; found 2"),
        (["requests"], [], "a bench in which nothing was measured"),
        (["requests"], {}, "requests is no list of objects"),
        (["requests"], [1], "requests is no list of objects"),
        (["prompts"], None, "prompts is no list of objects"),
        (["prompts", 0], {"id": "a"}, "a prompt has no id or dataset"),
        (["prompts", 0, "id"], 3, "id is no text"),
        (["requests", 0, "arm"], None, "one of requests has no arm or concurrency"),
        (["requests", 0, "arm"], 1, "arm is no text"),
        (["requests", 0, "concurrency"], 0, "one of requests has no arm or concurrency"),
        (["requests", 0, "concurrency"], 1.5, "concurrency is not a count"),
        (["requests", 0, "prompt"], 2, "a request names no prompt; found 2; expected 0 to 1"),
        (["requests", 0, "prompt"], None, "a request names no prompt"),
        (["requests", 0, "chunks_s"], None, "chunks_s are no times in order"),
        (["requests", 0, "chunks_s"], [0.5, 0.25], "chunks_s are no times in order"),
        (["requests", 0, "chunks_s"], [-1], "chunks_s is no time; found -1"),
        (["requests", 0, "chunks_s"], ["1"], "chunks_s is no time"),
        (["requests", 0, "start_s"], 1e300, "start_s is no time"),
        (["requests", 0, "output_tokens"], -1, "output_tokens is not a count"),
        (["requests", 0, "error"], 500, "error is no text"),
        (["requests", 1, "said", "vllm", "speculative_decoding", "num_spec_steps"], 3, "num_spec_steps is not what"),
        (["counters"], [{"arm": "spec"}], "one of counters has no arm or concurrency"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, path, value, message):
    with pytest.raises(InputError) as refused:
        runs(tmp_path, changed(path, value))
    assert "bench.json" in str(refused.value) and message in str(refused.value)


def test_no_other_format_claims_it(tmp_path):
    llama = request("spec", 0, [0.1], said={"llama.cpp": {"draft_n": 6, "draft_n_accepted": 3}})
    content = document(llama, *BOTH, *(request("spec", i % 2, [0.1] * 500) for i in range(200)))
    file = stored(tmp_path, "bench.json", json.dumps(content))
    assert [producer.key for producer in PRODUCERS if producer.looks(file)] == ["specdash-bench"]


EXAMPLES = {
    "specdash-bench": json.dumps(document(*BOTH)),
}
