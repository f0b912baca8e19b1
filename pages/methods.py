"""Methods: what every number means, generated from the declared metrics."""

import streamlit as st

from specdash import metrics
from specdash.ui import corrections, router, text

router.ensure()
text.title("Methods")
text.paragraph(
    "Every number is computed from counts of verify steps; sums are divided last, ratios are never averaged. "
    "An undefined number is shown as – and stored as null."
)
text.paragraph(
    f"Intervals are {metrics.LEVEL:.0%} and say what another sample of prompts could have given: steps and copies of "
    f"one prompt resemble each other, so prompts are what counts. Fewer than {metrics.FEWEST} prompts give none, fewer "
    f"than {metrics.FEW} a rough one. A share of 0% or 100% in the data gets the rule of three, counting prompts."
)
NEEDS = {"response": "responses", "aggregate": "counters", "step": "ordered steps", "rates": "printed ratios"}
SHAPES = {
    metrics.Shape.POSITION: " per draft position, 0 = first drafted token",
    metrics.Shape.OUTCOME: " per number of accepted tokens, 0..K",
    metrics.Shape.BLOCK: " per block length, 1..K",
}
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
        unit = (metric.unit or "pure number") + SHAPES.get(metric.shape, "")
        st.caption(
            f"Unit: {unit} · Estimator: {metric.estimator} · Needs: {NEEDS[metric.needs]} · Source: {metric.source}"
            + (f" · Interval: {metric.interval.how}" if metric.interval else "")
        )
corrections.show(search)
