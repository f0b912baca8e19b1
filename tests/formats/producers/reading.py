"""Reads files as a user would: from a folder, through everything."""

import os
from pathlib import Path

import pytest

from specdash import ingest, metrics
from specdash.formats import producers
from tests.formats.files import stored

TRIMMED = Path(__file__).parents[2] / "data" / "samples"
"""Parts of what real servers and clients wrote; README.md there says how."""

SAMPLES = os.environ.get("SPECDASH_SAMPLES")
with_samples = pytest.mark.skipif(not SAMPLES, reason="SPECDASH_SAMPLES names no folder of sample files")


def sample(name):
    """A file or folder of the samples; only for tests marked ``with_samples``."""
    return Path(SAMPLES) / name


def read(path, workspace, **options):
    """The runs of an evaluation by name."""
    workspace.mkdir(parents=True, exist_ok=True)
    evaluation = ingest.read(Path(path), workspace, options=ingest.Options.of(options))
    return {run.name: run for run in evaluation.runs}


def read_files(folder, files, **options):
    """The runs of an evaluation that is a folder of files, given by name and content."""
    for name, content in files.items():
        path = folder / "eval" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(folder / "eval", folder / "work", **options)


def only(runs):
    """The one run that there is."""
    (run,) = runs.values()
    return run


def counts(run):
    """Outcome counts as a dictionary: (response, drafted, accepted) to steps."""
    return {row[:3]: row[3] for row in run.counts.iter_rows()}


def row(run):
    """The one row of a run's counters or rates."""
    table = run.counters if run.counters is not None else run.rates
    (found,) = table.iter_rows(named=True)
    return found


def codes(run):
    return [warning.code for warning in run.warnings]


def pooled(run):
    """The metrics of all datasets of a run together."""
    return metrics.run_rows(run, {}.get)[0][-1]


def outcome(run, check):
    """What a check says of a run."""
    return next(str(found.outcome) for found in run.checks if found.check == check)


def recognised(folder, content, name="any.name"):
    """Keys of the producers that claim a file of this content, those that ask last aside: there may be only one."""
    file = stored(folder, name, content)
    return [producer.key for producer in producers.PRODUCERS if producer.looks(file) and not producer.last]
