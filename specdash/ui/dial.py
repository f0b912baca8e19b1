"""A dial: a slider to move a quantity by feel, and a box for the exact number.

Only one widget can be bound to a parameter of the address. It is the slider: what the browser binds it writes over the
address in place, while a value that the script sets becomes an entry of the browser's history, and a drag must not bury
the way back. The box is a view of the slider.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from specdash.ui import kept

_BOX = 108  # px; fits seven digits
_GIVEN = "_given"


@dataclass(frozen=True)
class Quantity:
    """A number that a slider and a box set.

    Attributes:
        key: Name in the address.
        label: What it is, with its unit.
        stops: Where the slider rests, ascending; close where small changes matter. The first and the last finite one
            are the limits of the box; an infinite one means that there is no limit.
        help: Explanation on demand.
        whole: Whether it is a count.
        step: How far the arrow keys go in the box.
    """

    key: str
    label: str
    stops: Sequence[float]
    help: str | None = None
    whole: bool = False
    step: float = 1.0

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and the largest finite value."""
        finite = [stop for stop in self.stops if math.isfinite(stop)]
        return finite[0], finite[-1]

    @property
    def unlimited(self) -> bool:
        """Whether the quantity may be infinite, which the box shows as empty."""
        return math.isinf(self.stops[-1])

    def allows(self, value: float) -> bool:
        """Tell whether a value is one that the quantity can have."""
        low, high = self.limits
        if math.isinf(value):
            return value > 0 and self.unlimited
        return low <= value <= high and (not self.whole or value == int(value))

    def read(self, said: str) -> float | None:
        """Return what a link says; None when the quantity cannot be that."""
        if self.unlimited and said == UNLIMITED:
            return math.inf
        try:
            value = float(said)
        except ValueError:
            return None
        return self.typed(value) if math.isfinite(value) and self.allows(value) else None

    def typed(self, value: float) -> float:
        """Return a value as widgets want it: all of a slider's options of one type."""
        return int(value) if self.whole else float(value)


UNLIMITED = "no limit"
"""How an infinite value reads, on the slider and in the address."""


def plain(value: float) -> str:
    """Return a number as the address spells it: exactly, without a fraction that says nothing."""
    if math.isinf(value):
        return UNLIMITED
    return str(int(value)) if value == int(value) else repr(float(value))


def dial(quantity: Quantity, default: float, told: DeltaGenerator | None = None) -> float:
    """Show a slider and a box for the same number, bound to one parameter of the address.

    Args:
        quantity: What they set.
        default: Value without a link that says another.
        told: Where to tell of a link that says what cannot be; here when None.
    """
    key, state = quantity.key, st.session_state
    said = st.query_params.get(key)
    asked = None if said is None else quantity.read(said)
    if said is not None and asked is None:
        kept.tell(quantity.label, said, plain(default), told)
    if key in state and not quantity.allows(state[key]):
        state[key] = quantity.typed(default)  # The limits have changed, as those of K′ do with the run.
    # An option of the slider is spelled as the link spells it: the address knows options by their spelling.
    spelled = {} if asked is None else {asked: said}
    held = {quantity.typed(v) for v in (default, asked, state.get(key)) if v is not None}
    options = sorted({*map(quantity.typed, quantity.stops), *held})
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"{key}_both"):
        value = st.select_slider(
            quantity.label,
            options,
            quantity.typed(default),
            format_func=lambda v: spelled.get(v, plain(v)),
            key=key,
            bind="query-params",
            help=quantity.help,
        )
        _box(quantity, value)
    kept.note(key, plain(value), plain(quantity.typed(default)))
    return value


def _box(quantity: Quantity, value: float) -> None:
    """Show the box, which holds the slider's value and hands on what is typed into it.

    The browser answers a quick next move of the slider with what the box held when it was made, which must not pass for
    typed: what the box was given since the browser last agreed with it is remembered, and taken for an echo.
    """
    key, state = f"{quantity.key}_exact", st.session_state
    given = state.setdefault(_GIVEN, {}).setdefault(key, [])
    shown = None if math.isinf(value) else value
    if key not in state or state[key] != shown:
        state[key] = shown
        given.append(shown)
    else:
        given[:] = [shown]

    def take() -> None:
        typed = math.inf if state[key] is None else quantity.typed(state[key])
        if state[key] not in given and quantity.allows(typed):
            state[quantity.key] = typed

    low, high = quantity.limits
    st.number_input(
        f"{quantity.label}, exactly",
        quantity.typed(low),
        quantity.typed(high),
        None if quantity.unlimited else shown,
        quantity.typed(quantity.step),
        format="%d" if quantity.whole else "%.12g",
        key=key,
        on_change=take,
        placeholder=UNLIMITED,
        label_visibility="collapsed",
        width=_BOX,
    )
