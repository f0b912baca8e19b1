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
    rows, warnings = read(tmp_path, document)
    assert rows == [ROW | {"dataset": "gsm8k"}, ROW_2 | {"dataset": "mbpp"}]
    assert warnings == []


@pytest.mark.parametrize("document", [GSM8K, [GSM8K], {"counters": GSM8K}, {"a": {"b": {"c": [GSM8K]}}}])
def test_a_single_record_without_a_name(tmp_path, document):
    rows, _ = read(tmp_path, document)
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
    (row,), warnings = read(tmp_path, record, config_k=config_k)
    assert (row["drafted"], row["block"]) == (drafted, block)
    assert [warning.code for warning in warnings] == ["drafted_assumed"] * assumed


@pytest.mark.parametrize(
    ("stored_ratios", "told"),
    [
        # by hand: τ = 1 + 15/10, verify rate (10 + 15)/(10 + 30), ratio 15/30, rates 8/10 5/10 2/10
        ({"acceptance_length": 2.5, "verify_rate": 0.625, "acceptance_ratio": 0.5}, []),
        ({"accept_rates_by_position": [0.8, 0.5, 0.2]}, []),
        ({"acceptance_length": 2.50001}, ["stored acceptance_length 2.50001 is 2.5000"]),
        ({"acceptance_length": 2.504}, ["stored acceptance_length 2.504 is 2.5000"]),
        ({"verify_rate": 0.63}, []),  # 0.625 rounded to 2 decimals
        ({"verify_rate": 0.62}, []),
        ({"verify_rate": 0.6}, ["stored verify_rate 0.6 is 0.6250"]),
        (
            {"accept_rates_by_position": [0.8, 0.6, 0.4]},
            ["stored accept_rates_by_position [0.8, 0.6, 0.4] is [0.8000, 0.5000, 0.2000]"],
        ),
        ({"accept_rates_by_position": [0.8, 0.5]}, ["stored accept_rates_by_position [0.8, 0.5] is"]),
        ({"draft_acceptance_rate": 0.5, "tau": 3}, ["stored tau 3 is 2.5000"]),
        ({"tau": "2.5"}, ["stored tau 2.5 is 2.5000"]),
        ({"tau": 10**400}, ["stored tau 1000"]),
        ({"tau": None, "verify_rate": float("nan")}, []),
        ({"tau": float("inf")}, []),
    ],
)  # fmt: skip
def test_stored_ratios_are_compared_and_not_used(tmp_path, stored_ratios, told):
    rows, warnings = read(tmp_path, GSM8K | stored_ratios)
    assert rows == [ROW | {"dataset": "folder"}]
    assert {warning.code for warning in warnings} <= {"ratio_disagrees"}
    assert len(warnings) == len(told)
    for warning, says in zip(warnings, told, strict=True):
        assert warning.message.startswith(f"counters.json: folder: {says}")
        assert len(warning.message) < 400


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
