"""jointadaspec. Hand counts: two seeds that accepted 30 of 50 and 20 of 40 proposed tokens."""

import json

import pytest

from specdash.schema import Granularity, InputError, NothingToRead
from tests.formats.producers.reading import codes, only, pooled, read_files, recognised

LINE = {
    "status": "ok",
    "summary": False,
    "run": 1,
    "seed": 1,
    "method": "joint",
    "dataset": "gsm8k",
    "target_model": "t",
    "draft_model": "d",
    "total_generated_tokens": 57,
    "duration_sec": 2.0,
    "acceptance_rate": 0.6,
    "avg_tokens_per_step": 0.57,
    "proposed": 50.0,
    "accepted": 30.0,
    "steps": 100.0,
    "rejections": 20.0,
}
OTHER = LINE | {"seed": 2, "proposed": 40.0, "accepted": 20.0, "acceptance_rate": 0.5}
SUMMARY = LINE | {"summary": True, "proposed": None, "runs": 2}
PLAIN = LINE | {"method": "target_only", "proposed": 0.0, "accepted": 0.0}


def lines(*found):
    return "".join(json.dumps(one, sort_keys=True) + "\n" for one in found)


def test_seeds_add_up_and_steps_are_not_known(tmp_path):
    content = lines(LINE, OTHER, PLAIN, {"status": "error", "method": "joint", "error_message": "x"}, SUMMARY)
    assert recognised(tmp_path, content) == ["jointadaspec-results"]
    run = only(read_files(tmp_path, {"results.jsonl": content}))
    assert (run.granularity, codes(run)) == (Granularity.AGGREGATE, ["steps_unknown"])
    assert run.counters.select("dataset", "steps", "drafted", "accepted").rows() == [("gsm8k", None, 90, 50)]
    assert (pooled(run)["tau"], pooled(run)["acceptance_ratio"]) == (None, 50 / 90)
    assert (run.config["model"], run.config["drafter"]) == ("t", "d")


def test_methods_are_runs_and_datasets_rows(tmp_path):
    content = lines(LINE, LINE | {"dataset": "mbpp"}, OTHER | {"method": "fixed"})
    runs = read_files(tmp_path, {"results.jsonl": content})
    assert {name: run.counters.select("dataset", "accepted").rows() for name, run in runs.items()} == {
        "fixed": [("gsm8k", 20)], "joint": [("gsm8k", 30), ("mbpp", 30)],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"proposed": 50.5}, "line 2: proposed is not a count; found 50.5"),
        ({"accepted": 60.0}, "more tokens accepted than drafted; found 60 of 50"),
    ],
)
def test_refused(tmp_path, found, said):
    with pytest.raises(InputError, match=said):
        read_files(tmp_path, {"results.jsonl": lines(LINE, LINE | found)})


def test_nothing_was_drafted(tmp_path):
    with pytest.raises(NothingToRead, match="no method drafted anything"):
        read_files(tmp_path, {"results.jsonl": lines(PLAIN)})


HEAD = (
    "decoder,run,prompt_idx,n_tokens_generated,acceptance_rate,total_time_ms,tokens_per_sec,"
    "n_target_calls,n_draft_calls"
)


def test_rows_of_prompts_are_latencies(tmp_path):
    content = "\n".join([HEAD, "target_only,1,0,9,0.0,900.0,10.0,9,0", "joint,1,0,9,0.6,450.0,20.0,5,12", ""])
    assert recognised(tmp_path, content, "benchmark.csv") == ["jointadaspec-prompts"]
    runs = read_files(tmp_path, {"benchmark.csv": content})
    columns = "prompt", "copy", "e2e_s", "output_tokens"
    assert {name: run.latencies.select(columns).rows() for name, run in runs.items()} == {
        "joint": [("0", 1, 0.45, 9)], "target_only": [("0", 1, 0.9, 9)],
    }  # fmt: skip
    assert runs["joint"].granularity is Granularity.LATENCIES


@pytest.mark.parametrize(
    ("cell", "said"), [("-1", "line 2: a negative time"), ("x", "line 2: total_time_ms is not a n")]
)
def test_a_row_of_a_prompt_is_refused(tmp_path, cell, said):
    with pytest.raises(InputError, match=said):
        read_files(tmp_path, {"b.csv": f"{HEAD}\njoint,1,0,9,0.6,{cell},20.0,5,12\njoint,1,0,9,0.6,1,20.0,5,12\n"})


EXAMPLES = {
    "jointadaspec-prompts": HEAD + "\njoint,1,0,9,0.6,450.0,20.0,5,12\njoint,1,1,9,0.5,500.0,18.0,6,12\n",
    "jointadaspec-results": lines(LINE, OTHER),
}
