"""SpecForge's results. The lengths are those that stand in the files; K is the steps of a chain."""

import json

import pytest

from specdash.schema import Bonus, End, Granularity, InputError, NothingToRead
from tests.formats.producers.reading import only, read, read_files, recognised, row, sample, with_samples


def metrics(length, **fields):
    said = {"latency": 1.5, "output_throughput": 300.0, "accept_length": length, "accuracy": None}
    return said | {"num_questions": 80, "num_valid_predictions": 0, "categorical_performance": None} | fields


def result(settings, *found):
    names = ("batch_size", "steps", "topk", "num_draft_tokens")
    return dict(zip(names, settings, strict=True)) | {"metrics": list(found), "num_samples": 80}


def written(**benches):
    return json.dumps({"model": "org/eagle3-small"} | benches, indent=4)


RESULTS = written(
    gsm8k=[result((1, 0, 0, 0), metrics(1.0)), result((1, 3, 1, 4), metrics(2.64))],
    mtbench=[result((1, 0, 0, 0), metrics(1.0)), result((1, 3, 1, 4), metrics(2.1))],
)


def test_a_configuration_is_a_run_and_a_server_without_speculation_is_none(tmp_path):
    assert recognised(tmp_path, RESULTS, "results_20260101_000000.jsonl") == ["specforge-results"]
    run = only(read_files(tmp_path, {"results_20260101_000000.jsonl": RESULTS}))
    assert (run.granularity, run.k) == (Granularity.RATES, 3)
    assert run.rates.select("dataset", "tau").rows() == [("gsm8k", 2.64), ("mtbench", 2.1)]
    assert (run.semantics.bonus, run.semantics.end) == (Bonus.IN, End.TOKENS)
    assert run.config == {
        "drafter": "org/eagle3-small", "batch_size": 1, "steps": 3, "topk": 1, "num_draft_tokens": 4,
    }  # fmt: skip


def test_chains_and_trees(tmp_path):
    content = written(gsm8k=[result((8, 3, 1, 4), metrics(2.6)), result((8, 5, 3, 6), metrics(2.5))])
    runs = read_files(tmp_path, {"r.jsonl": content})
    assert {name: (run.k, row(run)["tau"]) for name, run in runs.items()} == {
        "eagle3-small 8,3,1,4": (3, 2.6), "eagle3-small 8,5,3,6": (None, 2.5),
    }  # fmt: skip


def test_a_server_that_was_there_before_says_no_settings(tmp_path):
    alone = result((8, None, None, None), metrics(2.5))
    run = only(read_files(tmp_path, {"r.jsonl": written(gsm8k=[alone])}))
    assert (run.name, run.k, row(run)["tau"]) == ("eval", None, 2.5)
    with pytest.raises(NothingToRead):
        read_files(tmp_path / "plain", {"r.jsonl": written(gsm8k=[result((8, None, None, None), metrics(1.0))])})


def test_categories_and_repeats(tmp_path):
    by_category = metrics(2.5, categorical_performance={"a": metrics(2.4), "b": metrics(2.6)})
    content = written(finance=[result((1, 3, 1, 4), by_category, metrics(2.7))])
    runs = read_files(tmp_path, {"r.jsonl": content})
    assert {name: run.rates.select("dataset", "tau").rows() for name, run in runs.items()} == {
        "eagle3-small 1,3,1,4": [("finance", 2.5), ("finance/a", 2.4), ("finance/b", 2.6)],
        "eagle3-small 1,3,1,4 repeat 2": [("finance", 2.7)],
    }


def collected(*found):
    results = [{"batch_size": 8, "steps": 3, "topk": 1, "num_draft_tokens": 4, "metrics": list(found)}]
    return json.dumps({"target-3.1": {"gsm8k": {"benchmark_name": "gsm8k", "results": results}}})


def test_the_collection_names_model_and_drafter(tmp_path):
    plain = {"Name": "Wihtout EAGLE3", "output_throughput": 1.0, "accept_length": 1.0}
    rows = [plain, *({"Name": f"org/{name}", "accept_length": n} for name, n in (("one", 2.5), ("two", 1.0)))]
    assert recognised(tmp_path, collected(*rows)) == ["specforge-results"]
    runs = read_files(tmp_path, {"data.json": collected(*rows)})
    assert {name: row(run)["tau"] for name, run in runs.items()} == {
        "target-3.1 one 8,3,1,4": 2.5, "target-3.1 two 8,3,1,4": 1.0,
    }  # fmt: skip
    assert runs["target-3.1 one 8,3,1,4"].config["model"] == "target-3.1"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (result((8, 3, 1, 4), metrics(0.5)), "gsm8k: accept_length is impossible; found 0.5; expected 1 to 65"),
        (result((8, 3, 1, 4), metrics("2.5")), "accept_length is not a number"),
        (result((8, 3.5, 1, 4), metrics(2.5)), "gsm8k: steps is not a count"),
        (result((8, 3, 1, 4), metrics(2.5)) | {"metrics": {}}, "gsm8k: a result has no metrics"),
    ],
)
def test_refused(tmp_path, found, said):
    good = result((1, 3, 1, 4), metrics(2.0))
    with pytest.raises(InputError, match=said):
        read_files(tmp_path, {"r.jsonl": written(gsm8k=[good, found])})


@with_samples
def test_samples(tmp_path):
    runs = read(sample("specforge-specbundle"), tmp_path)
    run = runs["Qwen3-30B-A3B-Instruct-2507 SGLang-EAGLE3-Qwen3-30B-A3B-Instruct-2507-SpecForge 8,3,1,4"]
    assert run.k == 3
    taus = dict(run.rates.select("dataset", "tau").rows())
    assert taus["gsm8k"] == 2.6400593352844486  # as it stands in the file
    assert sum(run.rates.height for run in runs.values()) == 440  # of 740 rows, 300 are named "Wihtout EAGLE3"


EXAMPLES = {
    "specforge-results": RESULTS,
}
