"""mlx-vlm's answers with ``timings``: llama.cpp's draft counts, and ``draft_rounds``, which are the verify steps.

Output tokens are accepted tokens plus rounds: nothing is cut off, and the prompt's own token is not among them.
source: Blaizzy/mlx-vlm, pull request 1788.
"""

from __future__ import annotations

from specdash.formats import answers, peek
from specdash.formats.answers import Dialect, Object, Place, Said
from specdash.formats.base import File
from specdash.formats.collect import Drafting
from specdash.schema import Semantics, Span, Undrafted

_SEMANTICS = Semantics(
    producer="mlx-vlm, timings of each answer",
    span=Span.REQUEST,
    undrafted=Undrafted.OMITTED,
    note="Rounds are verify steps; accepted tokens are counted without the bonus token.",
)


def _holds(found: Object) -> bool:
    return "draft_rounds" in found


def _said(place: Place) -> Said | None:
    steps, accepted = place.count("draft_rounds"), place.count("draft_n_accepted")
    if not steps or accepted is None:
        return None
    drafting = Drafting(None, steps, place.count("draft_n"), accepted)
    return Said(drafting, output_tokens=place.count("predicted_n"))


def _looks(file: File) -> bool:
    return {"draft_rounds", "draft_n_accepted"} <= {name.rpartition(".")[2] for name in peek.names(file)}


PRODUCERS = answers.producers(
    "mlxvlm", "mlx-vlm", Dialect(_holds, _said, "a server that does not speculate"), _looks, _SEMANTICS
)
