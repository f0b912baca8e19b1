"""Text from files, shown as text: never as Markdown, HTML or LaTeX, and never longer than a page bears."""

from __future__ import annotations

import html
from typing import Literal

import streamlit as st

from specdash.schema import legible

_LONGEST = 400
_MARKS = {"warning": ("#B7791F", "⚠"), "error": ("#C53030", "✕"), "info": ("#3182CE", "ℹ")}


def short(text: str, longest: int = _LONGEST) -> str:
    """Return the text on one line, control characters made visible, cut where it is very long."""
    text = legible(text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _wrapped(text: str) -> str:
    return f'<bdi style="overflow-wrap:anywhere">{html.escape(short(text))}</bdi>'


def title(text: str) -> None:
    """Show a page's title."""
    st.html(f'<h1 style="font-size:1.7rem;font-weight:650;margin:0;padding:0;line-height:1.25">{_wrapped(text)}</h1>')


def paragraph(text: str, *, faint: bool = False) -> None:
    """Show a paragraph; a faint one is an aside."""
    style = "opacity:.75;font-size:.9rem;margin:0" if faint else "margin:0"
    st.html(f'<p style="{style}">{_wrapped(text)}</p>')


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
    colour, mark = _MARKS[kind]
    strong = f"<strong>{html.escape(short(lead))}</strong> " if lead else ""
    role = "alert" if kind == "error" else "status"
    st.html(
        f'<div role="{role}" class="sd-{kind}" style="border-left:4px solid {colour};background:{colour}1c;'
        'padding:.5rem .75rem;border-radius:.3rem">'
        f'<span aria-hidden="true" style="color:{colour};margin-right:.45rem">{mark}</span>'
        f"{strong}{_wrapped(text)}</div>"
    )
