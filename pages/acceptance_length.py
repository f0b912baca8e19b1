"""Acceptance length: table 1 of the acceptance report."""

from specdash.report import tables
from specdash.ui.page import begin, file_name
from specdash.ui.tables import show

selected = begin("Acceptance length")
table = tables.acceptance_length()
show(table, selected.rows, table.key, file=file_name(selected, table.key))
