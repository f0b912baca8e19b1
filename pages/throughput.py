"""Throughput: what an acceptance length is worth on a network, and the bound of section 7 of the acceptance report."""

from specdash.report import sections
from specdash.ui.calculator.page import bound_alone, calculator
from specdash.ui.page import begin_section

selected = begin_section(sections.THROUGHPUT)
if selected.run.k and any(row["tau"] is not None for row in selected.rows.datasets):
    calculator(selected)
else:
    bound_alone(selected)
