"""TensorRT-LLM's iteration statistics: the JSON list of ``GET /metrics``, one object an iteration over the batch.

``specDecodingStats`` counts drafted and accepted tokens (bonus out) and ``numRequestsWithDraftTokens``, which are the
verify steps of the iteration. Its ``acceptanceLength`` is the mean of the batch, bonus in, 1 or 0 where nothing was
drafted; over iterations only the counts add up. Reading drains the list, so what several readings gave adds up too.
source: TensorRT-LLM, executor types (SpecDecodingStats).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from specdash.formats import aggregate, jsonlines, peek
from specdash.formats.base import File
from specdash.formats.collect import whole
from specdash.formats.producer import Context, Producer
from specdash.schema import Bonus, End, InputError, NothingToRead, Run, RunWarning, Semantics, Span, Undrafted

_STATS = "specDecodingStats"
_COUNTS = ("numRequestsWithDraftTokens", "numDraftTokens", "numAcceptedTokens")

_SEMANTICS = Semantics(
    producer="TensorRT-LLM, iteration statistics",
    bonus=Bonus.IN,
    span=Span.WINDOWS,
    end=End.UNKNOWN,
    undrafted=Undrafted.OMITTED,
    note="An acceptance length in them is that of one iteration's batch.",
)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    total, cut = dict.fromkeys(_COUNTS, 0), list[int]()
    iterations, differing = 0, list[str]()
    for file in files:
        for line, iteration in jsonlines.records(file, cut=cut.append):
            stats = iteration.get(_STATS)
            if not isinstance(stats, dict):
                continue
            counts = _counts(stats, file.path, line)
            if not any(counts.values()):
                continue
            iterations += 1
            total = {name: total[name] + counts[name] for name in _COUNTS}
            differing += _differs(stats, counts, iteration.get("iter"))
    steps, drafted, accepted = total.values()
    if not iterations:
        raise NothingToRead("no iteration drafted anything", file=files[0].path, expected=f"{_STATS} above 0")
    row = aggregate.row(context.dataset, files[0].path, steps=steps, drafted=drafted, accepted=accepted, k=context.k)
    warnings = [RunWarning("cut_off", f"{files[0].path}: line {cut[0]} is cut off and was left out")] if cut else []
    if differing:
        more = f" and {len(differing) - 3:,} more" if len(differing) > 3 else ""
        warnings.append(RunWarning("ratio_disagrees", f"stored lengths differ: {'; '.join(differing[:3])}{more}"))
    return [aggregate.run("", [row], context.k, warnings)]


def _counts(stats: Mapping[str, Any], path: str, line: int | None) -> dict[str, int]:
    """Return the counts of an iteration.

    Raises:
        InputError: They contradict each other.
    """
    counts = {name: whole(stats.get(name), name, path, line) or 0 for name in _COUNTS}
    steps, drafted, accepted = counts.values()
    if not accepted <= drafted or not steps <= drafted or (drafted and not steps):
        found = ", ".join(f"{name} {value}" for name, value in counts.items())
        expected = "a draft token at least for each request with some, and no more accepted than drafted"
        raise InputError(f"{_STATS} contradicts itself", file=path, line=line, found=found, expected=expected)
    return counts


def _differs(stats: Mapping[str, Any], counts: Mapping[str, int], iteration: object) -> list[str]:
    steps, _, accepted = counts.values()
    stored, ours = stats.get("acceptanceLength"), 1 + accepted / steps
    if not isinstance(stored, int | float) or math.isclose(stored, ours, rel_tol=1e-3):
        return []
    return [f"acceptanceLength {stored} of iteration {iteration} is {ours:.4f} by its counts"]


PRODUCERS = (
    Producer(
        key="trtllm-iterations",
        tool="TensorRT-LLM",
        what="iteration statistics (JSON of /metrics)",
        looks=lambda file: any(name.endswith(f"{_STATS}.numDraftTokens") for name in peek.names(file)),
        read=_read,
        semantics=_SEMANTICS,
    ),
)
