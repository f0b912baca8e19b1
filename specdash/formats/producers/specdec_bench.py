"""Model-Optimizer's specdec_bench: ``acceptance_rate.json``, a list of runs, and ``speculation_profile.json``.

Both hold a histogram of steps by the tokens they gave, bonus token in, as an object without empty bins; everything
here is counted from it. A length of n is n − 1 accepted draft tokens, so length 2 is draft position 0; the rates under
length 1 are always 1. ``Average_AL`` and ``Category_AL`` are means of responses, ``mean_accept_length`` is one of
steps.

The first token of a response, which no draft stands behind, may be in the histogram as a step of one token: versions
differ, and a file does not say. It is counted as it stands, and the other reading is told. K stands only in a profile;
one that lies beside a list of runs tells the K of the run it was made of. Blocks that are verified as a whole have no
rates by position.
source: NVIDIA/Model-Optimizer, examples/specdec_bench.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from specdash.formats import aggregate, peek
from specdash.formats.base import File, read_json
from specdash.formats.collect import histogram, number, numbers, scalars, whole
from specdash.formats.producer import Context, Producer, Together, label_of
from specdash.schema import (
    MAX_DRAFTED,
    Bonus,
    InputError,
    NothingToRead,
    PerPosition,
    Run,
    RunWarning,
    Semantics,
    Span,
    Undrafted,
)

_HISTOGRAM, _JOINT, _REQUESTS = "Acceptance_Length_Histogram", "Joint_Acceptance_Rate", "Request_AL"
_PROFILED, _MARGINAL = "acceptance_length_histogram", "marginal_accept_rates"
_WHY = "nothing says how many tokens a step drafted"
_NAMES = {"target_model": "model", "draft_checkpoint": "drafter"}

_SEMANTICS = Semantics(
    producer="specdec_bench",
    bonus=Bonus.IN,
    position_base=2,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.RUN,
    undrafted=Undrafted.COUNTED,
    note="Rates stand under the tokens a step gave: draft position 0 is length 2. Average_AL is a mean of responses.",
)


@dataclass
class _Measured:
    """A histogram and what goes with it.

    Attributes:
        path: Of its file.
        label: Of its run.
        steps: Steps by the tokens they gave.
        k: Drafted tokens of a step, None where they are not said.
        responses: How many there were, None where that is not said.
        block: Whether whole blocks were verified.
        stored: Ratios that stand beside it: what the file calls them, and their values.
        config: Settings.
    """

    path: str
    label: str
    steps: Mapping[int, int]
    k: int | None = None
    responses: int | None = None
    block: bool = False
    stored: dict[str, tuple[str, Any]] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)

    def run(self, label: str, context: Context) -> Run:
        """Return its run.

        Raises:
            InputError: A step gave more tokens than it can.
        """
        k = context.k if self.k is None else self.k
        longest = max(self.steps)
        if k is not None and longest > k + 1:
            expected = f"at most {k + 1}: {k} drafted and the bonus token"
            raise InputError("an acceptance length cannot be", file=self.path, found=longest, expected=expected)
        warnings = context.without_k(self.path, _WHY) if k is None else []
        by_position = k is not None and not self.block
        steps, tokens = sum(self.steps.values()), sum(length * n for length, n in self.steps.items())
        positions = [sum(n for length, n in self.steps.items() if length > i + 1) for i in range(k or 0)]
        row = aggregate.row(
            context.dataset,
            self.path,
            steps=steps,
            drafted=None,
            accepted=tokens - steps,
            per_position=positions if by_position and positions else None,
            responses=self.responses,
        )
        if self.block:
            said = "drafts were verified as whole blocks, so there are no rates by position"
            warnings.append(RunWarning("positions_unknown", said))
        if self.responses and self.steps.get(1, 0) >= self.responses and steps > self.responses:
            without = (tokens - self.responses) / (steps - self.responses)
            said = f"the first token of each of the {self.responses:,} responses may be counted as a step of one token"
            warnings.append(RunWarning("first_tokens", f"{said}, as some versions do: τ is {without:.4f} without them"))
        stored = self.stored if by_position else {name: found for name, found in self.stored.items() if name != "p"}
        printed = aggregate.stored(context.dataset, **stored)
        kept = (printed,) if printed["decimals"] else ()
        return aggregate.run(label, [row], k, warnings, config=self.config, printed=kept)


def _runs(document: Any, file: File) -> list[_Measured]:
    """Return the runs of a list."""
    listed = document if isinstance(document, list) else [document]
    made = []
    for place, found in enumerate(listed, start=1):
        if not isinstance(found, dict) or not isinstance(found.get(_HISTOGRAM), dict):
            raise InputError(f"run {place} has no histogram", file=file.path, found=found, expected=_HISTOGRAM)
        steps = _steps(found[_HISTOGRAM], _HISTOGRAM, file.path)
        label = f"{label_of(file)} run {place}" if len(listed) > 1 else label_of(file)
        joint = _dense(found.get(_JOINT), file.path)
        stored = {"p": (_JOINT, [joint[length] for length in range(2, len(joint) + 1)])} if joint else {}
        if steps:
            made.append(_Measured(file.path, label, steps, responses=_turns(found.get(_REQUESTS)), stored=stored))
    return made


def _dense(found: Any, path: str) -> dict[int, float]:
    """Return rates by length, {} unless they are there for every length from 1 on."""
    if not isinstance(found, dict) or sorted(found, key=len) != [str(i) for i in range(1, len(found) + 1)]:
        return {}
    return {int(key): number(value, _JOINT, path) or 0.0 for key, value in found.items()}


def _profile(found: Mapping[str, Any], file: File) -> _Measured | None:
    """Return what a profile was made of; None where nothing was measured."""
    if found.get("measured") is False or found.get(_PROFILED) is None:
        return None
    steps = _steps(found[_PROFILED], _PROFILED, file.path)
    rates = numbers(found.get(_MARGINAL), _MARGINAL, file.path)
    mean = number(found.get("mean_accept_length"), "mean_accept_length", file.path)
    conditions = found.get("measurement_conditions")
    settings = {name: found.get(name) for name in ("method", "block_size", "target_model", "draft_checkpoint")}
    config = scalars((conditions if isinstance(conditions, dict) else {}) | settings)
    return _Measured(
        file.path,
        label_of(file),
        steps,
        k=whole(found.get("num_speculative_tokens"), "num_speculative_tokens", file.path, MAX_DRAFTED),
        block=found.get("verification_method") == "block",
        stored={"tau": ("mean_accept_length", mean), "p": (_MARGINAL, rates)},
        config={_NAMES.get(name, name): value for name, value in config.items()},
    )


def _steps(found: Any, what: str, path: str) -> dict[int, int]:
    """Return steps by the tokens they gave.

    Raises:
        InputError: It is no such histogram.
    """
    steps = histogram(found, what, path) or {}
    if min(steps, default=1) < 1:
        raise InputError(f"{what} has an impossible bin", file=path, found=min(steps), expected="lengths from 1 on")
    return steps


def _turns(found: Any) -> int | None:
    """Return the number of responses: every turn of every request is one."""
    if not isinstance(found, dict) or not all(isinstance(turns, dict) for turns in found.values()):
        return None
    return sum(map(len, found.values())) or None


def _read(files: Sequence[File], context: Context) -> list[Run]:
    measured, profiles = list[_Measured](), list[_Measured]()
    for file in files:
        document = read_json(file)
        if isinstance(document, dict) and _HISTOGRAM not in document:
            profile = _profile(document, file)
            profiles += [profile] if profile is not None and profile.steps else []
        else:
            measured += _runs(document, file)
    for profile in profiles:
        same = next((i for i, found in enumerate(measured) if found.steps == profile.steps), None)
        if same is None:
            measured.append(profile)
        else:
            stored = measured[same].stored | profile.stored
            said = {"k": profile.k, "block": profile.block, "config": profile.config}
            measured[same] = replace(measured[same], stored=stored, **said)
    if not measured:
        raise NothingToRead("nothing was measured", file=files[0].path)
    return [found.run("" if len(measured) == 1 else found.label, context) for found in measured]


def _looks(file: File) -> bool:
    names = peek.names(file)
    if names >= {_PROFILED, _MARGINAL, "num_speculative_tokens"} or names >= {_REQUESTS, _HISTOGRAM}:
        return True
    return _REQUESTS in names and peek.reaches(file, f'"{_HISTOGRAM}"'.encode())  # behind thousands of requests


PRODUCERS = (
    Producer(
        key="specdec-bench",
        tool="specdec_bench",
        what="acceptance_rate.json and speculation_profile.json",
        looks=_looks,
        read=_read,
        semantics=_SEMANTICS,
        together=Together.FOLDER,
    ),
)
