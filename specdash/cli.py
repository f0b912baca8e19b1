"""The command line: results on stdout, progress and errors on stderr; exit 0 done, 1 bad input, 2 wrong usage."""

from __future__ import annotations

import functools
import json
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from specdash import families, ingest, report
from specdash._version import VERSION
from specdash.cli_bench import bench
from specdash.cli_probe import probe
from specdash.formats.table.columns import FIELDS
from specdash.schema import MAX_DRAFTED, Evaluation, InputError, Run
from specdash.speed.presets import PRESETS
from specdash.store import Store, home
from specdash.verdict import Outcome

if TYPE_CHECKING:
    from rich.console import Console

_FOLDERS = ("csv", "parquet")
_FORMATS = ("text", "json", *_FOLDERS, "html", "markdown", "latex")
_STDIN = "-"
_TEXT_WIDTH = 200  # Columns of text output that goes to no terminal: nothing is cut.


class _Commands(click.Group):
    """Commands that end with exit code 1 and one line on stderr when their input is bad."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (InputError, OSError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            _say(str(error))
            ctx.exit(1)


def _say(message: str) -> None:
    """Print one line on stderr, whatever stands in the message."""
    click.echo(f"specdash: {report.printable(message)}", err=True)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="specdash")
def cli() -> None:
    """Acceptance statistics of speculative-decoding evaluations."""


def _settings(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    """Parse ``key=value`` pairs; values are JSON where they can be, else text."""
    settings = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise click.BadParameter(f"{pair!r} is not of the form key=value")
        try:
            parsed = json.loads(value, parse_constant=str)
        except (ValueError, RecursionError):
            parsed = value
        endless = isinstance(parsed, float) and not math.isfinite(parsed)
        settings[key.strip()] = value if endless or isinstance(parsed, list | dict | None) else parsed
    return settings


def _columns(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Parse ``ours=theirs`` pairs; theirs is empty for what no column is."""
    if wrong := next((pair for pair in given if not pair.partition("=")[0].strip() or "=" not in pair), None):
        raise click.BadParameter(f"{wrong!r} is not of the form accepted=COLUMN")
    return {ours.strip(): theirs for ours, _, theirs in (pair.partition("=") for pair in given)}


def _said(command: Callable[..., None]) -> Callable[..., None]:
    """Add what a user may say of an evaluation to a command, which gets it as ``options``."""

    @functools.wraps(command)
    def said(
        *, settings: dict[str, Any], k: int | None, bonus: str | None, columns: dict[str, str], **own: Any
    ) -> None:
        config = settings if k is None else settings | {"k": k}
        command(options=ingest.Options.of({"config": config, "bonus": bonus, "map": columns}), **own)

    for option in (
        click.option(
            "--map",
            "columns",
            multiple=True,
            metavar="OURS=COLUMN",
            callback=_columns,
            help=f"Say which column of a table is what, e.g. accepted=n_ok: {', '.join(FIELDS)}. Empty: no column is.",
        ),
        click.option(
            "--bonus",
            type=click.Choice(["in", "out"]),
            help="Say whether acceptance lengths in the files count the bonus token.",
        ),
        click.option("--k", type=click.IntRange(0, MAX_DRAFTED), metavar="N", help="Say the draft length: --set k=N."),
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="KEY=VALUE",
            callback=_settings,
            help="Say a setting of the runs, e.g. temperature=0.6.",
        ),
    ):
        said = option(said)
    return said


@cli.command("report")
@click.argument("source", metavar="PATH|ID")
@click.option("--run", "run_name", metavar="NAME", help="Only this run.")
@click.option("--format", "fmt", type=click.Choice(_FORMATS), default="text", show_default=True)
@click.option(
    "-o",
    "out",
    type=click.Path(path_type=Path),
    metavar="FILE|DIR",
    help="Write there instead of stdout; csv and parquet need a DIR.",
)
@click.option(
    "--intervals",
    is_flag=True,
    help="Print ± beside numbers in text, Markdown and LaTeX; the other formats have intervals always.",
)
@click.option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    help="Pipeline that the throughput calculator works through in an HTML report.",
)
@_said
def report_command(
    source: str,
    run_name: str | None,
    fmt: str,
    out: Path | None,
    intervals: bool,
    preset: str | None,
    options: ingest.Options,
) -> None:
    """Print every number of an evaluation: a zip, a folder, a file, - for stdin, or the id of a stored one.

    Stores nothing. Markdown and LaTeX are table 1 of each run; all other formats hold every table.
    """
    if fmt in _FOLDERS and out is None:
        raise click.UsageError(f"--format {fmt} needs -o DIR")
    if preset is not None and fmt != "html":
        raise click.UsageError("--preset goes with --format html")
    library = Store(home())
    family_of = families.load(library.families_file())
    with _evaluation(source, library, options) as evaluation:
        runs = evaluation.runs if run_name is None else (evaluation.run(run_name),)
        if fmt in _FOLDERS:
            for path in report.write_files(evaluation, family_of, runs, out, fmt):
                click.echo(path)
            return
        with _output(out, f"report.{_SUFFIXES.get(fmt, fmt)}") as stream:
            if fmt == "text":
                report.render_text(evaluation, family_of, runs, _console(stream), intervals=intervals)
            elif fmt == "json":
                _print_json(evaluation, family_of, runs, stream)
            elif fmt == "html":
                _print_html(evaluation, family_of, runs, stream, preset)
            else:
                _print_headline(evaluation, family_of, runs, stream, fmt, intervals)


@cli.command("check")
@click.argument("source", metavar="PATH|ID")
@click.option("--run", "run_name", metavar="NAME", help="Only this run.")
@click.option("--format", "fmt", type=click.Choice(["text", "json"]), default="text", show_default=True)
@_said
def check_command(source: str, run_name: str | None, fmt: str, options: ingest.Options) -> None:
    """Check whether a log is sound; exit with 1 when a check fails. Stores nothing."""
    with _evaluation(source, Store(home()), options) as evaluation:
        runs = evaluation.runs if run_name is None else (evaluation.run(run_name),)
        if fmt == "json":
            click.echo(json.dumps(report.checks_document(evaluation, runs), indent=1))
        else:
            report.render_checks(evaluation, runs, _console(sys.stdout))
    if any(finding.outcome is Outcome.FAIL for run in runs for finding in run.checks):
        sys.exit(1)


@contextmanager
def _evaluation(source: str, library: Store, options: ingest.Options) -> Iterator[Evaluation]:
    """Give the evaluation that a path or an id names."""
    if source != _STDIN and not Path(source).exists() and source in library:
        if options.as_dict():
            raise click.UsageError("--set goes with a path: a stored evaluation has its settings already")
        yield ingest.checked(library.open(source))
        return
    with _file(source) as path:
        if not path.exists():
            raise InputError("neither a file or folder nor the id of a stored evaluation", found=source)
        with tempfile.TemporaryDirectory(prefix="specdash-") as workspace, _progress() as progress:
            yield ingest.read(path, Path(workspace), options=options, limits=_limits(), progress=progress)


@contextmanager
def _file(source: str) -> Iterator[Path]:
    """Give the path that a user names; what comes in on stdin becomes a file."""
    if source != _STDIN:
        yield Path(source)
        return
    with tempfile.TemporaryDirectory(prefix="specdash-") as folder:
        path = Path(folder) / "stdin"
        with path.open("wb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        yield path


@contextmanager
def _output(out: Path | None, name: str) -> Iterator[TextIO]:
    if out is None:
        yield sys.stdout
        return
    path = out / name if out.is_dir() or not out.suffix else out
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", errors="replace") as stream:
        yield stream


def _print_json(evaluation: Evaluation, family_of: families.FamilyOf, runs: tuple[Run, ...], stream: TextIO) -> None:
    json.dump(report.document(evaluation, family_of, runs), stream, indent=1, allow_nan=False)
    stream.write("\n")


def _print_html(
    evaluation: Evaluation, family_of: families.FamilyOf, runs: tuple[Run, ...], stream: TextIO, preset: str | None
) -> None:
    from specdash.report import html, sections  # They draw, and what they draw with takes its time to import.

    subjects = [sections.Subject.of(run, family_of, evaluation=evaluation) for run in runs]
    calculator = None if preset is None else sections.Settings.of_preset(preset)
    stream.write(html.render(evaluation, subjects, calculator=calculator))


def _console(stream: TextIO) -> Console:
    from rich.console import Console

    return Console(file=stream, width=None if stream.isatty() else _TEXT_WIDTH, highlight=False)


def _print_headline(
    evaluation: Evaluation,
    family_of: families.FamilyOf,
    runs: tuple[Run, ...],
    stream: TextIO,
    fmt: str,
    intervals: bool,
) -> None:
    write = {"markdown": report.markdown, "latex": report.latex}[fmt]
    sheets = (report.headline(evaluation, run, family_of, intervals=intervals) for run in runs)
    stream.write("\n".join(map(write, sheets)))


_SUFFIXES = {"text": "txt", "markdown": "md", "latex": "tex"}


def _limits() -> ingest.Limits:
    return ingest.Limits.from_env(os.environ)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int | None], None] | None]:
    """Show what is going on on stderr while it goes on, where that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda stage, done, total: bar.update(task, description=stage, completed=done, total=total)


@cli.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option("--keep-original", is_flag=True, help="Keep a copy of the input in the library.")
@_said
def add(paths: tuple[str, ...], keep_original: bool, options: ingest.Options) -> None:
    """Add evaluations to the library and print their ids. One that is there already stays as it is."""
    library, failed = Store(home()), False
    for source in paths:
        try:
            with _file(source) as path, _progress() as progress:
                evaluation = ingest.add(
                    path,
                    library,
                    options=options,
                    limits=_limits(),
                    keep_original=keep_original,
                    progress=progress,
                )
        except (InputError, OSError) as error:
            _say(str(error))
            failed = True
            continue
        click.echo(f"{evaluation.id}  {report.printable(evaluation.title)}")
        for run in ingest.checked(evaluation).runs:
            for _, line in report.told(run.checks):
                _say(f"{run.name}: {line}")
    if failed:
        sys.exit(1)


@cli.command("list")
@click.option("--format", "fmt", type=click.Choice(["text", "json"]), default="text", show_default=True)
def list_command(fmt: str) -> None:
    """List the evaluations of the library."""
    entries = Store(home()).list()
    if fmt == "json":
        keys = ("id", "title", "source", "sha256", "runs", "added")
        listed = [
            {key: getattr(entry, key) for key in keys}
            | {"runs": list(entry.runs), "verdict": entry.verdict and str(entry.verdict.outcome)}
            for entry in entries
        ]
        click.echo(json.dumps(listed, indent=1))
        return
    for entry in entries:
        verdict = f"; {entry.verdict.short}" if entry.verdict else ""
        line = f"{entry.id}  {entry.added}  {entry.title}  ({entry.source}; runs: {', '.join(entry.runs)}{verdict})"
        click.echo(report.printable(line))


@cli.command()
@click.argument("evaluation_id", metavar="ID")
@click.option("-o", "out", type=click.Path(path_type=Path), metavar="FILE", help="[default: ID.specdash.zip]")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
def export(evaluation_id: str, out: Path | None, force: bool) -> None:
    """Write an evaluation of the library to a zip that ``specdash add`` takes in, and print the zip's name."""
    target = out or Path(f"{evaluation_id}.specdash.zip")
    if target.exists() and not force:
        raise InputError("is there already", file=str(target), expected="another -o FILE, or --force")
    click.echo(report.printable(str(Store(home()).export(evaluation_id, target))))


@cli.command()
@click.argument("evaluation_id", metavar="ID")
def remove(evaluation_id: str) -> None:
    """Remove an evaluation from the library."""
    Store(home()).remove(evaluation_id)


cli.add_command(bench)
cli.add_command(probe)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # A terminal that knows no τ gets a question mark.
    cli(prog_name="specdash")
