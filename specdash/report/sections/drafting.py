"""A drafter as the speed-up section sees it: how it drafts, what that costs, and what a run says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from specdash.metrics import Row
from specdash.speed import speedup as forms
from specdash.speed.speedup import AUTOREGRESSIVE, BLOCK, DOCUMENTED, Form

DEFAULT_K = 5
"""Draft tokens a step where no run says how many, those of the benchmarking page."""

DEFAULT_C = 0.15
"""Draft cost that the benchmarking page assumes; nobody measured it for the run that is looked at."""

DEFAULT_ALPHA = 0.8


@dataclass(frozen=True)
class Drafting:
    """How drafting is done and what it costs.

    Attributes:
        k: Draft tokens a step.
        c: Cost of one pass of the drafter over one of the target.
        one_pass: True for a block drafter, one pass a step; False for an autoregressive one, a pass a token.
        alpha: α of the i.i.d. model for curves that no run is behind.
        observed: Measured speed-up, None without one.
        observed_low: Lower end of its 95 % interval.
        observed_high: Upper end.
    """

    k: int = DEFAULT_K
    c: float = DEFAULT_C
    one_pass: bool = True
    alpha: float = DEFAULT_ALPHA
    observed: float | None = None
    observed_low: float | None = None
    observed_high: float | None = None

    @property
    def form(self) -> Form:
        """The form that fits the drafter."""
        return BLOCK if self.one_pass else AUTOREGRESSIVE

    def speedup(self, own: Own) -> float:
        """What the form that fits the drafter makes of a run's own numbers."""
        return block_speedup(own, self.c) if self.one_pass else ar_speedup(own, self.c)

    def speedup_ends(self, own: Own) -> list[float] | None:
        """The interval of that, None without one."""
        return block_ends(own, self.c) if self.one_pass else ar_ends(own, self.c)


@dataclass(frozen=True)
class Own:
    """What a row says at some block length.

    Attributes:
        tau: Tokens a step.
        drafted: Draft tokens a step, in the mean.
        implied: Whether it is cut from a longer block instead of measured.
        constant: Whether every step drafted as many; if not, their mean is an estimate too.
        low: Lower end of the interval of τ, None without one.
        high: Upper end.
    """

    tau: float
    drafted: float
    implied: bool
    constant: bool = True
    low: float | None = None
    high: float | None = None

    @property
    def ratio(self) -> float:
        """Accept ratio: accepted over drafted tokens."""
        return (self.tau - 1) / self.drafted

    def ends(self, of: Callable[[float], float], *, by_drafted: bool) -> list[float] | None:
        """Return the interval of what rises with τ, None without one.

        Args:
            of: Value at a τ.
            by_drafted: Whether it depends on the number of drafted tokens too. Where that varies it is an estimate from
                the same prompts, and the interval of τ alone would be too narrow or too wide.
        """
        if self.low is None or self.high is None or (by_drafted and not self.constant):
            return None
        return [of(self.low), of(self.high)]


def own(row: Row, k: int, run_k: int | None) -> Own | None:
    """Return what a row says at block length ``k``: of its own run where that drafts so many, else implied by cutting.

    Args:
        row: A row of metrics.run_rows.
        k: Draft tokens a step.
        run_k: Those of the run.

    Returns:
        None where the row does not tell: for a longer block than the run's, or without τ.
    """
    if not run_k or k > run_k or row.get("tau") is None:
        return None
    if k == run_k:
        drafted = row["drafted"] / row["steps"] if row.get("drafted") and row.get("steps") else float(k)
        return Own(row["tau"], drafted, False, drafted == k, *(row.get("tau_ci") or (None, None)))
    cut, drafted = row.get("tau_at_k"), _drafted_at(row, k)
    if not cut or cut[k - 1] is None or drafted is None:
        return None
    ends = (row.get("tau_at_k_ci") or [None] * k)[k - 1] or (None, None)
    return Own(cut[k - 1], drafted, True, drafted == k, *ends)


def _drafted_at(row: Row, k: int) -> float | None:
    """Draft tokens a step if every draft had been cut at ``k``: Σ over i < k of the share that drafted position i."""
    exposed, p = row.get("p_exposed"), row.get("p")
    if not exposed or not p:
        return None
    shares = [1.0 if a == b else a / b if b else None for a, b in zip(p[:k], exposed[:k], strict=True)]
    return None if None in shares else float(sum(shares))


def ar_speedup(of: Own, c: float, tau: float | None = None) -> float:
    """Speed-up of an autoregressive drafter with a run's own numbers, or another τ."""
    return float(forms.autoregressive(of.tau if tau is None else tau, of.drafted, c))


def block_speedup(of: Own, c: float, tau: float | None = None) -> float:
    """Speed-up of a block drafter with a run's own numbers, or another τ."""
    return float(forms.block(of.tau if tau is None else tau, c))


def ar_ends(of: Own, c: float) -> list[float] | None:
    """The interval of ``ar_speedup``, None without one."""
    return of.ends(lambda tau: ar_speedup(of, c, tau), by_drafted=True)


def block_ends(of: Own, c: float) -> list[float] | None:
    """The interval of ``block_speedup``, None without one."""
    return of.ends(lambda tau: block_speedup(of, c, tau), by_drafted=False)


def documented(of: Own, drafting: Drafting) -> float:
    """What the benchmarking page would print."""
    return float(DOCUMENTED.value(of.ratio, drafting.k, drafting.c))
