"""dflash-mlx's benchmark results. Expected values are hand counts: 16 cycles that gave 64 tokens, 4 a cycle."""

import json

import pytest

from specdash import metrics
from specdash.schema import Bonus, InputError, NothingToRead
from tests.formats.producers.reading import codes, only, read_files, recognised


def result(*runs):
    config = {
        "target_model": "t",
        "draft_model": "d",
        "max_new_tokens": 64,
        "block_tokens": 8,
        "prompt": "secret",
        "prompt_id": "q",
    }
    made = [
        {"run": i, "baseline": {"generation_tps": 50.0}, "dflash": run, "speedup": 3.0} for i, run in enumerate(runs, 1)
    ]
    return json.dumps({"hardware": {"chip": "M5"}, "config": config, "runs": made, "summary": {}})


RUN = {"tokens_per_cycle": 4.0, "cycles": 16, "acceptance_ratio": 0.75, "acceptance_first_20_avg": 3.0}


def test_cycles_are_steps_and_runs_are_copies(tmp_path):
    run = only(
        read_files(
            tmp_path,
            {"r.json": result(RUN, RUN | {"tokens_per_cycle": 64 / 18, "cycles": 18, "acceptance_ratio": 1 - 18 / 64})},
        )
    )
    assert run.sums.rows() == [(0, 16, None, 48), (1, 18, None, 46)]
    assert run.responses.select("prompt", "copy", "output_tokens").rows() == [("q", 0, 64), ("q", 1, 64)]
    pooled = metrics.run_rows(run, {}.get)[0][-1]
    assert (pooled["tau"], pooled["acceptance_ratio"]) == (128 / 34, None)  # drafted tokens are not counted
    assert (run.config["model"], run.config["drafter"], run.config["hardware"]) == ("t", "d", "M5")
    assert "prompt" not in run.config and codes(run) == []
    assert (run.semantics.bonus, run.semantics.note) == (
        Bonus.IN, "Its acceptance_ratio is the share of output tokens that came from drafts.",
    )  # fmt: skip


def test_another_ratio_is_told(tmp_path):
    run = only(read_files(tmp_path, {"r.json": result(RUN | {"acceptance_ratio": 0.5})}))
    assert (
        run.warnings[0].message == "stored ratios differ: acceptance_ratio 0.5 of run 1 is 0.7500 by tokens and cycles"
    )


@pytest.mark.parametrize("change", [{"tokens_per_cycle": 4.01}, {"tokens_per_cycle": 0.5}, {"cycles": -1}])
def test_refused(tmp_path, change):
    with pytest.raises(InputError):
        read_files(tmp_path, {"r.json": result(RUN | change)})


def test_no_cycles(tmp_path):
    assert recognised(tmp_path, result(RUN)) == ["dflash-mlx"]
    with pytest.raises(NothingToRead):
        read_files(tmp_path, {"r.json": result(RUN | {"cycles": 0, "tokens_per_cycle": 0.0})})


EXAMPLES = {
    "dflash-mlx": result(RUN),
}
