"""Step outcomes: the table of section 4 and figures 4 and 5 of the acceptance report."""

import streamlit as st

from specdash import charts
from specdash.report import tables
from specdash.schema import Granularity
from specdash.ui import figures, library, link
from specdash.ui.page import begin, file_name, require_positions
from specdash.ui.tables import show

selected = begin("Step outcomes", Granularity.AGGREGATE)
table = tables.step_outcomes(require_positions(selected))
rows, theme = selected.rows, figures.theme()
show(table, rows, table.key, file=file_name(selected, table.key))
chart = charts.outcome_heatmap(rows.datasets, theme, families=rows.families)
figures.show(chart, "figure_outcomes", file=file_name(selected, "figure4_outcomes"))

st.subheader("Observed outcomes against the constant-α model")
by_dataset, by_family = library.fits(selected.choice)
choices = {row["dataset"]: (row, by_dataset[row["dataset"]]) for row in reversed(rows.datasets)}
choices |= {f"all {row['dataset']}": (row, by_family[row["dataset"]]) for row in rows.families}
link.default("fit", next(iter(choices)))
row, mle = choices[st.selectbox("Of", list(choices), key="fit", bind="query-params")]
chart = charts.geometric_fit(row, theme, mle=mle)
figures.show(chart, "figure_fit", file=file_name(selected, "figure5_geometric"))
