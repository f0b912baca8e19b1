"""The declared metrics: one object each, from which tables, tooltips, CSV headers and JSON keys come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from specdash.metrics.group import Group
from specdash.registry import Registry
from specdash.schema import Granularity

Value = float | int | list[float | None] | None
"""What a metric yields: a number, a list over positions, outcomes or block lengths, or None (undefined)."""


class Shape(StrEnum):
    """What a metric's values are listed over."""

    SCALAR = "scalar"
    POSITION = "position"  # k values, draft position 0..k-1
    OUTCOME = "outcome"  # k + 1 values, accepted tokens 0..k
    BLOCK = "block"  # k values, block length 1..k


Ends = list[float] | None
"""Lower and upper end of an interval, None where there is none."""


@dataclass(frozen=True)
class Interval:
    """How sure a metric is.

    Attributes:
        how: How its interval is made, a sentence without a full stop.
        ends: Group of steps to the ends, a list of them for a list.
    """

    how: str
    ends: Callable[[Group], Ends | list[Ends]]


@dataclass(frozen=True)
class Metric:
    """One declared metric.

    Attributes:
        key: Name in JSON, CSV and Python.
        label: Short name for table heads.
        unit: Unit of the value; "" for a pure number.
        decimals: Decimals shown (the report's).
        formula: LaTeX.
        definition: One or two sentences.
        estimator: How it is computed from counts where that is a choice (degrees of freedom, percentile method).
        source: Section of the acceptance report, paper or code that defines it.
        needs: The coarsest granularity that can give it.
        compute: Group of steps to value.
        shape: What a list value runs over.
        percent: Shown in percent (stored as a fraction).
        interval: How sure it is, None for a metric that has no interval.
    """

    key: str
    label: str
    unit: str
    decimals: int
    formula: str
    definition: str
    estimator: str
    source: str
    needs: Granularity
    compute: Callable[[Group], Value]
    shape: Shape = Shape.SCALAR
    percent: bool = False
    interval: Interval | None = None

    def value(self, group: Group) -> Value:
        """Return the value for a group of steps, None where the group's granularity cannot give it."""
        return self.compute(group) if group.granularity.allows(self.needs) else None


_METRICS = Registry("metric", Metric)

metric, get, all_metrics = _METRICS.declare, _METRICS.get, _METRICS.all
"""Declare a metric (the keywords are the fields of Metric), return one by its key, return all.

They are in the order of declaration; ``KEYS`` is the order of the JSON contract.
"""
