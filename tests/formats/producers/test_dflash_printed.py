"""What DFlash's benchmarks print. Hand counts: 5 steps gave 12 tokens; 3 accepted a draft token, 2 two, 2 three."""

import pytest

from specdash.schema import Bonus, Granularity, InputError, NothingToRead
from tests.formats.producers.reading import (
    codes,
    only,
    outcome,
    pooled,
    read,
    read_files,
    recognised,
    row,
    sample,
    with_samples,
)


def console(dataset="gsm8k", tau="2.40", steps=5, rates=("1.000", "0.600", "0.400", "0.400")):
    positions = "".join(f"  pos {i:2}: {rate} ######\n" for i, rate in enumerate(rates))
    return (
        f"[INFO] Dataset: {dataset}, samples: 3\n  DFlash:   9 tokens, TPOT=1.6ms, tau=9.99\nRESULTS\n"
        f"(excluding first 1 warmup sample(s))\nTau (avg acceptance length): {tau}\nTotal drafts: {steps}\n\n"
        f"Per-position acceptance rate:\n{positions}\nAcceptance length histogram: ['0.0%']\n"
    )


def test_counts_follow_from_what_the_console_prints(tmp_path):
    content = "Started\n" + console() + console("mbpp", "3.00", 4, ("1.000", "1.000", "0.750", "0.250"))
    assert recognised(tmp_path, content) == ["dflash-console"]
    run = only(read_files(tmp_path, {"bench.log": content}))
    assert (run.granularity, run.k, codes(run)) == (Granularity.AGGREGATE, 3, [])
    assert run.counters.select("dataset", "steps", "drafted", "accepted", "per_position", "block").rows() == [
        ("gsm8k", 5, 15, 7, [3, 2, 2], 3),
        ("mbpp", 4, 12, 8, [4, 3, 1], 3),
    ]
    assert (run.semantics.bonus, run.semantics.position_base) == (Bonus.IN, 1)


def test_ratios_that_tell_no_counts_stay_ratios(tmp_path):
    runs = read_files(tmp_path, {"bench.log": console() + console("many", steps=5000) + console("odd", tau="2.60")})
    assert sorted(runs) == ["counts", "ratios"]
    assert runs["ratios"].rates.select("dataset", "tau", "p").rows() == [
        ("many", 2.4, [0.6, 0.4, 0.4]),
        ("odd", 2.6, [0.6, 0.4, 0.4]),
    ]


@pytest.mark.parametrize("odd", [{"tau": "0.50"}, {"tau": "1.2.3"}, {"rates": ("1.000", "1.600")}])
def test_what_cannot_be_is_refused(tmp_path, odd):
    with pytest.raises(InputError, match="gsm8k: what is printed cannot be"):
        read_files(tmp_path, {"bench.log": console(**odd)})


POSITIONS = "dataset,tau,pos_0,pos_1,pos_2\ngsm8k,2.0,1.0,0.6,0.4\nmbpp,1.5,1.0,0.5,0.0\n"


def test_rates_by_position_begin_with_the_token_known_before(tmp_path):
    assert recognised(tmp_path, POSITIONS, "x.csv") == ["dflash-positions"]
    run = only(read_files(tmp_path, {"x.csv": POSITIONS}))
    assert (run.granularity, run.k) == (Granularity.RATES, 2)
    assert run.rates.select("dataset", "tau", "p").rows() == [("gsm8k", 2.0, [0.6, 0.4]), ("mbpp", 1.5, [0.5, 0.0])]
    assert recognised(tmp_path, POSITIONS.replace("2.0,1.0", "2.0,0.8"), "x.csv") == []
    with pytest.raises(InputError, match="line 3: rates that cannot be"):
        read_files(tmp_path / "b", {"x.csv": POSITIONS.replace("1.5,1.0", "1.5,0.9")})


SAMPLES = (
    "dataset,sample_index,is_warmup,num_input_tokens,dflash_tpot_ms,tau,num_drafts\n"
    "gsm8k,0,True,9,1.0,4.0,2\ngsm8k,1,False,9,1.0,3.0,3\ngsm8k,2,False,9,1.0,1.5,2\n"
)


def test_lengths_of_samples(tmp_path):
    assert recognised(tmp_path, SAMPLES, "x.csv") == ["dflash-samples"]
    run = only(read_files(tmp_path, {"x.csv": SAMPLES}))
    assert (run.granularity, codes(run), pooled(run)["tau"]) == (Granularity.RESPONSE, ["warmup_left_out"], 12 / 5)
    assert run.sums.rows() == [(0, 3, None, 6), (1, 2, None, 1)]
    with pytest.raises(NothingToRead, match="holds no sample"):
        read_files(tmp_path / "b", {"x.csv": "\n".join(SAMPLES.splitlines()[:2]) + "\n"})


METRICS = (
    "metric,value\ntau,2.4\ndraft_acceptance_rate,0.4667\nnum_drafts,5\nnum_draft_tokens,15\nnum_accepted_tokens,7\n"
    "acceptance_pos_0,0.6\nacceptance_pos_1,0.4\nacceptance_pos_2,0.4\n"
)


def test_metrics_of_a_run_on_vllm(tmp_path):
    assert recognised(tmp_path, METRICS, "x.csv") == ["dflash-metrics"]
    run = only(read_files(tmp_path, {"x.csv": METRICS}))
    assert (row(run)["steps"], row(run)["per_position"], run.k, codes(run)) == (5, [3, 2, 2], 3, [])
    assert outcome(run, "stored_ratios") == "pass"
    with pytest.raises(NothingToRead, match="no drafts are counted"):
        read_files(tmp_path / "b", {"x.csv": METRICS.replace("num_drafts,5", "num_drafts,0")})


@with_samples
def test_samples(tmp_path):
    """The tables and the console are of the same runs as the JSON, or say their numbers themselves."""
    folder = sample("dflash-tpu-aaronzhfeng")
    by_sample = only(read(folder / "standalone_per_sample.csv", tmp_path / "a"))
    sums = by_sample.sums.join(by_sample.responses, on="response").select("dataset", "steps", "accepted")
    totals = {name: (steps, steps + accepted) for name, steps, accepted in sums.group_by("dataset").sum().rows()}
    assert totals == {"gsm8k": (338, 1746), "math500": (196, 1710), "aime24": (290, 1832), "aime25": (280, 1815)}
    rates = only(read(folder / "standalone_acceptance_per_pos.csv", tmp_path / "b")).rates
    assert rates.select("dataset", "tau").rows() == [
        ("gsm8k", 5.17),
        ("math500", 8.72),
        ("aime24", 6.32),
        ("aime25", 6.48),
    ]
    console_ = only(read(folder / "v5p-pr-benchmark.log", tmp_path / "c")).counters
    assert console_.select("dataset", "steps").rows()[:3] == [("math500", 195), ("aime24", 283), ("aime25", 297)]
    assert [round(1 + a / s, 2) for s, a in console_.select("steps", "accepted").rows()[:3]] == [8.8, 6.48, 6.14]
    metrics = row(only(read(folder / "vllm_pipeline_acceptance.csv", tmp_path / "d")))
    assert (metrics["steps"], metrics["drafted"], metrics["accepted"]) == (1968, 29520, 6845)
    assert [round(n / 1968, 4) for n in metrics["per_position"]][:3] == [0.7795, 0.5803, 0.4314]


EXAMPLES = {
    "dflash-console": console(),
    "dflash-metrics": METRICS,
    "dflash-positions": POSITIONS,
    "dflash-samples": SAMPLES,
}
