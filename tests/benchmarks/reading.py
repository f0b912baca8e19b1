"""How fast evaluations are read, as ratios to what is run beside it: ``python -m tests.benchmarks.reading``.

Every figure is the median over rounds in which the two sides alternate, so that a machine whose speed drifts does
not favour one of them. Aims stand beside the figures.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "data" / "reference.zip"
HERE = Path(__file__).parent
ROUNDS = 5
TIMES = 10


@dataclass(frozen=True)
class Run:
    """One finished process: wall seconds and peak resident bytes."""

    seconds: float
    peak: int


def process(*command: str | Path) -> Run:
    """Run a command to its end."""
    start = time.perf_counter()
    child = subprocess.Popen([str(part) for part in command], cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{command} failed")
    return Run(time.perf_counter() - start, usage.ru_maxrss * 1024)


def ratio(ours: Callable[[], float], theirs: Callable[[], float]) -> tuple[float, float, float]:
    """Return the median ratio over rounds and both medians, in seconds, after a warm-up of each."""
    ours(), theirs()
    pairs = [(ours(), theirs()) for _ in range(ROUNDS)]
    return (
        statistics.median(a / b for a, b in pairs),
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
    )


def line(what: str, found: tuple[float, float, float], aim: str) -> None:
    print(f"{what:<66} {found[0]:5.2f}×   ({found[1]:.2f} s / {found[2]:.2f} s)   {aim}", flush=True)


def in_process() -> tuple[float, float, float]:
    """Add the reference zip to a new library, against extracting and counting its log."""
    from specdash import ingest
    from specdash.store import Store
    from tests.benchmarks import bare_duckdb

    def ours() -> float:
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            ingest.add(REFERENCE, Store(Path(folder)))
            return time.perf_counter() - start

    def theirs() -> float:
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            bare_duckdb.count(REFERENCE, Path(folder))
            return time.perf_counter() - start

    return ratio(ours, theirs)


def tenfold(target: str) -> None:
    """Write an evaluation whose run has ten times the requests and steps of the reference's."""
    run = "7_draft_best_of_10"
    with (
        zipfile.ZipFile(REFERENCE) as source,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out,
    ):
        log = [row.split(b",", 1) for row in source.read(f"{run}/spec_log.csv").splitlines(keepends=True)]
        samples = source.read(f"{run}/samples.jsonl")
        requests = samples.count(b"\n")
        with out.open(f"{run}/spec_log.csv", "w", force_zip64=True) as stream:
            for i in range(TIMES):
                stream.write(b"".join(b"%d,%s" % (int(id) + i * requests, rest) for id, rest in log))
        with out.open(f"{run}/samples.jsonl", "w") as stream:
            for i in range(TIMES):
                stream.write(samples.replace(b'"dataset":"', b'"dataset":"%d-' % i))


def main() -> None:
    """Print every figure."""
    python = sys.executable
    line("add in-process / extract and count with DuckDB", in_process(), "aim 3, at most 5")

    def report() -> float:
        return process(python, "-m", "specdash", "report", REFERENCE).seconds

    bare = ratio(report, lambda: process(python, HERE / "bare_duckdb.py", REFERENCE).seconds)
    line("specdash report / bare script that extracts and counts", bare, "aim 2.5, at most 3.5")
    pandas = ratio(lambda: process(python, HERE / "with_pandas.py", REFERENCE).seconds, report)
    line("pandas script for the same tables / specdash report", pandas, "at least 1.5")
    once = process(python, "-m", "specdash", "report", REFERENCE)
    print(f"{'peak memory of specdash report':<66} {once.peak / 1e6:5.0f} MB   at most 700")
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "tenfold.zip"
        # In a process of its own: a child's peak memory counts from that of the process that started it.
        process(python, "-c", f"from tests.benchmarks.reading import tenfold; tenfold({str(large)!r})")
        run = process(python, "-m", "specdash", "report", large)
        once = process(python, "-m", "specdash", "report", REFERENCE, "--run", "7_draft_best_of_10")
    times = run.seconds / once.seconds
    print(f"{'a log ten times as long: time':<66} {times:5.2f}×   ({run.seconds:.1f} s)   at most 11")
    print(f"{'a log ten times as long: peak memory':<66} {run.peak / 1e6:5.0f} MB   at most 1500")


if __name__ == "__main__":
    main()
