"""Answers of Prometheus; increases by hand."""

import json

import pytest

from specdash.formats.producers import prometheus
from specdash.schema import InputError, NothingToRead, Span
from tests.formats.files import Stored
from tests.formats.producers.reading import TRIMMED, codes, only, read_files, row

PREFIX = "vllm:spec_decode_num_"
TIMES = [100, 102, 104]


def answer(kind, **metrics):
    result = []
    for name, series in metrics.items():
        for number, values in enumerate(series):
            labels = {"__name__": f"{PREFIX}{name}_total", "instance": f"h:{number}", "job": "vllm"}
            if isinstance(values, dict):
                labels, values = labels | {"position": values["position"]}, values["values"]
            samples = [[time, str(value)] for time, value in zip(TIMES[3 - len(values) :], values, strict=True)]
            result.append({"metric": labels} | ({"value": samples[-1]} if kind == "vector" else {"values": samples}))
    return json.dumps({"status": "success", "data": {"resultType": kind, "result": result}})


DRAFTS, DRAFTED, ACCEPTED = [10, 20, 40], [30, 60, 120], [15, 30, 60]


def test_a_range_is_its_increase_over_instances(tmp_path):
    found = answer(
        "matrix", drafts=[DRAFTS, DRAFTS], draft_tokens=[DRAFTED, DRAFTED], accepted_tokens=[ACCEPTED, ACCEPTED]
    )
    run = only(read_files(tmp_path, {"q.json": found}))
    assert (row(run)["steps"], row(run)["drafted"], row(run)["accepted"]) == (60, 180, 90)
    assert run.semantics.span is Span.DIFFERENCE


def test_an_instant_counts_since_the_start(tmp_path):
    files = {
        "a.json": answer("vector", drafts=[DRAFTS]),
        "b.json": answer("vector", draft_tokens=[DRAFTED]),
        "c.json": answer("vector", accepted_tokens=[ACCEPTED]),
        "d.json": answer(
            "vector", accepted_tokens_per_pos=[{"position": str(i), "values": [n]} for i, n in enumerate([35, 20, 5])]
        ),
    }
    run = only(read_files(tmp_path, files))
    assert (row(run)["steps"], row(run)["per_position"], run.semantics.span) == (40, [35, 20, 5], Span.SINCE_START)


def test_a_restart_and_a_server_that_started_later(tmp_path):
    fallen = answer(
        "matrix",
        drafts=[[10, 20, 5], [7, 9]],
        draft_tokens=[[30, 60, 15], [21, 27]],
        accepted_tokens=[[1, 2, 1], [3, 4]],
    )
    run = only(read_files(tmp_path, {"q.json": fallen}))
    # 10 before the restart and 5 after it; a series that begins inside counts from 0: 9
    assert (row(run)["steps"], row(run)["accepted"]) == (10 + 5 + 9, 1 + 1 + 4)
    assert codes(run) == ["counter_reset", "several_engines"]
    # by instance 2 accepted in 15 steps and 4 in 9
    told = run.warnings[-1].message
    assert told == "2 engines, added up: τ = 1.250; alone 1.133 of h:0, 1.444 of h:1"


def test_an_answer_that_lacks_a_counter(tmp_path):
    with pytest.raises(
        NothingToRead, match="lack the accepted tokens; expected vllm:spec_decode_num_accepted_tokens_total"
    ):
        read_files(tmp_path, {"q.json": answer("vector", drafts=[DRAFTS])})


@pytest.mark.parametrize("value", ["x", None, "NaN", "1e999"])
def test_refused(tmp_path, value):
    bad = answer("vector", drafts=[DRAFTS]).replace('"40"', json.dumps(value))
    with pytest.raises(InputError, match="not a sample"):
        read_files(tmp_path, {"q.json": bad})


def test_a_range_over_a_restart_that_was_observed():
    name = "query_range_vllm_spec_decode_num_accepted_tokens_total.json"
    values, resets = prometheus.increases([Stored(name, TRIMMED / "prometheus" / name)], "matrix")
    assert (list(values.values()), resets) == (
        [2658 + 1745],
        1,
    )  # the last value before the restart and the last of all


def test_a_series_without_samples(tmp_path):
    found = answer("matrix", drafts=[DRAFTS], draft_tokens=[DRAFTED], accepted_tokens=[ACCEPTED])
    cut = json.loads(found)
    cut["data"]["result"].append({"metric": cut["data"]["result"][0]["metric"] | {"instance": "h:9"}})
    assert row(only(read_files(tmp_path, {"q.json": json.dumps(cut)})))["steps"] == 30
    cut["data"]["result"][0]["values"] = [[100, 10**400]]
    with pytest.raises(InputError, match="not a sample"):
        read_files(tmp_path / "b", {"q.json": json.dumps(cut)})


EXAMPLES = {
    "prometheus-query": answer(
        "matrix",
        drafts=[DRAFTS],
        draft_tokens=[DRAFTED],
        accepted_tokens=[ACCEPTED],
    ),
}
