"""From an input to an evaluation: files to runs, logs to canonical tables, requests to responses."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from specdash.formats import Role, config, counters, printed, samples, steplog
from specdash.formats.base import File, stem
from specdash.ingest import exported, mapping, units
from specdash.ingest.checking import checked
from specdash.ingest.discover import Discovered, RunFiles, discover
from specdash.ingest.options import Options, evaluation_id
from specdash.ingest.source import DEFAULT_LIMITS, Limits, Progress, Source, open_source
from specdash.schema import (
    COUNTERS,
    COUNTS,
    POOLED,
    RATES,
    RESPONSES,
    Evaluation,
    Granularity,
    InputError,
    Run,
    RunWarning,
    check_settings,
)

UNMAPPED = "(not in the samples)"
"""Dataset of the few requests that no line of the samples answers to."""


def read(
    path: Path,
    workspace: Path,
    *,
    options: Options | None = None,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> Evaluation:
    """Read an evaluation and check it.

    Args:
        path: A zip, a folder or a single file.
        workspace: Empty folder for what is unpacked; the runs' ordered steps stay in it.
        options: What the user says of it.
        limits: What it may unpack to.
        progress: Called with a stage and the bytes done and in all; what it raises ends the reading.

    Raises:
        Unsaid: It does not say what only the user can.
        InputError: It cannot be read as a whole; the message says what is wrong where.
    """
    with open_source(path, workspace, limits, progress) as source:
        if found := exported.recognise(source, options):
            evaluation, said = exported.read(source, found, workspace, limits, progress)
            return checked(said.applied(evaluation), progress)
        return checked(read_source(source, workspace, options or Options(), progress), progress)


def read_source(
    source: Source, workspace: Path, options: Options, progress: Progress | None = None, *, ask: bool = False
) -> Evaluation:
    """Read an opened evaluation; see ``read``. It is not checked yet.

    With ``ask`` an Unsaid is also raised for what the reading can do without.
    """
    try:
        source.name.encode()
    except UnicodeEncodeError:
        raise InputError("has a name that is not UTF-8 text", file=source.name) from None
    found = discover(list(source.members), source.stem, options.columns)
    about = config.read_about(found.about) if found.about else {}
    if options.config:
        check_settings(dict(options.config), "--set")
    runs, unread = _runs(found, workspace, options, progress, ask)
    runs = [_unpooled(replace(run, config_set=dict(options.config))) for run in runs]
    return Evaluation(
        id=evaluation_id(source.sha256, options),
        title=about.get("title") or source.stem,
        source=source.name,
        sha256=source.sha256,
        runs=tuple(_with_warnings(run, about, unread) for run in runs),
        note=about.get("note", ""),
        reconstruction=about.get("reconstruction", False),
        order=about.get("order", "recorded"),
        options=options.as_dict(),
    )


def _runs(
    found: Discovered, workspace: Path, options: Options, progress: Progress | None, ask: bool
) -> tuple[list[Run], list[str]]:
    """Read every run, and tell the files that none uses.

    Raises:
        InputError: A file is wrong, or none holds anything.
    """
    total, problems, made = len(found.runs) + len(found.units), [], []
    for number, files in enumerate(found.runs):
        say = _saying(progress, number, total)
        say(f"load {files.name}")
        made.append((files.name, "", _run(files, _folder(workspace, number), options, say)))
    for number, (name, unit) in enumerate(found.units, start=len(found.runs)):
        say = _saying(progress, number, total)
        say(f"load {unit.files[0].path}")
        runs, nothing = units.read(unit, name, _folder(workspace, number), options, say, ask=ask)
        made += [(name, run.name, run) for run in runs]
        problems += [nothing] if nothing else []
    if not made:
        raise problems[0]
    return units.named(made), found.unread + [str(problem) for problem in problems]


def _folder(workspace: Path, number: int) -> Path:
    folder = workspace / f"run{number}"
    folder.mkdir()
    return folder


def _saying(progress: Progress | None, done: int, total: int) -> Callable[[str], None]:
    """Return how a run reports its stages: it is one of ``total``, of which ``done`` are read."""
    return lambda stage: progress(stage, done, total) if progress else None


def _unpooled(run: Run) -> Run:
    """Rename a dataset that has the name of the row over all datasets: the two could not be told apart."""
    renamed = pl.col("dataset").replace(POOLED, f"{POOLED} (dataset)")
    tables = {name: getattr(run, name) for name in ("responses", "counters", "rates", "latencies")}
    held = {name: table for name, table in tables.items() if table is not None}
    if not any((table["dataset"] == POOLED).any() for table in held.values()):
        return run
    said = RunWarning("dataset_renamed", f'a dataset named "{POOLED}" is shown as "{POOLED} (dataset)"')
    changed = {name: table.with_columns(renamed) for name, table in held.items()}
    return replace(run, **changed, warnings=(*run.warnings, said))


def _with_warnings(run: Run, about: dict[str, Any], unread: list[str]) -> Run:
    """Add what the evaluation and its printed tables say to a run's warnings."""
    warnings = list(run.warnings)
    if about.get("reconstruction"):
        warnings.append(RunWarning("reconstruction", "a reconstruction from printed tables, not the original log"))
    if about.get("order") == "invented" and run.granularity is Granularity.STEP:
        warnings.append(
            RunWarning("order_invented", "the order of steps is invented: nothing that depends on it is shown")
        )
    documents = [path for path in unread if _DOCUMENT.search(path)]
    if files := [path for path in unread if path not in documents]:
        warnings.append(RunWarning("unread_files", f"not read, as not recognised or not needed: {_listed(files)}"))
    if documents:
        warnings.append(RunWarning("unread_documents", f"not read, as it is no data: {_listed(documents)}"))
    return replace(run, warnings=tuple(warnings))


_DOCUMENT = re.compile(r"(^|/)((readme|license|licence|notice|changelog)(\.\w+)?|[^/]*\.(md|rst))$", re.IGNORECASE)


def _listed(paths: list[str]) -> str:
    return ", ".join(paths[:5]) + (", …" if len(paths) > 5 else "")


def _run(files: RunFiles, folder: Path, options: Options, say: Callable[[str], None]) -> Run:
    settings: dict[str, Any] = {}
    for file in files.files(Role.CONFIG):
        settings |= config.read(file)
    k = options.config.get("k", settings.get("k"))
    tables = tuple(row for file in files.files(Role.PRINTED) for row in printed.read(file))
    if files.files(Role.STEPS):
        run = _step_run(files, folder, say)
    elif files.files(Role.COUNTERS):
        run = _counter_run(files, k)
    else:
        return replace(_rates_run(files, tables), config=settings)
    return replace(run, config=settings, printed=(*run.printed, *tables))


def _step_run(files: RunFiles, folder: Path, say: Callable[[str], None]) -> Run:
    log = steplog.read(files.files(Role.STEPS), folder)
    say(f"assign {log.counts['steps'].sum():,} steps of {files.name}")
    index = pl.DataFrame({"request": log.requests}).with_row_index("response")
    counts = log.counts.join(index, on="request").select(pl.col(c).cast(t) for c, t in COUNTS.items())
    responses, result, warnings = _responses(files, log, counts)
    return Run(
        name=files.name,
        granularity=Granularity.STEP,
        k=int(counts["drafted"].max()),
        mapping=result,
        warnings=tuple(warnings),
        responses=responses,
        counts=counts.sort("response", "drafted", "accepted"),
        steps=log.steps,
    )


def _responses(
    files: RunFiles, log: steplog.StepLog, counts: pl.DataFrame
) -> tuple[pl.DataFrame, mapping.Mapping | None, list[RunWarning]]:
    """Return the responses of a log (schema.RESPONSES), the result of the mapping and its warnings."""
    bare = pl.DataFrame({"request": log.requests.cast(pl.String)}).with_row_index("response")
    unknown = dict.fromkeys(("prompt", "copy", "output_tokens"))
    alone = bare.with_columns(dataset=pl.lit(files.name.rpartition("/")[2]), **{c: pl.lit(None) for c in unknown})
    if not files.files(Role.SAMPLES):
        return _fitted(alone), None, []
    parts = [samples.read(file, _dataset_of(file, files)) for file in files.files(Role.SAMPLES)]
    known = mapping.Log(bare["request"], log.numbers, _sums(counts))
    mapped = mapping.assign(known, parts, [file.path for file in files.files(Role.SAMPLES)])
    if mapped.refused:
        return _fitted(alone), mapped.result, list(mapped.warnings)
    answers = mapped.samples.drop("request").with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    responses = bare.with_columns(row=pl.Series(mapped.sample)).join(
        answers, on="row", how="left", maintain_order="left"
    )
    responses = responses.with_columns(pl.col("dataset").fill_null(UNMAPPED))
    order = mapped.samples if len(parts) == 1 else responses
    rank = {name: i for i, name in enumerate(order["dataset"].unique(maintain_order=True))}
    ranked = pl.col("dataset").replace_strict(rank, default=len(rank), return_dtype=pl.Int32)
    # In the order of the samples, so that the order of the log does not show in the last digit of a sum.
    responses = responses.sort(ranked, pl.when(pl.col("row") >= 0).then("row"), "response", nulls_last=True)
    return _fitted(responses), mapped.result, list(mapped.warnings)


def _fitted(responses: pl.DataFrame) -> pl.DataFrame:
    return responses.select(pl.col(c).cast(t) for c, t in RESPONSES.items())


def _dataset_of(file: File, files: RunFiles) -> str:
    """Return the dataset of a samples file's lines that name none.

    It is what follows ``samples`` in the file's name, else its folder; of several files in one folder their own name.
    """
    folder = file.path.rpartition("/")[0]
    name = stem(file)
    if name.lower().startswith("samples"):
        own = name[len("samples") :].strip("_-. ")
    else:
        beside = [other for other in files.files(Role.SAMPLES) if other.path.rpartition("/")[0] == folder]
        own = name if len(beside) > 1 else ""
    return own or folder.rpartition("/")[2] or files.name


def _sums(counts: pl.DataFrame) -> pl.DataFrame:
    steps, drafted = pl.col("steps"), pl.col("drafted").cast(pl.Int64)
    return (
        counts.group_by("response")
        .agg(
            steps.filter(drafted > 0).sum(),
            undrafted=steps.filter(drafted == 0).sum(),
            drafted=(steps * drafted).sum(),
            accepted=(steps * pl.col("accepted")).sum(),
        )
        .sort("response")
    )


def _counter_run(files: RunFiles, config_k: int | None) -> Run:
    rows: list[dict[str, Any]] = []
    stored: list[dict[str, Any]] = []
    warnings: list[RunWarning] = []
    found = files.files(Role.COUNTERS)
    for file in found:
        default = stem(file) if len(found) > 1 else files.name.rpartition("/")[2]
        counted = counters.read(file, default, config_k)
        rows += counted.rows
        stored += counted.stored
        warnings += counted.warnings
    names = [row["dataset"] for row in rows]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"dataset {twice} is counted twice", file=", ".join(file.path for file in found))
    lengths = [len(row["per_position"]) if row["per_position"] else row["block"] for row in rows]
    return Run(
        name=files.name,
        granularity=Granularity.AGGREGATE,
        k=max((n for n in lengths if n is not None), default=None),
        warnings=tuple(warnings),
        counters=pl.DataFrame(rows, schema=COUNTERS),
        printed=tuple(stored),
    )


def _rates_run(files: RunFiles, tables: tuple[dict[str, Any], ...]) -> Run:
    found = files.files(Role.PRINTED)
    printed_rates = [row for row in tables if "tau" in row]
    if not printed_rates:
        raise InputError(
            "a table of means over copies stands without the log it was made from",
            file=found[0].path,
            expected="spec_log.csv beside it, or a table with accept_len",
        )
    rows = [{column: row.get(column) for column in RATES} for row in printed_rates]
    positions = max((len(row["p_exposed"] or []) for row in rows), default=0)
    for row in rows:
        row["p_exposed"] = (row["p_exposed"] or []) + [None] * (positions - len(row["p_exposed"] or []))
    return Run(
        name=files.name,
        granularity=Granularity.RATES,
        k=positions or None,
        rates=pl.DataFrame(rows, schema=RATES),
        printed=tables,
        semantics=printed.DEEPSPEC if any("mean_drafted" in row for row in printed_rates) else None,
    )
