"""The calculator's controls. Every one stands in the address; what a preset says needs no saying there."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from specdash.report.sections import calculator
from specdash.report.sections.base import Subject
from specdash.report.sections.calculator import Asked
from specdash.schema import InputError
from specdash.speed.pipeline import Drafter, Pipeline, one_way_ms
from specdash.speed.presets import PRESETS, Preset
from specdash.ui import text
from specdash.ui.calculator import quantities as q
from specdash.ui.dial import Quantity, dial
from specdash.ui.kept import choice, line, switch


def panel(subject: Subject, told: DeltaGenerator) -> Asked:
    """Show the controls and return what they say.

    Args:
        subject: The run, whose block length is at least 1.
        told: Where to tell of what a control cannot be: some are folded away.
    """
    k, said = subject.k, {}
    with st.container(horizontal=True, gap="medium"):
        preset = PRESETS[choice("Start from", list(PRESETS), "preset", told, on_change=_reset)]
        of = choice("Acceptance lengths of", list(calculator.names(subject.rows)), "speeds_of", told)

    def ask(*asked: Quantity) -> None:
        for quantity in asked:
            value = dial(quantity, q.value_of(preset.pipeline, quantity), told)
            said[q.FIELDS[quantity]] = q.field_of(quantity, value)

    left, right = st.columns(2, gap="medium")
    with left:
        ask(q.RTT)
        block = int(dial(q.block_length(k), k, told))
    with right:
        ask(q.STAGES, q.BANDWIDTH)
    with st.container(horizontal=True, gap="small"):
        with st.popover("Network", icon=":material/lan:"):
            said |= _hops(said["stages"], told)
            jitter = dial(q.JITTER, 0, told)
        with st.popover("Compute", icon=":material/memory:"):
            ask(q.STAGE_MS, q.TOKEN_MS, q.OVERHEAD)
        with st.popover("Activations", icon=":material/data_array:"):
            ask(q.HIDDEN, q.VALUE_BYTES, q.RESIDUAL, q.RETURN_BYTES)
        with st.popover("Draft", icon=":material/edit_note:"):
            said["drafter"] = _drafter(preset.pipeline.drafter, told)
            ask(q.DRAFT_MS)
        with st.popover("Questions", icon=":material/help:"):
            other = int(dial(q.other_block(k), max(0, k - 2), told))
            tokens = int(dial(q.TOKENS, 500, told))
            goal = dial(q.GOAL, 20, told)
            ask(q.STREAMS)
            split = _split(told)
    pipeline = Pipeline(**said)
    text.paragraph(_about(preset, pipeline), faint=True)
    return Asked(subject, pipeline, block, other, of, tokens, goal, jitter, split)


def _reset() -> None:
    """Set the controls to what the chosen preset says, which takes them out of the address."""
    base = PRESETS[st.session_state["preset"]].pipeline
    for quantity in q.FIELDS:
        st.session_state[quantity.key] = quantity.typed(q.value_of(base, quantity))
    st.session_state.update(draft_kind=base.drafter.value, return_hop=base.return_hop, one_way="")


def _hops(stages: int, told: DeltaGenerator) -> dict[str, Any]:
    """Show what the latencies of a lap are made of; a list that does not fit is told and not used."""
    about = "The way back to the first stage: N traversals a lap, else N − 1."
    closed = switch("Count the return hop", True, "return_hop", about, told)
    said = line(
        "One-way latencies (ms), where hops differ",
        "one_way",
        "10, 100, 40, 20",
        "One for each traversal of a lap, the return hop last. They replace the RTT.",
    )
    try:
        return {"return_hop": closed, "one_way_ms": one_way_ms(said, stages - 1 + closed)}
    except InputError as error:
        with told:
            text.notice(f"{error}. The RTT is used.", "error")
        return {"return_hop": closed}


def _drafter(default: Drafter, told: DeltaGenerator) -> Drafter:
    about = "A block drafter makes one pass a step; an autoregressive one makes a pass for every token."
    kinds = [kind.value for kind in Drafter]
    return Drafter(choice("The drafter", kinds, "draft_kind", told, default=default.value, horizontal=True, help=about))


def _split(told: DeltaGenerator) -> bool:
    about = "In the figure of tok/s against N. Off: every stage computes as long as one does now."
    return switch("More stages share one model", True, "split_model", about, told)


def _about(preset: Preset, pipeline: Pipeline) -> str:
    """Say what the pipeline assumes: what its preset says, and what was changed."""
    changed = [f.name for f in fields(Pipeline) if getattr(pipeline, f.name) != getattr(preset.pipeline, f.name)]
    labels = {field: quantity.label for quantity, field in q.FIELDS.items()}
    words = [labels.get(name, name.replace("_ms", "").replace("_", " ")) for name in changed]
    return preset.assumes + (f" Changed here: {', '.join(words)}." if words else "")
