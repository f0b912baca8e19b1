"""Counters: what a server's /metrics say of its drafts, live or between two readings."""

from specdash.ui import counters, kept, router, text

router.ensure()
text.title("Counters")
text.paragraph(
    "A server counts the drafts of every client since its start. What it counts between a start and a stop mark is a "
    "run like any other: keep it, and every page shows it."
)
LIVE, TEXTS = "a server", "two readings"
if kept.choice("Of", [LIVE, TEXTS], "of", horizontal=True) == LIVE:
    counters.starting()
    counters.watched()
else:
    counters.pasted()
