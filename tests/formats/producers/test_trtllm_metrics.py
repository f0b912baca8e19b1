"""TensorRT-LLM's metrics for Prometheus. Expected values are hand counts of the texts here."""

import pytest

from specdash import metrics
from specdash.schema import Granularity, NothingToRead, Span
from tests.formats.producers.reading import codes, only, read_files, recognised, row

LABELS = '{engine_type="undefined",model_name="m"}'


def scrape(drafted, accepted, length, total="_total"):
    return (
        "# TYPE trtllm_kv_cache_utilization gauge\n"
        f"trtllm_spec_decode_num_draft_tokens{total}{LABELS} {drafted}\n"
        f"trtllm_spec_decode_num_accepted_tokens{total}{LABELS} {accepted}\n"
        f"trtllm_spec_decode_acceptance_length{LABELS} {length}\ntrtllm_spec_decode_draft_overhead{LABELS} 0.1\n"
    )


def test_counters_give_a_ratio_and_the_gauge_a_length_of_one_iteration(tmp_path):
    runs = read_files(tmp_path, {"before.prom": scrape(100.0, 40.0, 2.0), "after.prom": scrape(300.0, 140.0, 2.75)})
    counters, gauges = runs["counters"], runs["counters (gauges)"]
    assert (row(counters)["drafted"], row(counters)["accepted"], row(counters)["steps"]) == (200, 100, None)
    pooled = metrics.run_rows(counters, {}.get)[0][-1]
    assert (pooled["tau"], pooled["acceptance_ratio"]) == (None, 0.5)
    assert (counters.granularity, counters.semantics.span) == (Granularity.AGGREGATE, Span.DIFFERENCE)
    assert (row(gauges)["tau"], gauges.semantics.span, codes(gauges)) == (2.75, Span.WINDOWS, ["last_window"])


def test_names_without_total_are_gauges(tmp_path):
    run = only(read_files(tmp_path, {"m.prom": scrape(12.0, 7.0, 2.75, total="")}))
    assert run.granularity is Granularity.RATES
    assert (row(run)["tau"], row(run)["acceptance_ratio"]) == (2.75, 7 / 12)


@pytest.mark.parametrize("length", [0.0, 1.0])
def test_nothing_drafted(tmp_path, length):
    assert recognised(tmp_path, scrape(0, 0, length)) == ["trtllm-metrics"]
    with pytest.raises(NothingToRead, match="nothing was drafted"):
        read_files(tmp_path, {"m.prom": scrape(0, 0, length)})


EXAMPLES = {
    "trtllm-metrics": scrape(100.0, 40.0, 2.0),
}
