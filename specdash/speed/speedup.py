"""Speed-up of speculative decoding over plain decoding, by several forms, and where each breaks even.

A step that drafts k tokens costs one pass of the target and what drafting costs; plain decoding costs one pass a token.
So a speed-up is tokens a step divided by cost a step, in passes of the target. The forms differ in where the tokens
come from and in what drafting costs:

* c is the cost of one pass of the drafter over one pass of the target;
* an autoregressive drafter makes k passes a step, a block drafter one.

Two quantities are called α, and no form takes both: the accept ratio Σa/ΣK, which only relabels a measured τ and falls
with k, and the chance α of the i.i.d. model that a draft token is accepted given that those before it were.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from specdash.speed.breakeven import BreakEven, Pays
from specdash.speed.lap import Floats


class Alpha(StrEnum):
    """Which of the quantities that are called α a form takes."""

    RATIO = "accept ratio (prefix) - not alpha"
    IID = "alpha (i.i.d.)"


IMPLIED_ALPHA = "implied alpha (geometric)"
"""What the α is called that a run's τ gives by the i.i.d. model."""


def tokens_of_ratio(ratio: ArrayLike, k: int) -> Floats:
    """Tokens a step of an accept ratio: 1 + kα, which is τ itself and no ceiling of it.

    Args:
        ratio: Accepted over drafted tokens, 0..1, any shape.
        k: Draft tokens a step.
    """
    return 1 + k * np.asarray(ratio, dtype=np.float64)


def tokens_of_iid(alpha: ArrayLike, k: int) -> Floats:
    """Expected tokens a step when every draft token is accepted with chance α: (1 − α^(k+1)) / (1 − α) = Σ α^i.

    Args:
        alpha: Chance, 0..1, any shape.
        k: Draft tokens a step.

    source: Leviathan et al. 2023, eq. 1.
    """
    return np.polyval(np.ones(k + 1), np.asarray(alpha, dtype=np.float64))


def autoregressive(tokens: ArrayLike, k: ArrayLike, c: ArrayLike) -> Floats:
    """Speed-up of a drafter that makes a pass a token: tokens / (1 + kc).

    Args:
        tokens: Tokens a step, τ.
        k: Draft tokens a step; their mean where it varies.
        c: Cost of a drafter's pass over a target's.

    source: Leviathan et al. 2023, theorem 3.8, with measured tokens.
    """
    return np.asarray(tokens, dtype=np.float64) / (1 + np.multiply(k, c))


def block(tokens: ArrayLike, c: ArrayLike) -> Floats:
    """Speed-up of a drafter that makes one pass a step, whatever the block length: tokens / (1 + c).

    Args:
        tokens: Tokens a step, τ.
        c: Cost of a drafter's pass over a target's.
    """
    return np.asarray(tokens, dtype=np.float64) / (1 + np.asarray(c, dtype=np.float64))


def documented(ratio: ArrayLike, k: int, c: ArrayLike) -> Floats:
    """What the benchmarking page calls a speed-up: 1 + kα − c(1 + k). It is none.

    It subtracts a cost from a number of tokens instead of dividing by it, so it falls below zero, and where it does
    not it is too high or too low.

    source: How We Benchmark DeepSpec, stage 4.
    """
    return tokens_of_ratio(ratio, k) - np.asarray(c, dtype=np.float64) * (1 + k)


@dataclass(frozen=True)
class Form:
    """One form of the speed-up as a function of what it calls α.

    Attributes:
        key: Short name.
        label: Name in legends and tables.
        takes: Which α it takes.
        formula: LaTeX.
        source: Where it comes from.
        is_speedup: False for what is only documented as one.
        value: Speed-up of (α of any shape, k, c).
        break_even: The α from which on it is above 1, of (k, c); the value None and never: for no α of 0..1.
    """

    key: str
    label: str
    takes: Alpha
    formula: str
    source: str
    is_speedup: bool
    value: Callable[[ArrayLike, int, float], Floats]
    break_even: Callable[[int, float], BreakEven]


def _from(value: float) -> BreakEven:
    """The break-even at an α: at 0 or below every drafter that accepts anything pays, above 1 none does."""
    if value > 1:
        return BreakEven(None, Pays.NEVER)
    return BreakEven(value, Pays.ABOVE if value > 0 else Pays.ALWAYS)


def _iid_break_even(tokens: float, k: int) -> BreakEven:
    """The α of the i.i.d. model that gives ``tokens`` a step: the only root of an increasing polynomial."""
    if not 1 < tokens <= k + 1:
        return _from(0.0 if tokens <= 1 else 2.0)
    from scipy.optimize import brentq

    return _from(float(brentq(lambda alpha: tokens_of_iid(alpha, k) - tokens, 0.0, 1.0, xtol=1e-14)))


DOCUMENTED = Form(
    "documented",
    "S2 speed-up (as documented, not a speed-up)",
    Alpha.RATIO,
    r"(1 + k\alpha) - c\,(1 + k)",
    "How We Benchmark DeepSpec, stage 4",
    False,
    documented,
    lambda k, c: _from(c * (k + 1) / k),
)

AUTOREGRESSIVE = Form(
    "autoregressive",
    "Speed-up, AR draft",
    Alpha.RATIO,
    r"\frac{1 + k\alpha}{1 + kc} = \frac{\tau}{1 + kc}",
    "Leviathan et al. 2023, theorem 3.8, with the measured τ",
    True,
    lambda ratio, k, c: autoregressive(tokens_of_ratio(ratio, k), k, c),
    lambda k, c: _from(c),
)

BLOCK = Form(
    "block",
    "Speed-up, block draft",
    Alpha.RATIO,
    r"\frac{1 + k\alpha}{1 + c} = \frac{\tau}{1 + c}",
    "as for AR draft, with one drafter pass a step",
    True,
    lambda ratio, k, c: block(tokens_of_ratio(ratio, k), c),
    lambda k, c: _from(c / k),
)

IID = Form(
    "iid",
    "Speed-up, AR draft, i.i.d. α",
    Alpha.IID,
    r"\frac{1 - \alpha^{k+1}}{(1 - \alpha)(1 + kc)}",
    "Leviathan et al. 2023, theorem 3.8",
    True,
    lambda alpha, k, c: autoregressive(tokens_of_iid(alpha, k), k, c),
    lambda k, c: _iid_break_even(1 + k * c, k),
)

IID_BLOCK = Form(
    "iid_block",
    "Speed-up, block draft, i.i.d. α",
    Alpha.IID,
    r"\frac{1 - \alpha^{k+1}}{(1 - \alpha)(1 + c)}",
    "as for AR draft, with one drafter pass a step",
    True,
    lambda alpha, k, c: block(tokens_of_iid(alpha, k), c),
    lambda k, c: _iid_break_even(1 + c, k),
)

FORMS = (DOCUMENTED, AUTOREGRESSIVE, BLOCK, IID, IID_BLOCK)
"""All forms, the documented one first."""


def cost_limit(tokens: float, k: float, *, one_pass: bool) -> float:
    """The c below which drafting pays: (τ − 1) / k for a pass a token, τ − 1 for a pass a step.

    Args:
        tokens: Tokens a step, τ.
        k: Draft tokens a step, above 0; their mean where it varies.
        one_pass: True for a block drafter.
    """
    return (tokens - 1) / (1 if one_pass else k)


def efficiency(observed: float, ceiling: float) -> float:
    """Share of a speed-up that was observed; above 1 the ceiling's c or τ is not that of the measurement.

    Args:
        observed: Measured speed-up.
        ceiling: Speed-up by the form that fits the drafter.
    """
    return observed / ceiling
