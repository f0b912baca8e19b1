"""Results of DFlash's standalone benchmark on TPUs: ``per_sample[].acceptance_lengths``, a length a verify step.

Lengths count the bonus token, 1 to the block size; a block is the token known before it and its drafts, so K is one
less. The rates by position of the summary begin with that known token, whose rate is always 1: draft position 0 is
their second. Samples that warm up stand in the list and not in the summary, and are left out here too. The lengths are
not cut where an answer ends. A replay of single answers has the same lists under ``samples[].dflash``, without warm-up.
source: aaronzhfeng/tpu-spec-decode, benchmarks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from specdash.formats import aggregate, peek
from specdash.formats.base import File, read_json
from specdash.formats.collect import Drafting, Responses, number, numbers, scalars, stepwise, whole, wholes
from specdash.formats.producer import Context, Producer
from specdash.schema import (
    MAX_DRAFTED,
    Bonus,
    End,
    InputError,
    NothingToRead,
    PerPosition,
    Run,
    RunWarning,
    Semantics,
    Span,
    Undrafted,
)

_LENGTHS = "acceptance_lengths"
_NAMES = {"target_model": "model", "draft_model": "drafter", "max_new_tokens": "max_tokens"}
_WHY = "no block size says how many tokens a step drafted"

SEMANTICS = Semantics(
    producer="DFlash, standalone benchmark",
    bonus=Bonus.IN,
    position_base=1,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.REQUEST,
    end=End.RAW,
    undrafted=Undrafted.COUNTED,
    note="Position 0 of its rates is the token known before a block, always 1. Warm-up samples are left out.",
)


@dataclass(frozen=True)
class _Sample:
    """What a sample says of its steps.

    Attributes:
        prompt: Its number.
        found: The object with the lengths.
        tokens: Name of its output tokens there.
        warms_up: Whether it is a warm-up.
    """

    prompt: str
    found: Mapping[str, Any]
    tokens: str
    warms_up: bool


def _samples(document: Any, path: str) -> Iterator[_Sample]:
    replay = isinstance(document, dict) and "per_sample" not in document
    listed = document.get("samples" if replay else "per_sample") if isinstance(document, dict) else None
    if not isinstance(listed, list) or not all(isinstance(sample, dict) for sample in listed):
        raise InputError(
            "per_sample is no list of samples", file=path, found=listed, expected=f"samples with {_LENGTHS}"
        )
    for place, sample in enumerate(listed):
        found = sample.get("dflash") if replay else sample
        if isinstance(found, dict) and found.get(_LENGTHS) is not None:
            tokens = "num_output_tokens" if replay else "dflash_num_output_tokens"
            prompt = str(sample.get("sample_index", place))
            yield _Sample(prompt, found, tokens, sample.get("is_warmup") is True)


@dataclass
class _Reading:
    """The samples of the shards of one file."""

    responses: Responses
    context: Context
    k: int | None = None
    config: dict[str, Any] = field(default_factory=dict)
    printed: list[dict[str, Any]] = field(default_factory=list)
    warm: int = 0

    def take(self, file: File) -> None:
        """Take in a file."""
        document = read_json(file)
        samples = list(_samples(document, file.path))
        settings = _object(document, "config")
        summary = _object(document, "summary")
        dataset = str(settings.get("dataset") or self.context.dataset)
        k = _k(settings, summary, self.context, file.path)
        for sample in samples:
            if sample.warms_up:
                self.warm += 1
            else:
                self._add(sample, dataset, k, file.path)
        self.k = max((n for n in (self.k, k) if n is not None), default=None)
        self.config |= scalars({_NAMES.get(name, name): value for name, value in settings.items()})
        rates = numbers(summary.get("acceptance_rate_per_pos"), "acceptance_rate_per_pos", file.path) or []
        stored = aggregate.stored(
            dataset,
            tau=("tau", number(summary.get("tau"), "tau", file.path)),
            p=("acceptance_rate_per_pos", rates[1:] if k == len(rates) - 1 else None),
        )
        self.printed += [stored] if stored["decimals"] else []

    def _add(self, sample: _Sample, dataset: str, k: int | None, path: str) -> None:
        lengths = wholes(sample.found[_LENGTHS], _LENGTHS, path) or []
        most = 1 + (MAX_DRAFTED if k is None else k)
        where = f"sample {sample.prompt}"
        if wrong := [n for n in lengths if not 1 <= n <= most]:
            raise InputError(
                f"{where}: an acceptance length cannot be", file=path, found=wrong[0], expected=f"1 to {most}"
            )
        steps = whole(sample.found.get("num_drafts"), "num_drafts", path)
        if steps not in (None, len(lengths)):
            found = f"{steps} drafts, {len(lengths)} lengths"
            raise InputError(f"{where}: num_drafts is another", file=path, found=found, expected="a length a draft")
        pairs = [(k, n - 1) for n in lengths]
        ordered = None if k is None else pairs
        drafted = None if k is None else k * len(lengths)
        self.responses.add(
            sample.prompt if dataset == self.context.dataset else f"{dataset}/{sample.prompt}",
            Drafting(stepwise(pairs), len(lengths), drafted, sum(lengths) - len(lengths), ordered),
            dataset=dataset,
            prompt=sample.prompt,
            output_tokens=whole(sample.found.get(sample.tokens), sample.tokens, path),
        )


def _object(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = document.get(name)
    return found if isinstance(found, dict) else {}


def _k(settings: Mapping[str, Any], summary: Mapping[str, Any], context: Context, path: str) -> int | None:
    """Return the drafted tokens of a step: one less than the block size, or than the positions of the summary."""
    block = whole(settings.get("block_size"), "block_size", path, most=MAX_DRAFTED + 1)
    rates = summary.get("acceptance_rate_per_pos")
    block = len(rates) if block is None and isinstance(rates, list) and len(rates) <= MAX_DRAFTED + 1 else block
    return block - 1 if block else context.k


def _read(files: Sequence[File], context: Context) -> list[Run]:
    path = files[0].path
    reading = _Reading(Responses(context.workspace, path), context)
    for file in files:
        reading.take(file)
    if not len(reading.responses):
        found = f"warm-up samples alone: {reading.warm}" if reading.warm else None
        raise NothingToRead("no sample has acceptance lengths", file=path, found=found)
    warnings = context.without_k(path, _WHY) if reading.k is None else []
    if reading.warm:
        said = f"warm-up samples are left out, as in the file's own summary: {reading.warm:,}"
        warnings.append(RunWarning("warmup_left_out", said))
    reading.responses.warnings += warnings
    run = reading.responses.run("", reading.k, reading.config, k_listed=False)
    return [replace(run, printed=tuple(reading.printed))]


def _looks(file: File) -> bool:
    names = peek.names(file)
    if "config.block_size" not in names or names.isdisjoint(("per_sample", "samples[].dflash")):
        return False
    shown = not names.isdisjoint((f"per_sample[].{_LENGTHS}", f"samples[].dflash.{_LENGTHS}"))
    return shown or peek.reaches(file, f'"{_LENGTHS}"'.encode())  # a long answer may stand before them


PRODUCERS = (
    Producer(
        key="dflash-standalone",
        tool="DFlash on TPUs",
        what="results of the standalone benchmark",
        looks=_looks,
        read=_read,
        semantics=SEMANTICS,
    ),
)
