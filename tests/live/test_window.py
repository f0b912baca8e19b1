"""Windows of counters, as scrapes come one after the other."""

import pytest

from specdash import metrics
from specdash.live.window import Window
from specdash.schema import InputError, NothingToRead
from tests.live.counting import steady, vllm


@pytest.fixture
def window(tmp_path):
    return Window(tmp_path / "server", "Counters of server", "http://server/metrics")


def fed(window, *texts):
    for number, text in enumerate(texts):
        window.add(text, 1_790_000_000 + number)
    return window


def rows(run):
    return {row["dataset"]: row for row in metrics.run_rows(run, lambda _: None)[0]}


def evaluated(window, tmp_path):
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return window.evaluation(workspace)


def test_a_window_is_what_was_counted_in_it(window, tmp_path):
    # What a server of two engines counted for 48 requests.
    before = vllm((0, 0, (0, 0, 0)), (0, 0, (0, 0, 0)), served=5)
    after = vllm((737, 2129, (546, 487, 433)), (773, 2237, (572, 450, 374)), served=53)
    fed(window, before, after)
    evaluation = evaluated(window, tmp_path)
    (run,) = evaluation.runs
    pooled = rows(run)["pooled"]
    assert (pooled["steps"], pooled["drafted"], pooled["accepted"]) == (1510, 4366, 2862)
    assert pooled["tau"] == pytest.approx(1 + 2862 / 1510)
    assert pooled["p"] == pytest.approx([1118 / 1510, 937 / 1510, 807 / 1510])
    assert window.served == 48
    assert evaluation.title == "Counters of server"
    assert evaluation.note == (
        "Counters of http://server/metrics from 2026-09-21T14:13:20+00:00 to 2026-09-21T14:13:21+00:00; "
        "48 requests were answered in it."
    )


def test_engines_are_rows_of_their_own(window):
    engines = (737, 2129, (546, 487, 433)), (773, 2237, (572, 450, 374)), (0, 0, (0, 0, 0))
    fed(window, vllm(*engines))
    found = rows(window.engines())
    assert list(found) == ["engine 0", "engine 1", "pooled"]  # engine 2 has drafted nothing
    assert found["engine 0"]["tau"] == pytest.approx(1 + 1466 / 737)
    assert found["engine 1"]["tau"] == pytest.approx(1 + 1396 / 773)
    assert found["pooled"]["tau"] == pytest.approx(1 + 2862 / 1510)


def test_one_engine_has_no_table_of_engines(window):
    assert fed(window, steady(5)).engines() is None


def test_a_restart_loses_only_what_was_not_read(window, tmp_path):
    fed(window, *map(steady, (100, 130, 150, 20, 40, 60)))  # 50, then 60 since the restart
    assert rows(evaluated(window, tmp_path).runs[0])["pooled"]["steps"] == 110
    assert window.drafted == (110, 220)
    assert len(list(window.folder.glob("*.prom"))) == 4
    assert "restarted" in evaluated(window, tmp_path / "server").runs[0].warnings[0].message


def test_a_long_window_stays_small(window, tmp_path):
    fed(window, *map(steady, range(0, 3000, 10)))
    assert len(list(window.folder.glob("*.prom"))) == 2
    assert (window.taken, window.seconds) == (300, 299)
    assert rows(evaluated(window, tmp_path).runs[0])["pooled"]["steps"] == 2990


def test_one_scrape_counts_since_the_start(window, tmp_path):
    evaluation = evaluated(fed(window, steady(10)), tmp_path)
    assert rows(evaluation.runs[0])["pooled"]["tau"] == 3.0
    assert "since the server's start" in evaluation.note


def test_no_speculation_is_not_no_drafts(window, tmp_path):
    with pytest.raises(NothingToRead, match=r"vLLM exports no counter of drafts .* it does not speculate"):
        evaluated(fed(window, vllm(served=3)), tmp_path)


def test_no_drafts_is_not_no_speculation(window, tmp_path):
    with pytest.raises(NothingToRead, match="vLLM has counters of drafts and drafted nothing in this window"):
        evaluated(fed(window, steady(7), steady(7)), tmp_path)


def test_a_missing_counter_is_named_and_not_0(window, tmp_path):
    fed(window, vllm((10, 30, (9, 5, 1)), positions=False))
    name = "vllm:spec_decode_num_accepted_tokens_per_pos_total"
    assert window.told.sentence == f"vLLM does not export {name}: what follows from it is not known"
    pooled = rows(evaluated(window, tmp_path).runs[0])["pooled"]
    assert (pooled["tau"], pooled["p"]) == (2.5, None)
    assert window.served is None


def test_what_is_no_scrape_is_refused(window):
    with pytest.raises(InputError, match="holds no metrics of a server that is known; found <html>"):
        window.add("<html>not found</html>", 1.0)
    fed(window, steady(1))
    with pytest.raises(InputError, match="not a Prometheus sample; found vllm:spec_decode_num_drafts_total x"):
        window.add(steady(2) + "vllm:spec_decode_num_drafts_total x\n", 2e9)
    with pytest.raises(InputError, match=r"answers as another server than before; found llama.cpp; expected vLLM"):
        window.add("llamacpp:spec_decode_num_drafts_total 1\n", 2e9)
    assert (window.taken, len(list(window.folder.glob("*.prom")))) == (1, 1)
