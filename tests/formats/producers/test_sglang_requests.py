"""SGLang's log of requests. META is a hand count: four steps that accepted 0, 1, 2 and 3 of 3 drafted tokens."""

import json

import pytest

from specdash.schema import Bonus, Granularity, InputError, NothingToRead
from tests.formats.producers.reading import codes, counts, only, pooled, read_files, recognised

META = {
    "id": "x",
    "finish_reason": {"type": "stop", "matched": 151645},
    "prompt_tokens": 5,
    "completion_tokens": 10,
    "cached_tokens": 0,
    "e2e_latency": 0.2,
    "spec_verify_ct": 4,
    "spec_accept_length": 2.5,
    "spec_accept_rate": float("nan"),
    "spec_num_correct_drafts": 6,
    "spec_num_proposed_drafts": 12,
    "spec_correct_drafts_histogram": [1, 1, 1, 1],
}
DECODE = "[2026-01-01 10:00:00 TP0] Decode batch, #running-req: 1, accept len: 2.77, accept rate: 0.69, #queue-req: 0\n"
PROMPT = "{'meta_info': {'spec_verify_ct': 99}}"


def finish(meta=META, text="'a' ... 'z'", **fields):
    """A line as SGLang writes it, its text cut in the middle and so no Python."""
    request = f"GenerateReqInput(rid='x', text={PROMPT!r}, sampling_params={{'temperature': 0.0}}, stream=False)"
    out = f"{{'text': {text}, 'output_ids': [1, 2] ... [8, 9], 'meta_info': {meta | fields!r}}}"
    return f"[2026-01-01 10:00:01] Finish: obj={request}, out={out}\n"


def test_a_request_a_line(tmp_path):
    content = "[2026-01-01 09:59:00] server_args=ServerArgs()\n" + finish() + DECODE + finish(id="y")
    assert recognised(tmp_path, content) == ["sglang-requests"]
    run = only(read_files(tmp_path, {"server.log": content}))
    assert (run.granularity, run.k, codes(run)) == (Granularity.RESPONSE, 3, ["drafted_assumed"])
    assert counts(run) == {(r, 3, a): 1 for r in (0, 1) for a in range(4)}
    assert run.responses.select("request", "output_tokens").rows() == [("x", 10), ("y", 10)]
    assert (pooled(run)["tau"], run.semantics.bonus) == (1 + 12 / 8, Bonus.IN)


def test_without_requests_it_is_a_log_of_windows(tmp_path):
    assert recognised(tmp_path, DECODE) == ["sglang-log"]
    silent = "[2026-01-01 10:00:01] Finish: obj=GenerateReqInput(), out={'meta_info': {'id': 'x'}}\n"
    assert recognised(tmp_path, silent + DECODE) == ["sglang-log"]


def test_requests_that_say_nothing_and_checks_of_health(tmp_path):
    silent = {"id": "s", "completion_tokens": 3}
    content = finish() + finish(silent) + finish(id="HEALTH_CHECK_1", spec_verify_ct=1)
    run = only(read_files(tmp_path, {"server.log": content}))
    assert codes(run) == ["drafted_assumed", "responses_without_metrics"]
    assert run.warnings[1].message.startswith("1 of 2 answers report no drafting")
    assert run.responses["request"].to_list() == ["x"]


def test_older_names_and_only_steps(tmp_path):
    meta = {"id": "x", "completion_tokens": 10, "spec_verify_ct": 4}
    run = only(read_files(tmp_path, {"server.log": finish(meta)}))
    assert (run.sums.rows(), codes(run)) == ([(0, 4, None, 6)], ["accepted_from_tokens"])


def test_a_last_line_that_is_cut_off(tmp_path):
    run = only(read_files(tmp_path, {"server.log": finish() + finish()[:-60]}))
    assert codes(run) == ["drafted_assumed", "cut_off"]
    assert run.responses.height == 1


def test_wrong_and_nothing(tmp_path):
    with pytest.raises(InputError, match="line 1: the histogram contradicts the counts beside it"):
        read_files(tmp_path / "a", {"server.log": finish(spec_num_correct_drafts=7)})
    with pytest.raises(NothingToRead, match="no answer reports its drafting"):
        read_files(tmp_path / "b", {"server.log": finish(spec_verify_ct=0)})


def test_the_same_as_json(tmp_path):
    """With --log-requests-format json."""
    meta = META | {"spec_accept_rate": 0.5}
    events = [{"event": "request.finished", "rid": "x", "out": {"text": "…", "meta_info": meta}}] * 2
    content = "".join(json.dumps(event) + "\n" for event in events)
    assert recognised(tmp_path, content) == ["sglang-answers"]
    assert counts(only(read_files(tmp_path, {"r.jsonl": content}))) == {(r, 3, a): 1 for r in (0, 1) for a in range(4)}


EXAMPLES = {
    "sglang-requests": finish() + finish(id="y"),
}
