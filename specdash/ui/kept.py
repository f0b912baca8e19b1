"""Controls in the address that come back as they were when their page does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from specdash.ui import link, router, text

_SET = "_set"


def tell(what: str, asked: str, shown: str, place: DeltaGenerator | None = None) -> None:
    """Tell of a link that names what cannot be shown.

    Args:
        what: What the control sets.
        asked: What the link says.
        shown: What is shown instead.
        place: Where to tell it, for a control that may be folded away; here when None.
    """
    with place or nullcontext():
        said = text.short(asked, 60) or "empty"
        text.notice(f"{what} cannot be {said}, as this link says; it is {shown} here.", "error")


def switch(label: str, default: bool, key: str, help: str, told: DeltaGenerator | None = None) -> bool:
    """Show a switch that is bound to the address; a link that says what it cannot be is told."""
    said = st.query_params.get(key)
    if said is not None and said.lower() not in ("true", "false"):
        tell(label, said, _bit(default), told)
    value = st.toggle(label, default, key=key, bind="query-params", help=help)
    note(key, _bit(value), _bit(default))
    return value


def _bit(value: bool) -> str:
    return "true" if value else "false"


def choice(
    label: str,
    options: Sequence[str],
    key: str,
    told: DeltaGenerator | None = None,
    *,
    default: str | None = None,
    on_change: Callable[[], None] | None = None,
    horizontal: bool = False,
    help: str | None = None,
) -> str:
    """Show a choice that is bound to the address, in a list or as a row of buttons.

    Args:
        label: What is chosen.
        options: What there is, as the address spells it.
        key: Name in the address.
        told: Where to tell of a link that says what cannot be; here when None.
        default: Choice without a link that says another; the first when None.
        on_change: Called when another is chosen.
        horizontal: Whether it is a row of buttons.
        help: Explanation on demand.
    """
    default, state = default or options[0], st.session_state
    said = st.query_params.get(key)
    if said is not None and said not in options:
        tell(label, said, default, told)
    if state.get(key, default) not in options:
        state[key] = default
    show = st.radio if horizontal else st.selectbox
    row = {"horizontal": True} if horizontal else {}
    index = list(options).index(default)
    value = show(label, options, index, key=key, bind="query-params", on_change=on_change, help=help, **row)
    note(key, value, default)
    return value


def told(label: str, options: Sequence[str], key: str, default: str) -> None:
    """Tell of a link that names what a choice of several does not offer; called before the choice is shown.

    Args:
        label: What is chosen.
        options: What there is, as the address spells it.
        key: Name in the address.
        default: Choice where the link names nothing that there is.
    """
    said = [value for value in st.query_params.get_all(key) if value]
    there = [value for value in said if value in options]
    if len(there) < len(said):
        tell(label, ", ".join(value for value in said if value not in options), ", ".join(there) or default)


def line(label: str, key: str, placeholder: str, help: str) -> str:
    """Show a line of text, empty at first, that is bound to the address."""
    value = st.text_input(label, key=key, bind="query-params", placeholder=placeholder, help=help)
    note(key, value, "")
    return value


def tabs(labels: Sequence[str], key: str, told: DeltaGenerator | None = None) -> Sequence[DeltaGenerator]:
    """Show tabs, the open one bound to the address. Only what is in the open one (``.open``) need be made."""
    said = st.query_params.get(key)
    if said is not None and said not in labels:
        tell("The open tab", said, labels[0], told)
    shown = st.tabs(list(labels), key=key, bind="query-params")
    note(key, next((label for label, tab in zip(labels, shown, strict=True) if tab.open), labels[0]), labels[0])
    return shown


def note(key: str, value: str, default: str) -> None:
    """Note what a control shows, for a copied link and for a return to this page.

    Args:
        key: Name in the address.
        value: What it shows, as the address spells it.
        default: What it shows while the address does not name it.
    """
    link.default(key, default)
    kept = st.session_state.setdefault(_SET, {}).setdefault(router.current(), {})
    if value == default:
        kept.pop(key, None)
    else:
        kept[key] = value


def restore() -> None:
    """Put back what was set when this page was left; called on it before its first control.

    On the way to another page Streamlit takes the page's parameters out of the address, and notes that in the browser's
    history, so the way back leads to an address without them. It also puts them back one by one where the menu leads
    here, each an entry of the history; here they are all put back in one.
    """
    kept = st.session_state.get(_SET, {}).get(router.current())
    if router.opened() and kept and not any(key in st.query_params for key in kept):
        st.query_params.update(kept)
        st.rerun()
