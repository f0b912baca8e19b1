"""The table that an evaluation is quoted by."""

from __future__ import annotations

from specdash.families import FamilyOf
from specdash.metrics import INTERVAL_KEYS, KEYS, Background, run_rows
from specdash.report.exports import Origin, Sheet
from specdash.report.latency_tables import latencies
from specdash.report.lines import lines
from specdash.report.tables import Table, acceptance_length, printed_rates, token_counts
from specdash.schema import Evaluation, Granularity, Run
from specdash.speed.latency.summary import latency_rows


def headline_table(run: Run) -> Table:
    """Return table 1; where there are printed ratios alone what they say, where there are no steps the tokens.

    Of latencies alone it is those.
    """
    if run.granularity is Granularity.LATENCIES:
        return latencies()
    if run.rates is not None:
        return printed_rates(run)
    return acceptance_length() if counts_steps(run) else token_counts()


def counts_steps(run: Run) -> bool:
    """Tell whether verify steps are counted, of some datasets or responses at least."""
    counted = run.counters if run.counters is not None else run.sums
    return run.counts is not None or counted is None or counted["steps"].null_count() < counted.height


def headline(evaluation: Evaluation, run: Run, family_of: FamilyOf, *, intervals: bool = False) -> Sheet:
    """Return the headline table of a run, to be exported, with intervals or without."""
    keys = [*KEYS, *INTERVAL_KEYS] if intervals else KEYS
    rows = run_rows(run, family_of, keys, Background.of(evaluation, run))
    if run.granularity is Granularity.LATENCIES:
        rows = latency_rows(run.latencies, family_of), []
    return Sheet.of_table(headline_table(run), lines(*rows), Origin.of(evaluation, run.name))
