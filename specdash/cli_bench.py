"""``specdash bench``: measure a speculating endpoint against a baseline."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from specdash.schema import InputError, legible

if TYPE_CHECKING:
    from specdash.live.document import Settings
    from specdash.live.endpoint import Endpoint
    from specdash.live.policy import Policy
    from specdash.live.prompts import Prompt

_CANCELLED = 130
_WIDTH = 200  # columns of output that goes to no terminal


def _levels(ctx: click.Context, param: click.Parameter, given: str) -> tuple[int, ...]:
    parts = given.split(",")
    if not all(part.strip().isdecimal() and 0 < int(part) <= 1000 for part in parts):
        raise click.BadParameter(f"{given!r} is no list of whole numbers from 1 to 1000, such as 1,4")
    return tuple(dict.fromkeys(int(part) for part in parts))


def _headers(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    pairs = [header.partition(":") for header in given]
    if not all(colon and name.strip() and "\n" not in name + value for name, colon, value in pairs):
        raise click.BadParameter("a header is of the form 'Name: value'")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _object(ctx: click.Context, param: click.Parameter, given: str | None) -> dict[str, Any]:
    try:
        found = json.loads(given or "{}")
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise click.BadParameter("is no JSON object")
    return found


@click.command("bench")
@click.option("--spec", metavar="URL", help="The endpoint with speculation, e.g. http://localhost:8000/v1.")
@click.option("--baseline", metavar="URL", help="The same model without speculation.")
@click.option("--prompts", "prompts_file", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE")
@click.option("-n", "count", default=32, show_default=True, type=click.IntRange(1), help="Prompts, the file's first.")
@click.option("--max-tokens", default=256, show_default=True, type=click.IntRange(1))
@click.option("--concurrency", default="1", show_default=True, callback=_levels, help="Requests in flight, e.g. 1,4.")
@click.option("--temperature", default=0.0, show_default=True, type=click.FloatRange(0))
@click.option("--warmup", default=2, show_default=True, type=click.IntRange(0), help="Requests that do not count.")
@click.option("--aa", is_flag=True, help="Measure the baseline twice: how far it differs from itself.")
@click.option("--one-after-the-other", is_flag=True, help="Finish an arm before the next begins; default: in turns.")
@click.option("--completions", is_flag=True, help="Complete texts instead of chats.")
@click.option("--ignore-eos", is_flag=True, help="Ask for all of --max-tokens, so that lengths are equal.")
@click.option("--model", metavar="NAME", help="Default: the first that each endpoint lists.")
@click.option("--baseline-model", metavar="NAME", help="Where the baseline names it otherwise.")
@click.option("--spec-metrics", metavar="URL", help="Default: /metrics of the endpoint.")
@click.option("--baseline-metrics", metavar="URL")
@click.option("--timeout", "timeout_s", default=300.0, show_default=True, type=click.FloatRange(0.1), help="Seconds.")
@click.option("--header", "headers", multiple=True, metavar="'N: V'", callback=_headers, help="Never written down.")
@click.option("--extra", metavar="JSON", callback=_object, help="Further fields of every request.")
@click.option("-o", "out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
@click.option("--of-dashboard", is_flag=True, hidden=True, help="Ask no forbidden address; end with standard input.")
@click.option("--resume", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Go on with a bench.")
def bench(**given: Any) -> None:
    """Measure a speculating endpoint against a baseline: the same prompts, in turns, every answer timed.

    Writes one JSON with every reading; ``specdash add`` takes it in. Ctrl-C keeps what was measured, and --resume goes
    on (with the same --prompts).
    """
    from specdash.live.policy import COMMAND_LINE, Policy

    policy = Policy() if given["of_dashboard"] else COMMAND_LINE
    if given["of_dashboard"]:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    asked = _resumed(given) if given["resume"] else _fresh(given, policy)
    state = _run(asked, given["headers"], policy)
    if state == "cancelled":
        sys.exit(_CANCELLED)
    if state != "complete":
        sys.exit(1)


def _end_with_parent() -> None:
    """Cancel, keeping what was measured, when the dashboard that started this is gone."""
    while os.read(0, 4096):  # not sys.stdin: a thread that waits in it does not let the interpreter end
        pass
    os.kill(os.getpid(), signal.SIGINT)


@dataclass
class _Asked:
    """What to measure."""

    out: Path
    prompts: list[Prompt]
    settings: Settings
    endpoints: list[Endpoint]
    models: list[str]
    document: dict[str, Any]


def _fresh(given: dict[str, Any], policy: Policy) -> _Asked:
    from specdash.live import bench as benches
    from specdash.live import document, plan, prompts
    from specdash.live.endpoint import endpoint

    if not given["spec"] or not given["prompts_file"]:
        raise click.UsageError("--spec and --prompts are needed")
    if given["aa"] and not given["baseline"]:
        raise click.UsageError("--aa measures the baseline twice: --baseline is needed")
    out = given["out"] or Path(f"bench-{datetime.now():%Y%m%d-%H%M%S}.json")
    if out.exists() or document.partial(out).exists():
        raise InputError("is there already", file=str(out), expected="another -o FILE, or --resume to go on with it")
    found = prompts.read(given["prompts_file"], given["count"])
    if len(found) < given["count"]:
        _say(f"{given['prompts_file'].name} holds {len(found)} prompts, {given['count']} were asked for")
    settings = document.Settings(
        max_tokens=given["max_tokens"],
        concurrency=given["concurrency"],
        temperature=given["temperature"],
        warmup=given["warmup"],
        interleaved=not given["one_after_the_other"],
        chat=not given["completions"],
        ignore_eos=given["ignore_eos"],
        timeout_s=given["timeout_s"],
        extra=given["extra"],
    )
    spec = endpoint(plan.SPEC, given["spec"], given["spec_metrics"])
    base = [endpoint(name, given["baseline"], given["baseline_metrics"]) for name in _baselines(given)]
    endpoints = [*base[:1], spec, *base[1:]]
    named = {plan.SPEC: given["model"], **dict.fromkeys(_baselines(given), given["baseline_model"] or given["model"])}
    unnamed = [at for at in endpoints if named[at.name] is None]
    listed = dict(
        zip((at.name for at in unnamed), asyncio.run(benches.models_of(unnamed, given["headers"], policy)), strict=True)
    )
    models = [named[at.name] or listed[at.name] for at in endpoints]
    return _Asked(out, found, settings, endpoints, models, document.begin(settings, endpoints, models, found))


def _baselines(given: dict[str, Any]) -> list[str]:
    from specdash.live import plan

    return [] if not given["baseline"] else [plan.BASELINE, plan.AGAIN] if given["aa"] else [plan.BASELINE]


def _resumed(given: dict[str, Any]) -> _Asked:
    from specdash.live import document, prompts
    from specdash.live.endpoint import Endpoint

    if not given["prompts_file"]:
        raise click.UsageError("--resume needs the same --prompts: no prompt is written down")
    out = given["resume"]
    held = document.load(out)
    wanted = held["prompts"]
    found = prompts.read(given["prompts_file"], len(wanted))
    if [p.sha256 for p in found] != [p["sha256"] for p in wanted]:
        raise InputError("not the prompts of the bench to resume", file=str(given["prompts_file"]))
    settings = document.Settings(**held["settings"] | {"concurrency": tuple(held["settings"]["concurrency"])})
    endpoints = [Endpoint(arm["name"], arm["base"], arm["metrics"]) for arm in held["arms"]]
    return _Asked(out, found, settings, endpoints, [arm["model"] for arm in held["arms"]], held)


def _run(asked: _Asked, headers: dict[str, str], policy: Policy) -> str:
    """Measure, write the document, print what it comes to; return how it ended."""
    from specdash.live import statistics
    from specdash.live.bench import Bench
    from specdash.live.document import Journal

    for note in asked.document["notes"]:
        _say(note)
    journal = Journal(asked.out, asked.document)
    with _progress() as say:
        ready = Bench(asked.endpoints, asked.models, asked.prompts, asked.settings, journal, headers, say, policy)
        asyncio.run(ready.run())
    found = statistics.runs(journal.document)
    compared = statistics.comparisons(found)
    journal.document["statistics"] = statistics.as_json(compared)
    journal.finish()
    _print(journal.document, compared)
    click.echo(legible(str(asked.out)))
    return journal.document["state"]


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show how far it is on stderr, where that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("connecting", total=None)
        yield lambda doing, done, total: bar.update(task, description=doing, completed=done, total=total)


def _print(document: dict[str, Any], compared: dict[int, Any]) -> None:
    """Print a table of medians and speed-ups for each number in flight, and the judgement of the first measure."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)
    failed = sum(bool(request["error"]) for request in document["requests"])
    measured = f"{len(document['requests']):,} requests measured, {failed:,} of them failed"
    reason = "" if document["state"] == "complete" else f"; {document['state']}: {document['reason']}"
    console.print(legible(f"{measured}{reason}"), markup=False)
    for concurrency, pairs in compared.items():
        console.print()
        console.print(_table(concurrency, pairs))
        if pairs:
            verdict = pairs[0][1]
            console.print(verdict.headline, markup=False)
            for note in verdict.notes:
                console.print(f"{'!' if note.warns else '·'} {note.message}", markup=False)


def _table(concurrency: int, pairs: Any) -> Any:
    from rich import box
    from rich.table import Table

    title = f"{concurrency} in flight, medians in ms"
    grid = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for head in ("", "baseline", "spec", "speed-up", "95 % interval", ""):
        grid.add_column(head, justify="left" if head in ("", "95 % interval") else "right")
    for comparison, verdict in pairs:
        found, drawn = comparison.paired or comparison.welch, comparison.bootstrap
        medians = [f"{1000 * side.value:,.2f}" for side in (drawn.percentiles[0].base, drawn.percentiles[0].spec)]
        numbers = ("–", "–") if found is None else (f"{found.speedup:.3f}", f"{found.low:.3f} to {found.high:.3f}")
        grid.add_row(comparison.measure.label, *medians, *numbers, str(verdict.case))
    return grid


def _say(message: str) -> None:
    click.echo(f"specdash: {legible(message)}", err=True)
