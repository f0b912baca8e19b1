"""SGLang's "Decode batch" lines. Expected values are those printed in the lines here."""

import pytest

from specdash.schema import Bonus, Granularity, NothingToRead, Span
from tests.formats.producers.reading import codes, only, read, read_files, recognised, sample, with_samples

START = "[2026-05-01 10:00:00] server_args=ServerArgs(model_path='m', speculative_num_steps=3)\n"


def line(
    length, rate="0.50", rank=" TP0", form="Decode batch,", behind="cuda graph: True, gen throughput (token/s): 8.4"
):
    said = "" if length is None else f"accept len: {length}, " + ("" if rate is None else f"accept rate: {rate}, ")
    return f"[2026-05-01 10:00:01{rank}] {form} #running-req: 10, #token: 685, token usage: 0.49, {said}{behind}\n"


def rows(run):
    return dict(run.rates.select("dataset", "tau").rows())


def test_windows_are_shown_and_not_pooled(tmp_path):
    log = START + line("3.00") + line(None) + line("1.50", form="Decode batch.") + line("2.00", None) + line("2.50")
    run = only(read_files(tmp_path, {"server.log": log}))
    assert rows(run) == {
        "lowest of 4 windows": 1.5, "median of 4 windows": 2.0, "highest of 4 windows": 3.0, "last of 4 windows": 2.5,
    }  # fmt: skip
    assert (run.granularity, run.semantics.bonus, run.semantics.span) == (Granularity.RATES, Bonus.IN, Span.WINDOWS)
    assert codes(run) == ["windows_not_pooled", "accept_rate_opaque"]


def test_prefixes_and_fields_around(tmp_path):
    cloud = (
        "2026-09-27T00:15:25.500Z pod-1 INFO TP0] Decode batch, #running-req: 10, mamba usage: 0.67, accept len: 2.75\n"
    )
    run = only(read_files(tmp_path, {"a": cloud + line("2.75", behind="pre-allocated usage: 0.28, #queue-req: 3")}))
    assert set(rows(run).values()) == {2.75}


def test_the_rate_with_a_known_k(tmp_path):
    # 2.77 / 4 = 0.6925 for four draft tokens: tokens of all verified positions
    run = only(read_files(tmp_path, {"a.log": line("2.77", "0.69")}, config={"k": 3}))
    assert run.rates["verify_rate"].unique().to_list() == [0.69]
    assert codes(run) == ["windows_not_pooled"]


def test_ranks_are_told_apart(tmp_path):
    run = only(read_files(tmp_path, {"a.log": line("2.00", rank=" DP0 TP0") + line("3.00", rank=" DP1 TP0") * 3}))
    assert rows(run)["median of 3 windows, DP 1"] == 3.0
    assert rows(run)["last of 1 windows, DP 0"] == 2.0


def test_nothing_verified(tmp_path):
    assert recognised(tmp_path, START * 2000 + line("2.00")) == ["sglang-log"]
    assert recognised(tmp_path, START + line(None)) == []
    with pytest.raises(NothingToRead):
        read_files(tmp_path, {"a.log": line("0.00")})


@with_samples
def test_samples(tmp_path):
    run = read(sample("sglang-log-lines"), tmp_path)["decode_lines"]
    assert rows(run) == {f"{what} of 2 windows": v for what, v in
                         {"lowest": 2.4, "median": 2.4, "highest": 2.77, "last": 2.77}.items()}  # fmt: skip


EXAMPLES = {
    "sglang-log": START + line("3.00") + line("1.50"),
}
