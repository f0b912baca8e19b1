"""Printed tables (``results_table.txt``): ASCII or Unicode boxes with a header row and a row a dataset."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from specdash.formats import peek
from specdash.formats.base import File, Format, Role, has_suffix, read_text, stem
from specdash.formats.synonyms import normalised
from specdash.schema import (
    MAX_DRAFTED,
    Bonus,
    End,
    InputError,
    PerPosition,
    Semantics,
    Span,
    Undrafted,
)

_RATE = re.compile(r"accept(?:ance)?_rate@([0-9]{1,3})")
_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{0,20})?"
_LENGTHS = ("accept_len", "alen_mean")
_MODELS = ("target_model", "draft_model")
_BARS = "|│║┃"
_HEAD = re.compile(
    rf"(?:{'|'.join(_BARS.replace('|', ''))}|[|])[^\n]*\bdataset\b[^\n]*\b(?:accept[_ ]len|alen[_ ]mean)\b".encode(),
    re.IGNORECASE,
)
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


DEEPSPEC = Semantics(
    producer="DeepSpec, evaluation",
    bonus=Bonus.IN,
    position_base=0,
    per_position=PerPosition.EXPOSED,
    span=Span.RUN,
    end=End.CUT,
    undrafted=Undrafted.COUNTED,
    note="Ratios without counts. The prompt's own token is no step; of a conversation the first turn is answered.",
)
"""What the numbers of its table and of its metrics.json mean."""

_RANGES = dict.fromkeys(_LENGTHS, (1.0, MAX_DRAFTED + 1.0))
"""Least and largest value of an acceptance length; rates and ratios lie from 0 to 1."""


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells) of every row in a box, and (line number, []) where a table ends.

    The last cell is what follows the last bar: nothing, unless the row is cut off.
    """
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        line = _ANSI.sub("", raw).strip()
        if line and line[0] in _BARS:
            cells = [cell.strip() for cell in re.split(f"[{_BARS}]", line)[1:]]
            if not all(re.fullmatch(":?-{2,}:?|", cell) for cell in cells):  # not the rule below a Markdown head
                yield number, cells
        elif not line or line[0].isalnum():
            yield number, []


def _header(cells: list[str]) -> list[str]:
    return [normalised(cell) for cell in cells]


def _is_results(header: list[str]) -> bool:
    return "dataset" in header and any(name in header for name in _LENGTHS)


def _looks_like_results(file: File) -> bool:
    """Tell whether the head of such a table stands in what a program printed; a document may only quote one."""
    return ("." not in file.name or has_suffix(file, ".txt", ".log", ".out")) and peek.has_line(file, _HEAD)


FORMAT = Format(
    key="results-table",
    role=Role.PRINTED,
    what="results_table.txt, a printed table",
    named=lambda file: stem(file).lower().startswith("results_table") and has_suffix(file, ".txt"),
    looks=_looks_like_results,
)


def read(file: File) -> list[dict[str, Any]]:
    """Read the printed rows.

    Returns:
        A dict a dataset. From DeepSpec's table: ``dataset, target_model, draft_model, mean_drafted, tau, verify_rate,
        p_exposed`` (a list, None where nothing was observed). From a table over copies: ``dataset, alen_mean,
        ratio_max, ratio_mean, ratio_min``. Each as printed; ``decimals`` maps a column to the decimals printed.

    Raises:
        InputError: There is no such table, or a cell is not what its column says.
    """
    rows: dict[str, dict[str, Any]] = {}
    header: list[str] = []
    for line, cells in _rows(read_text(file)):
        if not cells or _is_results(_header(cells)):
            header = _header(cells)
        if header and cells and cells[-1]:
            raise InputError(
                "a row of the table is cut off", file=file.path, line=line, found=cells[-1], expected="| at its end"
            )
        if not header or header == _header(cells):
            continue
        if len(cells) != len(header):
            raise InputError(
                "a row of the table has other columns than its header",
                file=file.path,
                line=line,
                found=f"{len(cells) - 1} cells",
                expected=f"{len(header) - 1}",
            )
        row = _row(dict(zip(header[:-1], cells[:-1], strict=True)), file.path, line)
        rows[row["dataset"]] = _merged(rows.get(row["dataset"], row), row, file.path, line)
    if not rows:
        raise InputError(
            "no results table found",
            file=file.path,
            expected="a boxed table with columns dataset and accept_len or alen_mean",
        )
    return list(rows.values())


def _merged(before: dict[str, Any], row: dict[str, Any], path: str, line: int) -> dict[str, Any]:
    """Return a dataset's row over what stood there before: a second table, or the same one printed again."""
    if any(before.get(name, row.get(name)) != row.get(name, before.get(name)) for name in _MODELS):
        raise InputError(
            f"dataset {row['dataset']} stands there with two pairs of models",
            file=path,
            line=line,
            expected="one table a run",
        )
    return before | row | {"decimals": before["decimals"] | row["decimals"]}


def _row(cells: dict[str, str], path: str, line: int) -> dict[str, Any]:
    if not cells["dataset"]:
        raise InputError("a row without a dataset", file=path, line=line)
    row: dict[str, Any] = {"dataset": cells["dataset"], "decimals": {}}
    for name in _MODELS:
        if name in cells:
            row[name] = cells[name]
    renamed = {"accept_len": "tau"}
    for name in ("accept_len", "verify_rate", "alen_mean", "ratio_max", "ratio_mean", "ratio_min"):
        if name in cells:
            key = renamed.get(name, name)
            row[key] = _number(cells[name], name, path, line, *_RANGES.get(name, (0.0, 1.0)))
            row["decimals"][key] = len(cells[name].partition(".")[2])
    if "#propose" in cells:
        row["mean_drafted"] = _proposed(cells["#propose"], path, line)
        _check_length(row, cells.get("accept_len", ""), path, line)
    positions = sorted((int(found[1]), name) for name in cells if (found := _RATE.fullmatch(name)))
    if [i for i, _ in positions] != list(range(len(positions))) or len(positions) > MAX_DRAFTED:
        raise InputError(
            "positions are not 0, 1, 2, …",
            file=path,
            line=line,
            found=", ".join(name for _, name in positions),
        )
    if positions:
        row["p_exposed"] = [_number(cells[name], name, path, line, 0.0, 1.0) for _, name in positions]
        row["decimals"]["p_exposed"] = max(len(cells[name].partition(".")[2]) for _, name in positions)
    return row


def _number(cell: str, name: str, path: str, line: int, low: float, high: float) -> float | None:
    """Return a printed number; ``-`` and ``nan`` mean that nothing was observed, and so does a length of 0."""
    if cell in ("-", "–", "", "nan", "NaN"):
        return None
    if not re.fullmatch(_NUMBER, cell):
        raise InputError(f"{name} is not a number", file=path, line=line, found=cell, expected="a number or -")
    value = float(cell)
    if value == 0 and low > 0:
        return None
    if not low <= value <= high:
        raise InputError(f"{name} is impossible", file=path, line=line, found=cell, expected=f"{low:g} to {high:g}")
    return value


def _check_length(row: dict[str, Any], cell: str, path: str, line: int) -> None:
    """Let an acceptance length pass that as many proposed tokens can give, both as rounded as they are printed."""
    tau, drafted = row.get("tau"), row["mean_drafted"]
    if tau is not None and drafted is not None and tau > drafted + 1 + 0.02:
        most = f"at most {drafted + 1:.2f} with {drafted:g}+1 proposed"
        raise InputError("accept_len is impossible", file=path, line=line, found=cell, expected=most)


def _proposed(cell: str, path: str, line: int) -> float | None:
    if cell in ("-", ""):
        return None
    found = re.fullmatch(rf"({_NUMBER})\+1", cell)
    if not found:
        raise InputError("#propose is not of the form 6.98+1", file=path, line=line, found=cell)
    return float(found[1])
