"""DeepSpec: metrics.json of each dataset, and what it prints. Both hold ratios, which are shown as they stand there."""

import json

import pytest

from specdash.schema import Bonus, End, Granularity, InputError, NothingToRead, PerPosition
from tests.formats.producers.reading import codes, only, read_files, recognised, row

SPEC = {
    "dataset": "gsm8k",
    "num_samples": 100,
    "draft_tokens_per_proposal": 1.98,
    "acceptance_length": 2.31,
    "verify_rate": 0.7752,
    "accept_rates_by_position": [0.8, 0.53],
}
CONFIDENCE = {"dataset": "gsm8k", "per_position": [{"position": 0, "auc": float("nan"), "ece": 0.02}]}
ARGS = {
    "target_name_or_path": "t",
    "draft_name_or_path": "d",
    "temperature": 1.0,
    "seed": 980406,
    "tensorboard_dir": None,
}


def metrics(args=ARGS, **spec):
    """A metrics.json as Python writes it, with a bare NaN."""
    config = {"args": args, "tasks": [["gsm8k", 100]]}
    return json.dumps({"config": config, "spec": SPEC | spec, "confidence": CONFIDENCE, "confidence_summary": {}})


def test_ratios_of_a_dataset(tmp_path):
    assert "NaN" in metrics()
    assert recognised(tmp_path, metrics()) == ["deepspec-metrics"]
    run = only(read_files(tmp_path, {"metrics.json": metrics()}))
    assert (run.granularity, run.k, codes(run)) == (Granularity.RATES, 2, [])
    found = {name: value for name, value in row(run).items() if value is not None}
    assert found == {
        "dataset": "gsm8k", "tau": 2.31, "mean_drafted": 1.98, "verify_rate": 0.7752, "p_exposed": [0.8, 0.53],
    }  # fmt: skip
    assert (run.config["model"], run.config["drafter"], run.config["temperature"]) == ("t", "d", 1.0)
    said = run.semantics
    assert (said.bonus, said.position_base, said.per_position, said.end) == (
        Bonus.IN, 0, PerPosition.EXPOSED, End.CUT,
    )  # fmt: skip


def test_the_datasets_of_a_step_are_one_run(tmp_path):
    at = "artifacts/step_{}/{}/metrics.json"
    files = {
        at.format(100, "gsm8k"): metrics(),
        at.format(100, "mbpp"): metrics(dataset="mbpp", acceptance_length=1.9, accept_rates_by_position=[0.7]),
        at.format(200, "gsm8k"): metrics(acceptance_length=2.5),
    }
    runs = read_files(tmp_path, files)
    assert {name: run.rates.select("dataset", "tau", "p_exposed").rows() for name, run in runs.items()} == {
        "step_100": [("gsm8k", 2.31, [0.8, 0.53]), ("mbpp", 1.9, [0.7, None])],
        "step_200": [("gsm8k", 2.5, [0.8, 0.53])],
    }


def test_files_of_one_dataset_are_runs(tmp_path):
    runs = read_files(tmp_path, {"a.json": metrics(), "b.json": metrics(acceptance_length=2.5)})
    assert {name: row(run)["tau"] for name, run in runs.items()} == {"a": 2.31, "b": 2.5}


def test_positions_that_no_draft_reached_and_no_steps_at_all(tmp_path):
    run = only(read_files(tmp_path, {"metrics.json": metrics(accept_rates_by_position=[0.8, None])}))
    assert row(run)["p_exposed"] == [0.8, None]
    nothing = metrics(acceptance_length=0.0, accept_rates_by_position=[None, None])
    with pytest.raises(NothingToRead, match="no step was made"):
        read_files(tmp_path / "empty", {"metrics.json": nothing})


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"acceptance_length": "2"}, "acceptance_length is not a number"),
        ({"verify_rate": 1.5}, "verify_rate is impossible; found 1.5; expected 0 to 1"),
        ({"accept_rates_by_position": [0.5, 2.0]}, "accept rate 1 is impossible; found 2.0"),
        ({"accept_rates_by_position": None}, "accept_rates_by_position is no list of rates"),
    ],
)
def test_refused(tmp_path, spec, said):
    with pytest.raises(InputError, match=said):
        read_files(tmp_path, {"metrics.json": metrics(**spec)})


HEAD = """\
+---------+--------------+-------------+----------+------------+-------------+---------+---------------+---------------+
| dataset | target_model | draft_model | #propose | accept_len | verify_rate | samples | accept_rate@0 | accept_rate@1 |
"""
FIRST = """\
+---------+--------------+-------------+----------+------------+-------------+---------+---------------+---------------+
|  gsm8k  |      t       |      d      |  1.98+1  |    2.31    |    0.7752   |   100   |     0.8000    |     0.5300    |
+---------+--------------+-------------+----------+------------+-------------+---------+---------------+---------------+
"""


@pytest.mark.parametrize("name", ["eval.log", "stdout", "nohup.out"])
def test_what_it_prints(tmp_path, name):
    """Its arguments, a row without a head for each dataset as it is done, a line on confidence, the whole table."""
    chatter = "".join(f"sample {i}\n" for i in range(9_000))
    printed = json.dumps(ARGS, indent=2) + "\n" + chatter + FIRST + json.dumps(CONFIDENCE) + "\n" + HEAD + FIRST
    run = only(read_files(tmp_path, {name: printed}))
    found = {name: value for name, value in row(run).items() if value is not None}
    assert found == {
        "dataset": "gsm8k", "tau": 2.31, "mean_drafted": 1.98, "verify_rate": 0.7752, "p_exposed": [0.8, 0.53],
    }  # fmt: skip
    assert (run.k, run.semantics.per_position) == (2, PerPosition.EXPOSED)


EXAMPLES = {
    "deepspec-metrics": metrics(),
}
