"""SGLang's /metrics. Expected values are hand counts of the texts here."""

import pytest

from specdash import metrics
from specdash.schema import Bonus, Granularity, NothingToRead, Span
from tests.formats.producers.reading import codes, only, read, read_files, recognised, row, sample, with_samples


def scrape(length=2.77, rate=0.69, verified=None, generated=None, tokens=None, rank="0", model="m"):
    labels = f'{{dp_rank="{rank}",engine_type="unified",model_name="{model}",tp_rank="0"}}'
    values = {"spec_accept_length": length, "spec_accept_rate": rate, "spec_num_draft_tokens": tokens}
    text = "# HELP sglang:spec_accept_length The average acceptance length.\n"
    for name, value in values.items():
        text += "" if value is None else f"sglang:{name}{labels} {value}\n"
    for name, value in {"spec_verify_calls_total": verified, "generation_tokens_total": generated}.items():
        text += "" if value is None else f'sglang:{name}{{model_name="{model}"}} {float(value)}\n'
    return text + f'sglang:e2e_request_latency_seconds_bucket{{le="0.1",model_name="{model}"}} 3.0\n'


def test_gauges_are_of_a_window(tmp_path):
    run = only(read_files(tmp_path, {"m.txt": scrape()}))
    assert (run.granularity, row(run)["dataset"], row(run)["tau"]) == (Granularity.RATES, "last window", 2.77)
    assert (run.semantics.bonus, run.semantics.span, run.config) == (Bonus.IN, Span.WINDOWS, {"model": "m"})
    assert codes(run) == ["last_window", "accept_rate_opaque"]
    assert row(run)["acceptance_ratio"] is row(run)["verify_rate"] is None


@pytest.mark.parametrize(
    ("length", "rate", "tokens", "ratio", "verify"),
    [
        (2.77, 0.69, 4, None, 0.69),  # 2.77 / 4 = 0.6925: tokens of all verified positions
        (2.77, 0.59, 4, 0.59, None),  # 1.77 / 3 = 0.59: accepted of drafted tokens
        (1.55, 0.55, 2, 0.55, None),  # 0.55 / 1
        (4.0, 1.0, 4, 1.0, 1.0),  # everything accepted: both are 1
        (2.40, 0.84, 4, None, None),  # neither: 0.6 or 0.47
    ],
)
def test_what_the_rate_is_of_follows_from_the_draft_tokens(tmp_path, length, rate, tokens, ratio, verify):
    run = only(read_files(tmp_path, {"m.txt": scrape(length, rate, tokens=tokens)}))
    assert (row(run)["acceptance_ratio"], row(run)["verify_rate"]) == (ratio, verify)
    assert ("accept_rate_opaque" in codes(run)) == (ratio is verify is None)
    said = only(read_files(tmp_path / "b", {"m.txt": scrape(length, rate)}, config={"k": tokens - 1}))
    assert (row(said)["acceptance_ratio"], row(said)["verify_rate"]) == (ratio, verify)


def test_ranks_are_rows(tmp_path):
    run = only(read_files(tmp_path, {"m.txt": scrape(2.5, None) + scrape(3.5, None, rank="1").split("\n", 1)[1]}))
    assert run.rates.select("dataset", "tau").rows() == [("last window, DP 0", 2.5), ("last window, DP 1", 3.5)]
    assert metrics.run_rows(run, {}.get)[0][-1]["dataset"] != "pooled"


def test_counters_give_tokens_per_step(tmp_path):
    runs = read_files(tmp_path, {"before.txt": scrape(2.0, None, 100, 250), "after.txt": scrape(3.0, None, 140, 370)})
    counters, gauges = runs["counters"], runs["counters (gauges)"]
    # 40 verify calls, 120 tokens
    assert (row(counters)["steps"], row(counters)["accepted"], row(counters)["drafted"]) == (40, 80, None)
    assert (counters.semantics.span, codes(counters)) == (Span.DIFFERENCE, ["accepted_from_tokens"])
    assert metrics.run_rows(counters, {}.get)[0][-1]["tau"] == 3.0
    assert row(gauges)["tau"] == 3.0


def test_models_are_runs(tmp_path):
    runs = read_files(tmp_path, {"m.txt": scrape(2.0, None) + scrape(3.0, None, model="n").split("\n", 1)[1]})
    assert {name: row(run)["tau"] for name, run in runs.items()} == {"m/m": 2.0, "m/n": 3.0}


def test_nothing_verified_yet(tmp_path):
    assert recognised(tmp_path, scrape()) == ["sglang-metrics"]
    assert recognised(tmp_path, "sglang:generation_tokens_total 5\n") == []
    with pytest.raises(NothingToRead, match="nothing was verified"):
        read_files(tmp_path, {"m.txt": scrape(0.0, 0.0, 0, 0)})


@with_samples
def test_samples(tmp_path):
    gauges = read(sample("sglang-log-lines"), tmp_path)["gauges"]
    assert (row(gauges)["tau"], row(gauges)["acceptance_ratio"]) == (1.55, None)


EXAMPLES = {
    "sglang-metrics": scrape(),
}
