"""The report by sections: what pages of the dashboard and the HTML report show, declared once.

The one room of ``report`` that draws: it imports plotly, so the command line imports it only when HTML is asked for.
"""

from specdash.report.sections.base import (
    FigurePart,
    Note,
    Part,
    Rows,
    Section,
    Subject,
    TablePart,
    too_coarse,
    without_positions,
)
from specdash.report.sections.declared import (
    ACCEPTANCE_LENGTH,
    DRAFT_POSITIONS,
    GEOMETRIC,
    PROMPT_DIFFICULTY,
    REPORT_RTT_MS,
    SECTIONS,
    SHORTER_BLOCKS,
    STEP_OUTCOMES,
    THROUGHPUT,
    draft_positions,
    facts,
    geometric_choices,
    geometric_fit,
    headline,
    shorter_blocks,
    step_outcomes,
    throughput,
)

__all__ = [
    "ACCEPTANCE_LENGTH",
    "DRAFT_POSITIONS",
    "GEOMETRIC",
    "PROMPT_DIFFICULTY",
    "REPORT_RTT_MS",
    "SECTIONS",
    "SHORTER_BLOCKS",
    "STEP_OUTCOMES",
    "THROUGHPUT",
    "FigurePart",
    "Note",
    "Part",
    "Rows",
    "Section",
    "Subject",
    "TablePart",
    "draft_positions",
    "facts",
    "geometric_choices",
    "geometric_fit",
    "headline",
    "shorter_blocks",
    "step_outcomes",
    "throughput",
    "too_coarse",
    "without_positions",
]
