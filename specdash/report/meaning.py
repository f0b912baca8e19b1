"""What the numbers in a tool's files mean, in words: the same name has several meanings among tools."""

from __future__ import annotations

from specdash.schema import Bonus, End, PerPosition, Semantics, Span, Undrafted

_BONUS = {
    Bonus.IN: "acceptance lengths count the bonus token, as here",
    Bonus.OUT: "acceptance lengths leave out the bonus token, which is counted here",
}
_PER_POSITION = {
    PerPosition.UNCONDITIONAL: "over all steps that drafted",
    PerPosition.EXPOSED: "over the steps that drafted the position",
    PerPosition.CONDITIONAL: "over the steps that accepted the position before",
}
_SPAN = {
    Span.REQUEST: "counts by request",
    Span.RUN: "counts of the run",
    Span.SINCE_START: "counts since the start of the server",
    Span.DIFFERENCE: "the difference of counters between two moments",
    Span.WINDOWS: "counts of windows of time",
}
_END = {
    End.RAW: "a response's last step counts whole, tokens behind its end too",
    End.CUT: "a response's last step ends with it, accepted and drafted tokens and all",
    End.ACCEPTED_CUT: "a response's last step accepts up to its end, and keeps the draft's length",
    End.TOKENS: "acceptance lengths are output tokens over steps, so a response's end is not in them",
    End.UNKNOWN: "what becomes of a response's last step is not known",
}
_UNDRAFTED = {
    Undrafted.COUNTED: "steps without a draft are counted apart",
    Undrafted.OMITTED: "steps without a draft are not counted",
    Undrafted.UNKNOWN: "whether steps without a draft are counted is not known",
}


def facts(said: Semantics) -> dict[str, str]:
    """Return what the numbers mean by what is asked: source, span, bonus token, positions, end, undrafted."""
    positions = [] if said.position_base is None else [f"the first draft position is {said.position_base}, here 0"]
    positions += [] if said.per_position is None else [f"rates by position are {_PER_POSITION[said.per_position]}"]
    found = {
        "source": said.producer,
        "span": _SPAN[said.span],
        "bonus token": "" if said.bonus is None else _BONUS[said.bonus],
        "draft positions": ", ".join(positions),
        "end of a response": _END[said.end],
        "steps without a draft": _UNDRAFTED[said.undrafted],
        "note": said.note,
    }
    return {name: text for name, text in found.items() if text}


def paragraph(said: Semantics) -> str:
    """Return what the numbers in a run's files mean, as one paragraph."""
    found = facts(said)
    source, note = found.pop("source"), found.pop("note", "")
    return f"From {source}: {'; '.join(found.values())}.{' ' + note if note else ''}"
