"""How fast intervals are, on the reference evaluation: ``python -m tests.benchmarks.intervals``.

First all intervals of each of its runs, computed from its counts. The aim is 1 s for both together. Then every page
with intervals switched on: the median of twenty reruns at the server, a dataset being chosen and left in turn. The aim
is 0.2 s. Last the ``ci`` switch itself. Beside the time stands that of the processors: where it is far less, the
machine was busy with something else.
"""

from __future__ import annotations

import logging
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from streamlit.testing.v1 import AppTest

from specdash import families, ingest
from specdash.metrics import INTERVAL_KEYS, KEYS, Background, run_rows
from specdash.schema import Evaluation, Run

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "data" / "reference.zip"
ROUNDS, RERUNS = 5, 20
AIM_ALL, AIM_PAGE = 1.0, 0.2  # seconds
PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


class Took(NamedTuple):
    """Seconds by the clock, and of the processors."""

    clock: float
    processors: float

    def __str__(self) -> str:
        return f"{self.clock:.3f} s ({self.processors:.3f} s of processors)"

    def __sub__(self, other: Took) -> Took:
        return Took(self.clock - other.clock, self.processors - other.processors)


def timed(what: Callable[[], object]) -> Took:
    """Return how long it takes."""
    start = time.perf_counter(), time.process_time()
    what()
    return Took(time.perf_counter() - start[0], time.process_time() - start[1])


def median(times: list[Took]) -> Took:
    """Return the medians of both."""
    return Took(*map(statistics.median, zip(*times, strict=True)))


def intervals_of(evaluation: Evaluation, run: Run) -> Took:
    """Return how long all intervals of a run take: its numbers with them less its numbers without."""
    family_of, background = families.load(None), Background.of(evaluation, run)

    def median_with(keys: list[str]) -> Took:
        run_rows(run, family_of, keys, background)  # What is imported late is imported here.
        return median([timed(lambda: run_rows(run, family_of, keys, background)) for _ in range(ROUNDS)])

    return median_with([*KEYS, *INTERVAL_KEYS]) - median_with(KEYS)


def opened(page: str) -> AppTest:
    """Return a session that shows a page."""
    app = AppTest.from_file(ROOT / "app.py", default_timeout=300)
    return app.switch_page(f"pages/{page}.py").run()


def rerun(app: AppTest, move: Callable[[int], object]) -> Took:
    """Return the medians of reruns after a move each; two more before them fill the caches."""
    times = []
    for number in range(RERUNS + 2):
        move(number)
        times.append(timed(app.run))
        if app.exception:
            raise SystemExit(app.exception[0].message)
    return median(times[2:])


def main() -> None:
    """Print what was measured beside the aims."""
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as home:
        evaluation = ingest.read(REFERENCE, Path(home))
        for run in evaluation.runs:
            print(f"intervals of {run.name:20} {intervals_of(evaluation, run)} (aim {AIM_ALL} s together)")
        os.environ["SPECDASH_HOME"] = f"{home}/library"
        for page in PAGES:
            app = opened(page)
            took = rerun(app, lambda n, app=app: app.multiselect(key="ds").set_value(["gsm8k"] * (n % 2)))
            print(f"{page:33} {took} (aim {AIM_PAGE} s)")
        app = opened("acceptance_length")
        print(f"{'the ci switch':33} {rerun(app, lambda n: app.toggle(key='ci').set_value(bool(n % 2)))}")


if __name__ == "__main__":
    main()
