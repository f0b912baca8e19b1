"""TensorRT-LLM's metrics for Prometheus.

``trtllm_spec_decode_num_{draft,accepted}_tokens_total`` count tokens, bonus out, since the start; steps are not
counted, so an acceptance ratio follows and no length. ``trtllm_spec_decode_acceptance_length`` (bonus in) is a gauge of
the last iteration, as are the token figures of older builds, whose names lack ``_total``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from specdash.formats import aggregate, counting, scrapes
from specdash.formats.base import File
from specdash.formats.producer import Context, Producer, Together
from specdash.formats.scrapes import Series
from specdash.schema import MAX_DRAFTED, Bonus, NothingToRead, Run, RunWarning, Semantics, Span, Undrafted

_PREFIX = "trtllm_spec_decode_"

_SEMANTICS = Semantics(
    producer="TensorRT-LLM, metrics for Prometheus",
    bonus=Bonus.IN,
    span=Span.SINCE_START,
    undrafted=Undrafted.OMITTED,
    note="Verify steps are not counted: the iteration statistics (JSON) are.",
)

_LAST = RunWarning("last_window", "gauges: the last iteration before the scrape, not a run")


def _read(files: Sequence[File], context: Context) -> list[Run]:
    try:
        counted = counting.runs(files, _PREFIX, context, _SEMANTICS)
    except NothingToRead as nothing:
        counted, problem = [], nothing
    made = list(counted)
    for interval in scrapes.intervals(files):
        label = f"{interval.label} (gauges)" if counted else interval.label
        window = _window(scrapes.read(interval.scrapes[-1], _PREFIX), context)
        made += [replace(window, name=label)] if window else []
    if not made:
        raise problem
    return made


def _window(gauges: Mapping[Series, float], context: Context) -> Run | None:
    """Return the run of the gauges, None where the last iteration drafted nothing."""
    values = {name.removeprefix(_PREFIX): value for (name, _), value in gauges.items()}
    length = values.get("acceptance_length", 0.0)
    drafted, accepted = values.get("num_draft_tokens"), values.get("num_accepted_tokens", 0.0)
    if not 1 < length <= MAX_DRAFTED + 1:
        return None  # older builds write 1 for an iteration without drafts, newer ones 0
    ratio = accepted / drafted if drafted and 0 <= accepted <= drafted else None
    row = {"dataset": "last iteration", "tau": length, "acceptance_ratio": ratio}
    return aggregate.rates_run("", [row], context.k, [_LAST], semantics=replace(_SEMANTICS, span=Span.WINDOWS))


PRODUCERS = (
    Producer(
        key="trtllm-metrics",
        tool="TensorRT-LLM",
        what="metrics for Prometheus",
        looks=lambda file: counting.holds(file, _PREFIX, r"\w+"),
        read=_read,
        semantics=_SEMANTICS,
        together=Together.FOLDER,
    ),
)
