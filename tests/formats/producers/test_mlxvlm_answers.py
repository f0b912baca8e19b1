"""mlx-vlm's timings: 30 rounds, 81 accepted of 90 drafted tokens make 111 tokens."""

import json

import pytest

from specdash import metrics
from specdash.schema import NothingToRead
from tests.formats.producers.reading import only, read, read_files, recognised, sample, with_samples

TIMINGS = {"draft_kind": "mtp", "draft_rounds": 30, "draft_n": 90, "draft_n_accepted": 81}


def pooled(run):
    return metrics.run_rows(run, {}.get)[0][-1]


@pytest.mark.parametrize(
    "content", [TIMINGS, {"id": "a", "choices": [{}], "usage": {"completion_tokens": 111}, "timings": TIMINGS}]
)
def test_rounds_are_steps(tmp_path, content):
    run = only(read_files(tmp_path, {"a.json": json.dumps(content)}))
    assert (run.sums.rows(), pooled(run)["tau"], pooled(run)["acceptance_ratio"]) == ([(0, 30, 90, 81)], 3.7, 0.9)
    assert recognised(tmp_path, json.dumps(content)) == ["mlxvlm-answer"]


def test_no_rounds(tmp_path):
    with pytest.raises(NothingToRead):
        read_files(tmp_path, {"a.json": json.dumps(TIMINGS | {"draft_rounds": 0, "draft_n": 0, "draft_n_accepted": 0})})


@with_samples
def test_samples(tmp_path):
    assert pooled(only(read(sample("mlx-vlm-pr1788"), tmp_path)))["tau"] == 111 / 30


EXAMPLES = {
    "mlxvlm-answer": json.dumps({"id": "a", "choices": [{}], "timings": TIMINGS}),
    "mlxvlm-answers": json.dumps({"id": "a", "choices": [{}], "timings": TIMINGS})
    + "\n"
    + json.dumps({"timings": TIMINGS})
    + "\n",
}
