"""Shorter blocks: the table of section 5 of the acceptance report, and a slider of K′."""

from specdash.report import sections
from specdash.ui import page, parts
from specdash.ui.controls import slider

selected = page.begin_section(sections.SHORTER_BLOCKS)
k = selected.subject.k
chosen = k if k == 1 else slider("Block length K′", 1, k, k, "block")
parts.show(selected, sections.shorter_blocks(selected.subject, block=chosen))
