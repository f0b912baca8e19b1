"""Families of datasets: a map of known names, which a file can extend or override."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from specdash.schema import InputError

FamilyOf = Callable[[str], str | None]


def load(path: Path | None = None) -> FamilyOf:
    """Return the function from a dataset's name to its family (None when no family lists it).

    Names are compared without regard to case and to the difference of ``-``, ``_``, ``.`` and blanks.

    Args:
        path: A TOML file of ``family = ["dataset", …]`` that wins over the built-in map; it may not exist.

    Raises:
        InputError: The file is not such a map, or lists a dataset twice.
    """
    known = _parse(resources.files("specdash").joinpath("families.toml").read_text("utf-8"), "families.toml")
    if path is not None and path.is_file():
        try:
            known |= _parse(path.read_text("utf-8"), str(path))
        except UnicodeDecodeError as error:
            raise InputError(
                "not UTF-8 text", file=str(path), found=error.object[error.start : error.start + 4]
            ) from None
    return lambda dataset: known.get(_normalised(dataset))


def _parse(text: str, name: str) -> dict[str, str]:
    try:
        families = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            "not valid TOML", file=name, found=str(error), expected='lines like math = ["gsm8k"]'
        ) from None
    family_of: dict[str, str] = {}
    for family, datasets in families.items():
        if not isinstance(datasets, list) or not all(isinstance(d, str) for d in datasets):
            raise InputError(f"family {family} is not a list of dataset names", file=name, found=datasets)
        for dataset in datasets:
            if family_of.setdefault(_normalised(dataset), family) != family:
                raise InputError(f"dataset {dataset} is in two families", file=name)
    return family_of


def _normalised(dataset: str) -> str:
    return re.sub(r"[-_.\s]+", "", dataset.casefold())
