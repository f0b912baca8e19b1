"""Methods: what every number means, generated from the declared metrics."""

import streamlit as st

from specdash import metrics
from specdash.report import methods
from specdash.ui import corrections, router, text

router.ensure()
text.title("Methods")
text.paragraph(methods.PRINCIPLE)
text.paragraph(methods.INTERVALS)
search = st.text_input("Find", key="find", bind="query-params", placeholder="part of a name, key or definition")
found = [
    metric
    for metric in map(metrics.get, [*metrics.KEYS, *metrics.ERROR_KEYS])
    if search.casefold() in f"{metric.key} {metric.label} {metric.definition}".casefold()
]
if not found and not corrections.mentioned(search):
    text.notice(f"No metric mentions {search}.", "info")
for metric in found:
    with st.container(border=True, key=f"method-{metric.key}"):
        st.markdown(f"**{metric.label}** &nbsp; `{metric.key}`")
        st.latex(metric.formula)
        st.markdown(metric.definition)
        st.caption(methods.provenance(metric))
corrections.show(search)
