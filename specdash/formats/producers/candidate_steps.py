"""Tables with ``Step,Accept Rate,Candidate Length,Accept Length``: a row a step, Step beginning anew at a response.

Nothing in them says whether the lengths count the bonus token: it is asked. Nor does anything say whether a candidate's
length counts the token that stands before its drafts, as the root of a tree of candidates does. Where the accepted
lengths count the bonus token and one is longer than its candidate, the candidates are drafts alone; where none is, K is
the length of the candidates or one less, and it is asked which. What ``Accept Rate`` is relative to is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from specdash.formats.base import File
from specdash.formats.producer import Context, Producer
from specdash.formats.table import read
from specdash.formats.table.cells import count
from specdash.formats.table.opened import needed
from specdash.schema import Bonus, InputError, Run, RunWarning, Semantics

_HEAD = ("Step", "Accept Rate", "Candidate Length", "Accept Length")
_WHY = "no step accepts its whole candidate and a token more, so the candidates may or may not count the token before"

_SEMANTICS = Semantics(
    producer="a table of candidates",
    note="What its Accept Rate is relative to is not known, so it is not used.",
)


def _read(files: Sequence[File], context: Context) -> list[Run]:
    if context.bonus is not Bonus.IN:
        return read.read(files, context)  # asks where the user has not said it
    candidates, alone = _candidates(files)
    if alone:
        return read.read(files, context)
    path = files[0].path
    if context.k is not None and candidates and not candidates <= {context.k, context.k + 1}:
        found = ", ".join(map(str, sorted(candidates)[:5]))
        expected = f"{context.k} or {context.k + 1}, as K is {context.k}"
        raise InputError("candidates of other lengths", file=path, found=found, expected=expected)
    warnings = tuple(context.without_k(path, _WHY))
    runs = read.read(files, replace(context, columns={"drafted": ""}, ask=False))
    return [replace(run, warnings=_without(run.warnings) + warnings) for run in runs]


def _without(warnings: Sequence[RunWarning]) -> tuple[RunWarning, ...]:
    """Return the warnings of a table without its own on K, which says less."""
    return tuple(warning for warning in warnings if warning.code != "k_unknown")


def _candidates(files: Sequence[File]) -> tuple[set[int], bool]:
    """Return the lengths of the candidates, and whether they are sure to be drafts alone."""
    lengths: set[int] = set()
    alone = False
    for file in files:
        for _, cells in needed(file).read([2, 3]):
            candidate, accepted = map(count, cells)
            if candidate is not None and accepted is not None:  # what is no count is told by its line later
                lengths.add(candidate)
                alone |= accepted > candidate
    return lengths, alone


def _looks(file: File) -> bool:
    first = file.head(512).removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0]
    return [cell.strip(' "\r') for cell in first.decode("utf-8", "replace").split(",")] == list(_HEAD)


PRODUCERS = (
    Producer(
        key="candidate-steps",
        tool="tables of candidates",
        what="Step,Accept Rate,Candidate Length,Accept Length",
        looks=_looks,
        read=_read,
        semantics=_SEMANTICS,
    ),
)
