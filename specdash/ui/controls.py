"""Controls that stand in the address: what a link says that a control cannot show is told, not replaced in silence."""

from __future__ import annotations

import streamlit as st

from specdash.ui import link, text


def slider(label: str, low: int, high: int, default: int, key: str, help: str | None = None) -> int:
    """Show a slider of whole numbers that is bound to the address.

    Args:
        label: What it sets, with its unit.
        low: Smallest value.
        high: Largest value.
        default: Value without a link that says another.
        key: Name in the address.
        help: Explanation on demand.
    """
    asked = st.query_params.get(key)
    if asked is not None and not (asked.lstrip("-").isdecimal() and low <= int(asked) <= high):
        text.notice(f"{label} cannot be {text.short(asked, 20)}, as this link says; it is {default} here.", "error")
    link.default(key, default)
    return st.slider(label, low, high, default, key=key, bind="query-params", help=help)
