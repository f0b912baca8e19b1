"""DeepSpec's evaluation on disk: ``artifacts/step_<N>/<dataset>/metrics.json``, ratios of a dataset in full precision.

``acceptance_length`` counts the bonus token. ``accept_rates_by_position`` are relative to the drafts that were long
enough to have the position, from 0. A step whose accepted tokens hold a stop token ends with it: accepted and drafted
are cut there and no bonus token comes, so the rates do not sum to the length. Counts are not kept, but how many
samples there were. What stands there on the confidence of the drafter is not read.
source: deepseek-ai/DeepSpec, deepspec/eval/base_evaluator.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specdash.formats import aggregate, peek
from specdash.formats.base import File, read_json
from specdash.formats.collect import number, scalars
from specdash.formats.printed import DEEPSPEC
from specdash.formats.producer import Context, Producer, Together, label_of
from specdash.schema import MAX_DRAFTED, InputError, NothingToRead, Run

_MARKS = {"spec.acceptance_length", "spec.accept_rates_by_position"}
_NAMES = {
    "target_name_or_path": "model",
    "draft_name_or_path": "drafter",
    "max_new_tokens": "max_tokens",
}


def _read(files: Sequence[File], context: Context) -> list[Run]:
    found = [(file, *_row(read_json(file), file.path, context)) for file in files]
    found = [(file, row, config) for file, row, config in found if row["tau"] is not None]
    if not found:
        raise NothingToRead("no step was made", file=files[0].path, found="acceptance_length 0")
    datasets = [row["dataset"] for _, row, _ in found]
    if len(set(datasets)) < len(datasets):  # of several runs
        return [aggregate.rates_run(label_of(file), [row], None, config=config) for file, row, config in found]
    same = {k: v for k, v in found[0][2].items() if all(config.get(k) == v for _, _, config in found)}
    return [aggregate.rates_run("", [row for _, row, _ in found], None, config=same)]


def _row(document: Any, path: str, context: Context) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the row of schema.RATES of a dataset, and the settings of its run."""
    spec = document.get("spec") if isinstance(document, dict) else None
    if not isinstance(spec, dict):
        raise InputError("no ratios of a dataset", file=path, found=document, expected="an object with spec")
    row = {
        "dataset": str(spec.get("dataset") or context.dataset),
        "tau": _ratio(spec, "acceptance_length", MAX_DRAFTED + 1, path) or None,
        "mean_drafted": _ratio(spec, "draft_tokens_per_proposal", MAX_DRAFTED, path),
        "verify_rate": _ratio(spec, "verify_rate", 1, path),
        "p_exposed": _rates(spec, path),
    }
    return row, _config(document)


def _rates(spec: Mapping[str, Any], path: str) -> list[float | None]:
    """Return the rates by position, None where no draft was that long."""
    rates = spec.get("accept_rates_by_position")
    if not isinstance(rates, list) or len(rates) > MAX_DRAFTED:
        expected = f"at most {MAX_DRAFTED} rates"
        raise InputError("accept_rates_by_position is no list of rates", file=path, found=rates, expected=expected)
    return [_ratio({f"accept rate {i}": rate}, f"accept rate {i}", 1, path) for i, rate in enumerate(rates)]


def _ratio(found: Mapping[str, Any], name: str, most: float, path: str) -> float | None:
    value = number(found.get(name), name, path)
    if value is not None and not 0 <= value <= most:
        raise InputError(f"{name} is impossible", file=path, found=value, expected=f"0 to {most}")
    return value


def _config(document: Mapping[str, Any]) -> dict[str, Any]:
    config = document.get("config")
    args = config.get("args") if isinstance(config, dict) else None
    return scalars({_NAMES.get(name, name): value for name, value in args.items()}) if isinstance(args, dict) else {}


PRODUCERS = (
    Producer(
        key="deepspec-metrics",
        tool="DeepSpec",
        what="metrics.json of a dataset",
        looks=lambda file: peek.names(file) >= _MARKS,
        read=_read,
        semantics=DEEPSPEC,
        together=Together.FOLDER,
        above=1,
    ),
)
