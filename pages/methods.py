"""Methods: what every number and every check means, generated from their declarations."""

import streamlit as st

from specdash import checks, metrics
from specdash.formats.producers import PRODUCERS
from specdash.report import meaning, methods
from specdash.ui import corrections, router, text

router.ensure()
text.title("Methods")
text.paragraph(methods.PRINCIPLE)
text.paragraph(methods.INTERVALS)
search = st.text_input("Find", key="find", bind="query-params", placeholder="part of a name, key or definition")


def mentioned(*words):
    return search.casefold() in " ".join(words).casefold()


found = [m for m in map(metrics.get, metrics.METRIC_KEYS) if mentioned(m.key, m.label, m.definition)]
checked = [c for c in checks.all_checks() if mentioned(c.key, c.title, c.meaning, c.cause)]
tools = [
    {"tool": producer.tool, "files": producer.what} | meaning.facts(producer.semantics)
    for producer in PRODUCERS
    if mentioned(producer.tool, producer.what, *meaning.facts(producer.semantics).values())
]
if not found and not checked and not tools and not corrections.mentioned(search):
    text.notice(f"No metric, no check and no tool mentions {search}.", "info")
for metric in found:
    with st.container(border=True, key=f"method-{metric.key}"):
        st.markdown(f"**{metric.label}** &nbsp; `{metric.key}`")
        st.latex(metric.formula)
        st.markdown(metric.definition)
        st.caption(methods.provenance(metric))
corrections.show(search)
if checked:
    st.subheader("Checks of soundness")
    text.paragraph(methods.CHECKS)
for check in checked:
    with st.container(border=True, key=f"check-{check.key}"):
        st.markdown(f"**{check.title}** &nbsp; `{check.key}`")
        st.markdown(f"{check.meaning} Usual cause: {check.cause}")
        st.caption(methods.requirement(check))
if tools:
    st.subheader("What tools mean by their numbers")
    text.paragraph(methods.TOOLS)
    st.dataframe(tools, hide_index=True, key="tools")
