"""Prompts from a file: a line a prompt, or a JSON object a line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specdash.schema import InputError

_TEXT = ("prompt", "question", "text", "input", "instruction", "problem")
_ID = ("prompt_id", "question_id", "id", "task_id", "idx")
_DATASET = ("dataset", "category", "task", "subset")
_MOST_BYTES = 256 * 2**20


@dataclass(frozen=True)
class Prompt:
    """A prompt.

    Attributes:
        id: Unique in its dataset.
        dataset: Its dataset; the file's name where the line names none.
        messages: As chat messages; a plain prompt is one message of the user.
        sha256: Of the messages, so that a measurement can be told to be of the same prompts without holding them.
    """

    id: str
    dataset: str
    messages: tuple[dict[str, str], ...]
    sha256: str

    @property
    def text(self) -> str:
        """As one text, for endpoints that complete a text."""
        return "\n\n".join(message["content"] for message in self.messages)


def read(path: Path, most: int | None = None) -> list[Prompt]:
    """Read the first prompts of a file.

    A ``.jsonl`` file has an object a line with ``prompt`` (or question, text, …), ``messages`` (role and content), or
    ``turns`` of which the first is taken; and optionally an id and a dataset. Any other file has a prompt a line.

    Args:
        path: The file.
        most: How many prompts to read; all when None.

    Raises:
        InputError: There is none, a line is not one, or an id is there twice.
    """
    if path.stat().st_size > _MOST_BYTES:
        raise InputError("the file of prompts is too large", file=path.name, expected=f"{_MOST_BYTES >> 20} MB at most")
    found: list[Prompt] = []
    seen: dict[tuple[str, str], int] = {}
    for number, line in _lines(path):
        if most is not None and len(found) >= most:
            break
        prompt = _object(line, path, number, len(found)) if path.suffix in (".jsonl", ".ndjson") else None
        prompt = prompt or _prompt(str(len(found)), path.stem, [{"role": "user", "content": line}])
        first = seen.setdefault((prompt.dataset, prompt.id), number)
        if first != number:
            expected = "an id of its own for every prompt"
            raise InputError(f"id of line {first} too", file=path.name, line=number, found=prompt.id, expected=expected)
        found.append(prompt)
    if not found:
        raise InputError("no prompts", file=path.name, expected="a prompt a line, or a JSON object a line in a .jsonl")
    return found


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    with path.open("rb") as stream:
        for number, raw in enumerate(stream, start=1):
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            except UnicodeDecodeError:
                raise InputError("not UTF-8 text", file=path.name, line=number, found=raw[:20]) from None
            if line:
                yield number, line


def _object(line: str, path: Path, number: int, nth: int) -> Prompt:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError("not valid JSON", file=path.name, line=number, found=line[:60]) from None
    if not isinstance(row, dict):
        raise InputError("not a JSON object", file=path.name, line=number, found=row, expected="an object a line")
    messages = _messages(row)
    if messages is None:
        found = "fields " + ", ".join(map(str, row))
        expected = f"a text as {', '.join(_TEXT)}, or messages, or turns"
        raise InputError("no prompt in the line", file=path.name, line=number, found=found, expected=expected)
    return _prompt(_word(row, _ID) or str(nth), _word(row, _DATASET) or path.stem, messages)


def _messages(row: dict[str, Any]) -> list[dict[str, str]] | None:
    given = row.get("messages")
    if isinstance(given, list) and given and all(_is_message(message) for message in given):
        return [{"role": message["role"], "content": message["content"]} for message in given]
    turns = row.get("turns")
    texts = [row.get(name) for name in _TEXT] + (turns[:1] if isinstance(turns, list) else [])
    text = next((text for text in texts if isinstance(text, str) and text.strip()), None)
    return None if text is None else [{"role": "user", "content": text}]


def _is_message(message: Any) -> bool:
    return isinstance(message, dict) and all(isinstance(message.get(name), str) for name in ("role", "content"))


def _word(row: dict[str, Any], names: tuple[str, ...]) -> str | None:
    """Return the first of some fields that holds a short text or a whole number."""
    for name in names:
        value = row.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str) and 0 < len(value.strip()) <= 200:
            return value.strip()
    return None


def _prompt(id: str, dataset: str, messages: list[dict[str, str]]) -> Prompt:
    content = json.dumps(messages, ensure_ascii=True, sort_keys=True).encode()
    return Prompt(id, dataset, tuple(messages), hashlib.sha256(content).hexdigest())
