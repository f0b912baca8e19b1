"""How many verify steps the requests in llama.cpp's log had: it prints accepted tokens and a rounded length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from specdash.formats import unstepped
from specdash.formats.llamacpp_lines import Request
from specdash.formats.windows import TOLERATED, Possible, Window, possible
from specdash.schema import Run, RunWarning


@dataclass
class Steps:
    """The steps of a run's requests.

    Attributes:
        fewest: That all requests can have had.
        most: That all requests can have had.
        sure: Steps and drafted tokens of the requests for which one number alone fits.
        open: What the others can have had, by response.
        unsaid: Whether a request says nothing of its steps.
    """

    fewest: int = 0
    most: int = 0
    sure: tuple[int, int] = (0, 0)
    open: dict[int, Possible] = field(default_factory=dict)
    unsaid: bool = False

    def take(self, response: int, request: Request, k: int | None) -> int | None:
        """Return the steps of a request, None where several numbers fit what is printed."""
        if not request.mean:
            self.unsaid = True
            return None
        found = possible(window(request), k or len(request.rates) or None)
        if found.least < found.most:
            self.fewest, self.most = self.fewest + found.least, self.most + found.most
            self.open[response] = found
            return None
        return self.exactly(found.least, request.drafted)

    def exactly(self, steps: int, drafted: int) -> int:
        """Take a request whose steps are known, and return them."""
        self.fewest, self.most = self.fewest + steps, self.most + steps
        self.sure = (self.sure[0] + steps, self.sure[1] + drafted)
        return steps

    def settled(self, run: Run, accepted: int) -> Run:
        """Return the run with the nearest number of steps where several fit, and told so.

        Requests whose steps follow are no fair sample of all: where the others leave τ in doubt, none has steps.

        Args:
            run: Of all requests.
            accepted: Their accepted tokens.
        """
        if not self.open and not self.unsaid:
            return run
        low, high = 1 + accepted / max(self.most, 1), 1 + accepted / max(self.fewest, 1)
        many = f"{len(self.open):,} of {run.responses.height:,} requests"
        said = f"{many} print too few decimals to tell their steps: τ lies between {low:.3f} and {high:.3f}"
        if self.unsaid or high - low > TOLERATED * low:
            return unstepped.told(_without_steps(run), "" if self.unsaid else said)
        length = self.sure[1] / self.sure[0] if self.sure[0] else 1.0
        nearest = {response: found.nearest(length) for response, found in self.open.items()}
        steps = pl.col("response").replace_strict(nearest, default=pl.col("steps"), return_dtype=pl.Int64)
        warnings = (*run.warnings, RunWarning("steps_recovered", said))
        return replace(run, sums=run.sums.with_columns(steps=steps), warnings=warnings)


def _without_steps(run: Run) -> Run:
    """Leave out the steps of all responses that were not logged step by step."""
    counts = run.counts
    if counts is not None:
        known = counts.filter(pl.col("drafted").is_not_null())
        counts = known if known.height else None
    return replace(run, sums=run.sums.with_columns(steps=pl.lit(None, pl.Int64)), counts=counts)


def window(request: Request) -> Window:
    """Return what a request's line says as what a window's line would."""
    mean = printed([request.mean]) if request.mean else None
    length = None if mean is None else (mean[0][0], mean[1])
    return Window(request.accepted, request.drafted, length, printed(request.rates) if request.rates else None)


def printed(texts: Sequence[str]) -> tuple[list[float], int]:
    """Return printed ratios as numbers, and their decimals."""
    return [float(text) for text in texts], max(len(text.partition(".")[2]) for text in texts)
