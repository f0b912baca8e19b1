"""LMDeploy's counters and log. Expected values are hand counts of the texts here."""

import pytest

from specdash import metrics
from specdash.schema import Bonus, InputError, NothingToRead, Span
from tests.formats.producers.reading import codes, only, read_files, recognised, row


def scrape(drafts, drafted, positions, engine="0"):
    labels = f'engine="{engine}",model_name="m"'
    text = f"lmdeploy:spec_decode_num_drafts_total{{{labels}}} {float(drafts)}\n"
    text += f"lmdeploy:spec_decode_num_draft_tokens_total{{{labels}}} {float(drafted)}\n"
    text += f"lmdeploy:spec_decode_num_accepted_tokens_total{{{labels}}} {float(sum(positions))}\n"
    text += f"lmdeploy:spec_decode_mean_accept_length{{{labels}}} 9.9\n"
    for i, value in enumerate(positions):
        text += f'lmdeploy:spec_decode_num_accepted_tokens_per_pos_total{{{labels},position="{i}"}} {float(value)}\n'
        text += f'lmdeploy:spec_decode_per_position_accept_rate{{{labels},position="{i}"}} 0.5\n'
    return text


def line(accepted, drafted, mean, rates, place="DP0] Avg prompt throughput: 11.1 tokens/s"):
    said = f"Draft acceptance rate: {100 * accepted / drafted:.2f}%, Mean acceptance length: {mean}"
    tokens = f"Accepted: {accepted} tokens, Drafted: {drafted} tokens"
    return (
        f"[2026-01-01 10:00:00 {place}, SpecDecoding metrics: {said}, {tokens}, Per-position acceptance rate: {rates}\n"
    )


# Ten steps of two drafted tokens: 7 and 3 accepted. Then twenty: 16 and 10.
FIRST, SECOND = line(10, 20, "2.00", "0.700, 0.300"), line(26, 40, "2.30", "0.800, 0.500")


def test_counters_of_engines_add_up(tmp_path):
    run = only(read_files(tmp_path, {"m.prom": scrape(10, 20, [7, 3]) + scrape(20, 40, [16, 10], engine="1")}))
    assert (row(run)["steps"], row(run)["per_position"], row(run)["block"]) == (30, [23, 13], 2)
    assert (run.semantics.span, run.config) == (Span.SINCE_START, {"model": "m"})
    assert recognised(tmp_path, scrape(10, 20, [7, 3])) == ["lmdeploy-metrics"]


@pytest.mark.parametrize(
    "place", ["DP0] Avg prompt throughput: 11.1 tokens/s", "Engine 000] Avg thr (in/out): 1.0 / 2.0 tokens/s"]
)
def test_windows_of_the_log_add_up(tmp_path, place):
    log = "lmdeploy - INFO - starting\n" + (FIRST + SECOND).replace("DP0] Avg prompt throughput: 11.1 tokens/s", place)
    run = only(read_files(tmp_path, {"server.log": log}))
    assert (row(run)["steps"], row(run)["drafted"], row(run)["per_position"]) == (30, 60, [23, 13])
    assert metrics.run_rows(run, {}.get)[0][-1]["tau"] == 1 + 36 / 30
    assert (run.semantics.bonus, run.semantics.span, codes(run)) == (Bonus.IN, Span.WINDOWS, [])
    assert recognised(tmp_path, log) == ["lmdeploy-log"]


def test_counts_that_never_fall_may_be_sums(tmp_path):
    run = only(read_files(tmp_path, {"server.log": FIRST + FIRST + SECOND + SECOND}))
    (warning,) = run.warnings
    assert warning.message.endswith("only the last line counts (26 of 40 tokens)")
    assert codes(only(read_files(tmp_path / "b", {"server.log": FIRST + SECOND + FIRST + SECOND}))) == []
    engines = FIRST + SECOND + (FIRST + SECOND).replace("DP0", "DP1")
    assert codes(only(read_files(tmp_path / "c", {"server.log": engines}))) == []


def test_wrong_lines(tmp_path):
    with pytest.raises(InputError, match="more tokens accepted than drafted; found 21 of 20"):
        read_files(tmp_path, {"server.log": line(21, 20, "3.10", "1.000, 1.000")})
    with pytest.raises(NothingToRead):
        read_files(
            tmp_path / "b",
            {"server.log": FIRST.replace("Accepted: 10", "Accepted: 0").replace("Drafted: 20", "Drafted: 0")},
        )


EXAMPLES = {
    "lmdeploy-log": FIRST + SECOND,
    "lmdeploy-metrics": scrape(10, 20, [7, 3]),
}
