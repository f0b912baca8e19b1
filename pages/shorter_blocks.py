"""Shorter blocks: the table of section 5 of the acceptance report."""

from specdash.report import tables
from specdash.schema import Granularity
from specdash.ui.page import begin, file_name, require_positions
from specdash.ui.tables import show

selected = begin("Shorter blocks", Granularity.AGGREGATE)
table = tables.shorter_blocks(require_positions(selected))
show(table, selected.rows, table.key, file=file_name(selected, table.key))
