"""Step outcomes: the table of section 4 and figures 4 and 5 of the acceptance report."""

import streamlit as st

from specdash.report import sections
from specdash.ui import link, page, parts

selected = page.begin_section(sections.STEP_OUTCOMES)
parts.show(selected, sections.step_outcomes(selected.subject))
st.subheader(sections.GEOMETRIC)
choices = sections.geometric_choices(selected.subject)
link.default("fit", next(iter(choices)))
chosen = st.selectbox("Of", list(choices), key="fit", bind="query-params")
parts.show(selected, [sections.geometric_fit(*choices[chosen])])
