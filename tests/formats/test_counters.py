import json

import pytest

from specdash.formats import counters
from tests.formats.files import stored

GSM8K = {"drafts": 10, "draft_tokens": 30, "accepted": 15, "per_pos": [8, 5, 2]}
MBPP = {"drafts": 4, "draft_tokens": 12, "accepted": 6, "per_pos": [3, 2, 1]}
ROW = {"responses": None, "steps": 10, "drafted": 30, "accepted": 15, "per_position": [8, 5, 2], "block": 3}
ROW_2 = {"responses": None, "steps": 4, "drafted": 12, "accepted": 6, "per_position": [3, 2, 1], "block": 3}


def read(folder, document, default="folder", config_k=None):
    return counters.read(stored(folder, "counters.json", json.dumps(document)), default, config_k)


@pytest.mark.parametrize(
    "document",
    [
        [GSM8K | {"dataset": "gsm8k"}, MBPP | {"task": "mbpp"}],
        {"gsm8k": GSM8K, "mbpp": MBPP},
        {"gsm8k": GSM8K | {"dataset": None}, "mbpp": MBPP, "total_seconds": 12.5, "settings": {"seed": 1}},
        {"results": [GSM8K | {"name": "gsm8k"}, MBPP | {"name": "mbpp"}], "config": {"k": 3}},
        {"run": {"datasets": {"gsm8k": GSM8K, "mbpp": MBPP}}},
        {
            "gsm8k": {
                "numDrafts": 10.0,
                "num-draft-tokens": 30,
                "num_accepted_tokens_per_pos": {"0": 8, "1": 5, "2": 2},
            },
            "mbpp": {"verify_steps": 4, "proposed_tokens": 12, "accepted_tokens": 6, "accepted_per_pos": [3, 2, 1]},
        },
    ],
)
def test_shapes_of_documents(tmp_path, document):
    found = read(tmp_path, document)
    assert found.rows == [ROW | {"dataset": "gsm8k"}, ROW_2 | {"dataset": "mbpp"}]
    assert found.stored == found.warnings == []


@pytest.mark.parametrize("document", [GSM8K, [GSM8K], {"counters": GSM8K}, {"a": {"b": {"c": [GSM8K]}}}])
def test_a_single_record_without_a_name(tmp_path, document):
    rows = read(tmp_path, document).rows
    name = "folder" if document != {"counters": GSM8K} else "counters"
    assert rows == [ROW | {"dataset": name}]


@pytest.mark.parametrize(
    ("record", "config_k", "drafted", "block", "assumed"),
    [
        ({"drafts": 10, "per_pos": [8, 5, 2]}, None, 30, 3, True),  # the positions tell K
        ({"drafts": 10, "accepted": 15}, 4, 40, 4, True),  # the configuration does
        ({"drafts": 10, "accepted": 15}, None, None, None, False),  # nothing does
        ({"drafts": 10, "accepted": 15, "draft_tokens": 27}, None, 27, None, False),
        ({"drafts": 10, "per_pos": [8, 5, 2], "draft_tokens": 27}, None, 27, None, False),  # K varies
        ({"drafts": 10, "per_pos": [8, 5, 2], "draft_tokens": 30}, 9, 30, 3, False),
        ({"drafts": 0, "accepted": 0, "per_pos": [0, 0]}, None, 0, 2, True),
    ],
)
def test_what_was_drafted(tmp_path, record, config_k, drafted, block, assumed):
    (row,), _, warnings = read(tmp_path, record, config_k=config_k)
    assert (row["drafted"], row["block"]) == (drafted, block)
    assert [warning.code for warning in warnings] == ["drafted_assumed"] * assumed


@pytest.mark.parametrize(
    ("ratios", "decimals"),
    [
        ({"acceptance_length": 2.5, "verify_rate": 0.625, "acceptance_ratio": 0.5}, [2, 3, 2]),
        ({"acceptance_length": 2.50001}, [5]),
        ({"acceptance_length": 2.1234567}, [6]),
        ({"tau": 3}, [2]),
        ({"verify_rate": 6e-9}, [6]),
        ({"accept_rates_by_position": [0.8, 0.512, 0.2]}, [3]),
    ],
)
def test_stored_ratios_are_kept_as_exact_as_they_are_and_not_used(tmp_path, ratios, decimals):
    found = read(tmp_path, GSM8K | ratios)
    assert found.rows == [ROW | {"dataset": "folder"}]
    assert found.warnings == []
    (stored,) = found.stored
    names = {"acceptance_length": "tau", "accept_rates_by_position": "p"}
    for (called, value), exact in zip(ratios.items(), decimals, strict=True):
        name = names.get(called, called)
        assert (stored[name], stored[f"{name}_called"], stored["decimals"][name]) == (value, called, exact)


@pytest.mark.parametrize(
    ("ratio", "told"),
    [
        ({"accept_rates_by_position": [0.8, 0.5]}, "stored accept_rates_by_position [0.8, 0.5] is not 3 ratios"),
        ({"accept_rates_by_position": [0.8, 0.5, None]}, "is not 3 ratios"),
        ({"tau": "2.5"}, "stored tau 2.5 is not a ratio"),
        ({"tau": 10**400}, "stored tau 1000"),
        ({"tau": True}, "stored tau True is not a ratio"),
        ({"verify_rate": -0.5}, "stored verify_rate -0.5 is not a ratio"),
    ],
)
def test_stored_ratios_that_are_none_are_told(tmp_path, ratio, told):
    found = read(tmp_path, GSM8K | ratio)
    assert found.stored == []
    (warning,) = found.warnings
    assert warning.code == "ratio_unread"
    assert warning.message.startswith("counters.json: folder: ") and told in warning.message
    assert len(warning.message) < 400


@pytest.mark.parametrize("nothing", [None, float("nan"), float("inf")])
def test_a_stored_ratio_of_nothing_is_passed_over(tmp_path, nothing):
    found = read(tmp_path, GSM8K | {"tau": nothing, "verify_rate": 0.625})
    assert found.warnings == []
    assert [set(row["decimals"]) for row in found.stored] == [{"verify_rate"}]


@pytest.mark.parametrize(
    ("name", "content", "known"),
    [
        ("counters.json", b"whatever", True),
        ("spec_counters.json.gz", b"", True),
        ("gsm8k.json", json.dumps(GSM8K).encode(), True),
        ("gsm8k.json", b'{"accepted": 3, "drafts": ', False),
        ("gsm8k.json", b'{"accepted": true}', False),
        ("gsm8k.jsonl", json.dumps(GSM8K).encode(), False),
    ],
)
def test_recognised(tmp_path, name, content, known):
    file = stored(tmp_path, name, content)
    assert (counters.FORMAT.named(file) or counters.FORMAT.looks(file)) == known
