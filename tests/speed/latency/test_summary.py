"""Latencies of a run in sum, against what the tool that measured them has printed and against a hand count."""

import pytest

from specdash import ingest
from specdash.speed.latency.summary import latency_rows
from tests.formats.producers.reading import TRIMMED
from tests.helpers import latencies
from tests.speed.latency.timings import timing

FAMILIES = {"gsm8k": "math"}.get

PRINTED = {
    "tpot": (9.68, 4.67, 36.59, 38.00),
    "e2e": (1083.08, 537.13, 3729.91, 3868.10),
    "ttft": (163.09, 45.68, 490.67, 737.13),
}
"""Mean, p50, p95 and p99 in ms as ``vllm bench serve`` printed them (ngram_c4_t0.stdout.txt)."""

PRINTED_BASELINE = {
    "tpot": (4.966117, 5.122555, 5.691197, 5.753504),
    "e2e": (499.068500, 519.645784, 568.954790, 570.462147),
    "ttft": (27.287362, 27.009178, 35.950956, 40.014817),
}
"""The same of the baseline, from its JSON."""


def milliseconds(row):
    return [1000 * row[key] for key in ("mean_s", "p50_s", "p95_s", "p99_s")]


@pytest.mark.parametrize(
    ("file", "printed", "digits"), [("ngram", PRINTED, 0.006), ("baseline", PRINTED_BASELINE, 0.001)]
)
def test_statistics_are_those_that_the_tool_printed(tmp_path, file, printed, digits):
    (run,) = ingest.read(TRIMMED / "vllm-bench" / f"{file}_c4_t0.json", tmp_path).runs
    rows = latency_rows(run.latencies, FAMILIES)
    pooled = {row["measure"]: row for row in rows if row["family"] is None}
    assert list(pooled) == ["tpot", "e2e", "ttft", "per_token"]
    for measure, numbers in printed.items():
        assert milliseconds(pooled[measure]) == pytest.approx(numbers, abs=digits)
        assert (pooled[measure]["requests"], pooled[measure]["timed"], pooled[measure]["failed"]) == (48, 48, 0)
    # 96 tokens every time, so end to end per token is a 96th of end to end.
    assert milliseconds(pooled["per_token"]) == pytest.approx([n / 96 for n in printed["e2e"]], abs=digits)
    assert pooled["e2e"]["output_tokens"] == 96


def test_failed_requests_and_what_was_not_timed():
    """gsm8k by hand: end to end 1 s and 3 s, one failed; the other dataset says no lengths and no first token."""
    rows = latency_rows(
        latencies(
            timing(1.0, ttft=0.5, tokens=11, dataset="gsm8k"),
            timing(3.0, ttft=1.0, tokens=21, dataset="gsm8k"),
            timing(None, ttft=None, tokens=None, dataset="gsm8k", error="500"),
            timing(2.0, ttft=None, tokens=None, dataset="x"),
        ),
        FAMILIES,
    )
    found = {(row["dataset"], row["measure"]): row for row in rows}
    assert [*dict.fromkeys((row["dataset"], row["family"]) for row in rows)] == [
        ("gsm8k", "math"), ("x", "other"), ("pooled", None),
    ]  # fmt: skip
    # TPOT: 0.5/10 and 2/20; p95 of two values lies 95 % of the way.
    tpot = found["gsm8k", "tpot"]
    assert (tpot["requests"], tpot["failed"], tpot["timed"], tpot["output_tokens"]) == (3, 1, 2, 16)
    assert milliseconds(tpot) == pytest.approx([75, 75, 97.5, 99.5])
    assert milliseconds(found["pooled", "e2e"]) == pytest.approx([2000, 2000, 2900, 2980])
    assert found["pooled", "e2e"]["timed"] == 3
    nothing = found["x", "tpot"]
    assert (nothing["timed"], nothing["output_tokens"], nothing["mean_s"], nothing["p99_s"]) == (0, None, None, None)


def test_a_measure_that_nothing_has_is_left_out():
    rows = latency_rows(latencies({"e2e_s": 1.0}, {"e2e_s": 2.0}), FAMILIES)
    assert [(row["dataset"], row["measure"]) for row in rows] == [("d", "e2e"), ("pooled", "e2e")]
    assert latency_rows(latencies({"error": "refused"}), FAMILIES) == []
    assert latency_rows(latencies(), FAMILIES) == []
