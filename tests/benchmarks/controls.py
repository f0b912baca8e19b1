"""How fast a control of the throughput calculator answers: ``python -m tests.benchmarks.controls``.

The median of twenty reruns at the server, of the reference evaluation, with every tab of the page open in turn. The aim
is 0.2 s.
"""

from __future__ import annotations

import logging
import os
import statistics
import tempfile
import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

from specdash.report.sections.calculator import QUESTIONS

APP = Path(__file__).resolve().parents[2] / "app.py"
RERUNS = 20
AIM = 0.2  # seconds
_RTTS_MS = (20.0, 30.0)


def median_of(question: str) -> float:
    """Return the median seconds of a move of the RTT slider with a tab open."""
    app = AppTest.from_file(APP, default_timeout=300)
    app.query_params["question"] = question
    app.query_params["mbit_s"] = "100"
    app.switch_page("pages/throughput.py").run()
    times = []
    for move in range(RERUNS + 1):
        app.select_slider(key="rtt").set_value(_RTTS_MS[move % 2])
        start = time.perf_counter()
        app.run()
        times.append(time.perf_counter() - start)
        if app.exception:
            raise SystemExit(app.exception[0].message)
    return statistics.median(times[1:])


def main() -> None:
    """Print a line a tab."""
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as home:
        os.environ["SPECDASH_HOME"] = home
        for question in QUESTIONS:
            seconds = median_of(question)
            print(f"{question:20} {seconds:.3f} s (aim {AIM} s)")


if __name__ == "__main__":
    main()
