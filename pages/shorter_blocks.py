"""Shorter blocks: the table of section 5 of the acceptance report, a slider of K′, and what was measured at other K."""

from specdash.report import sections
from specdash.ui import kept, measured, parts
from specdash.ui.controls import slider
from specdash.ui.page import begin_section

selected = begin_section(sections.SHORTER_BLOCKS)
kept.restore()
k = selected.subject.k
block = k if k == 1 else slider("Block length K′", 1, k, k, "block")
others = measured.others(selected)
parts.show(selected, sections.shorter_blocks(selected.subject, block=block, others=others))
