"""Prompts: the hardest and the easiest, a prompt's copies, one response step by step."""

import polars as pl
import streamlit as st

from specdash import charts
from specdash.report.sections import PROMPTS, FigurePart
from specdash.report.sections import prompts as section
from specdash.ui import controls, library, page, parts, prompts, text

selected = page.begin_section(PROMPTS)
if selected.subject.prompts.is_empty():
    parts.show(selected, section.prompts(selected.subject))
    page.end()
everything = prompts.labelled(selected.subject.prompts)
found = prompts.search(selected, everything)
text.paragraph(section.METHOD, faint=True)
if found.is_empty():
    text.notice("No prompt and no request has this in its id.", "info")
else:
    ends = controls.slider("Prompts at either end", 5, 50, section.ENDS, "ends")
    parts.show(selected, section.prompts(selected.subject, found=found, ends=ends))
    prompts.table(selected, found)

st.subheader("One prompt")
chosen = prompts.choose(everything, found)
if chosen is None:
    page.end()
responses = selected.responses.filter(
    pl.col("dataset") == chosen["dataset"], pl.col("prompt") == chosen["prompt"]
).sort("copy", "response", nulls_last=True)
names = prompts.names_of(responses)
prompts.copies_table(selected, responses, names)
parts.show(selected, [section.copies(selected.subject, responses, names)])

st.subheader("One response, step by step")
response = responses.row(prompts.choose_copy(names), named=True)
evaluation, run = selected.evaluation, selected.run
if run.steps is None:
    text.notice("This run holds no order of steps: a response cannot be shown step by step.", "info")
elif evaluation.order != "recorded":
    text.notice("Not available: the order of steps is invented.", "info")
else:
    steps = library.steps(evaluation.id, run.name, response["request"])
    parts.show(
        selected,
        [FigurePart("response_steps", lambda theme: charts.step_strip(steps, theme, family=response["family"]))],
    )
