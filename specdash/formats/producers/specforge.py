"""SpecForge's benchmark results: printed acceptance lengths, by benchmark and by configuration of the server.

``results_<time>.jsonl`` is one indented object in spite of its name, ``{"model": …, "<benchmark>": [{"batch_size": …,
"steps": …, "topk": …, "num_draft_tokens": …, "metrics": [{"accept_length": …}]}]}``; the collection of its
documentation has the same lists by model and benchmark, with a ``Name`` in ``metrics`` that tells the drafter. Every
configuration is a run. A length is output tokens over verify steps, so the prompt's own token raises it a little.

The steps of a chain (``topk`` 1) are its drafted tokens; how many tokens of a tree were verified at each depth is not
said, so K is not known there. A server without speculation has length 1 and is left out.
source: sgl-project/SpecForge, benchmarks/bench_eagle3.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specdash.formats import aggregate, peek
from specdash.formats.base import File, read_json
from specdash.formats.collect import number, scalars, whole
from specdash.formats.producer import Context, Producer
from specdash.schema import MAX_DRAFTED, Bonus, End, InputError, NothingToRead, Run, Semantics, Span

_SETTINGS = ("batch_size", "steps", "topk", "num_draft_tokens")  # in the order of --config-list
_BASELINE = re.compile(r"wi(th|ht)out\b", re.IGNORECASE)  # "Wihtout EAGLE3", as the collection spells it

_SEMANTICS = Semantics(
    producer="SpecForge, benchmark results",
    bonus=Bonus.IN,
    span=Span.RUN,
    end=End.TOKENS,
    note="Lengths without counts. Servers without speculation stand there with length 1; they are left out.",
)


@dataclass(frozen=True)
class _Length:
    """An acceptance length.

    Attributes:
        model: The target, "" where it is not said.
        drafter: The drafter, "" where it is not said.
        dataset: The benchmark, with the category where it is of one.
        settings: Those of the server.
        repeat: Which measurement of the same it is, from 0.
        tau: As it stands there.
    """

    model: str
    drafter: str
    dataset: str
    settings: tuple[int | None, ...]
    repeat: int
    tau: float


def _lengths(document: Any, path: str) -> Iterator[_Length]:
    if not isinstance(document, dict):
        raise InputError("no results by benchmark", file=path, found=document, expected="an object")
    drafter = document.get("model")
    for name, value in document.items():
        if isinstance(value, list):
            yield from _of_bench("", drafter if isinstance(drafter, str) else "", name, value, path)
        for bench, found in value.items() if isinstance(value, dict) else ():
            results = found.get("results") if isinstance(found, dict) else None
            if isinstance(results, list):
                yield from _of_bench(name, "", bench, results, path)


def _of_bench(model: str, drafter: str, bench: str, results: list[Any], path: str) -> Iterator[_Length]:
    for result in results:
        listed = result.get("metrics") if isinstance(result, dict) else None
        if not isinstance(listed, list) or not all(isinstance(found, dict) for found in listed):
            raise InputError(f"{bench}: a result has no metrics", file=path, found=result, expected="a list of objects")
        settings = tuple(whole(result.get(name), f"{bench}: {name}", path) for name in _SETTINGS)
        seen: dict[str, int] = {}
        for found in listed:
            name = found.get("Name")
            name = name if isinstance(name, str) else drafter
            seen[name] = seen.get(name, -1) + 1
            for dataset, tau in _taus(bench, found, path):
                if not _is_baseline(name, settings, tau):
                    yield _Length(model, name, dataset, settings, seen[name], tau)


def _taus(bench: str, found: Mapping[str, Any], path: str) -> Iterator[tuple[str, float]]:
    """Yield the lengths of a benchmark and of its categories, with their names."""
    categories = found.get("categorical_performance")
    parts = categories.items() if isinstance(categories, dict) else ()
    for dataset, metrics in [(bench, found), *((f"{bench}/{name}", part) for name, part in parts)]:
        tau = number(metrics.get("accept_length"), "accept_length", path) if isinstance(metrics, dict) else None
        if not tau:
            continue
        if not 1 <= tau <= MAX_DRAFTED + 1:
            expected = f"1 to {MAX_DRAFTED + 1}"
            raise InputError(f"{dataset}: accept_length is impossible", file=path, found=tau, expected=expected)
        yield dataset, tau


def _is_baseline(name: str, settings: Sequence[int | None], tau: float) -> bool:
    return bool(_BASELINE.match(name)) or settings[1] == 0 or (settings[1] is None and tau == 1)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    runs: dict[str, tuple[_Length, dict[str, dict[str, Any]]]] = {}
    for file in files:
        for found in _lengths(read_json(file), file.path):
            _, rows = runs.setdefault(_label(found), (found, {}))
            if found.dataset in rows:
                raise InputError(f"{found.dataset} stands there twice", file=file.path, found=_label(found))
            rows[found.dataset] = {"dataset": found.dataset, "tau": found.tau}
    if not runs:
        raise NothingToRead("holds no acceptance length of a server that speculates", file=files[0].path)
    return [
        aggregate.rates_run(label, list(rows.values()), _k(found, context), config=_config(found))
        for label, (found, rows) in runs.items()
    ]


def _label(found: _Length) -> str:
    """Return the name of a run: the model, the drafter, and the configuration as --config-list spells it."""
    told = ["-" if value is None else str(value) for value in found.settings]
    config = "" if set(told[1:]) == {"-"} else ",".join(told)
    repeat = f"repeat {found.repeat + 1}" if found.repeat else ""
    return " ".join(filter(None, (found.model, found.drafter.rpartition("/")[2], config, repeat)))


def _k(found: _Length, context: Context) -> int | None:
    _, steps, topk, _ = found.settings
    return steps if topk == 1 and steps and steps <= MAX_DRAFTED else context.k


def _config(found: _Length) -> dict[str, Any]:
    settings = dict(zip(_SETTINGS, found.settings, strict=True))
    return scalars({"model": found.model, "drafter": found.drafter} | settings)


def _looks(file: File) -> bool:
    names = peek.names(file)
    ends = ("[].metrics[].accept_length", "[].num_draft_tokens")
    return all(any(name.endswith(end) for name in names) for end in ends)


PRODUCERS = (
    Producer(
        key="specforge-results",
        tool="SpecForge",
        what="benchmark results",
        looks=_looks,
        read=_read,
        semantics=_SEMANTICS,
    ),
)
