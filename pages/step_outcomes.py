"""Step outcomes: the table of section 4 and figures 4 and 5 of the acceptance report."""

import streamlit as st

from specdash.report import sections
from specdash.ui import kept, page, parts

selected = page.begin_section(sections.STEP_OUTCOMES)
parts.show(selected, sections.step_outcomes(selected.subject))
st.subheader(sections.GEOMETRIC)
kept.restore()
choices = sections.geometric_choices(selected.subject)
chosen = kept.choice("Of", list(choices), "fit")
parts.show(selected, [sections.geometric_fit(*choices[chosen])])
