"""DFlash's standalone results. Hand counts: blocks of 4, so K = 3; lengths count the bonus token."""

import json

import pytest

from specdash.schema import Bonus, End, Granularity, InputError, NothingToRead
from tests.formats.producers.reading import (
    codes,
    counts,
    only,
    outcome,
    pooled,
    read,
    read_files,
    recognised,
    sample,
    with_samples,
)

CONFIG = {"target_model": "t", "draft_model": "d", "dataset": "gsm8k", "block_size": 4, "max_new_tokens": 9}


def answered(number, lengths, *, warms_up=False, tokens=9, **fields):
    said = {"sample_index": number, "is_warmup": warms_up, "dflash_num_output_tokens": tokens}
    return said | {"num_drafts": len(lengths), "tau": 9.9, "acceptance_lengths": lengths} | fields


# Without the warm-up: lengths 4 1 4 and 2 1, 12 tokens in 5 steps. At least one draft token: 3 of 5, two: 2, three: 2.
SUMMARY = {"tau": 2.4, "total_drafts": 5, "acceptance_rate_per_pos": [1.0, 0.6, 0.4, 0.4]}
SAMPLES = [answered(0, [4, 4], warms_up=True), answered(1, [4, 1, 4]), answered(2, [2, 1], tokens=3)]


def result(samples=SAMPLES, config=CONFIG, summary=SUMMARY, name="per_sample"):
    return json.dumps({"config": config, "summary": summary, name: samples})


def test_warm_up_samples_are_left_out(tmp_path):
    run = only(read_files(tmp_path, {"r.json": result()}))
    assert (run.granularity, run.k, codes(run)) == (Granularity.STEP, 3, ["warmup_left_out"])
    assert counts(run) == {(0, 3, 3): 2, (0, 3, 0): 1, (1, 3, 1): 1, (1, 3, 0): 1}
    assert (pooled(run)["tau"], pooled(run)["p"]) == (12 / 5, [3 / 5, 2 / 5, 2 / 5])
    assert run.responses.select("dataset", "prompt", "output_tokens").rows() == [("gsm8k", "1", 9), ("gsm8k", "2", 3)]
    assert (run.semantics.bonus, run.semantics.position_base, run.semantics.end) == (Bonus.IN, 1, End.RAW)
    assert (run.config["model"], run.config["drafter"], run.config["max_tokens"]) == ("t", "d", 9)


def test_the_first_rate_is_of_the_token_known_before(tmp_path):
    run = only(read_files(tmp_path, {"r.json": result()}))
    (stored,) = run.printed
    assert (stored["tau"], stored["p"]) == (2.4, [0.6, 0.4, 0.4])
    assert outcome(run, "stored_ratios") == "pass"
    wrong = SUMMARY | {"acceptance_rate_per_pos": [1.0, 0.9, 0.4, 0.4]}
    run = only(read_files(tmp_path / "wrong", {"r.json": result(summary=wrong)}))
    assert outcome(run, "stored_ratios") == "warn"  # no more: the ends of two responses could explain it


def test_a_replay(tmp_path):
    samples = [{"prompt_text": "secret", "dflash": {"acceptance_lengths": [4, 1], "num_output_tokens": 4, "tau": 2.5}}]
    content = result(samples, name="samples")
    assert recognised(tmp_path, content) == ["dflash-standalone"]
    run = only(read_files(tmp_path, {"r.json": content}))
    assert counts(run) == {(0, 3, 3): 1, (0, 3, 0): 1} and codes(run) == []
    assert run.responses["output_tokens"].to_list() == [4]


@pytest.mark.parametrize("long", ["", "x" * 70_000])
def test_recognised_behind_a_long_answer(tmp_path, long):
    assert recognised(tmp_path, result([{"baseline_text": long} | answered(1, [4])])) == ["dflash-standalone"]


def test_the_block_size_may_only_show_in_the_rates(tmp_path):
    config = CONFIG | {"block_size": None}
    assert only(read_files(tmp_path / "rates", {"r.json": result(config=config)})).k == 3
    run = only(read_files(tmp_path / "unknown", {"r.json": result(config=config, summary={})}))
    assert (run.k, codes(run)) == (None, ["k_unknown", "warmup_left_out"])
    run = only(read_files(tmp_path / "said", {"r.json": result(config=config, summary={})}, config={"k": 3}))
    assert (run.k, run.granularity) == (3, Granularity.STEP)


@pytest.mark.parametrize(
    ("samples", "said"),
    [
        ([answered(1, [5])], "sample 1: an acceptance length cannot be; found 5; expected 1 to 4"),
        ([answered(1, [0])], "sample 1: an acceptance length cannot be; found 0"),
        ([answered(1, [2, 2], num_drafts=3)], "sample 1: num_drafts is another; found 3 drafts, 2 lengths"),
        ([answered(1, [2.5], num_drafts=1)], "acceptance_lengths is not a count; found 2.5"),
    ],
)
def test_refused(tmp_path, samples, said):
    with pytest.raises(InputError, match=said):
        read_files(tmp_path, {"r.json": result(samples)})


def test_nothing_but_warm_up(tmp_path):
    with pytest.raises(NothingToRead, match="no sample has acceptance lengths; found warm-up samples alone: 1"):
        read_files(tmp_path, {"r.json": result(SAMPLES[:1])})


@with_samples
@pytest.mark.parametrize(
    ("name", "tokens", "steps"),
    [
        # As the project's notes on formats count them, and the files' own summaries.
        ("standalone_gsm8k", 1746, 338),
        ("standalone_math500", 1710, 196),
        ("standalone_aime25", 1815, 280),
        ("v5_acceptance_gsm8k", 4392, 742),
        ("raw_gsm8k", 1729, 304),
        ("replay_gsm8k", 1729, 304),
    ],
)
def test_samples(tmp_path, name, tokens, steps):
    run = only(read(sample("dflash-tpu-aaronzhfeng") / f"{name}.json", tmp_path))
    assert run.counts["steps"].sum() == steps
    assert (run.counts["steps"] * (run.counts["accepted"] + 1)).sum() == tokens
    assert outcome(run, "stored_ratios") == "pass"


EXAMPLES = {
    "dflash-standalone": result(),
}
