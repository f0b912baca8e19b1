"""Prompt difficulty: the table of section 6 and figure 6 of the acceptance report."""

from specdash.report import sections
from specdash.ui import page, parts

selected = page.begin_section(sections.PROMPT_DIFFICULTY)
parts.show(selected, sections.PROMPT_DIFFICULTY.parts(selected.subject))
