"""How fast intervals are, on the reference evaluation: ``python -m tests.benchmarks.intervals``.

First all intervals of each of its runs, computed from its counts. The aim is 1 s for both together. Then every page
with intervals switched on: the median of twenty reruns at the server, a dataset being chosen and left in turn. The aim
is 0.2 s. Last the ``ci`` switch itself.
"""

from __future__ import annotations

import logging
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from specdash import families, ingest
from specdash.metrics import INTERVAL_KEYS, KEYS, Background, run_rows
from specdash.schema import Evaluation

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "data" / "reference.zip"
ROUNDS, RERUNS = 5, 20
AIM_ALL, AIM_PAGE = 1.0, 0.2  # seconds
PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


def seconds(what: Callable[[], object]) -> float:
    """Return how long it takes."""
    start = time.perf_counter()
    what()
    return time.perf_counter() - start


def all_intervals(evaluation: Evaluation) -> float:
    """Print a line a run, and return the seconds of all intervals together: those with them less those without."""
    family_of, total = families.load(None), 0.0
    for run in evaluation.runs:
        background = Background.of(evaluation, run)
        run_rows(run, family_of, [*KEYS, *INTERVAL_KEYS], background)  # What is imported late is imported here.
        plain = statistics.median(seconds(lambda: run_rows(run, family_of, KEYS, background)) for _ in range(ROUNDS))  # noqa: B023
        keys = [*KEYS, *INTERVAL_KEYS]
        whole = statistics.median(seconds(lambda: run_rows(run, family_of, keys, background)) for _ in range(ROUNDS))  # noqa: B023
        print(f"{run.name:28} numbers {plain:.3f} s, with intervals {whole:.3f} s")
        total += whole - plain
    return total


def opened(page: str) -> AppTest:
    """Return a session that shows a page."""
    app = AppTest.from_file(ROOT / "app.py", default_timeout=300)
    return app.switch_page(f"pages/{page}.py").run()


def median_of(app: AppTest, move: Callable[[int], object]) -> float:
    """Return the median seconds of a rerun after a move; the first two of them fill the caches."""
    times = []
    for number in range(RERUNS + 2):
        move(number)
        times.append(seconds(app.run))
        if app.exception:
            raise SystemExit(app.exception[0].message)
    return statistics.median(times[2:])


def main() -> None:
    """Print what was measured beside the aims."""
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as home:
        evaluation = ingest.read(REFERENCE, Path(home))
        print(f"{'all intervals':28} {all_intervals(evaluation):.3f} s (aim {AIM_ALL} s)")
        os.environ["SPECDASH_HOME"] = f"{home}/library"
        for page in PAGES:
            app = opened(page)
            found = median_of(app, lambda n, app=app: app.multiselect(key="ds").set_value(["gsm8k"] * (n % 2)))
            print(f"{page:28} {found:.3f} s (aim {AIM_PAGE} s)")
        app = opened("acceptance_length")
        found = median_of(app, lambda n: app.toggle(key="ci").set_value(bool(n % 2)))
        print(f"{'the ci switch':28} {found:.3f} s (aim {AIM_PAGE} s)")


if __name__ == "__main__":
    main()
