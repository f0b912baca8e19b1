"""Predicted tokens in an answer's usage. Expected values are hand counts."""

import json

import pytest

from specdash import metrics
from specdash.formats import producers
from specdash.schema import NothingToRead
from tests.formats.files import stored
from tests.formats.producers.reading import codes, only, read_files


def answer(accepted, rejected, id_="a"):
    details = {"reasoning_tokens": 0, "accepted_prediction_tokens": accepted, "rejected_prediction_tokens": rejected}
    usage = {"prompt_tokens": 9, "completion_tokens": 40, "completion_tokens_details": details}
    return {"id": id_, "object": "chat.completion", "model": "m", "choices": [{"index": 0}], "usage": usage}


def lines(*objects):
    return "".join(json.dumps(found) + "\n" for found in objects)


def test_accepted_of_predicted(tmp_path):
    run = only(read_files(tmp_path, {"a.jsonl": lines(answer(30, 10), answer(0, 0, "b"), answer(6, 14, "c"))}))
    assert run.sums.rows() == [(0, None, 40, 30), (1, None, 20, 6)]
    pooled = metrics.run_rows(run, {}.get)[0][-1]
    assert (pooled["tau"], pooled["acceptance_ratio"]) == (None, 36 / 60)
    assert codes(run) == ["responses_without_metrics", "steps_unknown"]
    assert run.responses["output_tokens"].null_count() == 2  # rejected tokens may be among the completion's
    assert run.warnings[1].message == "verify steps are not counted, so τ is not known"


@pytest.mark.parametrize("counts", [(0, 0), (None, None)])
def test_nothing_predicted(tmp_path, counts):
    with pytest.raises(NothingToRead, match="zeros or nulls: nothing was predicted"):
        read_files(tmp_path, {"a.json": json.dumps(answer(*counts))})


def test_other_servers_marks_come_first(tmp_path):
    def recognised(found):
        return producers.recognise(stored(tmp_path, "a.json", json.dumps(found))).key

    assert recognised(answer(1, 2)) == "openai-usage-answer"
    assert recognised(answer(1, 2) | {"sglext": {"spec_tokens_details": {"spec_verify_ct": 2}}}) == "sglang-answer"
    assert recognised(answer(1, 2) | {"timings": {"draft_n": 3, "draft_n_accepted": 1}}) == "llamacpp-answer"


EXAMPLES = {
    "openai-usage-answer": json.dumps(answer(30, 10)),
    "openai-usage-answers": lines(answer(30, 10), answer(6, 14, "b")),
}
