"""The comparison of two arms: every estimate side by side, and the one that decides."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from specdash.speed.latency.arms import Arm, Measure, Pair, pair
from specdash.speed.latency.bootstrap import Bootstrap, bootstrap
from specdash.speed.latency.student import PairedResult, WelchResult, paired_by_prompt, welch

LEAST = 5
"""Prompts (unpaired: requests a side) below which nothing is judged."""


@dataclass(frozen=True)
class Settings:
    """How two arms are compared.

    Attributes:
        paired: By prompt where both say theirs; False for Welch's test whatever they say.
        margin: Speed-ups between 1 / (1 + margin) and 1 + margin are as good as none.
    """

    paired: bool = True
    margin: float = 0.05


@dataclass(frozen=True)
class Comparison:
    """Two arms compared in one measure.

    Attributes:
        measure: What was compared.
        settings: How.
        base: The arm without speculation.
        spec: The arm with it.
        pair: Their values.
        paired: Paired test by prompt, None where they are not paired or there are too few.
        welch: Welch's test, as documented; it ignores the pairing.
        floor: Factor within which the baseline differs from itself by an A/A measurement; None without one.
    """

    measure: Measure
    settings: Settings
    base: Arm
    spec: Arm
    pair: Pair
    paired: PairedResult | None
    welch: WelchResult | None
    floor: float | None = None

    @cached_property
    def bootstrap(self) -> Bootstrap | None:
        """Percentiles and ratio of means, None when an arm is empty."""
        return bootstrap(self.pair)

    @property
    def deciding(self) -> PairedResult | WelchResult | None:
        """The estimate that the judgement rests on; None below ``LEAST``."""
        if self.pair.least < LEAST:
            return None
        return self.paired or self.welch

    def as_dict(self) -> dict[str, Any]:
        """Return every number, for JSON: seconds, speed-ups, shares."""
        numbers = {
            name: None if part is None else asdict(part, dict_factory=_listed)
            for name, part in (("paired", self.paired), ("welch", self.welch), ("bootstrap", self.bootstrap))
        }
        return {
            "measure": self.measure.key,
            "unit": "s",
            "base": self.base.name,
            "spec": self.spec.name,
            "n": [self.pair.base.seconds.size, self.pair.spec.seconds.size],
            "prompts": self.pair.prompts,
            "left_out": list(self.pair.left_out),
            "margin": self.settings.margin,
            "floor": self.floor,
            **numbers,
        }


def _listed(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a mapping as JSON has it, which knows no tuples."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in pairs}


def compare(
    base: Arm, spec: Arm, measure: Measure, settings: Settings | None = None, again: Arm | None = None
) -> Comparison:
    """Compare two arms in one measure.

    Args:
        base: Without speculation.
        spec: With it.
        measure: What is compared.
        settings: How.
        again: A second measurement of ``base``, whose difference from it is what the machine shows without any cause.
    """
    settings = settings or Settings()
    arms = pair(base, spec, measure, paired=settings.paired)
    return Comparison(
        measure=measure,
        settings=settings,
        base=base,
        spec=spec,
        pair=arms,
        paired=None
        if arms.prompts is None
        else paired_by_prompt(arms.base.mean_log_by_prompt, arms.spec.mean_log_by_prompt),
        welch=welch(arms.base.seconds, arms.spec.seconds),
        floor=None if again is None else _floor(base, again, measure, settings),
    )


def _floor(base: Arm, again: Arm, measure: Measure, settings: Settings) -> float | None:
    """The factor that the interval of base against itself reaches to; None when there are too few."""
    arms = pair(base, again, measure, paired=settings.paired)
    if arms.least < LEAST:
        return None
    found: PairedResult | WelchResult | None
    if arms.prompts is None:
        found = welch(arms.base.seconds, arms.spec.seconds)
    else:
        found = paired_by_prompt(arms.base.mean_log_by_prompt, arms.spec.mean_log_by_prompt)
    return None if found is None else math.exp(max(abs(math.log(found.low)), abs(math.log(found.high))))
