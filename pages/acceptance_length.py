"""Acceptance length: table 1 and figures 1 and 2 of the acceptance report."""

from specdash.report import sections
from specdash.ui import page, parts

selected = page.begin_section(sections.ACCEPTANCE_LENGTH)
parts.show(selected, sections.ACCEPTANCE_LENGTH.parts(selected.subject))
