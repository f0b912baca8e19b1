"""Printed tables (``results_table.txt``): ASCII or Unicode boxes with a header row and a row a dataset."""

from __future__ import annotations

import re
from typing import Any

from specdash.formats.base import File, Format, Role, has_suffix, read_text, stem
from specdash.formats.synonyms import normalised
from specdash.schema import MAX_DRAFTED, InputError

_RATE = re.compile(r"accept(?:ance)?_rate@(\d+)")
_LENGTHS = ("accept_len", "alen_mean")
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def _tables(text: str) -> list[list[tuple[int, list[str]]]]:
    """Split a text into boxed tables of (line number, cells); anything between them is passed over."""
    tables: list[list[tuple[int, list[str]]]] = [[]]
    for number, raw in enumerate(text.splitlines(), start=1):
        line = _ANSI.sub("", raw).strip()
        if line[:1] in ("|", "│", "║", "┃") and len(line) > 1:
            tables[-1].append((number, [cell.strip() for cell in re.split(r"[|│║┃]", line[1:-1])]))
        elif not line or line[0].isalnum():
            tables.append([])
    return [table for table in tables if table]


def _header(cells: list[str]) -> list[str]:
    return [normalised(cell) for cell in cells]


def _is_results(header: list[str]) -> bool:
    return "dataset" in header and any(name in header for name in _LENGTHS)


def _looks_like_results(file: File) -> bool:
    if not has_suffix(file, ".txt", ".log"):
        return False
    head = file.head()
    return (
        b"dataset" in head
        and (b"accept_len" in head or b"alen_mean" in head)
        and any(c in head for c in (b"|", "│".encode()))
    )


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
    for table in _tables(read_text(file)):
        header = _header(table[0][1])
        if not _is_results(header):
            continue
        for line, cells in table[1:]:
            if len(cells) != len(header):
                raise InputError(
                    "a row of the table has other columns than its header",
                    file=file.path,
                    line=line,
                    found=f"{len(cells)} cells",
                    expected=f"{len(header)}",
                )
            row = _row(dict(zip(header, cells, strict=True)), file.path, line)
            rows[row["dataset"]] = row  # A table printed again at the end repeats its rows.
    if not rows:
        raise InputError(
            "no results table found",
            file=file.path,
            expected="a boxed table with columns dataset and accept_len or alen_mean",
        )
    return list(rows.values())


def _row(cells: dict[str, str], path: str, line: int) -> dict[str, Any]:
    if not cells["dataset"]:
        raise InputError("a row without a dataset", file=path, line=line)
    row: dict[str, Any] = {"dataset": cells["dataset"], "decimals": {}}
    for name in ("target_model", "draft_model"):
        if name in cells:
            row[name] = cells[name]
    renamed = {"accept_len": "tau"}
    for name in ("accept_len", "verify_rate", "alen_mean", "ratio_max", "ratio_mean", "ratio_min"):
        if name in cells:
            key = renamed.get(name, name)
            row[key] = _number(cells[name], name, path, line)
            row["decimals"][key] = len(cells[name].partition(".")[2])
    if "#propose" in cells:
        row["mean_drafted"] = _proposed(cells["#propose"], path, line)
    positions = sorted((int(found[1]), name) for name in cells if (found := _RATE.fullmatch(name)))
    if [i for i, _ in positions] != list(range(len(positions))) or len(positions) > MAX_DRAFTED:
        raise InputError(
            "positions are not 0, 1, 2, …",
            file=path,
            line=line,
            found=", ".join(name for _, name in positions),
        )
    if positions:
        row["p_exposed"] = [_number(cells[name], name, path, line) for _, name in positions]
        row["decimals"]["p_exposed"] = max(len(cells[name].partition(".")[2]) for _, name in positions)
    return row


def _number(cell: str, name: str, path: str, line: int) -> float | None:
    """Return a printed number; ``-`` and ``nan`` mean that nothing was observed."""
    if cell in ("-", "–", "", "nan", "NaN"):
        return None
    if not re.fullmatch(r"\d+(\.\d*)?", cell):
        raise InputError(f"{name} is not a number", file=path, line=line, found=cell, expected="a number or -")
    return float(cell)


def _proposed(cell: str, path: str, line: int) -> float | None:
    if cell in ("-", ""):
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\+1", cell)
    if not found:
        raise InputError("#propose is not of the form 6.98+1", file=path, line=line, found=cell)
    return float(found[1])
