"""Prompt difficulty: the table of section 6 of the acceptance report."""

from specdash.report import tables
from specdash.schema import Granularity
from specdash.ui import text
from specdash.ui.page import begin, file_name
from specdash.ui.tables import show

selected = begin("Prompt difficulty", Granularity.RESPONSE)
if selected.run.responses["prompt"].null_count() == selected.run.responses.height:
    text.notice("No samples say which prompt a response answers, so difficulty cannot be told from noise here.", "info")
table = tables.prompt_difficulty()
show(table, selected.rows, table.key, file=file_name(selected, table.key))
