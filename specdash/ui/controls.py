"""Controls that stand in the address: what a link says that a control cannot show is told, not replaced in silence."""

from __future__ import annotations

import streamlit as st

from specdash.ui import kept, link, text
from specdash.ui.dial import plain


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
        kept.tell(label, text.short(asked, 20), str(default))
    link.default(key, default)
    return st.slider(label, low, high, default, key=key, bind="query-params", help=help)


def number(label: str, low: float, high: float, key: str, help: str | None = None) -> float | None:
    """Show a box for a number that may be left empty, bound to the address.

    Args:
        label: What it sets, with its unit.
        low: Smallest value.
        high: Largest value.
        key: Name in the address.
        help: Explanation on demand.

    Returns:
        None while it is empty.
    """
    asked = st.query_params.get(key)
    if asked and not _within(asked, low, high):
        kept.tell(label, text.short(asked, 20), "left empty")
    value = st.number_input(label, low, high, None, 0.01, key=key, help=help, placeholder="none", bind="query-params")
    kept.note(key, "" if value is None else plain(value), "")
    return value


def _within(asked: str, low: float, high: float) -> bool:
    try:
        return low <= float(asked) <= high
    except ValueError:
        return False
