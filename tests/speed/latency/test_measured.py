"""Arms that were really measured, judged; every number here was computed from the files with numpy and scipy alone.

They are of one small machine that others shared: the speed-ups say nothing about n-gram drafting.
"""

import pytest

from specdash import ingest
from specdash.speed.latency import E2E, PER_TOKEN, TPOT, TTFT, Arm, Case, compare, judge, telling
from specdash.speed.latency.roles import against_baseline
from tests.formats.producers.reading import TRIMMED


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measured")
    found = {}
    for name in ("vllm-bench", "aiperf"):
        (folder / name).mkdir()
        found |= {run.name: run for run in ingest.read(TRIMMED / name, folder / name).runs}
    return found


def paired(runs, base, spec, measure):
    found = compare(Arm.of(runs[base]), Arm.of(runs[spec]), measure)
    return found, found.paired


PAIRED = {
    ("baseline_c1_t0", "ngram_c1_t0"): {
        TPOT: (0.127067, 0.0424198, 0.380624, -3.782983, 47, 4.3772e-4),
        E2E: (2.244605, 1.946845, 2.587907, 11.428866, 47, 3.618e-15),
        TTFT: (3.372295, 1.961178, 5.798744, 4.511515, 47, 4.292e-5),
        PER_TOKEN: (2.244605, 1.946845, 2.587907, 11.428866, 47, 3.618e-15),
    },
    ("baseline_c4_t0", "ngram_c4_t0"): {
        TPOT: (1.381341, 0.700424, 2.724214, 0.956971, 47, 0.343479),
        E2E: (0.722755, 0.557734, 0.936603, -2.520102, 47, 0.0151875),
        TTFT: (0.316593, 0.222898, 0.449673, -6.593793, 47, 3.3816e-8),
        PER_TOKEN: (0.722755, 0.557734, 0.936603, -2.520102, 47, 0.0151875),
    },
    ("baseline_chat_stream_c4_t0", "ngram_chat_stream_c4_t0/records"): {
        E2E: (0.742500, 0.493835, 1.116377, -1.482094, 35, 0.147264),
        TTFT: (2.578670, 1.672851, 3.974974, 4.443888, 35, 8.4938e-5),
        # AIPerf tokenises answers anew and finds 48 to 96 tokens in them; the server counted 96 in each.
        PER_TOKEN: (0.742500, 0.493835, 1.116377, -1.482094, 35, 0.147264),
    },
}
"""By arms and measure: geometric mean of base/spec over prompts, its 95 % interval, t, df and p of
``scipy.stats.ttest_rel`` on the logs."""


@pytest.mark.parametrize(("arms", "measure"), [(arms, m) for arms, found in PAIRED.items() for m in found])
def test_the_paired_test(runs, arms, measure):
    _, found = paired(runs, *arms, measure)
    speedup, low, high, t, df, p = PAIRED[arms][measure]
    loose = 5e-6  # the files have their times cut to microseconds
    assert (found.speedup, found.low, found.high) == pytest.approx((speedup, low, high), rel=loose)
    assert (found.t, found.df) == pytest.approx((t, df), rel=loose)
    assert found.p == pytest.approx(p, rel=1e-3)


WELCH = {
    ("baseline_c1_t0", "ngram_c1_t0"): (8.605021, 64.504402, 2.61597e-12, 0.39049105, 0.19998285, 0.06171584, 0.140421),
    ("baseline_c4_t0", "ngram_c4_t0"): (-3.366689, 47.163052, 1.521332e-3, 0.4990685, 1.0830802, 0.0500107, 1.2007782),
    ("baseline_chat_stream_c4_t0", "ngram_chat_stream_c4_t0/records"): (
        -3.374095, 36.551960, 1.764975e-3, 0.7192566, 1.6598070, 0.24638263, 1.65429139,
    ),
}  # fmt: skip
"""End to end: t, df and p of ``scipy.stats.ttest_ind(equal_var=False)``, means and standard deviations in s."""


@pytest.mark.parametrize("arms", WELCH)
def test_welch(runs, arms):
    found, _ = paired(runs, *arms, E2E)
    t, df, p, *moments = WELCH[arms]
    one = found.welch
    assert (one.t, one.df) == pytest.approx((t, df), rel=1e-5)
    assert one.p == pytest.approx(p, rel=1e-4)
    assert [*one.mean, *one.sd] == pytest.approx(moments, rel=1e-5)


def test_what_they_come_to(runs):
    """Alone in flight drafting halves the time; with four in flight others' load on the machine hides it."""
    judged = {
        name: [verdict.case for verdict in telling(against_baseline([*runs.values()], runs[name]))]
        for name in ("ngram_c1_t0", "ngram_c4_t0", "ngram_chat_stream_c4_t0/records")
    }
    assert judged == {
        "ngram_c1_t0": [Case.BUFFERED, Case.FASTER],
        "ngram_c4_t0": [Case.BUFFERED, Case.SLOWER],
        "ngram_chat_stream_c4_t0/records": [Case.BUFFERED, Case.UNDECIDED],
    }
    compared = against_baseline([*runs.values()], runs["ngram_c1_t0"])
    assert [one.base.name for one, _ in compared] == ["baseline_c1_t0"] * 4


def test_what_a_reader_has_to_know(runs):
    found, _ = paired(runs, "baseline_c1_t0", "ngram_c1_t0", TPOT)
    notes = {note.code: note.message for note in judge(found).notes}
    assert notes["bunched"].startswith("22 of 48 answers in baseline_c1_t0 arrived nearly whole")
    found, _ = paired(runs, "baseline_c4_t0", "ngram_c4_t0", TPOT)
    notes = {note.code: note.message for note in judge(found).notes}
    assert notes["bunched"].startswith("3 of 48 answers in ngram_c4_t0 arrived nearly whole")
    found, _ = paired(runs, "baseline_chat_stream_c4_t0", "ngram_chat_stream_c4_t0/records", TPOT)
    assert (found.pair.prompts, found.pair.left_out) == (7, (1, 26))


def test_percentiles(runs):
    found, _ = paired(runs, "baseline_c4_t0", "ngram_c4_t0", E2E)
    assert [1000 * p.base.value for p in found.bootstrap.percentiles] == pytest.approx(
        [519.6455, 568.95445, 570.46226], rel=1e-6
    )
    assert [1000 * p.spec.value for p in found.bootstrap.percentiles] == pytest.approx(
        [537.125, 3729.91045, 3868.09861], rel=1e-6
    )
    assert found.bootstrap.mean_ratio.value == pytest.approx(0.4990685 / 1.0830802, rel=1e-6)
