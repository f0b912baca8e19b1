"""vLLM's answers with ``metrics.speculative_decoding`` (``--per-request-spec-decode-metrics summary`` or ``detailed``).

Answers come as one JSON document each, a line each (raw, in a batch's output, or wrapped by a script), or as captured
streams, whose last chunk holds the metrics. An older shape has ``speculative_decoding_stats`` in each choice.

Lengths count the bonus token, histograms do not. A step is counted whole even where the answer ends inside of it, so
1 + steps + accepted may exceed the tokens of the answer. Steps without a draft are not counted.
source: vLLM documentation, features/speculative_decoding/acceptance_metrics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from specdash.formats import acceptance, jsonlines, peek
from specdash.formats.base import File
from specdash.formats.collect import Responses, whole
from specdash.formats.producer import Context, Producer, Together
from specdash.formats.synonyms import SAMPLE, normalised
from specdash.schema import Bonus, End, NothingToRead, PerPosition, Run, RunWarning, Semantics, Span, Undrafted

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

_DEEPEST = 3  # objects around an answer
_OTHERS = (
    "sglext",
    "meta_info",
    "timings",
    "total_accepted_draft_tokens",
    "avg_decoded_tokens_per_iter",
)  # marks of other servers' answers


def _holds(names: frozenset[str]) -> bool:
    """Tell whether the names are those of an answer with metrics, or with a place for them."""
    by_choice = any(name.endswith("choices[].speculative_decoding_stats") for name in names)
    inside = any(name.endswith("metrics.speculative_decoding") for name in names)
    bare = {*acceptance.MARKS} <= names or {f"speculative_decoding.{mark}" for mark in acceptance.MARKS} <= names
    empty = any(name.endswith("choices") and name[: -len("choices")] + "metrics" in names for name in names)
    return by_choice or inside or bare or empty


def _looks(file: File) -> bool:
    names = peek.names(file)
    if any(name.rpartition(".")[2] in _OTHERS for name in names):
        return False
    if _holds(names):
        return True
    # A long answer stands before its metrics.
    return any(name.rpartition(".")[2] == "choices" for name in names) and peek.reaches(file, b'"speculative_decoding')


def _is_lines(file: File) -> bool:
    """Tell whether a file holds an answer a line, two at least."""
    return file.head().lstrip().startswith(b"{") and peek.starts(file, b"{") > 1


@dataclass
class _Said:
    """What is told of answers that cannot be used, and of what they say."""

    without: int = 0
    errors: int = 0
    cut: list[int] = field(default_factory=list)
    ratios: list[str] = field(default_factory=list)

    def warnings(self, answers: int, path: str) -> list[RunWarning]:
        """Return it as warnings."""
        made = []
        if self.without:
            share = f"{self.without:,} of {answers + self.without:,} answers carry no acceptance metrics"
            message = f"{share} (null with n > 1, several prompts, stop strings): /metrics counts them, this run cannot"
            made.append(RunWarning("responses_without_metrics", message))
        if self.errors:
            made.append(RunWarning("failed_requests", f"{self.errors:,} requests failed and are in no number"))
        if self.cut:
            made.append(RunWarning("cut_off", f"{path}: line {self.cut[0]} is cut off and was left out"))
        if self.ratios:
            more = f" and {len(self.ratios) - 3} more" if len(self.ratios) > 3 else ""
            made.append(RunWarning("ratio_disagrees", f"stored ratios differ: {'; '.join(self.ratios[:3])}{more}"))
        return made


def _read(files: Sequence[File], context: Context, label: str = "") -> list[Run]:
    said, k, models = _Said(), None, {}
    responses = Responses(context.workspace, files[0].path)
    for file in files:
        for line, found in jsonlines.records(file, cut=said.cut.append):
            for request, record, answer, around in _answers(found):
                if record is None:
                    _without(said, found)
                    continue
                drafting, longest = acceptance.drafting(record, file.path, line)
                k = max((n for n in (k, longest) if n is not None), default=None)
                models[str(answer.get("model") or "")] = None
                said.ratios += [f"{request}: {text}" for text in acceptance.stored_ratios(record, drafting)]
                tokens = _tokens(answer)
                dataset, prompt = _labels(around)
                responses.add(
                    request or f"{file.name}:{line or len(responses)}",
                    drafting,
                    dataset=dataset or context.dataset,
                    prompt=prompt,
                    output_tokens=whole(tokens, "completion_tokens", file.path, line),
                    line=line,
                )
    if not len(responses):
        raise NothingToRead(
            "no answer carries acceptance metrics",
            file=files[0].path,
            found=f"{said.without:,} answers without, {said.errors:,} errors",
            expected="metrics.speculative_decoding: --per-request-spec-decode-metrics, include_usage for streams",
        )
    named = ", ".join(filter(None, models))
    responses.warnings += said.warnings(len(responses), files[0].path)
    return [responses.run(label, k, {"model": named} if named else {})]


def _without(said: _Said, found: Mapping[str, Any]) -> None:
    if "error" in found and "choices" not in found:
        said.errors += 1
    else:
        said.without += 1


def _answers(
    found: dict[str, Any],
) -> Iterator[tuple[str, dict[str, Any] | None, dict[str, Any], dict[str, Any]]]:
    """Yield (request, record or None, answer, what is around it) of every answer in an object.

    A chunk of a stream that is not its last one is no answer.
    """
    answer = _answer(found, 0)
    if answer is None:
        if "error" in found:
            yield "", None, found, found
        return
    request = str(answer.get("id") or found.get("custom_id") or "")
    choices = answer.get("choices")
    stats = (
        [c.get("speculative_decoding_stats") for c in choices if isinstance(c, dict)]
        if isinstance(choices, list)
        else []
    )
    if any(isinstance(record, dict) for record in stats):
        for number, record in enumerate(stats):
            name = f"{request}#{number}" if len(stats) > 1 else request
            yield name, record if isinstance(record, dict) else None, answer if len(stats) == 1 else {}, found
        return
    record = _record(answer)
    if record is None and str(answer.get("object")).endswith(".chunk") and not answer.get("usage"):
        return
    if record is None and answer.get("object") == "text_completion" and "usage" not in answer:
        return  # a chunk too
    yield request, record, answer, found


def _record(answer: Mapping[str, Any]) -> dict[str, Any] | None:
    metrics = answer.get("metrics")
    record = metrics.get("speculative_decoding") if isinstance(metrics, dict) else answer.get("speculative_decoding")
    if record is None and "acceptance_histogram" in answer:
        return dict(answer)
    return record if isinstance(record, dict) else None


def _answer(found: Mapping[str, Any], depth: int) -> dict[str, Any] | None:
    """Find the answer in what a script wrapped around it."""
    if "choices" in found or _record(found) is not None:
        return dict(found)
    inner = (value for value in found.values() if isinstance(value, dict)) if depth < _DEEPEST else ()
    return next((answer for value in inner if (answer := _answer(value, depth + 1)) is not None), None)


def _tokens(answer: Mapping[str, Any]) -> Any:
    usage = answer.get("usage")
    return usage.get("completion_tokens") if isinstance(usage, dict) else None


def _labels(around: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the dataset and the prompt by what a script wrote beside an answer."""
    by_name = {normalised(name): value for name, value in around.items() if isinstance(value, str | int)}
    dataset, prompt = (next((by_name[n] for n in SAMPLE[c] if n in by_name), None) for c in ("dataset", "prompt"))
    if prompt is None and "response" in around:
        prompt = around.get("custom_id")
    return (None if value is None or value == "" else str(value) for value in (dataset, prompt))  # type: ignore[return-value]


PRODUCERS = (
    Producer(
        key="vllm-responses",
        tool="vLLM",
        what="answers with metrics.speculative_decoding, a line each",
        looks=lambda file: _looks(file) and _is_lines(file),
        read=_read,
        semantics=_SEMANTICS,
    ),
    Producer(
        key="vllm-response",
        tool="vLLM",
        what="an answer with metrics.speculative_decoding, or a captured stream",
        looks=lambda file: _looks(file) and not _is_lines(file),
        read=lambda files, context: _read(files, context, "responses"),
        semantics=_SEMANTICS,
        together=Together.FOLDER,
    ),
)
