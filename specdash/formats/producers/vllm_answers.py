"""vLLM's answers with ``metrics.speculative_decoding`` (``--per-request-spec-decode-metrics summary`` or ``detailed``).

An older shape has ``speculative_decoding_stats`` in each choice. Lengths count the bonus token, histograms do not. A
step is counted whole even where the answer ends inside of it, so 1 + steps + accepted may exceed the tokens of the
answer. Steps without a draft are not counted. A stream holds the metrics in its last chunk, if it was asked for usage.
source: vLLM documentation, features/speculative_decoding/acceptance_metrics.
"""

from __future__ import annotations

from specdash.formats import acceptance, answers, peek
from specdash.formats.answers import Dialect, Object, Place, Said
from specdash.formats.base import File
from specdash.schema import Bonus, End, PerPosition, Semantics, Span, Undrafted

_SEMANTICS = Semantics(
    producer="vLLM, metrics of each response",
    bonus=Bonus.IN,
    position_base=0,
    per_position=PerPosition.UNCONDITIONAL,
    span=Span.REQUEST,
    end=End.RAW,
    undrafted=Undrafted.OMITTED,
    note="Answers of n > 1, of several prompts, and ended by a stop string carry no metrics.",
)

_NOTHING = (
    "metrics.speculative_decoding is null without --per-request-spec-decode-metrics, with n > 1, several prompts and "
    "stop strings, and in streams without include_usage; /metrics counts such answers all the same"
)

_OTHERS = ("sglext", "meta_info", "timings", "spec_decode_acceptance", "response_metrics", "specdash_bench")
"""Names in answers and records of other tools, some of which pass vLLM's on."""


def _holds(found: Object) -> bool:
    return found.keys() >= {"num_spec_steps", "num_accepted_draft_tokens"}


def _said(place: Place) -> Said:
    found, k = acceptance.drafting(place.numbers, place.path, place.line)
    return Said(found, k, ratios=acceptance.stored_ratios(place.numbers, found))


def _looks(file: File) -> bool:
    """Tell answers by their metrics or by the place for them: one that carries none is told, beside others that do."""
    names = peek.names(file)
    last = {name.rpartition(".")[2] for name in names}
    if last & set(_OTHERS):
        return False
    empty = any(name.endswith("choices") and name[: -len("choices")] + "metrics" in names for name in names)
    if empty or {*acceptance.MARKS} <= last:
        return True
    # A long answer stands before its metrics.
    return "choices" in last and peek.reaches(file, b'"num_accepted_draft_tokens"')


PRODUCERS = answers.producers(
    "vllm",
    "vLLM",
    Dialect(_holds, _said, _NOTHING),
    _looks,
    _SEMANTICS,
)
