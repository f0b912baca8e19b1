"""What people say of a stored evaluation, kept apart from what was read: its title, notes, tags, settings of runs."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from specdash.schema import Evaluation, InputError, check_settings

NAME = "annotations.json"

MAX_TITLE, MAX_NOTES, MAX_TAG, MAX_SETTING = 300, 20_000, 50, 200
"""Most characters of each; of a setting those of its name and of its text."""

MAX_TAGS = 20

# Of the characters that no one sees, those that join or turn others are part of names and stay.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_CONTROL_IN_NOTES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

Scalar = str | int | float | bool


@dataclass(frozen=True)
class Annotations:
    """What people say of an evaluation.

    Attributes:
        title: Shown instead of the title that was read; None when nobody gave one.
        notes: Free text.
        tags: Short words, each once.
        config: Settings by the name of a run; they win over those the run was read with.
    """

    title: str | None = None
    notes: str = ""
    tags: tuple[str, ...] = ()
    config: dict[str, dict[str, Scalar]] = field(default_factory=dict)

    def changed(
        self,
        runs: Collection[str],
        *,
        title: str | None = None,
        notes: str | None = None,
        tags: Collection[str] | None = None,
        config: Mapping[str, Mapping[str, Scalar | None]] | None = None,
        file: str | None = None,
    ) -> Annotations:
        """Return the annotations with what is given in place of what was there.

        Args:
            runs: Names of the evaluation's runs.
            title: 1 to MAX_TITLE characters.
            notes: At most MAX_NOTES characters.
            tags: At most MAX_TAGS of 1 to MAX_TAG characters.
            config: Settings to add or change by run; None or an empty text takes one away.
            file: Where they come from, for messages.

        Raises:
            InputError: One of them is of the wrong kind, too long or empty, or a run is not known.
        """
        return Annotations(
            self.title if title is None else _text("the title", title, MAX_TITLE, file),
            self.notes if notes is None else _notes(notes, file),
            self.tags if tags is None else _tags(tags, file),
            self.config if config is None else _config(self.config, config, runs, file),
        )

    def applied(self, evaluation: Evaluation) -> Evaluation:
        """Return the evaluation as people see it."""
        return replace(
            evaluation,
            title=evaluation.title if self.title is None else self.title,
            notes=self.notes,
            tags=self.tags,
            runs=tuple(
                replace(run, config_set=run.config_set | self.config.get(run.name, {})) for run in evaluation.runs
            ),
        )

    def text(self) -> str:
        """Return them as the content of their file, in ASCII."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=True, allow_nan=False)


def parsed(document: Any, runs: Collection[str], file: str | None = None) -> Annotations:
    """Return the annotations that a parsed file holds.

    Raises:
        InputError: They are not what ``changed`` takes.
    """
    if not isinstance(document, dict):
        raise InputError("not a JSON object", file=file, expected="title, notes, tags, config")
    given = {name: document.get(name) for name in ("title", "notes", "tags", "config")}
    return Annotations().changed(runs, **given, file=file)


def load(folder: Path, runs: Collection[str]) -> Annotations:
    """Return the annotations in an evaluation's folder; none when the file is missing or damaged.

    Raises:
        OSError: There is a file, but it cannot be read just now.
    """
    try:
        return parsed(json.loads((folder / NAME).read_bytes()), runs)
    except (FileNotFoundError, ValueError, RecursionError, InputError):
        return Annotations()


def read(folder: Path, runs: Collection[str]) -> Annotations:
    """Return the same, none also when the file cannot be read: an evaluation is never lost for its annotations."""
    try:
        return load(folder, runs)
    except OSError:
        return Annotations()


def _wrong_kind(what: str, value: Any, expected: str, file: str | None) -> InputError:
    return InputError(f"{what} is of the wrong kind", file=file, found=value, expected=expected)


def _text(what: str, value: Any, longest: int, file: str | None) -> str:
    """Return a text of one line without control characters.

    Raises:
        InputError: It is no text, empty or too long.
    """
    if not isinstance(value, str):
        raise _wrong_kind(what, value, "text", file)
    text = _CONTROL.sub("", value).strip()
    if not 1 <= len(text) <= longest:
        found = f"{len(text):,} characters"
        raise InputError(
            f"{what} is too {'long' if text else 'short'}", file=file, found=found, expected=f"1 to {longest}"
        )
    return text


def _notes(value: Any, file: str | None) -> str:
    if not isinstance(value, str):
        raise _wrong_kind("the text of the notes", value, "text", file)
    text = _CONTROL_IN_NOTES.sub("", re.sub(r"\r\n?", "\n", value))
    if len(text) > MAX_NOTES:
        found = f"{len(text):,} characters"
        raise InputError("the notes are too long", file=file, found=found, expected=f"at most {MAX_NOTES:,}")
    return text


def _tags(value: Any, file: str | None) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise _wrong_kind("the list of tags", value, "a list of texts", file)
    tags = tuple(dict.fromkeys(_text("a tag", tag, MAX_TAG, file) for tag in value))
    if len(tags) > MAX_TAGS:
        raise InputError("there are too many tags", file=file, found=f"{len(tags):,}", expected=f"at most {MAX_TAGS}")
    return tags


def _config(
    before: dict[str, dict[str, Scalar]], given: Any, runs: Collection[str], file: str | None
) -> dict[str, dict[str, Scalar]]:
    if not isinstance(given, Mapping):
        raise _wrong_kind("the configuration", given, "settings by run", file)
    merged = dict(before)
    for run, settings in given.items():
        if run not in runs:
            raise InputError("no such run", file=file, found=run, expected=" or ".join(runs))
        if not isinstance(settings, Mapping):
            raise _wrong_kind("the configuration of a run", settings, "settings by name", file)
        merged[run] = _overlay(merged.get(run, {}), settings, file)
    return {run: settings for run, settings in merged.items() if settings}


def _overlay(before: dict[str, Scalar], given: Mapping[Any, Any], file: str | None) -> dict[str, Scalar]:
    merged = dict(before)
    for name, value in given.items():
        key = _text("the name of a setting", name, MAX_SETTING, file)
        if value is None or (isinstance(value, str) and not _CONTROL.sub("", value).strip()):
            merged.pop(key, None)
        elif isinstance(value, str):
            merged[key] = _text(key, value, MAX_SETTING, file)
        elif isinstance(value, float) or (isinstance(value, int) and abs(value) < 1 << 63):
            merged[key] = value
        else:
            raise _wrong_kind(key, value, "a text, a number, true or false", file)
    check_settings(merged, file)
    return merged
