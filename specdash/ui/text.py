"""Text from files, shown as text: never as Markdown, HTML or LaTeX, and never longer than a page bears."""

from __future__ import annotations

import html
from typing import Literal

import streamlit as st

from specdash.schema import legible

_LONGEST = 400
MARKS = {
    "warning": ("#B7791F", "⚠"),
    "error": ("#C53030", "✕"),
    "info": ("#3182CE", "ℹ"),
    "sound": ("#2F855A", "✓"),
    "idle": ("#718096", "–"),
}
"""Colour and sign by kind."""


def short(text: str, longest: int = _LONGEST) -> str:
    """Return the text on one line, control characters made visible, cut where it is very long."""
    text = legible(text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def wrapped(text: str) -> str:
    """Return the text as HTML of one line, which may break anywhere."""
    return f'<bdi style="overflow-wrap:anywhere">{html.escape(short(text))}</bdi>'


def title(text: str) -> None:
    """Show a page's title."""
    st.html(f'<h1 style="font-size:1.7rem;font-weight:650;margin:0;padding:0;line-height:1.25">{wrapped(text)}</h1>')


def paragraph(text: str, *, faint: bool = False, end: tuple[str, str] | None = None) -> None:
    """Show a paragraph; a faint one is an aside.

    Args:
        text: What it says.
        faint: Whether it is an aside.
        end: What it ends with in a colour of its own, and the kind that gives the colour and the sign before it.
    """
    style = "opacity:.75" if faint else ""
    size = "font-size:.9rem;" if faint else ""
    last = ""
    if end is not None:
        colour, mark = MARKS[end[1]]
        # Mixed with the colour of the text it is legible on light and on dark pages.
        shown = f"color:color-mix(in srgb, {colour} 70%, currentColor)"
        last = f' · <strong class="sd-said-{end[1]}" style="{shown}">{mark} {html.escape(short(end[0]))}</strong>'
    st.html(f'<p style="{size}margin:0"><span style="{style}">{wrapped(text)}</span>{last}</p>')


def block(text: str) -> None:
    """Show a text of several lines, as they are."""
    lines = "\n".join(short(line, 20_000) for line in text.splitlines())
    st.html(f'<p style="margin:0;white-space:pre-wrap;overflow-wrap:anywhere"><bdi>{html.escape(lines)}</bdi></p>')


def notice(text: str, kind: Literal["warning", "error", "info"] = "warning", lead: str = "") -> None:
    """Show something a reader has to know.

    Args:
        text: What.
        kind: How much it matters.
        lead: A bold first word, e.g. the run it is about.
    """
    colour, mark = MARKS[kind]
    strong = f"<strong>{html.escape(short(lead))}</strong> " if lead else ""
    role = "alert" if kind == "error" else "status"
    st.html(
        f'<div role="{role}" class="sd-{kind}" style="border-left:4px solid {colour};background:{colour}1c;'
        'padding:.5rem .75rem;border-radius:.3rem">'
        f'<span aria-hidden="true" style="color:{colour};margin-right:.45rem">{mark}</span>'
        f"{strong}{wrapped(text)}</div>"
    )
