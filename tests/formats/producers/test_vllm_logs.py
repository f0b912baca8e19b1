"""Lines of vLLM's log. The figures of the lines here follow from counts chosen by hand, rounded as vLLM rounds."""

import pytest

from specdash import metrics
from specdash.schema import Bonus, InputError, NothingToRead, Span
from tests.formats.producers.reading import (
    TRIMMED,
    codes,
    only,
    read,
    read_files,
    recognised,
    row,
    sample,
    with_samples,
)

PREFIX = "(APIServer pid=1) INFO 05-21 21:11:56 [metrics.py:101] "


def line(accepted, drafted, hits, steps, prefix=PREFIX, end="\n", out=0):
    rates = ", ".join(f"{n / steps:.3f}" for n in hits)
    return (
        f"{prefix}SpecDecoding metrics: Mean acceptance length: {1 - out + accepted / steps:.2f}, "
        f"Accepted throughput: 3.87 tokens/s, Drafted throughput: 5.72 tokens/s, Accepted: {accepted} tokens, "
        f"Drafted: {drafted} tokens, Per-position acceptance rate: {rates}, "
        f"Avg Draft acceptance rate: {100 * accepted / drafted:.1f}%{end}"
    )


TWO = line(337, 498, [139, 111, 87], 166) + "INFO other\n" + line(100, 300, [60, 30, 10], 100)


def tau(run):
    return metrics.run_rows(run, {}.get)[0][-1]["tau"]


def test_windows_add_up_by_their_counts(tmp_path):
    run = only(read_files(tmp_path, {"log": "INFO start\n" + TWO}))
    found = row(run)
    assert (found["steps"], found["drafted"], found["accepted"], found["block"]) == (266, 798, 437, 3)
    assert found["per_position"] == [139 + 60, 111 + 30, 87 + 10]
    assert tau(run) == 1 + 437 / 266  # and not (3.03 + 2.00) / 2
    assert (run.semantics.span, codes(run)) == (Span.WINDOWS, [])


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(PREFIX, "INFO 10-16 19:05:47 metrics.py:367] "),
        lambda text: text.replace("SpecDecoding", "\x1b[32mSpecDecoding\x1b[0m").replace("\x1b[0m metrics", " metrics"),
        lambda text: text.replace("%\n", "%, top1: [0.9]\nSpecDecoding cost breakdown: 1 ms\n"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "▄▄ ▄█ banner\n" + text,
        lambda text: text + line(5, 9, [3, 2, 0], 3, end="")[:120],
    ],
    ids=["old prefix", "colour", "text behind", "windows", "banner", "cut off"],
)
def test_what_is_around_a_line(tmp_path, change):
    assert row(only(read_files(tmp_path, {"log": change(TWO)})))["steps"] == 266


def test_the_mean_without_bonus_of_0_8_5(tmp_path):
    run = only(read_files(tmp_path, {"log": line(337, 498, [139, 111, 87], 166, out=1)}))
    assert (row(run)["steps"], tau(run)) == (166, 1 + 337 / 166)


def test_drafts_of_varying_length(tmp_path):
    # 84 steps of 1 to 5 tokens: the mean 2.26 of 106 accepted tokens fits 84 alone.
    run = only(read_files(tmp_path, {"log": line(106, 400, [24, 22, 20, 20, 20], 84)}))
    assert (row(run)["steps"], row(run)["per_position"], row(run)["block"]) == (84, [24, 22, 20, 20, 20], None)
    assert codes(run) == []


def test_windows_that_accept_nothing_do_not_tell_their_steps(tmp_path):
    text = line(106, 400, [24, 22, 20, 20, 20], 84) + line(0, 400, [0] * 5, 100)
    run = only(read_files(tmp_path, {"log": text}))
    assert (row(run)["steps"], row(run)["accepted"], tau(run)) == (None, 106, None)
    # The second window is of 80 to 400 steps: 1 + 106/484 and 1 + 106/164.
    assert run.warnings[0].message.endswith("τ lies between 1.219 and 1.646")


def test_a_constant_draft_length_tells_them(tmp_path):
    text = line(337, 498, [139, 111, 87], 166) + line(0, 300, [0, 0, 0], 100)
    assert row(only(read_files(tmp_path, {"log": text})))["steps"] == 266


def test_large_windows_say_how_exact_they_are(tmp_path):
    hits = [26123, 16234, 10345]
    run = only(read_files(tmp_path, {"log": line(sum(hits), 90_000, hits, 30_000)}))
    assert row(run)["steps"] == 30_000
    assert all(abs(a - b) <= 30 for a, b in zip(row(run)["per_position"], hits, strict=True))
    assert codes(run) == ["positions_recovered"]


@pytest.mark.parametrize(
    "text",
    [
        "Speculative metrics: Draft acceptance rate: 1, Number of accepted tokens: 66, Number of draft tokens: 90, \n",
        "SpecDecoding metrics: Draft acceptance rate: 100.0%, Accepted: 66 tokens, Drafted: 90 tokens\n",
    ],
)
def test_lines_without_a_mean(tmp_path, text):
    run = only(read_files(tmp_path, {"log": "INFO x\n" + text}))
    assert (row(run)["steps"], row(run)["accepted"], row(run)["drafted"]) == (None, 66, 90)
    assert (tau(run), codes(run)) == (None, ["k_unknown"])
    known = only(read_files(tmp_path / "k", {"log": "INFO x\n" + text}, config={"k": 3}))
    assert (row(known)["steps"], tau(known)) == (30, 1 + 66 / 30)


V0 = (
    "INFO metrics.py:367] Speculative metrics: Draft acceptance rate: 0.642, System efficiency: 0.598, Number of "
    "speculative tokens: 3, Number of accepted tokens: 8547, Number of draft tokens: 13311, Number of emitted tokens: "
    "10616.\n"
)


def test_v0_counts_since_the_start(tmp_path):
    run = only(read_files(tmp_path, {"log": V0 + V0.replace("8547", "9000").replace("13311", "14000")[:60]}))
    # 13311 / 3 = 4437 steps; 10616 emitted, one a step the bonus; 0.598 · (3 + 1) = 2.39
    assert (row(run)["steps"], row(run)["accepted"]) == (4437, 10616 - 4437)
    assert (tau(run), run.semantics.span) == (pytest.approx(10616 / 4437), Span.SINCE_START)


def test_v0_over_a_restart(tmp_path):
    small = V0.replace("13311", "30").replace("10616", "22").replace("8547", "12")
    run = only(read_files(tmp_path, {"log": small + V0 + small}))
    assert row(run)["steps"] == 4437 + 10  # the first line is in the second


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SpecDecoding metrics: Mean acceptance length: 2.0, Accepted: x\n", "line 2: no accepted and drafted tokens"),
        (line(5, 9, [3, 2, 0], 3).replace("Accepted: 5", "Accepted: 50"), "more tokens accepted than drafted"),
        (line(5, 90, [1] * 70, 3), "too many draft positions; found 70"),
        (line(5, 9, [3, 2, 0], 3).replace("1.000, 0.667", "1.0.0, 0.667"), "not a number; found 1.0.0"),
        (V0.replace("13311", "13312"), "steps cannot be told"),
        (V0.replace("10616", "10"), "emitted tokens are impossible"),
    ],
)
def test_refused(tmp_path, text, message):
    with pytest.raises(InputError) as error:
        read_files(tmp_path, {"log": "INFO\n" + text})
    assert message in str(error.value)


def test_nothing(tmp_path):
    assert recognised(tmp_path, "INFO nothing of it\n") == []
    with pytest.raises(NothingToRead):
        read_files(tmp_path, {"log": "INFO\n" + line(5, 9, [3, 2, 0], 3)[:100]})


def test_windows_of_a_load_are_its_counters(tmp_path):
    """The lines between two moments at which nothing was going on add up to the difference of the counters."""
    log = (TRIMMED / "vllm-ngram" / "server.log").read_text("utf-8").splitlines(keepends=True)
    windows = only(read_files(tmp_path, {"log": "".join(log[15:22])}))
    counted = read(TRIMMED / "vllm-ngram" / "load_t0_c1", tmp_path / "load")["metrics"]
    for name in ("steps", "drafted", "accepted", "per_position"):
        assert row(windows)[name] == row(counted)[name], name


@with_samples
def test_samples(tmp_path):
    manoj = only(read(sample("vllm-server-logs-manoj"), tmp_path / "manoj"))
    assert row(manoj)["drafted"] == 5 * row(manoj)["steps"]
    bench = read(sample("vllm-bench-console-dishantghai"), tmp_path / "bench")
    # The server's log and the console of the client count the same run.
    for name in ("steps", "drafted", "accepted"):
        assert row(bench["c2_n4_server"])[name] == row(bench["c2_n4_bench"])[name], name
    old = read(sample("vllm-log-v0-issues"), tmp_path / "old")
    assert sorted(row(run)["accepted"] for run in old.values()) == [66 + 66, 6179]
    assert {run.semantics.bonus for run in old.values()} == {None, Bonus.IN}


@pytest.mark.parametrize("count", ["9" * 400, "9" * 5000])
def test_counts_of_thousands_of_digits_are_refused(tmp_path, count):
    with pytest.raises(InputError):
        read_files(tmp_path, {"a.log": TWO.replace("Drafted: 498 tokens", f"Drafted: {count} tokens")})


EXAMPLES = {
    "vllm-log": TWO,
}
