"""Cards: a number as the benchmarking page documents it, what holds instead, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specdash.charts import text
from specdash.metrics import Row
from specdash.report.sections.drafting import Drafting, Own, ar_ends, ar_speedup, block_ends, block_speedup, documented
from specdash.report.tables import UNDEFINED
from specdash.speed import speedup as forms
from specdash.speed.corrections import PAGE
from specdash.speed.speedup import AUTOREGRESSIVE, BLOCK, DOCUMENTED, IID

TAU = "tau (V1 counters)"


@dataclass(frozen=True)
class Reading:
    """A number on a card.

    Attributes:
        label: What it is called.
        value: As shown.
        formula: LaTeX.
        source: Where the formula comes from.
        interval: Its interval as shown, empty without one.
    """

    label: str
    value: str
    formula: str
    source: str
    interval: str = ""


@dataclass(frozen=True)
class Card:
    """A number as documented and what holds.

    Attributes:
        title: What it is about.
        documented: As the benchmarking page has it.
        corrected: What holds; more than one where it depends on the drafter.
        reason: One line.
    """

    title: str
    documented: Reading
    corrected: tuple[Reading, ...]
    reason: str


def cards(row: Row, of: Own, drafting: Drafting) -> list[Card]:
    """Return the cards of a row.

    Args:
        row: Its metrics.
        of: What it says at the block length of ``drafting``.
        drafting: The drafter.
    """
    found = [_alpha(row, of), _tokens(row, of), _speedup(row, of, drafting), _break_even(drafting)]
    return [*found, _efficiency(of, drafting)] if drafting.observed is not None else found


def _number(value: float | None, decimals: int = 3) -> str:
    return UNDEFINED if value is None else text.number(value, decimals)


def _interval(row: Row, ends: Sequence[float] | None) -> str:
    """Return an interval as shown: where its run has none of its own, with the word for that."""
    if ends is None:
        return ""
    return f"{_number(ends[0])} to {_number(ends[1])}{', borrowed' if row.get('interval_from') else ''}"


def _alpha(row: Row, of: Own) -> Card:
    implied, ends = (None, None) if of.implied else (row.get("implied_alpha"), row.get("implied_alpha_ci"))
    ratio_ends = of.ends(lambda tau: (tau - 1) / of.drafted, by_drafted=True)
    return Card(
        "α",
        Reading("α", _number(of.ratio), r"\frac{\text{accepted}}{\text{drafted}}", f"{PAGE}, stage 1"),
        (
            Reading(
                forms.Alpha.RATIO,
                _number(of.ratio),
                r"\frac{\sum a}{\sum K}",
                "vLLM, V1 counters",
                _interval(row, ratio_ends),
            ),
            Reading(
                forms.IMPLIED_ALPHA,
                _number(implied),
                r"\frac{1 - \alpha^{K+1}}{1 - \alpha} = \tau",
                "Leviathan et al. 2023, eq. 1",
                _interval(row, ends),
            ),
        ),
        "The ratio only relabels τ and falls with k; the chance that a draft token is accepted is another number.",
    )


def _tokens(row: Row, of: Own) -> Card:
    inverted = of.tau / (of.tau - 1) if of.tau > 1 else None
    formula = r"\frac{\text{emitted}}{\text{accepted}} = \frac{\tau}{\tau - 1}"
    return Card(
        "Tokens per step",
        Reading("tokensPerStep", _number(inverted), formula, f"{PAGE}, stage 1"),
        (
            Reading(
                TAU,
                _number(of.tau),
                r"1 + \frac{\text{accepted}}{\text{drafts}}",
                "vLLM, V1 counters",
                _interval(row, of.ends(lambda tau: tau, by_drafted=False)),
            ),
        ),
        "The documented ratio falls as drafts get better; it is right at τ = 2 alone.",
    )


def _speedup(row: Row, of: Own, drafting: Drafting) -> Card:
    c = drafting.c
    return Card(
        "Speed-up",
        Reading(DOCUMENTED.label, _number(documented(of, drafting)), DOCUMENTED.formula, f"{PAGE}, stage 4"),
        (
            Reading(
                AUTOREGRESSIVE.label,
                _number(ar_speedup(of, c)),
                r"\frac{\tau}{1 + \bar{K}c}",
                AUTOREGRESSIVE.source,
                _interval(row, ar_ends(of, c)),
            ),
            Reading(
                BLOCK.label,
                _number(block_speedup(of, c)),
                r"\frac{\tau}{1 + c}",
                BLOCK.source,
                _interval(row, block_ends(of, c)),
            ),
        ),
        "A step costs more by what drafting costs: that divides the tokens, it cannot be subtracted from them.",
    )


def _break_even(drafting: Drafting) -> Card:
    k, c = drafting.k, drafting.c

    def shown(form: forms.Form) -> str:
        return _number(form.break_even(k, c).value)

    return Card(
        "Break-even",
        Reading("α at speed-up 1", shown(DOCUMENTED), r"c\,\frac{k + 1}{k}", f"{PAGE}, stage 4"),
        (
            Reading("accept ratio, AR draft", shown(AUTOREGRESSIVE), r"c", AUTOREGRESSIVE.source),
            Reading("accept ratio, block draft", shown(BLOCK), r"\frac{c}{k}", BLOCK.source),
            Reading("i.i.d. α, AR draft", shown(IID), r"\frac{1 - \alpha^{k+1}}{1 - \alpha} = 1 + kc", IID.source),
        ),
        "Which α, of which drafter? For an AR draft the accept ratio has to exceed c at every k, the i.i.d. α more.",
    )


def _efficiency(of: Own, drafting: Drafting) -> Card:
    observed, ceiling, wrong = drafting.observed, drafting.speedup(of), documented(of, drafting)
    share = _percent(forms.efficiency(observed, wrong)) if wrong > 0 else UNDEFINED
    right = _percent(forms.efficiency(observed, ceiling))
    return Card(
        "Efficiency",
        Reading("observed / speedup(α)", share, r"\frac{\text{observed}}{\text{as documented}}", f"{PAGE}, stage 4"),
        (Reading(f"observed / {drafting.form.label}", right, r"\frac{\text{observed}}{\text{speed-up}}", "this page"),),
        "More than this ceiling: the assumed c is too high, or τ is not that of the measurement."
        if observed > ceiling
        else "A share of a wrong ceiling is wrong: the documented threshold of 0.6 can flag a perfect run.",
    )


def _percent(share: float) -> str:
    return text.number(share, 1, percent=True)
