"""specdash from Python: load an evaluation, get its numbers as polars frames."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from specdash import families, ingest, metrics, report
from specdash.schema import Evaluation
from specdash.store import Store, home


@dataclass(frozen=True)
class Loaded:
    """An evaluation in memory.

    Attributes:
        evaluation: Its canonical tables. Ordered steps are there only for a stored evaluation.
        family_of: Family of a dataset name.
    """

    evaluation: Evaluation
    family_of: families.FamilyOf

    @cached_property
    def document(self) -> dict[str, Any]:
        """Everything known of it, as ``specdash report --format json`` prints."""
        return report.document(self.evaluation, self.family_of)

    def table(self, *keys: str, run: str | None = None, by_family: bool = False) -> pl.DataFrame:
        """Return metrics as a frame.

        Args:
            keys: Metrics (specdash.metrics.KEYS) such as "tau" or "p", and what says how sure they are
                (specdash.metrics.INTERVAL_KEYS, ERROR_KEYS) such as "tau_ci".
            run: Name of a run; all of them when None.
            by_family: Rows by family instead of by dataset.

        Returns:
            ``run, dataset, family`` and a column a key, a row a dataset (or family), the pooled row last. A metric
            over positions, outcomes or blocks is a list. Undefined values are null.

        Raises:
            KeyError: There is no such metric.
            InputError: There is no such run.
        """
        for key in keys:
            if key not in metrics.INTERVAL_KEYS:
                metrics.get(key)
        if run is not None:
            self.evaluation.run(run)
        rows = [
            {"run": found["name"], "dataset": row["dataset"], "family": row["family"]} | {key: row[key] for key in keys}
            for found in self.document["runs"]
            if run in (None, found["name"])
            for row in found["families" if by_family else "datasets"]
        ]
        return pl.DataFrame(rows, schema=["run", "dataset", "family", *dict.fromkeys(keys)], infer_schema_length=None)


def load(
    source: str | Path,
    config: Mapping[str, Any] | None = None,
    *,
    bonus: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Loaded:
    """Read an evaluation from a file or folder, or take it from the library by its id.

    Args:
        source: A zip, a folder, a single file, or the id of a stored evaluation.
        config: Settings that win over those in the files, e.g. ``{"k": 7}``.
        bonus: "in" or "out", where acceptance lengths in the files do not say whether they count the bonus token.
        columns: Column of a table by our name for it, e.g. ``{"accepted": "n_ok"}``.

    Raises:
        InputError: It cannot be read as a whole.
    """
    library = Store(home())
    family_of = families.load(library.families_file())
    path = Path(source)
    if not path.exists() and str(source) in library:
        return Loaded(ingest.checked(library.open(str(source))), family_of)
    with tempfile.TemporaryDirectory(prefix="specdash-") as workspace:
        said = {"config": dict(config or {}), "bonus": bonus, "map": dict(columns or {})}
        options = ingest.Options.of(said)
        limits = ingest.Limits.from_env(os.environ)
        evaluation = ingest.read(path, Path(workspace), options=options, limits=limits)
    runs = tuple(replace(run, steps=None) for run in evaluation.runs)  # Their files went with the workspace.
    return Loaded(replace(evaluation, runs=runs), family_of)
