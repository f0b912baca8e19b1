"""The printed tables of the report and the constants of its setup."""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

K = 7
COPIES = 10
MAX_TOKENS = 2048
SEED = 980406
STAGES = 10
RTT_MS = (10, 25, 50, 100, 200)
TOTAL_DRAFTS_A = 435_989
POOLED = "pooled"
PROMPTS: dict[str, int] = {
    "gsm8k": 500,
    "math500": 500,
    "aime25": 30,
    "humaneval": 164,
    "mbpp": 256,
    "livecodebench": 500,
    "mt-bench": 80,
    "alpaca": 500,
    "arena-hard-v2": 500,
}
# (question, copy) of the responses that have a line in samples.jsonl but no step in the log.
ABSENT: dict[str, tuple[tuple[int, int], ...]] = {"alpaca": ((61, 3), (187, 8), (302, 0), (446, 5))}

Row = dict[str, str]


@dataclass(frozen=True)
class Tables:
    """The printed cells, as text, by dataset and column."""

    rows: dict[str, Row]

    def value(self, dataset: str, column: str) -> float:
        """Return one printed cell as a number."""
        return float(self.rows[dataset][column])

    def half(self, dataset: str, column: str) -> float:
        """Return half of the last printed digit's unit: the rounding half-width of a cell."""
        return 0.5 * 10.0 ** -decimals(self.rows[dataset][column])

    def steps(self, dataset: str) -> int:
        """Return the number of verify steps of the per-step run."""
        return int(self.rows[dataset]["steps"])


def decimals(text: str) -> int:
    """Return how many decimals a printed number has."""
    return len(text.partition(".")[2])


def read_tables(folder: Path) -> Tables:
    """Read every table of a folder and merge them by dataset.

    Args:
        folder: The folder with ``table1_*.csv`` to ``table7_*.csv``.

    Returns:
        The cells. Column names are unique over the tables.
    """
    rows: dict[str, Row] = {}
    for path in sorted(folder.glob("table*.csv")):
        with path.open(newline="", encoding="utf-8") as handle:
            for line in csv.DictReader(handle):
                rows.setdefault(line.pop("dataset"), {}).update({k: v for k, v in line.items() if v})
    return Tables(rows)
