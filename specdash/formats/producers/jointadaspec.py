"""jointadaspec's benchmark: ``results.jsonl``, a line a method and seed, and ``benchmark.csv``, a row a prompt.

A line counts proposed and accepted tokens. Its ``steps`` are decisions on single tokens, not verify steps, so that
``avg_tokens_per_step`` may be below 1: acceptance lengths are not known. Lines of one method are summed over seeds;
summaries, failures and methods without a draft are left out. The rows of ``benchmark.csv`` hold a ratio for each
prompt, without counts, and how long its answer took: they are read as latencies, a run a method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specdash.formats import aggregate, jsonlines, peek
from specdash.formats.base import File
from specdash.formats.collect import Responses, number, scalars, whole
from specdash.formats.producer import Context, Producer
from specdash.formats.synonyms import SAMPLE, normalised
from specdash.formats.table.cells import named
from specdash.formats.table.opened import needed
from specdash.schema import NothingToRead, Run, RunWarning, Semantics

_MARKS = {"proposed", "accepted", "rejections", "steps", "avg_tokens_per_step"}
_COLUMNS = {"decoder", "prompt_idx", "n_tokens_generated", "total_time_ms", "n_target_calls", "n_draft_calls"}
_NAMES = {"target_model": "model", "draft_model": "drafter", "max_new_tokens": "max_tokens"}
_NO_SETTINGS = {*_MARKS, "summary", "status", "run", "seed", "resume_key", "timestamp", "acceptance_rate"}

_SEMANTICS = Semantics(
    producer="jointadaspec, benchmark",
    note="Its steps are decisions on single tokens, not verify steps, so its tokens a step are no acceptance length.",
)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    methods: dict[str, dict[str, dict[str, Any]]] = {}
    config: dict[str, dict[str, Any]] = {}
    cut: list[int] = []
    for file in files:
        for line, found in jsonlines.objects(file, cut=cut.append):
            if found.get("summary") is True or found.get("status", "ok") != "ok":
                continue
            drafted, accepted = (whole(found.get(name), name, file.path, line) for name in ("proposed", "accepted"))
            if not drafted or accepted is None:
                continue
            method, dataset = str(found.get("method") or ""), _dataset(found) or context.dataset
            said = aggregate.row(dataset, file.path, steps=None, drafted=drafted, accepted=accepted)
            rows = methods.setdefault(method, {})
            rows[dataset] = _sum(rows[dataset], said) if dataset in rows else said
            settings = _config(found)
            same = config.setdefault(method, settings)
            config[method] = {name: value for name, value in same.items() if settings.get(name) == value}
    if not methods:
        raise NothingToRead("no method drafted anything", file=files[0].path)
    said = f"{files[0].path}: verify steps are not counted, so τ is not known: its steps are decisions on single tokens"
    warnings = [RunWarning("steps_unknown", said)]
    if cut:
        warnings.append(RunWarning("cut_off", f"{files[0].path}: line {cut[0]} is cut off and was left out"))
    return [
        aggregate.run(
            "" if len(methods) == 1 else method, list(rows.values()), context.k, warnings, config=config[method]
        )
        for method, rows in methods.items()
    ]


def _sum(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {**one, **{name: one[name] + other[name] for name in ("drafted", "accepted")}}


def _dataset(found: Mapping[str, Any]) -> str | None:
    by_name = {normalised(name): value for name, value in found.items() if isinstance(value, str) and value}
    return next((by_name[name] for name in SAMPLE["dataset"] if name in by_name), None)


def _config(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a method, without what was measured."""
    kept = {_NAMES.get(name, name): value for name, value in found.items() if name not in _NO_SETTINGS}
    return {name: value for name, value in scalars(kept).items() if not isinstance(value, float)}


def _read_prompts(files: Sequence[File], context: Context) -> list[Run]:
    methods: dict[str, Responses] = {}
    for file in files:
        table = needed(file)
        for line, cells in table.read(range(len(table.columns))):
            row = named(table.columns, cells, file.path, line)
            method = row.text("decoder") or ""
            took = number(row.number("total_time_ms"), "total_time_ms", file.path, line)
            if took is not None and took < 0:
                raise row.wrong("a negative time", found=took, expected="milliseconds")
            responses = methods.setdefault(method, Responses(context.workspace, file.path))
            responses.time(
                row.text("dataset") or context.dataset,
                logged=False,
                prompt=row.text("prompt_id") or row.text("prompt_idx"),
                copy=row.whole("run", 10**6),
                output_tokens=row.whole("n_tokens_generated"),
                e2e_s=None if took is None else took / 1000,
            )
    if not methods:
        raise NothingToRead("holds no row", file=files[0].path)
    alone = len(methods) == 1
    return [responses.run("" if alone else name, None, {"method": name}) for name, responses in methods.items()]


def _is_prompts(file: File) -> bool:
    first = file.head(8192).removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("utf-8", "replace")
    return {cell.strip(' "\r') for cell in first.split(",")} >= _COLUMNS


PRODUCERS = (
    Producer(
        key="jointadaspec-results",
        tool="jointadaspec",
        what="results.jsonl",
        looks=lambda file: peek.names(file) >= _MARKS,
        read=_read,
        semantics=_SEMANTICS,
    ),
    Producer(
        key="jointadaspec-prompts",
        tool="jointadaspec",
        what="benchmark.csv",
        looks=_is_prompts,
        read=_read_prompts,
        semantics=_SEMANTICS,
    ),
)
