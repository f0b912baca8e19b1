import json

import pytest

from specdash.formats import config
from specdash.formats.base import natural
from specdash.formats.synonyms import match, normalised
from specdash.schema import InputError
from tests.formats.files import stored


def read(folder, document):
    return config.read(stored(folder, "config.json", json.dumps(document)))


@pytest.mark.parametrize(
    ("document", "settings"),
    [
        ({}, {}),
        (
            {"target_model": "V4", "draftModel": "DSpark", "num_speculative_tokens": 7, "temp": 1.0, "n": 10},
            {"model": "V4", "drafter": "DSpark", "k": 7, "temperature": 1.0, "copies": 10},
        ),
        (
            {"engine": {"args": {"gamma": 5, "dtype": "bf16"}}, "seed": 3},
            {"k": 5, "seed": 3, "engine.args.dtype": "bf16"},
        ),
        ({"block_size": 128, "num_speculative_tokens": 7}, {"k": 7, "block_size": 128}),
        ({"k": None, "gamma": 4}, {"k": 4}),
        ({"k": 0}, {"k": 0}),
        ({"draft_tokens": 5}, {"k": 5}),
        ({"draft_tokens": 5120.0, "a": {"num_draft_tokens": 900}}, {"draft_tokens": 5120.0, "a.num_draft_tokens": 900}),
        ({"k": 64, "extra": None, "list": [1], "text": "x" * 201, "flag": True}, {"k": 64, "flag": True}),
        ({"target": {"model": "a"}, "draft": {"model": "b"}}, {"model": "a", "draft.model": "b"}),
        ({"seed": 1, "Seed": 2, "x": {"SEED": 3}}, {"seed": 1, "Seed": 2, "x.SEED": 3}),
        ({"rate": float("nan"), "huge": float("inf"), "ok": 1e300}, {"ok": 1e300}),
        ({"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}, {}),
        ({"device": "H200", "sampler": "probabilistic"}, {"hardware": "H200", "sampler": "probabilistic"}),
    ],
)
def test_settings(tmp_path, document, settings):
    assert read(tmp_path, document) == settings


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("config.json", True), ("args.json", True), ("Run_Config.JSON", True), ("settings.json.gz", True),
        ("config.yaml", False), ("model_config_old.json", False), ("evaluation.json", False),
    ],
)  # fmt: skip
def test_named(tmp_path, name, known):
    assert config.FORMAT.named(stored(tmp_path, name, b"{}")) == known


def test_about(tmp_path):
    about = {"title": "a", "note": "b", "reconstruction": True, "order": "invented"}
    file = stored(tmp_path, "evaluation.json", json.dumps(about | {"other": 1}))
    assert config.ABOUT.named(file)
    assert config.read_about(file) == about
    assert config.read_about(stored(tmp_path, "evaluation.json", b"{}")) == {}


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("request_id", "request_id"), ("requestId", "request_id"), ("Request ID", "request_id"),
        (" request-id ", "request_id"), ("REQUEST.ID", "request_id"), ("numAccepted", "num_accepted"), ("K", "k"),
        ("", ""), ("#propose", "#propose"), ("accept_rate@0", "accept_rate@0"),
    ],
)  # fmt: skip
def test_normalised(name, normal):
    assert normalised(name) == normal


TABLE = {"ours": ("first", "second"), "other": ("third",)}


@pytest.mark.parametrize(
    ("found", "matched"),
    [
        (["Second", "x"], {"ours": "Second"}),
        (["second", "first"], {"ours": "first"}),
        (["x", "x", "", "", "third"], {"other": "third"}),
        ([], {}),
    ],
)
def test_match(found, matched):
    assert match(found, TABLE, file="f") == matched


@pytest.mark.parametrize("found", [["first", "First"], ["second", "x", "SECOND"]])
def test_match_refuses_two_of_a_name(found):
    with pytest.raises(InputError, match="f, line 3: two columns of the same name; found"):
        match(found, TABLE, file="f", line=3)


def test_natural_order():
    names = ["log_10", "log_9", "log_1", "log", "log_²", "log_010x", "9" * 5000, "²", "1²2", ""]
    assert sorted(["log_10", "log_9", "log_1", "log"], key=natural) == ["log", "log_1", "log_9", "log_10"]
    assert sorted(sorted(names, key=natural)) == sorted(names)  # none of them is too odd
    assert sorted(["a10b2", "a10b10", "a9"], key=natural) == ["a9", "a10b2", "a10b10"]
