"""llama.cpp's log. Expected values are hand counts of the lines here, which say what a server said of known counts."""

import polars as pl
import pytest

from specdash import metrics
from specdash.schema import Bonus, Granularity, InputError, NothingToRead, Span
from tests.formats.producers.reading import (
    TRIMMED,
    codes,
    counts,
    only,
    read,
    read_files,
    recognised,
    sample,
    with_samples,
)

START = "0.00.001.234 I srv  llama_server: initializing ...\n"


def request(accepted, drafted, said="", slot=0, task=3, tokens=None):
    place = f"0.06.896.015 I slot print_timing: id  {slot} | task {task} | "
    timed = "" if tokens is None else (
        f"{place}prompt eval time =      13.42 ms /    39 tokens (    0.34 ms per token)\n"
        f"{place}       eval time =     184.77 ms / {tokens:5} tokens (    2.93 ms per token)\n"
        f"{place}      total time =     198.19 ms /   999 tokens\n"
    )  # fmt: skip
    return f"{timed}{place}draft acceptance = 0.50000 ({accepted:5} accepted / {drafted:5} generated){said}\n"


def statistics(name, steps, hits, drafted, accepted, rates="", server="", dur=True):
    said = f", #mean acc len = 9.99, #acc rate/pos = ({rates})" if rates else ""
    times = ", dur(b,g,a) = 0.005, 325.555, 0.114 ms" if dur else ""
    counted = f"#gen drafts = {steps:6}, #acc drafts = {hits:5}, #gen tokens = {drafted:6}, #acc tokens = {accepted:5}"
    start = f"{server}0.06.896.057 I statistics     {name}: #calls(b,g,a) =    1  {steps} {steps}, "
    return f"{start}{counted}{said}{times}\n"


def pooled(run):
    return metrics.run_rows(run, {}.get)[0][-1]


# Ten steps of two drafted tokens: 7 accepted the first, 3 both.
TEN = {(0, 2, 0): 3, (0, 2, 1): 4, (0, 2, 2): 3}


@pytest.mark.parametrize(
    "log",
    [
        request(10, 20, ", mean acceptance length =  2.00, acceptance rate per position = (0.700, 0.300)", tokens=21),
        request(10, 20, ", mean len =  2.00", tokens=21)
        + "0.06.896.016 I slot print_timing: id  0 | task 3 |      acc per pos = (0.700, 0.300)\n",
    ],
    ids=["one line", "two lines"],
)
def test_a_request_with_its_positions(tmp_path, log):
    run = only(read_files(tmp_path, {"server.log": START + log}))
    assert (run.granularity, run.k, counts(run)) == (Granularity.RESPONSE, 2, TEN)
    assert run.responses.select("request", "output_tokens").rows() == [("slot 0 task 3", 21)]
    assert (pooled(run)["tau"], pooled(run)["p"], codes(run)) == (2.0, [0.7, 0.3], [])
    assert (run.semantics.bonus, run.semantics.position_base, run.semantics.span) == (Bonus.IN, 0, Span.REQUEST)


def test_shorter_drafts_leave_the_lengths_of_steps_open(tmp_path):
    said = ", mean acceptance length =  2.00, acceptance rate per position = (0.700, 0.300)"
    run = only(read_files(tmp_path, {"server.log": request(10, 18, said)}))
    assert counts(run) == {(0, None, 0): 3, (0, None, 1): 4, (0, None, 2): 3}
    assert (pooled(run)["p"], pooled(run)["c"], pooled(run)["drafted"]) == ([0.7, 0.3], None, 18)


def test_steps_by_a_rounded_length(tmp_path):
    # 24 / 38 = 0.6316; 24 / 37 = 0.6486 and 24 / 39 = 0.6154 print otherwise
    run = only(read_files(tmp_path, {"server.log": request(24, 150, ", mean len =  1.63", tokens=64)}))
    assert (run.sums.rows(), pooled(run)["tau"], codes(run)) == ([(0, 38, 150, 24)], 1 + 24 / 38, [])


def test_steps_that_do_not_follow_are_unknown_for_all(tmp_path):
    # 7 / 52 ... 7 / 56 all print 0.13: those requests whose steps follow would be no fair sample
    log = request(24, 150, ", mean len =  1.63", tokens=64) + request(7, 214, ", mean len =  1.13", task=9, tokens=64)
    run = only(read_files(tmp_path, {"server.log": log}))
    assert run.sums.rows() == [(0, None, 150, 24), (1, None, 214, 7)]
    assert (pooled(run)["tau"], pooled(run)["acceptance_ratio"]) == (None, 31 / 364)
    said = "1 of 2 requests print too few decimals to tell their steps: τ lies between 1.330 and 1.344"
    assert run.warnings[0].message.endswith(said)
    assert [round(1 + 31 / steps, 3) for steps in (38 + 56, 38 + 52)] == [1.33, 1.344]


def test_steps_that_are_nearly_told_are_shown_with_their_doubt(tmp_path):
    # Blocks of up to four: 214 tokens take 54 steps at least, and 56 at most by the length. That is 0.5 % of τ.
    log = request(24, 150, ", mean len =  1.63", tokens=64) + request(7, 214, ", mean len =  1.13", task=9, tokens=64)
    run = only(read_files(tmp_path, {"server.log": log}, config={"k": 4}))
    # 150 tokens in 38 steps are 3.95 a step; 214 are nearest to 54 such steps
    assert run.sums.rows() == [(0, 38, 150, 24), (1, 54, 214, 7)]
    assert pooled(run)["tau"] == 1 + 31 / 92
    assert run.warnings[0].message.endswith("τ lies between 1.330 and 1.337")


def test_the_older_wording_has_no_length(tmp_path):
    log = "draft acceptance rate = 0.37500 (    3 accepted /     8 generated)\n"
    run = only(read_files(tmp_path, {"server.log": START + log}))
    assert (run.sums.rows(), run.responses["request"].to_list()) == ([(0, None, 8, 3)], ["line 2"])
    assert run.warnings[0].message == "verify steps are not counted, so τ is not known"


def test_of_statistics_the_last_line_counts(tmp_path):
    log = statistics("draft-mtp", 4, 3, 8, 5, "0.750, 0.500") + statistics("draft-mtp", 10, 7, 20, 10, "0.700, 0.300")
    run = only(read_files(tmp_path, {"server.log": START + log + statistics("ngram-mod", 0, 0, 0, 0)}))
    (found,) = run.counters.rows(named=True)
    assert (found["dataset"], found["steps"], found["drafted"], found["per_position"]) == ("draft-mtp", 10, 20, [7, 3])
    assert (run.name, pooled(run)["tau"], run.semantics.span) == ("eval", 2.0, Span.SINCE_START)


def test_implementations_servers_and_restarts_add_up(tmp_path):
    log = statistics("draft-mtp", 10, 7, 20, 10, "0.700, 0.300") + statistics("draft-mtp", 4, 3, 8, 4, "0.750, 0.250")
    log += statistics("draft-mtp", 5, 5, 10, 8, "1.000, 0.600", server="[53409] ")
    log += statistics("ngram-mod", 4, 4, 256, 47, "1.000, 1.000", dur=False)  # it prints two of its 64 positions
    run = only(read_files(tmp_path, {"server.log": log}))
    rows = {
        r["dataset"]: (r["steps"], r["drafted"], r["accepted"], r["per_position"])
        for r in run.counters.rows(named=True)
    }
    assert rows == {"draft-mtp": (19, 38, 22, [15, 7]), "ngram-mod": (4, 256, 47, None)}


def depth(before, after, drafted, accepted, slot=0):
    said = f"(n_draft={drafted}, n_accepted={accepted}, n_cur=6, n_climb=0)"
    return f"spec accept: adaptive draft depth seq {slot}: {before} -> {after} {said}\n"


def test_steps_that_add_up_are_all_of_a_request(tmp_path):
    log = depth(7, 7, 7, 7) + depth(7, 6, 7, 4) + depth(3, 4, 3, 3, slot=1) + request(11, 14) + request(5, 5, slot=1)
    runs = read_files(tmp_path, {"server.log": log})
    assert counts(runs["server"]) == {(0, 7, 4): 1, (0, 7, 7): 1}
    changes = runs["server depth changes"]  # the one step of slot 1 is not all of its request
    assert (changes.granularity, counts(changes)) == (Granularity.STEP, {(0, 3, 3): 1})
    assert pl.read_parquet(changes.steps).rows() == [("slot 1 task 3", 3, 3)]
    assert codes(changes) == ["selected_steps"]
    complete = only(read_files(tmp_path / "b", {"server.log": depth(7, 7, 7, 7) + depth(7, 6, 7, 4) + request(11, 14)}))
    assert pl.read_parquet(complete.steps).rows() == [("slot 0 task 3", 7, 7), ("slot 0 task 3", 7, 4)]


def test_nothing_drafted(tmp_path):
    assert recognised(tmp_path, START * 3000 + request(1, 2)) == ["llamacpp-log"]
    assert recognised(tmp_path, START) == []
    with pytest.raises(NothingToRead, match="nothing was drafted"):
        read_files(tmp_path, {"server.log": statistics("ngram-mod", 0, 0, 0, 0)})


@pytest.mark.parametrize("line", [request(21, 20), statistics("mtp", 3, 3, 9, 10), depth(7, 6, 7, 8)])
def test_refused(tmp_path, line):
    with pytest.raises(InputError):
        read_files(tmp_path, {"server.log": line})


def test_a_load_of_a_real_server(tmp_path):
    run = read(TRIMMED / "llamacpp-draft" / "load_t0_c4", tmp_path)["server"]
    assert (run.responses.height, run.sums["accepted"].sum(), run.sums["drafted"].sum()) == (48, 2675, 7381)
    assert run.responses["output_tokens"].sum() == 4608
    # 1869 steps by the server's counters
    low, high = map(float, run.warnings[0].message.rpartition("τ lies between ")[2].split(" and "))
    assert low <= 1 + 2675 / 1869 <= high
    assert (codes(run), pooled(run)["tau"]) == (["steps_recovered"], pytest.approx(1 + 2675 / 1869, abs=high - low))
    known = read(TRIMMED / "llamacpp-draft" / "load_t0_c4", tmp_path / "k", config={"k": 4})["server"]
    assert known.sums["steps"].sum() == pytest.approx(1869, abs=4)


@with_samples
def test_samples(tmp_path):
    runs = read(sample("llamacpp-server-logs"), tmp_path)
    requests = runs["server_lines"]
    assert requests.sums.select("drafted", "accepted").rows() == [(259, 167), (8, 3), (1207, 1186)]
    since = {r["dataset"]: r for r in runs["server_lines statistics"].counters.rows(named=True)}
    assert {name: (r["steps"], r["drafted"], r["accepted"]) for name, r in since.items()} == {
        "draft-eagle3": (87, 259, 167),
        "ngram-mod": (4, 256, 47),
        "draft-mtp": (796, 1585, 1252),
        "mtp": (690, 1207, 1186),
    }
    assert since["draft-eagle3"]["per_position"] == [70, 55, 42]  # 70 drafts had a token accepted, by the line itself
    assert counts(runs["server_lines depth changes"]) == {(0, 7, 4): 1}
    own = read(sample("own-llamacpp-draft") / "server.log", tmp_path / "own")
    assert only(own).sums.select(pl.col("drafted").sum(), pl.col("accepted").sum()).rows() == [(37465, 10536)]


EXAMPLES = {
    "llamacpp-log": START + request(10, 20, tokens=21) + statistics("draft", 10, 7, 20, 10),
}
