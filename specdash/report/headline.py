"""The table that an evaluation is quoted by."""

from __future__ import annotations

from specdash.families import FamilyOf
from specdash.metrics import INTERVAL_KEYS, KEYS, Background, run_rows
from specdash.report.exports import Origin, Sheet
from specdash.report.lines import lines
from specdash.report.tables import Table, acceptance_length, printed_rates
from specdash.schema import Evaluation, Run


def headline_table(run: Run) -> Table:
    """Return table 1, or what a printed table says where there is nothing else."""
    return acceptance_length() if run.rates is None else printed_rates(run)


def headline(evaluation: Evaluation, run: Run, family_of: FamilyOf, *, intervals: bool = False) -> Sheet:
    """Return the headline table of a run, to be exported, with intervals or without."""
    keys = [*KEYS, *INTERVAL_KEYS] if intervals else KEYS
    rows = run_rows(run, family_of, keys, Background.of(evaluation, run))
    return Sheet.of_table(headline_table(run), lines(*rows), Origin.of(evaluation, run.name))
