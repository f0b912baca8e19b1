"""Formulas that a browser sets by itself."""

from __future__ import annotations

from functools import cache

from latex2mathml.converter import convert
from markupsafe import Markup


@cache
def mathml(latex: str) -> Markup:
    """Return a formula of ours (never one from a file) as MathML, its LaTeX as the text for whoever cannot see it."""
    formula = convert(latex, display="block").replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
    return Markup(formula.replace("<math ", Markup('<math alttext="{}" ').format(latex), 1))
