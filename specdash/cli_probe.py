"""``specdash probe``: read a server's counters and print the window between two readings as a report."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from specdash import families, ingest, report
from specdash.schema import InputError, Run
from specdash.store import Store, home

if TYPE_CHECKING:
    from rich.console import Console

    from specdash.live.watch import Watch
    from specdash.live.window import Window

_WIDTH = 200  # columns of output that goes to no terminal


@click.command("probe")
@click.argument("sources", nargs=-1, required=True, metavar="URL | BEFORE AFTER")
@click.option("--for", "seconds", type=click.FloatRange(0.1), metavar="S", help="Count for so many seconds from now.")
@click.option("--watch", is_flag=True, help="Count from now until Ctrl-C, and show how it goes.")
@click.option("--every", default=5.0, show_default=True, type=click.FloatRange(0.1), metavar="S", help="Read so often.")
@click.option("--ours", type=click.IntRange(0), metavar="N", help="Requests we sent, to tell others' among them.")
@click.option("--format", "fmt", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Keep the readings.")
@click.option("--add", "added", is_flag=True, help="Add the window to the library.")
def probe(sources: tuple[str, ...], out: Path | None, added: bool, **how: Any) -> None:
    """Print what a server's counters (/metrics) say of its drafts.

    Of a URL: since the server's start, or for a window from now (--for, --watch). Of two files: between them. Counters
    are those of every client of the server.
    """
    with tempfile.TemporaryDirectory(prefix="specdash-probe-") as folder:
        url = sources[0] if sources[0].startswith(("http://", "https://")) else None
        if len(sources) > (1 if url else 2):
            raise click.UsageError("a URL, or one or two files")
        if (how["seconds"] or how["watch"]) and not url:
            raise click.UsageError("--for and --watch go with a URL")
        if url:
            window = _counted(url, Path(folder), how)
        else:
            window = _between([Path(source) for source in sources], Path(folder) / "window")
        if out:
            _keep(window, out)
        _print(window, Path(folder), how)
        if added:
            click.echo(ingest.add(window.folder, Store(home())).id)


def _counted(url: str, folder: Path, how: dict[str, Any]) -> Window:
    from specdash.live.fetch import fetch
    from specdash.live.policy import COMMAND_LINE
    from specdash.live.watch import Watch

    watch = Watch(url, how["every"], lambda address: fetch(address, COMMAND_LINE), folder=folder)
    watch.start()
    try:
        if how["watch"] or how["seconds"]:
            _wait(watch, how["seconds"])
    finally:
        watch.stop(read=bool(how["watch"] or how["seconds"]))
    if watch.state.problem:
        raise InputError(watch.state.problem)
    return watch.window


def _wait(watch: Watch, seconds: float | None) -> None:
    """Wait for the end of the window; Ctrl-C is one."""
    end = None if seconds is None else time.monotonic() + seconds
    try:
        with _status() as say:
            while end is None or time.monotonic() < end:
                say(_progress(watch))
                time.sleep(0.25 if end is None else min(0.25, max(0.0, end - time.monotonic())))
    except KeyboardInterrupt:
        pass


@contextmanager
def _status() -> Iterator[Callable[[str], None]]:
    """Give a function that shows a line on stderr, where that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as shown:
        yield shown.update


def _progress(watch: Watch) -> str:
    state, points = watch.state, list(watch.points)
    tau = f", τ {1 + points[-1].accepted / points[-1].steps:.2f}" if points and points[-1].steps else ""
    steps = f", {points[-1].steps:,} steps" if points else ""
    trouble = f" – {report.printable(state.problem)}" if state.problem else ""
    return f"{state.taken} readings, {watch.window.seconds:,.0f} s{steps}{tau}{trouble}"


def _between(files: list[Path], folder: Path) -> Window:
    """Return the window between two files, or since the server's start up to one."""
    from specdash.live.window import Window

    names = " and ".join(file.name for file in files)
    window = Window(folder, f"Counters of {files[-1].name}", names, timed=False)
    for number, file in enumerate(files):
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise InputError("is no text", file=file.name, expected="the text of /metrics") from None
        except OSError as error:
            raise InputError("cannot be read", file=str(file), found=error.strerror) from None
        window.add(text, float(number))
    return window


def _keep(window: Window, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for scrape in window.scrapes:
        target = out / scrape.name
        target.write_text(scrape.text, encoding="utf-8")
        click.echo(report.printable(str(target)))


def _print(window: Window, folder: Path, how: dict[str, Any]) -> None:
    for sentence in window.sentences(how["ours"]):
        click.echo(report.printable(sentence), err=True)
    workspace = folder / "workspace"
    workspace.mkdir()
    evaluation = window.evaluation(workspace)
    family_of = families.load(Store(home()).families_file())
    if how["fmt"] == "json":
        document = report.document(evaluation, family_of, evaluation.runs) | {"server": window.document(how["ours"])}
        click.echo(json.dumps(document, indent=1, allow_nan=False))
        return
    console = _console()
    report.render_text(evaluation, family_of, evaluation.runs, console)
    if engines := window.engines():
        console.print(_engines(engines))


def _console() -> Console:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)


def _engines(run: Run) -> Any:
    """Return the table of a server's engines."""
    from rich import box
    from rich.table import Table

    from specdash.metrics import run_rows

    grid = Table(title="By engine", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for head in ("engine", "steps", "drafted", "accepted", "τ"):
        grid.add_column(head, justify="left" if head == "engine" else "right")
    for row in run_rows(run, lambda _: None)[0]:
        counts = [f"{row[key]:,}" if row[key] is not None else "–" for key in ("steps", "drafted", "accepted")]
        grid.add_row(row["dataset"], *counts, f"{row['tau']:.2f}")
    return grid
