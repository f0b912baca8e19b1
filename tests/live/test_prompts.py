"""Prompts from files."""

import json

import pytest

from specdash.live.prompts import read
from specdash.schema import InputError


def file(tmp_path, content, name="p.jsonl"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_a_line_a_prompt(tmp_path):
    found = read(file(tmp_path, "\ufeffWhy?\n\n  {not json}  \n", "asked.txt"))
    assert [(p.id, p.dataset, p.text) for p in found] == [("0", "asked", "Why?"), ("1", "asked", "{not json}")]
    assert found[0].messages == ({"role": "user", "content": "Why?"},)


def test_objects(tmp_path):
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
    found = read(
        file(
            tmp_path,
            lines(
                {"question_id": 81, "category": "writing", "turns": ["One", "Two"]},
                {"id": "x", "prompt": "P"},
                {"messages": chat},
                {"question": "Q", "dataset": "gsm8k"},
            ),
        )
    )
    assert [(p.id, p.dataset) for p in found] == [("81", "writing"), ("x", "p"), ("2", "p"), ("3", "gsm8k")]
    assert [p.text for p in found] == ["One", "P", "Be brief.\n\nWhy?", "Q"]
    assert found[2].messages == tuple(chat)
    assert len({p.sha256 for p in found}) == 4 and len(found[0].sha256) == 64


def test_the_first_few(tmp_path):
    assert [p.text for p in read(file(tmp_path, "a\nb\nc\n", "p.txt"), 2)] == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "p.jsonl: no prompts"),
        ("{", "p.jsonl, line 1: not valid JSON; found {"),
        ("[1]", "p.jsonl, line 1: not a JSON object; found [1]"),
        (lines({"id": 1}), "p.jsonl, line 1: no prompt in the line; found fields id"),
        (lines({"prompt": " "}), "p.jsonl, line 1: no prompt in the line"),
        (lines({"messages": [{"role": "user"}]}), "p.jsonl, line 1: no prompt in the line"),
        (lines({"id": 1, "prompt": "a"}, {"id": 1, "prompt": "b"}), "p.jsonl, line 2: id of line 1 too; found 1"),
        (b"\xff", "p.jsonl, line 1: not UTF-8 text"),
    ],
)
def test_bad_files(tmp_path, content, message):
    with pytest.raises(InputError) as refused:
        read(file(tmp_path, content))
    assert message in str(refused.value)
