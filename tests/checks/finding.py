"""What one check says of a run that a test has made."""

import polars as pl

from specdash import checks
from specdash.checks import Subject


def found(key, run, *, order_recorded=True, reconstruction=False, steps=None):
    """The finding of one check; ``steps`` are rows (request, drafted, accepted) in log order."""
    frame = None
    if steps is not None:
        kind = pl.String if isinstance(steps[0][0], str) else pl.Int64
        schema = {"request": kind, "drafted": pl.Int16, "accepted": pl.Int16}
        frame = pl.LazyFrame(steps, schema=schema, orient="row")
    return checks.get(key).found(Subject(run, order_recorded, reconstruction, frame))
