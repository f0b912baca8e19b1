"""ATOM's counts. STATS is a hand count: 10 steps of 3 drafted tokens, 2 · 0, 3 · 1, 1 · 2 and 4 · 3 accepted."""

import json

import pytest

from specdash import metrics
from specdash.schema import Bonus, Granularity, InputError, NothingToRead, Span
from tests.formats.producers.reading import codes, only, read, read_files, recognised, row, sample, with_samples

STATS = {
    "enabled": True, "total_draft_tokens": 30, "total_accepted_tokens": 17, "acceptance_rate": 17 / 30,
    "average_tokens_per_forward": 2.7, "distribution": {"0": 2, "1": 3, "2": 1, "3": 4},
    "distribution_percent": {"0": 0.2, "1": 0.3, "2": 0.1, "3": 0.4},
}  # fmt: skip
LATER = STATS | {
    "total_draft_tokens": 36,
    "total_accepted_tokens": 20,
    "distribution": {"0": 3, "1": 3, "2": 1, "3": 5},
}


def line(name, accepted, drafted, mean, shares):
    dist = ", ".join(f"{j}: '{share:.2f}%'" for j, share in enumerate(shares))
    tokens = f"Accepted/Total Draft tokens: {accepted}/{drafted}, Acceptance rate: {accepted / drafted:.2%}"
    said = f"[{name}] Average toks/fwd: {mean:.2f}, {tokens}, Accepted tokens distribution: {{ {dist} }}"
    return f"[atom 10:00:00] {said.replace('{ ', '{').replace(' }', '}')}\n"


FIRST = line("MTP Stats Interval", 17, 30, 2.7, [20, 30, 10, 40])
SECOND = line("MTP Stats Interval", 3, 6, 2.5, [50, 0, 0, 50])


def total(accepted, drafted, mean, shares):
    return line("MTP Stats         ", accepted, drafted, mean, shares)


def pooled(run):
    return metrics.run_rows(run, {}.get)[0][-1]


def test_statistics(tmp_path):
    run = only(read_files(tmp_path, {"mtp_stats.json": json.dumps(STATS)}))
    assert (row(run)["steps"], row(run)["drafted"], row(run)["per_position"]) == (10, 30, [8, 5, 4])
    assert (run.k, row(run)["block"], pooled(run)["tau"]) == (3, 3, 2.7)
    assert (run.semantics.bonus, run.semantics.span) == (Bonus.IN, Span.SINCE_START)


def test_positions_that_no_step_reached(tmp_path):
    # 200,000 steps of 7 drafted tokens: 2 accepted in 46,020 of them, 3 in the others
    found = {
        "total_draft_tokens": 1_400_000,
        "total_accepted_tokens": 553_980,
        "distribution": {"2": 46020, "3": 153980},
    }
    run = only(read_files(tmp_path, {"a.json": json.dumps(STATS | found)}))
    assert row(run)["per_position"] == [200_000, 200_000, 153_980, 0, 0, 0, 0]
    assert pooled(run)["tau"] == 1 + 553_980 / 200_000


def test_two_readings_are_a_difference(tmp_path):
    run = only(read_files(tmp_path, {"before.json": json.dumps(STATS), "after.json": json.dumps(LATER)}))
    assert (row(run)["steps"], row(run)["accepted"], run.semantics.span) == (2, 3, Span.DIFFERENCE)
    restarted = only(read_files(tmp_path / "b", {"before.json": json.dumps(LATER), "after.json": json.dumps(STATS)}))
    assert (row(restarted)["steps"], codes(restarted)) == (10, ["counter_reset"])


def test_metrics(tmp_path):
    text = (
        "# TYPE atom:mtp_draft_tokens counter\natom:mtp_draft_tokens_total 30.0\natom:mtp_accepted_tokens_total 17.0\n"
    )
    text += "atom:mtp_acceptance_rate 0.5667\n"
    text += "".join(
        f'atom:mtp_decode_steps_total{{accepted_tokens="{j}"}} {n}.0\n' for j, n in STATS["distribution"].items()
    )
    run = only(read_files(tmp_path, {"m.prom": text}))
    assert (row(run)["steps"], row(run)["per_position"]) == (10, [8, 5, 4])
    assert recognised(tmp_path, text) == ["atom-metrics"]


def test_intervals_of_the_log_add_up(tmp_path):
    log = FIRST + total(17, 30, 2.7, [20, 30, 10, 40]) + SECOND + total(20, 36, 20 / 12 + 1, [25, 25, 8.33, 41.67])
    run = only(read_files(tmp_path, {"server.log": "starting\n" + log}))
    assert (row(run)["steps"], row(run)["accepted"], row(run)["per_position"]) == (12, 20, [9, 6, 5])
    assert (run.semantics.span, codes(run)) == (Span.WINDOWS, [])
    assert recognised(tmp_path, log) == ["atom-log"]


def test_of_sums_the_last_line_counts(tmp_path):
    log = total(17, 30, 2.7, [20, 30, 10, 40]) + total(20, 36, 20 / 12 + 1, [25, 25, 8.33, 41.67])
    run = only(read_files(tmp_path, {"server.log": log}))
    assert (row(run)["steps"], row(run)["per_position"], run.semantics.span) == (12, [9, 6, 5], Span.SINCE_START)
    again = only(read_files(tmp_path / "b", {"server.log": log + total(3, 6, 2.5, [50, 0, 0, 50])}))
    assert (row(again)["steps"], row(again)["accepted"]) == (14, 23)


def test_many_steps_have_no_exact_positions(tmp_path):
    run = only(read_files(tmp_path, {"server.log": total(170_000, 300_000, 2.7, [20, 30, 10, 40])}))
    assert (row(run)["steps"], row(run)["per_position"], codes(run)) == (100_000, None, ["positions_unknown"])


def test_drafts_of_several_lengths_leave_the_steps_open(tmp_path):
    run = only(read_files(tmp_path, {"server.log": line("MTP Stats Interval", 17, 27, 2.7, [20, 30, 10, 40])}))
    assert (row(run)["steps"], pooled(run)["tau"], pooled(run)["acceptance_ratio"]) == (None, None, 17 / 27)
    assert codes(run) == ["steps_unknown"]


def test_a_short_line_has_ratios_alone(tmp_path):
    log = "[MTP Stats] acceptance: 59.60%  avg toks/fwd: 2.79  dist 0/1/2/3: 21.70/19.50/17.00/41.80%\n"
    run = only(read_files(tmp_path, {"server.log": log}))
    assert (run.granularity, run.k, row(run)["tau"], row(run)["acceptance_ratio"]) == (
        Granularity.RATES,
        3,
        2.79,
        0.596,
    )
    assert row(run)["outcome"] == [0.217, 0.195, 0.17, 0.418]


def test_nothing_drafted(tmp_path):
    nothing = STATS | {"total_draft_tokens": 0, "total_accepted_tokens": 0, "distribution": {"0": 0, "1": 0}}
    with pytest.raises(NothingToRead, match="nothing was drafted"):
        read_files(tmp_path, {"a.json": json.dumps(nothing)})
    assert recognised(tmp_path, json.dumps(nothing)) == ["atom-stats"]


@pytest.mark.parametrize(
    "change", [{"total_accepted_tokens": 18}, {"distribution": {"x": 1}}, {"total_draft_tokens": 16}]
)
def test_refused(tmp_path, change):
    with pytest.raises(InputError):
        read_files(tmp_path, {"a.json": json.dumps(STATS | change)})


@with_samples
def test_samples(tmp_path):
    run = only(read(sample("atom-mtp-log"), tmp_path))
    assert (row(run)["tau"], row(run)["acceptance_ratio"]) == (2.79, pytest.approx(0.5962))


EXAMPLES = {
    "atom-log": FIRST + SECOND,
    "atom-metrics": "atom:mtp_draft_tokens_total 30.0\natom:mtp_accepted_tokens_total 17.0\n"
    + "".join(
        f'atom:mtp_decode_steps_total{{accepted_tokens="{j}"}} {n}.0\n' for j, n in STATS["distribution"].items()
    ),
    "atom-stats": json.dumps(STATS),
}
