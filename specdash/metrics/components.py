"""Variance components of τ_r: how much prompts differ, and how much copies of one prompt do.

One-way random effects, unbalanced: τ_r = μ + prompt effect (variance σ_b²) + copy noise (σ_w²).
source: Searle, Casella & McCulloch 1992, §3.6; the interval of the intraclass correlation: McGraw & Wong 1996.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl


def varies(prompts: pl.DataFrame) -> bool:
    """Tell whether τ_r varies. Sums of squares cannot tell: the mean of equal numbers is off by a rounding error."""
    return prompts["min"].min() != prompts["max"].max()


@dataclass(frozen=True)
class Components:
    """The analysis of variance of τ_r by prompt, over prompts with at least two copies.

    Attributes:
        prompts: Q, prompts.
        responses: N, responses.
        copies: n₀ = (N − Σ n_q²/N)/(Q − 1); the number of copies where it is the same for all.
        between_square: MSB, mean square between prompts, (tokens/step)².
        within_square: MSW, mean square within prompts; estimates σ_w².
    """

    prompts: int
    responses: int
    copies: float
    between_square: float
    within_square: float

    @classmethod
    def of(cls, prompts: pl.DataFrame) -> Components | None:
        """Analyse prompts; None with fewer than two that have copies, or when τ_r does not vary.

        Args:
            prompts: A row a prompt: ``n`` copies, ``mean``, ``ss`` (sum of squares about it), ``min``, ``max`` of τ_r.
        """
        copied = prompts.filter(pl.col("n") >= 2)
        if copied.height < 2 or not varies(copied):
            return None
        n, mean = copied["n"], copied["mean"]
        total, q = n.sum(), copied.height
        grand = (n * mean).sum() / total
        return cls(
            prompts=q,
            responses=total,
            copies=(total - (n**2).sum() / total) / (q - 1),
            between_square=(n * (mean - grand) ** 2).sum() / (q - 1),
            within_square=copied["ss"].sum() / (total - q),
        )

    @property
    def within(self) -> float:
        """σ_w², variance of copies of one prompt."""
        return self.within_square

    @property
    def between(self) -> float:
        """σ_b², variance of prompts; an estimate below 0 is cut."""
        return max(0.0, (self.between_square - self.within_square) / self.copies)

    @property
    def icc(self) -> float:
        """Intraclass correlation σ_b²/(σ_b² + σ_w²): 1 when all of the spread is between prompts."""
        return self.between / (self.between + self.within)

    def icc_interval(self, level: float) -> tuple[float, float] | None:
        """Return the interval of the intraclass correlation, cut at 0 and 1; None where copies are all the same.

        From the F distribution of MSB/MSW: exact for as many copies of every prompt and normal effects.

        Args:
            level: Confidence, 0..1.
        """
        from scipy.special import fdtri  # Takes longer to import than most reports to compute.

        if self.within_square == 0:
            return None
        f = self.between_square / self.within_square
        df = (self.prompts - 1, self.responses - self.prompts)
        ratios = (f / fdtri(*df, share) for share in ((1 + level) / 2, (1 - level) / 2))
        low, high = (min(1.0, max(0.0, float((r - 1) / (r + self.copies - 1)))) for r in ratios)
        return low, high
