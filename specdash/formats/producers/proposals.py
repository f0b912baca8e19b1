"""``proposals.jsonl`` of a vLLM that traces its proposals: a row a draft token, and one for the bonus token.

``{"round": 0, "batch": 0, "pos_in_round": 0, …, "actually_accepted": true, "emission_source": "accepted_draft"}``; the
position is that of the draft from 0, the bonus token's row stands behind the last one of a round that was accepted
whole. Rows end with the first rejected token of a round, so how long such a draft was does not stand there: K is asked,
unless rows behind a rejection show that all are listed. Acceptance is what was done, by a relaxed rule where one was in
force. A round says which place of the batch it is of, not whose answer: where all are of place 0, they are one answer.
source: chiatzenw-cur/lossy-spec-decode-repetition, patches.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from specdash.formats import jsonlines, peek
from specdash.formats.base import File
from specdash.formats.collect import whole
from specdash.formats.producer import Context, Producer
from specdash.formats.steprows import StepRows, Whose
from specdash.schema import MAX_DRAFTED, Bonus, End, InputError, Run, RunWarning, Semantics, Span, Undrafted

_WHY = "rows end with the first rejected token, so nothing says how many tokens such a step drafted"
_MOST_BATCH = 2**20

_SEMANTICS = Semantics(
    producer="vLLM, trace of proposals",
    bonus=Bonus.OUT,
    position_base=0,
    span=Span.REQUEST,
    end=End.RAW,
    undrafted=Undrafted.OMITTED,
    note="A row a draft token. Accepted is what was accepted, also where a relaxed rule did it.",
)


@dataclass
class _Round:
    """The rows of a round, in order.

    Attributes:
        number: Of the round.
        place: In the batch.
        rows: Draft tokens with a row.
        accepted: Accepted ones.
        rejected: Whether one of them was rejected.
        whole: Whether a bonus token says that there were no others and all were accepted.
    """

    number: int
    place: int
    rows: int = 0
    accepted: int = 0
    rejected: bool = False
    whole: bool = False

    def add(self, found: dict[str, Any], path: str, line: int) -> None:
        """Add a row.

        Raises:
            InputError: It does not follow the rows before.
        """
        position = whole(found.get("pos_in_round"), "pos_in_round", path, line, MAX_DRAFTED)
        bonus, accepted = found.get("emission_source") == "bonus", found.get("actually_accepted")
        problem = ""
        if position != self.rows or self.whole:
            problem = "a row does not follow the one before"
        elif not bonus and not isinstance(accepted, bool):
            problem = "a row does not say whether its token was accepted"
        elif self.rejected and (bonus or accepted):
            problem = "a token behind a rejected one was emitted"
        elif not bonus and self.rows == MAX_DRAFTED:
            problem = "a draft is too long"
        if problem:
            shown = {name: found.get(name) for name in ("pos_in_round", "actually_accepted", "emission_source")}
            expected = f"pos_in_round {self.rows}, accepted tokens first"
            raise InputError(problem, file=path, line=line, found=shown, expected=expected)
        self.whole = bonus
        if not bonus:
            self.rows += 1
            self.accepted += bool(accepted)
            self.rejected |= not accepted


def _rounds(file: File, cut: list[int]) -> Iterator[_Round]:
    """Yield the rounds of a file; where its last line is cut off, the last of them may lack rows."""
    current: _Round | None = None
    for line, found in jsonlines.objects(file, cut=cut.append):
        number = whole(found.get("round"), "round", file.path, line)
        place = whole(found.get("batch"), "batch", file.path, line, _MOST_BATCH) or 0
        if number is None:
            raise InputError("a row has no round", file=file.path, line=line, expected="round, pos_in_round")
        if current is None or (current.number, current.place) != (number, place):
            if current is not None:
                yield current
            current = _Round(number, place)
        current.add(found, file.path, line)
    if current is not None:
        yield current


class _Steps:
    """The steps of a run, in little memory, until it is known how long their drafts were."""

    def __init__(self) -> None:
        self.responses, self.rows, self.accepted = array("i"), array("h"), array("h")
        self.wholes: set[int] = set()
        self.listed = False
        self.places: set[int] = set()
        self._whole = array("b")

    def add(self, response: int, found: _Round) -> None:
        """Add a round."""
        self.responses.append(response)
        self.rows.append(found.rows)
        self.accepted.append(found.accepted)
        self._whole.append(found.whole)
        self.places.add(found.place)
        self.listed |= found.rows > found.accepted + 1
        if found.whole:
            self.wholes.add(found.rows)

    def drafted(self, k: int | None) -> list[int]:
        """Return the drafted tokens of the steps; -1 for all of them where those of one are not known.

        Args:
            k: That of steps whose rows do not say it, None when it is not known.
        """
        found = []
        for closed, rows, accepted in zip(self._whole, self.rows, self.accepted, strict=True):
            told = closed or (self.listed and rows > accepted)
            found.append(rows if told else k)
        return [-1] * len(found) if None in found else found


def _read(files: Sequence[File], context: Context) -> list[Run]:
    path = files[0].path
    rows, steps, cut = StepRows(context.workspace, path), _Steps(), list[int]()
    for file in files:
        turn, last = 0, -1
        for found in _rounds(file, cut):
            if cut and not found.whole and (steps.listed or not found.rejected):
                break  # the line that is cut off may be of this round
            turn += found.number < last  # counted anew: another start of the server
            last = found.number
            steps.add(rows.number(Whose(context.dataset, file.name, turn=turn)), found)
    k, warnings = _k(steps, path, context)
    if cut:
        warnings.append(RunWarning("cut_off", f"{path}: line {cut[0]} is cut off and was left out"))
    rows.extend(steps.responses.tolist(), steps.drafted(k), steps.accepted.tolist())
    if len(steps.places) < 2:
        return [rows.run("", k, warnings=tuple(warnings))]
    said = f"{path}: rounds of {len(steps.places)} places in a batch do not say whose they are: only totals are known"
    return [rows.totals("", k, warnings=(*warnings, RunWarning("responses_unknown", said)))]


def _k(steps: _Steps, path: str, context: Context) -> tuple[int | None, list[RunWarning]]:
    """Return the drafted tokens of steps whose rows do not say it, and what is told of them.

    Raises:
        InputError: The user's K is less than a draft.
    """
    longest = max(steps.rows, default=0)
    if context.k is not None and longest > context.k:
        raise InputError("a draft is longer than K", file=path, found=longest, expected=f"at most {context.k}")
    if steps.listed:
        return context.k, []
    if context.k is None:
        said = f"; those accepted whole drafted {', '.join(map(str, sorted(steps.wholes)))}" if steps.wholes else ""
        return None, context.without_k(path, _WHY + said)
    if steps.wholes <= {context.k}:
        return context.k, []
    said = "drafts are of several lengths, and how long those of rejected steps were does not stand there"
    return None, [RunWarning("k_unknown", f"{path}: {said}: nothing by draft position is known")]


PRODUCERS = (
    Producer(
        key="vllm-proposals",
        tool="vLLM",
        what="proposals.jsonl of a trace",
        looks=lambda file: peek.names(file) >= {"round", "pos_in_round", "emission_source"},
        read=_read,
        semantics=_SEMANTICS,
    ),
)
