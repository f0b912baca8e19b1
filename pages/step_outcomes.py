"""Step outcomes: the table of section 4 of the acceptance report."""

from specdash.report import tables
from specdash.schema import Granularity
from specdash.ui.page import begin, file_name, require_positions
from specdash.ui.tables import show

selected = begin("Step outcomes", Granularity.AGGREGATE)
table = tables.step_outcomes(require_positions(selected))
show(table, selected.rows, table.key, file=file_name(selected, table.key))
