"""Pure metrics: canonical tables in, numbers out. No files, no interface, no plotting."""

from specdash.metrics.blocks import fixed_block
from specdash.metrics.borrowing import ALONE, Background
from specdash.metrics.group import response_sums, response_taus, restricted
from specdash.metrics.intervals import FEW, FEWEST, NO_INTERVAL
from specdash.metrics.registry import Metric, Shape, all_metrics, get
from specdash.metrics.table import (
    CI_KEYS,
    ERROR_KEYS,
    INTERVAL_KEYS,
    KEYS,
    METRIC_KEYS,
    Row,
    mle_outcomes,
    run_rows,
)

__all__ = [
    "ALONE",
    "CI_KEYS",
    "ERROR_KEYS",
    "FEW",
    "FEWEST",
    "INTERVAL_KEYS",
    "KEYS",
    "METRIC_KEYS",
    "NO_INTERVAL",
    "Background",
    "Metric",
    "Row",
    "Shape",
    "all_metrics",
    "fixed_block",
    "get",
    "mle_outcomes",
    "response_sums",
    "response_taus",
    "restricted",
    "run_rows",
]
