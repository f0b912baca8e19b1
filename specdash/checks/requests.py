"""Whether every request is there and belongs to its sample, and what the reader of the files made of them."""

from __future__ import annotations

from specdash.checks import words
from specdash.checks.registry import Result, check, failed, idle, passed, warned
from specdash.checks.subject import Subject
from specdash.schema import Granularity

_MANY_ABSENT = 0.05
_MANY_ZERO = 0.01

_READING = (
    "mapping_refused",
    "mapping_incomplete",
    "counts_unchecked",
    "absent_requests",
    "order_invented",
    "reconstruction",
    "ratio_disagrees",
    "several_engines",
    "unread_documents",
)
"""Codes of what the reader said that other checks tell."""


@check(
    "mapping",
    title="Requests to samples",
    meaning="A request is assigned to its prompt by id or by position, and its counts have to be those of its sample. "
    "Where they are not, what is said of prompts, copies and datasets may be of others.",
    cause="Samples of another run, lines lost or doubled, tools that count steps differently.",
    needs=Granularity.RESPONSE,
)
def _mapping(subject: Subject) -> Result:
    found = subject.run.mapping
    if refused := subject.warning("mapping_refused"):
        return failed(refused)
    if found is None:
        return idle("no samples stand beside the log")
    if said := subject.warning("mapping_incomplete", "counts_unchecked"):
        return warned(said)
    figure = f"{found.matched:,} of {found.total:,} match"
    return passed(figure) if found.matched == found.total else warned(figure)


@check(
    "absent_requests",
    title="Absent requests",
    meaning="Responses without rows are in no number. If it is the long or the hard ones that are missing, τ is of "
    "the others.",
    cause="Requests that failed or ended with their first token; a log that was cut.",
    needs=Granularity.RESPONSE,
)
def _absent_requests(subject: Subject) -> Result:
    found = subject.run.mapping
    if found is None or subject.warning("mapping_refused"):
        return idle("no samples stand beside the log")
    total = found.total + found.absent
    if not found.absent:
        return passed(f"{total:,} of {total:,} responses")
    figure = f"{found.absent:,} of {total:,} responses, {words.share(found.absent, total)}"
    said = subject.warning("absent_requests")
    figure += f": {said}" if said else ""
    return failed(figure) if found.absent >= _MANY_ABSENT * total else warned(figure)


@check(
    "zero_step_responses",
    title="Responses without a step",
    meaning="A response without a drafted step has no acceptance length: it is in no mean over responses.",
    cause="The end of the sequence as the first token, one output token, requests that may not speculate.",
    needs=Granularity.RESPONSE,
)
def _zero_step_responses(subject: Subject) -> Result:
    steps = subject.responses["steps"].drop_nulls()
    if steps.is_empty():
        return idle("steps by response are not known")
    zero = int((steps == 0).sum())
    figure = f"{zero:,} of {steps.len():,} without one"
    return warned(figure) if zero > _MANY_ZERO * steps.len() else passed(figure)


@check(
    "read_whole",
    title="Reading the files",
    meaning="The reader of the files left something out, renamed it or assumed it.",
    cause="Files that are no log; records that do not say everything.",
    needs=Granularity.LATENCIES,
)
def _read_whole(subject: Subject) -> Result:
    said = [warning.message for warning in subject.run.warnings if warning.code not in _READING]
    documents = subject.warning("unread_documents")
    return warned("; ".join(said)) if said else passed(documents or "nothing left out, renamed or assumed")
