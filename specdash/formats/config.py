"""Configuration files beside a log, and the file in which an evaluation says what it is."""

from __future__ import annotations

from typing import Any

from specdash.formats.base import File, Format, Role, has_suffix, read_json, stem
from specdash.formats.synonyms import CONFIG, match, normalised
from specdash.schema import MAX_DRAFTED, InputError, check_settings

_NAMES = """
config args run_config run_args eval_config eval_args bench_config settings params parameters metadata meta
arguments setup run
""".split()
_MAY_BE_SUMS = ("draft_tokens", "num_draft_tokens")
"""Names of K that are also names of all drafted tokens of a run."""

_LONGEST = 200  # A setting is short; anything longer may be a prompt, and no prompt text is stored.

FORMAT = Format(
    key="config",
    role=Role.CONFIG,
    what="config.json, args.json and the like",
    named=lambda file: stem(file).lower() in _NAMES and has_suffix(file, ".json"),
    looks=lambda _: False,
)

ABOUT = Format(
    key="about",
    role=Role.ABOUT,
    what="evaluation.json, what the evaluation says of itself",
    named=lambda file: file.name.lower() == "evaluation.json",
    looks=lambda _: False,
)


def read(file: File) -> dict[str, Any]:
    """Read a configuration.

    Returns:
        Settings by name, scalars only: nested objects are flattened with dots, lists and long texts are left out.
        Known settings carry our names (synonyms.CONFIG).

    Raises:
        InputError: It is no JSON object, or its K is impossible.
    """
    document = read_json(file)
    if not isinstance(document, dict):
        raise InputError("not a JSON object", file=file.path, found=document, expected="settings by name")
    flat = _flat(document)
    matched = match(_last_parts(flat), CONFIG, file=file.path)
    if normalised(matched.get("k", "")) in _MAY_BE_SUMS and not _is_k(flat, matched["k"]):
        del matched["k"]
    by_part = {part: name for name in reversed(flat) for part in (name.rpartition(".")[2],)}
    known = {ours: flat[by_part[theirs]] for ours, theirs in matched.items()}
    used = {by_part[theirs] for theirs in matched.values()}
    settings = known | {name: value for name, value in flat.items() if name not in used and name not in known}
    check_settings(settings, file.path)
    return settings


def _is_k(flat: dict[str, Any], part: str) -> bool:
    value = next(value for name, value in flat.items() if name.rpartition(".")[2] == part)
    return isinstance(value, int) and value <= MAX_DRAFTED


def _last_parts(flat: dict[str, Any]) -> list[str]:
    """Return the names without the objects they stand in; of several spellings of one name the first."""
    parts: dict[str, str] = {}
    for name in flat:
        part = name.rpartition(".")[2]
        parts.setdefault(normalised(part), part)
    return list(parts.values())


def _flat(document: dict[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, dict) and depth < 4:
            flat |= _flat(value, f"{prefix}{name}.", depth + 1)
        elif isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= _LONGEST):
            flat[f"{prefix}{name}"] = value
    return flat


def read_about(file: File) -> dict[str, Any]:
    """Read what an evaluation says of itself.

    Returns:
        Those of ``title, note`` (text), ``reconstruction`` (bool) and ``order`` ("recorded" or "invented") that are
        given.

    Raises:
        InputError: A field is not of its kind.
    """
    document = read_json(file)
    if not isinstance(document, dict):
        raise InputError(
            "not a JSON object", file=file.path, found=document, expected="title, note, reconstruction, order"
        )
    kinds = {"title": str, "note": str, "reconstruction": bool, "order": str}
    about = {name: document[name] for name in kinds if name in document}
    for name, value in about.items():
        if not isinstance(value, kinds[name]):
            raise InputError(f"{name} is of the wrong kind", file=file.path, found=value, expected=kinds[name].__name__)
    if about.get("order", "recorded") not in ("recorded", "invented"):
        raise InputError("order is unknown", file=file.path, found=about["order"], expected="recorded or invented")
    return about
