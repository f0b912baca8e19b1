"""dflash-mlx's benchmark results: ``runs[].dflash`` with cycles, which are verify steps, and tokens a cycle.

``tokens_per_cycle`` counts the token of the target: tokens over cycles. Its ``acceptance_ratio`` is the share of the
tokens that came from drafts, accepted / (accepted + cycles), not of the drafted tokens that were accepted: those are
not counted. Each run answers the same prompt: runs are copies.
source: bstnxbt/dflash-mlx, benchmark.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from specdash.formats import peek
from specdash.formats.base import File, read_json
from specdash.formats.collect import Drafting, Responses, number, scalars, whole
from specdash.formats.producer import Context, Producer
from specdash.schema import Bonus, End, InputError, NothingToRead, Run, RunWarning, Semantics, Span

_SEMANTICS = Semantics(
    producer="dflash-mlx, benchmark",
    bonus=Bonus.IN,
    span=Span.REQUEST,
    end=End.TOKENS,
    note="Its acceptance_ratio is the share of output tokens that came from drafts.",
)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    path = files[0].path
    responses, config, ratios = Responses(context.workspace, path), dict[str, Any](), list[str]()
    for file in files:
        document = read_json(file)
        settings = document.get("config") if isinstance(document, dict) else None
        settings = settings if isinstance(settings, dict) else {}
        config |= _settings(document, settings)
        for place, run in enumerate(_runs(document, file.path), start=1):
            found = run.get("dflash")
            if not isinstance(found, dict):
                continue
            steps, tokens = _tokens(found, file.path)
            if not steps:
                continue
            ratios += _ratio(found, steps, tokens, f"run {place}")
            prompt = str(settings.get("prompt_id") or "") or None
            drafting = Drafting(None, steps, None, tokens - steps)
            name = f"{file.name}:run {run.get('run', place)}"
            responses.add(name, drafting, dataset=context.dataset, prompt=prompt, output_tokens=tokens)
    if not len(responses):
        raise NothingToRead("no run has cycles", file=path, expected="runs[].dflash with cycles")
    if ratios:
        responses.warnings.append(RunWarning("ratio_disagrees", f"stored ratios differ: {'; '.join(ratios[:3])}"))
    return [responses.run("", context.k, config)]


def _runs(document: Any, path: str) -> list[Mapping[str, Any]]:
    runs = document.get("runs") if isinstance(document, dict) else None
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs):
        raise InputError("runs is no list of runs", file=path, found=runs, expected="runs[].dflash")
    return runs


def _settings(document: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings under our names; no prompt is kept."""
    names = {"target_model": "model", "draft_model": "drafter", "max_new_tokens": "max_tokens"}
    kept = {names.get(name, name): value for name, value in config.items() if name != "prompt"}
    hardware = document.get("hardware")
    chip = hardware.get("chip") if isinstance(hardware, dict) else None
    return scalars(kept | ({"hardware": chip} if chip else {}))


def _tokens(found: Mapping[str, Any], path: str) -> tuple[int, int]:
    """Return the cycles of a run and the tokens they gave.

    Raises:
        InputError: They are no whole numbers, or fewer tokens than cycles.
    """
    steps = whole(found.get("cycles"), "cycles", path) or 0
    mean = number(found.get("tokens_per_cycle"), "tokens_per_cycle", path) or 0.0
    tokens = round(mean * steps)
    if not math.isclose(tokens, mean * steps, abs_tol=1e-3) or tokens < steps:
        expected = "a whole number of tokens, one a cycle at least"
        raise InputError(
            "tokens_per_cycle does not fit cycles", file=path, found=f"{mean} × {steps}", expected=expected
        )
    return steps, tokens


def _ratio(found: Mapping[str, Any], steps: int, tokens: int, name: str) -> list[str]:
    """Compare the stored ratio with what it means here, 1 − cycles / tokens."""
    stored, ours = found.get("acceptance_ratio"), 1 - steps / tokens
    if not isinstance(stored, int | float) or math.isclose(stored, ours, abs_tol=1e-3):
        return []
    return [f"acceptance_ratio {stored} of {name} is {ours:.4f} by tokens and cycles"]


PRODUCERS = (
    Producer(
        key="dflash-mlx",
        tool="dflash-mlx",
        what="benchmark result",
        looks=lambda file: peek.names(file) >= {"runs[].dflash.tokens_per_cycle", "runs[].dflash.cycles"},
        read=_read,
        semantics=_SEMANTICS,
    ),
)
